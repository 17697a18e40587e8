"""The least certified bound of the released sources, with its proof, beside their leakages (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deptriad.curves import lines
from deptriad.curves.leakage import leakages
from deptriad.tables.table import Box
from deptriad.totals.layout import laid_out
from deptriad.totals.least_denominator import planes
from deptriad.totals.proof import Form, Proof
from deptriad.totals.shared_target import Table
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.rounding import ROUNDOFF, sum_up, widening

if TYPE_CHECKING:
    from deptriad.totals.points import AllPoints

FAINT_SUM = 1e-200
"""Sum of budgets above which what underflows is below the rounding that is granted anyhow."""


class Tables:
    """The tables of some sources about one target, each of two or more values, laid out: what no budgets change.

    ``favoured`` has the sets that the mechanism of each source can favour, None where that may be any.
    """

    def __init__(
        self, tables: Sequence[Table], favoured: Sequence[Booleans | None] | None = None
    ) -> None:
        self.tables = list(tables)
        self.free = np.array([sets is None for sets in favoured or [None] * len(self.tables)])
        self.sources = laid_out(self.tables, favoured)
        self.rows = self.tables[0].shape[0]

    @cached_property
    def points(self) -> AllPoints:
        """The points of all sources."""
        from deptriad.totals.points import AllPoints

        return AllPoints(self.sources)

    @cached_property
    def distances(self) -> Floats:
        """The largest A − B for each pair of target values (row) and source (column)."""
        return self.points.distances()


class Released:
    """Tables with the budgets at which their sources are released: their leakages, and ceilings of all bounds."""

    def __init__(self, tables: Tables, budgets: Sequence[float]) -> None:
        self.tables = tables
        self.epsilon = np.array(budgets, dtype=np.float64)
        self.focus = lines.inverse_gain(self.epsilon)
        # (A − B)/(1/t + B) ≤ t·(A − B); where e^ε is too large for that, no leakage is above ε
        most = np.log1p(np.expm1(np.minimum(self.epsilon, 600.0)) * tables.distances)
        self.sum_ceilings = np.where(self.epsilon < 600.0, most, self.epsilon)
        np.minimum(self.sum_ceilings, self.epsilon, out=self.sum_ceilings)
        self._planes: dict[tuple[int, ...], Floats] = {}
        self.leakages = self._leakages()
        self.paired = sum_up(self.leakages)
        if not self.faint:
            every = np.arange(self.epsilon.size)
            paired = self._largest_sum(every, self.leakages)
            self.paired = min(paired * widening(2 * every.size + 16), self.paired)

    @property
    def faint(self) -> bool:
        """Whether the budgets are so small that products with them are lost: then nothing is said but their sum."""
        return float(self.epsilon.sum()) < FAINT_SUM

    def _largest_sum(self, some: Integers, most: Floats) -> float:
        from deptriad.totals import _term_kernels

        ceilings = self.sum_ceilings[:, some].sum(axis=1) * widening(2 * some.size + 16)
        places = np.argsort(-ceilings, kind="stable")
        best = 0.0
        for part, at, points in self.tables.points.among(places, some):
            falling = ceilings[places[part]]
            if falling[0] <= best:
                break
            best = _term_kernels.largest_sum(
                points, at, falling, some, self.epsilon, self.focus, most, best
            )
        return float(best)

    def _leakages(self) -> Floats:
        """L of each source: from its sets, which are exact, where a box has few or a mechanism its own."""
        found = np.zeros(self.epsilon.size)
        sources = self.tables.sources
        boxed = np.array([isinstance(each.table, Box) for each in sources])
        by_sets = np.array([each.sets is not None for each in sources])
        by_sets &= boxed | ~self.tables.free
        for i in np.flatnonzero(by_sets):
            alone = self._largest_sum(np.array([i]), self.epsilon) * widening(16)
            found[i] = min(alone, self.epsilon[i])
        for others in (~boxed & ~by_sets, boxed & ~by_sets):
            if others.any():
                some = [self.tables.tables[i] for i in np.flatnonzero(others)]
                found[others] = leakages(some, self.epsilon[others])
        return np.where(self.epsilon < lines.FAINT, self.epsilon, found)

    def planes(self, kept: tuple[int, ...]) -> Floats:
        """The least denominator of up to three sources."""
        if kept not in self._planes:
            self._planes[kept] = planes(self.epsilon[list(kept)])
        return self._planes[kept]

    @cached_property
    def ceilings(self) -> Floats:
        """For each pair something above its plain bound."""
        return plain_ceilings(self.tables, self.epsilon)


def plain_ceilings(tables: Tables, epsilon: Floats) -> Floats:
    """For each pair of target values something above its plain bound, at once: by distances alone.

    With f(A) = ln(1 + (e^R − 1)·A)/R a term is ε·(f(A) − A + A − B), at most ε times the largest f(A) − A, which is
    at 1/R − 1/(e^R − 1), and the largest A − B.
    """
    total = float(epsilon.sum())
    bend = total / 8.0  # Hoeffding's lemma
    if 1e-3 < total < 600.0:
        at = 1.0 / total - 1.0 / math.expm1(total)
        bend = math.log1p(math.expm1(total) * at) / total - at
    bound = total * bend + tables.distances @ epsilon
    return np.asarray(np.minimum(bound, total) * widening(4 * epsilon.size + 64))


def certify(
    target: str,
    own: float,
    budgets: Mapping[str, float],
    released: Released,
    mechanisms: Mapping[str, str] | None = None,
) -> Proof:
    """The proof of the least total of all forms; ``budgets`` name all that is released, also what says nothing."""
    from deptriad.totals.pair_bounds import PairBounds

    ceiling = sum_up([own, *released.epsilon])
    if released.faint:
        return Proof(target, own, budgets, "sum of budgets", ceiling, mechanisms=mechanisms)
    if released.epsilon.size == 1:
        exact = min(sum_up([own, released.leakages[0]]), ceiling)
        return Proof(target, own, budgets, "one source", exact, mechanisms=mechanisms)
    rows = released.tables.rows
    found: dict[tuple[int, int], PairBounds] = {}
    highest = 0.0
    for place in np.argsort(-released.ceilings, kind="stable"):
        x, y = divmod(int(place), rows)
        if x == y:
            continue
        if released.ceilings[place] <= highest:
            break
        pair = PairBounds(released, x, y)
        if pair.bound > highest:
            pair.sharpen(highest)
        if not pair.simple:
            found[x, y] = pair
        highest = max(highest, pair.bound)
    value = sum_up([own, highest, rounding_slack(released.epsilon)])
    if value >= ceiling:
        return Proof(target, own, budgets, "sum of budgets", ceiling, mechanisms=mechanisms)
    pairs = list(found.values())
    form: Form = "pair by pair" if pairs else "plain"
    return Proof(
        *(target, own, budgets, form, value),
        pairs=np.array(list(found), dtype=np.int64),
        ways=np.array([pair.way for pair in pairs], dtype=np.int64),
        a=np.array([pair.a for pair in pairs]),
        shares=np.array([pair.shares for pair in pairs]),
        mechanisms=mechanisms,
    )


def rounding_slack(epsilon: Floats) -> float:
    """How far a computed bound of m sources may be off, generously.

    Sums of up to m positive terms appear in k, in W and over the sources, a few roundings each; every logarithm is
    taken so that an error of its argument by ρ moves its term by at most about 2ρ·ε_i, or ρ·λ_i·R, and Σ λ_i = 1. So
    the whole is off by at most about (14m + 30) roundings of R = Σ ε_i. A second computation may be off as far.
    """
    return float((32 * epsilon.size + 128) * ROUNDOFF * epsilon.sum())
