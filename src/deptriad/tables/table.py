"""Conditional: a table p(source | target). Box: the same, known only up to an interval for each entry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import ROUNDOFF
from deptriad.utils.text import printable

TOLERANCE = 1e-9
"""How far from 1 a row may sum before it is an error."""

LEAST = 1e-300
"""The least positive entry: ratios stay below 1e301, far from where floats end and digits are lost."""

Labels = Sequence[Any] | None
"""One label for each value; kept as a tuple of text."""


class _Named:
    """What a table with named attributes and values has in common with another."""

    target: str
    source: str
    target_values: Labels
    source_values: Labels

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of target values and of source values."""
        raise AssertionError("every table knows its shape")

    @property
    def labels(self) -> dict[str, Any]:
        """The four names, ready to be passed on to another table."""
        names = ("target", "source", "target_values", "source_values")
        return {name: getattr(self, name) for name in names}

    def _take_labels(self, table: Any) -> None:
        """Labels of a data frame, where none are given."""
        for name, part in (("target_values", "index"), ("source_values", "columns")):
            labels = getattr(table, part, None)
            if getattr(self, name) is None and hasattr(table, "iloc") and labels is not None:
                object.__setattr__(self, name, tuple(labels))

    def _check_labels(self, shape: tuple[int, ...]) -> None:
        for name, size in zip(("target_values", "source_values"), shape, strict=True):
            labels = getattr(self, name)
            if labels is None:
                continue
            if isinstance(labels, str | set | frozenset | dict):
                raise ValueError(f"{name} is {labels!r}, expected a list of labels, in order")
            texts = tuple(str(label) for label in labels)
            if len(set(texts)) < len(texts):
                raise ValueError(
                    f"{name} has the same label twice: {list(texts)}, expected distinct ones"
                )
            if len(texts) != size:
                raise ValueError(
                    f"{name} gives {len(texts)} of {size} labels, expected one for each value"
                )
            object.__setattr__(self, name, texts)

    @property
    def _title(self) -> str:
        rows, columns = self.shape
        return f"p({printable(self.source)} | {printable(self.target)}), {rows} × {columns}"

    def target_label(self, index: int) -> str:
        """The label of a target value, or its number."""
        return self.target_values[index] if self.target_values else str(index)

    def source_label(self, index: int) -> str:
        """The label of a source value, or its number."""
        return self.source_values[index] if self.source_values else str(index)

    def _row(self, index: int) -> str:
        """How a message names a row: by its number and, where there is one, its label."""
        return f"row {index}" + (f" ({self.target_values[index]!r})" if self.target_values else "")

    def _check_entries(self, entries: Floats, what: str) -> None:
        if (bad := ~(entries >= 0.0) | np.isinf(entries)).any():
            row, column = (int(index) for index in np.argwhere(bad)[0])
            raise ValueError(
                f"{what} has {entries[row, column]} in {self._row(row)}, column {column}: expected a finite number ≥ 0"
            )


@dataclass(frozen=True, eq=False, repr=False)
class Conditional(_Named):
    """p(source | target): one row for each target value, one column for each source value.

    Rows must sum to 1 within 1e-9 and are renormalised within that. An array-like is accepted wherever a
    Conditional is; make one to give attributes and values their names.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Conditional([[0.9, 0.1], [0.2, 0.8]], target="sex", source="relationship")
    Conditional(p(relationship | sex), 2 × 2)
    """

    table: Floats
    target: str = "target"
    source: str = "source"
    target_values: Labels = None
    source_values: Labels = None

    def __post_init__(self) -> None:
        table = _matrix(self.table, "table")
        self._take_labels(self.table)
        self._check_labels(table.shape)
        self._check_entries(table, "table")
        self._check_tiny(table)
        sums = table.sum(axis=1)
        if (bad := np.abs(sums - 1.0) > TOLERANCE).any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{self._row(row)} sums to {sums[row]:.12g}, not 1: {_remedy(self.table, table)}"
            )
        object.__setattr__(self, "table", _read_only(normalised(table, sums)))

    def _check_tiny(self, table: Floats) -> None:
        if (tiny := (table > 0.0) & (table < LEAST)).any():
            row, column = (int(index) for index in np.argwhere(tiny)[0])
            raise ValueError(
                f"table has {table[row, column]} in {self._row(row)}, column {column}: expected 0 or at least {LEAST}, "
                "below which floats lose their digits; put 0 there, or make a Box with a lower edge of 0"
            )

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        target: str = "target",
        source: str = "source",
        target_values: Labels = None,
        source_values: Labels = None,
    ) -> Self:
        """The relative frequencies of a table of counts (or weights), row by row.

        Examples
        --------
        >>> import deptriad as dt
        >>> dt.Conditional.from_counts([[3, 1], [1, 1]]).table.tolist()
        [[0.75, 0.25], [0.5, 0.5]]
        """
        number = _matrix(counts, "counts")
        uniform = np.full(number.shape, 1.0 / number.shape[1])
        blank = cls(uniform, target, source, target_values, source_values)
        blank._take_labels(counts)
        blank._check_entries(number, "counts")
        with np.errstate(over="ignore"):
            sums = number.sum(axis=1)
        if np.isinf(sums).any():
            raise ValueError(
                f"{blank._row(int(np.argmax(np.isinf(sums))))} of the counts overflows: scale it down"
            )
        if (bad := ~(sums > 0.0)).any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{blank._row(row)} has no counts, so its probabilities are unknown: drop that target value, "
                "merge it with another, or use Confidence, which takes it as wholly uncertain"
            )
        return cls(number / sums[:, None], **blank.labels)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of target values and of source values."""
        rows, columns = self.table.shape
        return rows, columns

    def __repr__(self) -> str:
        return f"Conditional({self._title})"


@dataclass(frozen=True, eq=False, repr=False)
class Box(_Named):
    """All tables p(source | target) between two edges, entry by entry, whose rows sum to 1.

    Edges are clipped to [0, 1] and tightened with "rows sum to 1", so that each is attained by some table. Edges
    between 0 and 1e-300 move outward, to one of the two.

    Examples
    --------
    >>> import deptriad as dt
    >>> box = dt.Box([[0.6, 0.1], [0.2, 0.5]], [[1.0, 0.2], [0.4, 0.9]])
    >>> box.lower.round(3).tolist()
    [[0.8, 0.1], [0.2, 0.6]]
    """

    lower: Floats
    upper: Floats
    target: str = "target"
    source: str = "source"
    target_values: Labels = None
    source_values: Labels = None

    def __post_init__(self) -> None:
        lower, upper = _matrix(self.lower, "lower"), _matrix(self.upper, "upper")
        if lower.shape != upper.shape:
            raise ValueError(
                f"lower has shape {lower.shape} and upper {upper.shape}, expected the same shape"
            )
        self._check_labels(lower.shape)
        lower, upper = np.maximum(lower, 0.0), np.minimum(upper, 1.0)
        self._check_not_empty(lower, upper)
        lower = normalised(lower, np.maximum(lower.sum(axis=1), 1.0))
        upper = normalised(upper, np.minimum(upper.sum(axis=1), 1.0))
        lower, upper = _tightened(lower, upper)
        lower = np.where(lower < LEAST, 0.0, lower)
        upper = np.where((upper > 0.0) & (upper < LEAST), LEAST, upper)
        object.__setattr__(self, "lower", _read_only(lower))
        object.__setattr__(self, "upper", _read_only(upper))

    def _check_not_empty(self, lower: Floats, upper: Floats) -> None:
        if (bad := ~(lower <= upper)).any():
            row, column = (int(index) for index in np.argwhere(bad)[0])
            raise ValueError(
                f"the box is empty in {self._row(row)}: column {column} has lower edge {lower[row, column]:.12g} "
                f"and upper edge {upper[row, column]:.12g}, expected lower ≤ upper within [0, 1]"
            )
        for edge, name, bad in (
            (lower, "lower", lower.sum(axis=1) > 1.0 + TOLERANCE),
            (upper, "upper", upper.sum(axis=1) < 1.0 - TOLERANCE),
        ):
            if bad.any():
                row = int(np.argmax(bad))
                raise ValueError(
                    f"the box is empty: in {self._row(row)} the {name} edges sum to {edge[row].sum():.12g}, "
                    "so no row between the edges sums to 1: widen that row"
                )

    @cached_property
    def spare(self) -> Floats:
        """What each row has left to hand out above its lower edges: 1 − Σ lower, rounded up."""
        return np.maximum(_remainder(self.lower, 2.0), 0.0)

    @cached_property
    def surplus(self) -> Floats:
        """What each row must take back from its upper edges: Σ upper − 1, rounded up."""
        return np.maximum(-_remainder(self.upper, -2.0), 0.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of target values and of source values."""
        rows, columns = self.lower.shape
        return rows, columns

    def __repr__(self) -> str:
        width = float(np.max(self.upper - self.lower))
        return f"Box({self._title}, widest interval {width:.4g})"


def as_conditional(table: ArrayLike | Conditional) -> Conditional:
    """A Conditional as it is, or one made from an array-like."""
    return table if isinstance(table, Conditional) else Conditional(table)  # type: ignore[arg-type]


def _remedy(given: Any, table: Floats) -> str:
    """What to do about rows that do not sum to 1."""
    if (np.abs(table.sum(axis=0) - 1.0) <= TOLERANCE).all():
        return "the columns do, so transpose the table: rows are for target values"
    if getattr(given, "dtype", None) in (np.float32, np.float16):
        return f"it came as {given.dtype}: convert it to float64, then normalise the rows"
    return "pass counts to Conditional.from_counts, or normalise the row"


def as_many(tables: Any) -> Any:
    """Something that can be gone through more than once."""
    again = isinstance(tables, Conditional | Box) or hasattr(tables, "__len__")
    return tables if again else list(tables)


def are_boxes(tables: Any) -> bool:
    """Whether all of many tables are boxes; some alone are refused."""
    if isinstance(tables, np.ndarray | Conditional | Box):
        return False
    each = [isinstance(table, Box) for table in tables]
    if any(each) and not all(each):
        raise ValueError(
            f"table {each.index(True)} is a Box and table {each.index(False)} is not, expected tables only or boxes "
            "only: a table P that is known is Box(P, P)"
        )
    return any(each)


def flattened(tables: Any) -> tuple[Floats, Integers, Integers]:
    """Many tables laid end to end, checked and normalised: their entries, rows and columns."""
    if _is_one_table(tables):
        raise ValueError(
            "got one table of two dimensions, expected several: put it into a list, or use triad or leakage"
        )
    if isinstance(tables, np.ndarray) and tables.ndim == 3 and tables.size and _are_clean(tables):
        stack = tables.astype(np.float64)
        rows, columns = (np.full(len(stack), size) for size in stack.shape[1:])
        lines = stack.reshape(-1, stack.shape[2])
        return normalised(lines, lines.sum(axis=1)).reshape(-1), rows, columns
    each = []
    for number, table in enumerate(tables):
        try:
            each.append(as_conditional(table).table)
        except ValueError as error:
            raise ValueError(f"table {number}: {error}") from None
    if not each:
        raise ValueError("got no tables, expected at least one")
    rows, columns = (np.array([table.shape[axis] for table in each]) for axis in (0, 1))
    return np.concatenate([table.reshape(-1) for table in each]), rows, columns


def _is_one_table(tables: Any) -> bool:
    try:
        return isinstance(tables, Conditional | Box) or np.ndim(tables[0]) == 1
    except (LookupError, TypeError, ValueError):  # nothing, a frame, a generator, a ragged list
        return False


def _are_clean(stack: Floats) -> bool:
    """Whether a stack of tables passes every check at once; if not, they are looked at one by one."""
    sums = stack.sum(axis=2, dtype=np.float64)
    return bool(
        ((stack == 0.0) | (stack >= LEAST)).all() and (np.abs(sums - 1.0) <= TOLERANCE).all()
    ) and not np.ma.is_masked(stack)


def normalised(table: Floats, sums: Floats) -> Floats:
    """Rows divided by their sums, where those are off by more than rounding already accounts for."""
    off = np.abs(sums - 1.0) > 4 * ROUNDOFF
    return table / np.where(off, sums, 1.0)[..., None] if off.any() else table


def _matrix(values: Any, name: str) -> Floats:
    """A C-ordered float64 copy with two dimensions, both non-empty."""
    if isinstance(values, Box | Conditional):
        raise ValueError(f"{name} is {values!r}, expected a plain table of numbers")
    if np.ma.is_masked(values):
        row, column = (int(place) for place in np.argwhere(np.ma.getmaskarray(values))[0])
        raise ValueError(
            f"{name} has a masked entry in row {row}, column {column}: fill or drop it"
        )
    try:
        matrix = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a rectangular table of numbers: {error}") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} has shape {matrix.shape}, expected two dimensions: one or more rows for target values and one or "
            "more columns for source values"
        )
    return matrix


def _read_only(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def _tightened(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Each edge cut where the other entries of its row force it, rounded outward (maths §3)."""
    room = lower + np.maximum(_remainder(lower, 2.0), 0.0)[:, None]
    need = upper - np.maximum(-_remainder(upper, -2.0), 0.0)[:, None]
    slack = 2 * ROUNDOFF
    return np.clip(need * (1.0 - slack), lower, upper), np.clip(room * (1.0 + slack), lower, upper)


def _remainder(edge: Floats, roundings: float) -> Floats:
    """1 − Σ of each row, correctly rounded since it may be tiny beside the terms, but for their own roundings."""
    exact = [math.fsum(itertools.chain((1.0,), row)) for row in (-edge).tolist()]
    return np.asarray(np.array(exact) + roundings * ROUNDOFF * edge.sum(axis=1))
