"""Conditional: a table p(source | target). Box: the same, known only up to an interval for each entry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from deptriad.rounding import ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.lines import Floats, Integers

TOLERANCE = 1e-9
"""How far from 1 a row may sum before it is an error."""

Labels = Sequence[Any] | None
"""One label for each value; kept as a tuple of text."""


class _Named:
    """What a table with named attributes and values has in common with another."""

    target: str
    source: str
    target_values: Labels
    source_values: Labels

    @property
    def labels(self) -> dict[str, Any]:
        """The four names, ready to be passed on to another table."""
        return {
            name: getattr(self, name)
            for name in ("target", "source", "target_values", "source_values")
        }

    def _check_labels(self, shape: tuple[int, ...]) -> None:
        for name, size in zip(("target_values", "source_values"), shape, strict=True):
            labels = getattr(self, name)
            if labels is None:
                continue
            texts = tuple(str(label) for label in labels)
            if len(texts) != size:
                raise ValueError(
                    f"{name} has {len(texts)} labels, expected {size}, one for each value"
                )
            object.__setattr__(self, name, texts)

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
                f"{what} has {entries[row, column]} in {self._row(row)}, column {column}: expected a number ≥ 0"
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
        self._check_labels(table.shape)
        self._check_entries(table, "table")
        sums = table.sum(axis=1)
        if (bad := np.abs(sums - 1.0) > TOLERANCE).any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{self._row(row)} sums to {sums[row]:.12g}, not 1: pass counts to Conditional.from_counts, "
                "or normalise the row"
            )
        object.__setattr__(self, "table", _read_only(normalised(table, sums)))

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
        blank = cls(
            np.full(number.shape, 1.0 / number.shape[1]),
            target,
            source,
            target_values,
            source_values,
        )
        blank._check_entries(number, "counts")
        sums = number.sum(axis=1)
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
        return f"Conditional(p({self.source} | {self.target}), {self.shape[0]} × {self.shape[1]})"


@dataclass(frozen=True, eq=False, repr=False)
class Box(_Named):
    """All tables p(source | target) between two edges, entry by entry, whose rows sum to 1.

    Edges are clipped to [0, 1] and tightened with "rows sum to 1", so that each is attained by some table.

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
        lower, upper = _tightened(lower, upper)
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
        return f"Box(p({self.source} | {self.target}), {self.shape[0]} × {self.shape[1]}, widest interval {width:.4g})"


def as_conditional(table: ArrayLike | Conditional) -> Conditional:
    """A Conditional as it is, or one made from an array-like."""
    return table if isinstance(table, Conditional) else Conditional(_matrix(table, "table"))


def flattened(
    tables: ArrayLike | Sequence[ArrayLike | Conditional],
) -> tuple[Floats, Integers, Integers]:
    """Many tables laid end to end, checked and normalised together: their entries, rows and columns."""
    if isinstance(tables, np.ndarray) and tables.ndim == 3:
        stack = tables.astype(np.float64)
        rows, columns = (np.full(len(stack), size) for size in stack.shape[1:])
        values = stack.reshape(-1)
        width = max(stack.shape[2], 1)
        sums = stack.sum(axis=2)
        if (
            np.all(stack >= 0.0)
            and np.all(np.abs(sums - 1.0) <= TOLERANCE)
            and stack.shape[1] * stack.shape[2]
        ):
            return (
                normalised(values.reshape(-1, width), sums.reshape(-1)).reshape(-1),
                rows,
                columns,
            )
    each = [as_conditional(table).table for table in tables]  # type: ignore[union-attr]
    if not each:
        raise ValueError("got no tables, expected at least one")
    rows, columns = (np.array([table.shape[axis] for table in each]) for axis in (0, 1))
    return np.concatenate([table.reshape(-1) for table in each]), rows, columns


def normalised(table: Floats, sums: Floats) -> Floats:
    """Rows divided by their sums, where those are off by more than rounding already accounts for."""
    off = np.abs(sums - 1.0) > 4 * ROUNDOFF
    return table / np.where(off, sums, 1.0)[..., None] if off.any() else table


def _matrix(values: ArrayLike, name: str) -> Floats:
    """A C-ordered float64 copy with two dimensions, both non-empty."""
    try:
        matrix = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a rectangular table of numbers: {error}") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} has shape {matrix.shape}, expected two dimensions, rows for target values and columns for "
            "source values"
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
