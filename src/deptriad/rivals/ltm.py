"""LTM: the worst case over all mechanisms, as a piecewise function that is computed once.

From "Quantifying Differential Privacy in Continuous Data Release under Temporal Correlations" (Cao, Yoshikawa, Xiao
and Xiong, 2018). A piece is a set of source values: it answers ln (1 + tA)/(1 + tB) with A and B its probabilities
under two target values and t = e^ε − 1. Here a piece is kept as ``lower`` = B and ``gap`` = A − B, so that nothing
cancels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.measure import (
    Answer,
    Measure,
    Table,
    best_of,
    for_each_budget,
    known_table,
    leakage_of,
)
from deptriad.utils.arrays import Floats, as_budget, scalar_or_array

Piece = tuple[float, float]
"""A gap and a lower."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of each ordered pair of target values: a row for each pair, a column for each piece.

    Piece k adds the k-th largest ratio to the set, and pays up to the budget ``point[k]``. Points decrease.
    """

    gap: Floats
    lower: Floats
    point: Floats

    def leakage(self, epsilon: ArrayLike) -> Answer:
        """The largest answer of any pair, each found by binary search: O(a² log b)."""
        return for_each_budget(lambda budget: best_of(*self._at(budget), budget), epsilon)

    def _at(self, epsilon: float) -> tuple[Floats, Floats]:
        """The piece of each pair that answers a budget; pairs of equal rows have none."""
        rows, width = np.arange(len(self.point)), self.point.shape[1]
        count = np.zeros(rows.size, dtype=np.int64)  # pieces known to pay
        for step in 1 << np.arange(width.bit_length())[::-1]:
            trial = np.minimum(count + step, width)
            count = np.where(self.point[rows, trial - 1] >= epsilon, trial, count)
        rows, last = rows[count > 0], count[count > 0] - 1
        return self.gap[rows, last], self.lower[rows, last]

    def merged(self) -> LeakageFunction:
        """The largest of all pairs as one function.

        Where two pieces of it meet, either a third answers more and lies between them, or they are neighbours.
        """
        held, start = [self._best(0.0)], [0.0]
        ahead = [self._best(np.inf)]
        while ahead:
            meet = _meeting_point(held[-1], ahead[-1])
            if start[-1] < meet < np.inf:
                between = self._best(meet)
                if _goes_down(held[-1], between) and _goes_down(between, ahead[-1]):
                    ahead.append(between)
                    continue
            held.append(ahead.pop())
            start.append(max(meet, start[-1]))
        return LeakageFunction(np.array(start), *np.array(held).T)

    def _best(self, epsilon: float) -> Piece:
        """The piece that answers most at a budget and, among equals, just above 0 or just below ∞."""
        gap, lower = self._at(epsilon)
        if not gap.size:
            return 0.0, 0.0
        score = leakage_of(gap, lower, np.asarray(epsilon)) if epsilon > 0.0 else gap
        best = np.lexsort((-lower, gap, score))[-1]
        return float(gap[best]), float(lower[best])


def _goes_down(before: Piece, after: Piece) -> bool:
    """Whether a piece may follow another as the budget grows; by a rounding, the best one may not."""
    return before != after and before[0] >= after[0] and before[1] >= after[1]


def _meeting_point(before: Piece, after: Piece) -> float:
    """Budget at which two pieces say the same: 1/t = (gap'·B/gap − B')/(1 − gap'/gap), through logarithms."""
    (gap, lower), (next_gap, next_lower) = before, after
    if next_gap >= gap:
        return 0.0
    if next_gap == 0.0 or lower / gap <= next_lower / next_gap:
        return np.inf
    focus = np.log(next_gap) + np.log(lower) - np.log(gap)
    focus += np.log1p(-(next_lower / next_gap) / (lower / gap)) - np.log1p(-next_gap / gap)
    return float(np.logaddexp(0.0, -focus))


@dataclass(frozen=True, eq=False)
class LeakageFunction:
    """The leakage as one function of the budget; each piece answers from its ``start`` on.

    Examples
    --------
    >>> from deptriad.rivals import ltm
    >>> function = ltm.prepare([[0.5, 0.3, 0.15, 0.05], [0.1, 0.15, 0.25, 0.5]])
    >>> function.start.round(3).tolist()
    [0.0, 0.956]
    >>> function.leakage([0.5, 5.0]).round(6).tolist()
    [0.274461, 2.188836]
    """

    start: Floats
    gap: Floats
    lower: Floats

    def leakage(self, epsilon: ArrayLike) -> Answer:
        """The leakage at each budget, by binary search: O(log k)."""
        budget = as_budget(epsilon)
        piece = np.searchsorted(self.start, budget, side="right") - 1
        return scalar_or_array(leakage_of(self.gap[piece], self.lower[piece], budget))


def pieces(table: Table) -> Pieces:
    """The pieces of every ordered pair of target values: O(a²b log b) time, O(a²b) numbers."""
    entries = known_table(table)
    each = [_pieces_over(more, entries) for more in entries]
    columns = zip(*((part.gap, part.lower, part.point) for part in each), strict=True)
    return Pieces(*map(np.concatenate, columns))


def _pieces_over(more: Floats, others: Floats) -> Pieces:
    """The pieces of one target value over each row of others."""
    pays = others < more
    with np.errstate(divide="ignore", invalid="ignore"):
        # ascending less/more is descending more/less, and never overflows; the rest goes last
        order = np.argsort(np.where(pays, others / more, np.inf), axis=1)
    less = np.take_along_axis(np.where(pays, others, 0.0), order, axis=1)
    step = np.take_along_axis(np.where(pays, more - others, 0.0), order, axis=1)
    gap, lower = np.cumsum(step, axis=1), np.cumsum(less, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        point = np.full(step.shape, np.inf)
        point[:, 1:] = _join_until(gap[:, :-1], lower[:, :-1], less[:, 1:] / step[:, 1:])
    return Pieces(gap, lower, np.minimum.accumulate(np.where(step > 0.0, point, 0.0), axis=1))


def _join_until(gap: Floats, lower: Floats, odds: Floats) -> Floats:
    """The authors' ln(1 + (q_k − d_k)/(Q_k d_k − D_k q_k)) as ln(1 + 1/(gap·odds − lower)), odds = d_k/(q_k − d_k).

    The k-th terms of Q and D cancel, so they are left out here: for q = (1e-17, 1/2) and d = (0, 1/4) rounding would
    leave nothing else. And ln(1 + ·) is easily forgotten: without it most budgets get the wrong piece.
    """
    focus = np.log(np.maximum(gap * odds - lower, 0.0))
    vanishing = (focus < -650.0) & (odds > 0.0)  # the product may have left the float range
    gap, lower, odds = gap[vanishing], lower[vanishing], odds[vanishing]
    share = np.minimum(lower / gap / odds, 1.0)
    focus[vanishing] = np.log(gap) + np.log(odds) + np.log1p(-share)
    return np.logaddexp(0.0, -focus)


def prepare(table: Table) -> LeakageFunction:
    """The leakage function of a table, by way of the pieces of every pair."""
    return pieces(table).merged()


def measure(table: Table, epsilon: ArrayLike) -> Answer:
    """Leakage under the worst ε-LDP mechanism (the paper's CPL*) from the pieces of every pair of target values.

    For a pair with probabilities q and d, those source values with q > d are sorted by descending q/d. With Q and D
    the running sums, value k joins the set up to the budget ``ln(1 + (q_k − d_k)/(Q_k d_k − D_k q_k))``, and a
    binary search finds the set for a budget. To ask about many budgets, use ``prepare``: it keeps the
    largest of all pairs as one function. A yardstick, in plain floating point: not rounded outward.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    epsilon
        Budget of the mechanism.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> measures["ltm"].measure([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [0.1, 1.0, 10.0]).round(6).tolist()
    [0.060574, 0.631163, 1.945521]
    """
    entries, budget = known_table(table), as_budget(epsilon)
    value = np.zeros(budget.shape)
    for more in entries:  # a row at a time, so that memory stays small
        value = np.maximum(value, _pieces_over(more, entries).leakage(budget))
    return scalar_or_array(value)


MEASURE = Measure(
    name="ltm",
    title="LTM: piecewise leakage function",
    bounds="the worst case",
    precompute="O(a²(b+k) log b)",
    query="O(log k)",
    memory="O(k)",
    prepare=prepare,
    at_once=measure,
)
