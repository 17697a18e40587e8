"""Where boxes come from: how far the true table may lie from the one at hand (maths §3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from deptriad.tables.joint_box import JointBox, rolled, unrolled
from deptriad.tables.table import Box, Conditional, _matrix, as_conditional
from deptriad.utils.arrays import Floats, as_numbers, as_share, as_whole
from deptriad.utils.errors import refuse_other
from deptriad.utils.rounding import ROUNDOFF


@dataclass(frozen=True)
class Relative:
    """Every entry may be off by a share of itself: Δ = margin · P. Zeros stay zero.

    An assumption, not a guarantee; the paper advises 0.1 to 0.2 where one group is all there is.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Relative(0.1).box([[0.5, 0.5], [0.2, 0.8]]).upper.round(3).tolist()
    [[0.55, 0.55], [0.22, 0.82]]
    """

    margin: float

    def __post_init__(self) -> None:
        if np.ndim(self.margin) or not 0.0 <= as_numbers(self.margin, "margin") < np.inf:
            raise ValueError(
                f"margin is {self.margin}, expected a number ≥ 0, such as 0.1 for ten per cent"
            )

    @overload
    def box(self, table: Conditional) -> Box: ...
    @overload
    def box(self, table: ArrayLike) -> Any: ...
    def box(self, table: ArrayLike | Conditional) -> Box | JointBox:
        """The box around a table; a JointBox where it has more than two axes, the first for the target."""
        rows, shape = unrolled(table)
        centre = as_conditional(rows)
        return rolled(_around(centre, self.margin * centre.table), shape)


@dataclass(frozen=True, eq=False)
class Absolute:
    """Every entry may be off by a given amount: one number, or one for each entry.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Absolute(0.05).box([[0.5, 0.5], [0.02, 0.98]]).lower.round(3).tolist()
    [[0.45, 0.45], [0.0, 0.93]]
    """

    delta: ArrayLike

    def __post_init__(self) -> None:
        delta = as_numbers(self.delta, "delta")
        if (bad := ~(delta >= 0.0) | np.isinf(delta)).any():
            raise ValueError(f"delta is {delta[bad].flat[0]}, expected numbers ≥ 0")

    @overload
    def box(self, table: Conditional) -> Box: ...
    @overload
    def box(self, table: ArrayLike) -> Any: ...
    def box(self, table: ArrayLike | Conditional) -> Box | JointBox:
        """The box around a table; a JointBox where it has more than two axes, the first for the target."""
        rows, shape = unrolled(table)
        centre = as_conditional(rows)
        delta, whole = np.asarray(self.delta, dtype=np.float64), shape or centre.shape
        if delta.ndim and delta.shape != whole:
            raise ValueError(
                f"delta has shape {delta.shape}, expected one number or the shape of the table, {whole}"
            )
        around = np.broadcast_to(delta, whole).reshape(centre.shape)
        return rolled(_around(centre, around), shape)


Spreads = Literal["range", "std", "variance", "mad"]

_SPREADS: dict[str, Callable[[Floats], Floats]] = {
    "range": lambda tables: np.ptp(tables, axis=0),
    "std": lambda tables: np.std(tables, axis=0, ddof=1),
    "variance": lambda tables: np.var(tables, axis=0, ddof=1),
    "mad": lambda tables: np.mean(np.abs(tables - tables.mean(axis=0)), axis=0),
}


@dataclass(frozen=True)
class Spread:
    """Several tables, from several places or years: their mean, give or take how much they differ.

    ``kind`` is "range" (largest − smallest), "std" (divisor n − 1), "variance" or "mad" (mean absolute deviation).
    An assumption about the table one will meet, not a guarantee.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Spread("range").box([[[0.5, 0.5]], [[0.6, 0.4]]]).upper.round(3).tolist()
    [[0.65, 0.55]]
    """

    kind: Spreads = "std"

    def __post_init__(self) -> None:
        refuse_other(self.kind, _SPREADS, "kind")

    @overload
    def box(self, tables: Sequence[Conditional]) -> Box: ...
    @overload
    def box(self, tables: Sequence[ArrayLike]) -> Any: ...
    def box(self, tables: Sequence[ArrayLike | Conditional]) -> Box | JointBox:
        """The box around the mean of two or more tables of one shape; of several axes each, a JointBox."""
        flat = [unrolled(table) for table in tables]
        each = [as_conditional(rows) for rows, _ in flat]
        if len(each) < 2:
            raise ValueError(
                f"got {len(each)} table, expected two or more to spread between: or use Relative"
            )
        shapes = {shape or table.shape for table, (_, shape) in zip(each, flat, strict=True)}
        if len(shapes) > 1:
            raise ValueError(f"the tables have shapes {sorted(shapes)}, expected the same shape")
        stack = np.stack([table.table for table in each])
        centre = Conditional(stack.mean(axis=0), **each[0].labels)
        return rolled(_around(centre, _SPREADS[self.kind](stack)), flat[0][1])


def share_ends(hits: Any, of: Any, miss: float) -> tuple[Any, Any]:
    """Clopper and Pearson's lower and upper end of a share, each wrong with a chance of at most ``miss``.

    >>> low, high = share_ends(5, 10, 0.025)
    >>> round(float(low), 4), round(float(high), 4)
    (0.1871, 0.8129)
    """
    from scipy.special import betainccinv, betaincinv

    hits, of = np.asarray(hits, dtype=float), np.asarray(of, dtype=float)
    with np.errstate(invalid="ignore"):
        lower = np.where(hits > 0, betaincinv(hits, of - hits + 1.0, miss), 0.0)
        upper = np.where(hits < of, betainccinv(hits + 1.0, of - hits, miss), 1.0)
    return lower[()], upper[()]


@dataclass(frozen=True)
class Confidence:
    """Counts from a sample: all true tables lie in their boxes with probability at least ``level``.

    Exact binomial (Clopper–Pearson) intervals, made simultaneous by Bonferroni over ``cells``: the number of
    cells of ALL tables used together; this table's own by default. The only box here that is a guarantee: for
    records drawn independently from the population. A row without records is wholly uncertain.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Confidence(0.95).box([[50, 50], [0, 10]]).upper.round(2).tolist()
    [[0.63, 0.63], [0.4, 1.0]]
    """

    level: float = 0.95
    cells: int | None = None

    def __post_init__(self) -> None:
        as_share(self.level, "level")
        if self.cells is not None:
            as_whole(self.cells, "cells", 1)

    def box(self, counts: ArrayLike, **labels: Any) -> Any:
        """The box of a table of counts: whole numbers, rows for target values, columns for source values.

        Counts with more than two axes, the first for the target, make a JointBox.
        """
        rows, shape = unrolled(counts)
        return rolled(self.table_box(rows, **labels), shape)

    def table_box(self, counts: ArrayLike, **labels: Any) -> Box:
        """The same for two axes only."""
        number = _matrix(counts, "counts")
        blank = Box(np.zeros(number.shape), np.ones(number.shape), **labels)
        if self.cells is not None and self.cells < number.size:
            raise ValueError(
                f"cells is {self.cells}, expected at least the {number.size} of this table: it counts the cells of all "
                "tables used together"
            )
        blank._check_entries(number, "counts")
        if (bad := number != np.rint(number)).any():
            raise ValueError(
                f"counts has {number[bad].flat[0]}, expected whole numbers: intervals need real counts"
            )
        if number.sum() > 2.0**53:
            raise ValueError(
                f"counts sums to {number.sum():g}, expected at most 2^53, where whole numbers end"
            )
        miss = (1.0 - self.level) / (self.cells or number.size) / 2.0
        lower, upper = share_ends(number, number.sum(axis=1, keepdims=True), miss)
        # the inverse is good to a few parts in 1e14; the box grows by more than that
        return Box(lower * (1.0 - 1e-12), upper * (1.0 + 1e-12), **blank.labels)


def shared(known: Any, pairs: int, more: int) -> Any:
    """An uncertainty for the cells of all pairs' tables and so many more: a level of Confidence holds for all of them.

    It counts the further cells, unless it has room for them already: then whoever made it had them in mind.

    >>> shared(Confidence(0.95, cells=100), 100, 50), shared(Confidence(0.95, cells=200), 100, 50)
    (Confidence(level=0.95, cells=150), Confidence(level=0.95, cells=200))
    """
    if not isinstance(known, Confidence):
        return known
    cells = known.cells or pairs
    return known if cells >= pairs + more else replace(known, cells=cells + more)


def _around(centre: Conditional, delta: Floats) -> Box:
    """[P − Δ, P + Δ], rounded outward; an entry that is known (Δ = 0) stays as it is."""
    slack = np.where(delta > 0.0, 2 * ROUNDOFF * (centre.table + delta), 0.0)
    return Box(centre.table - delta - slack, centre.table + delta + slack, **centre.labels)


# --- in a word: how a command line, a file or a sentence names an uncertainty ------------------------------------

Uncertainty = Relative | Absolute | Spread | Confidence


def from_text(text: str) -> Uncertainty:
    """An uncertainty from a word such as "relative:0.1", "absolute:0.01", "spread:std" or "confidence:0.95".

    >>> from_text("spread:range")
    Spread(kind='range')
    """
    kind, _, detail = text.partition(":")
    if kind == "spread":
        return Spread(detail or "std")  # type: ignore[arg-type]
    if kind in ("relative", "absolute"):
        return (Relative if kind == "relative" else Absolute)(_number(detail, text))
    if kind == "confidence":
        level, slash, cells = detail.partition("/")
        return Confidence(_number(level, text), int(_number(cells, text)) if slash else None)
    raise ValueError(
        f"uncertainty is {text!r}, expected relative:0.1, absolute:0.01, spread:std or confidence:0.95"
    )


def _number(digits: str, text: str) -> float:
    try:
        return float(digits)
    except ValueError:
        raise ValueError(
            f"uncertainty is {text!r}, expected a number in place of {digits!r}, as in relative:0.1"
        ) from None


def as_text(uncertainty: Uncertainty) -> str:
    """The word that ``from_text`` understands; the cells of Confidence follow its level after a slash.

    >>> as_text(Confidence(0.95, cells=100))
    'confidence:0.95/100'
    """
    if isinstance(uncertainty, Spread):
        return f"spread:{uncertainty.kind}"
    if isinstance(uncertainty, Confidence):
        cells = "" if uncertainty.cells is None else f"/{uncertainty.cells}"
        return f"confidence:{float(uncertainty.level)!r}{cells}"
    if isinstance(uncertainty, Relative):
        return f"relative:{float(uncertainty.margin)!r}"
    return f"absolute:{float(np.asarray(uncertainty.delta))!r}"


def in_words(uncertainty: Uncertainty, chosen: bool | None = None) -> str:
    """What it allows for, in a few words.

    Parameters
    ----------
    uncertainty
        The uncertainty.
    chosen
        Whether the values were chosen by looking at the same records, which leaves Confidence no guarantee; None where
        nobody knows.

    Examples
    --------
    >>> in_words(Relative(0.1))
    'every entry may be off by 10 % of itself (an assumption)'
    """
    if isinstance(uncertainty, Spread):
        return f"tables may differ as the groups do ({uncertainty.kind}; an assumption)"
    if isinstance(uncertainty, Confidence):
        level = f"covered with probability {uncertainty.level:g}"
        if chosen:
            return (
                "no guarantee, since the values were chosen by looking at the same records: with a schema from other "
                f"data all true tables would be {level}"
            )
        known = (
            ", if the schema was fixed beforehand"
            if chosen is None
            else ": the schema was fixed beforehand"
        )
        return f"all true tables are {level}{known}"
    if isinstance(uncertainty, Relative):
        return f"every entry may be off by {100 * uncertainty.margin:g} % of itself (an assumption)"
    return f"every entry may be off by {float(np.asarray(uncertainty.delta)):g} (an assumption)"
