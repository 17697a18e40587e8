"""The least certified bound of the released sources, with its proof, beside their leakages (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from deptriad.curves import lines
from deptriad.curves.leakage import leakages
from deptriad.tables.table import Box
from deptriad.totals.layout import laid_out
from deptriad.totals.proof import Form, Proof
from deptriad.totals.shared_target import FEW, Table
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import ROUNDOFF, sum_up, widening


class Released:
    """The tables of all released sources that say anything about a target, their leakages and plain bounds."""

    def __init__(self, tables: list[Table], budgets: list[float]) -> None:
        from deptriad.totals import _term_kernels

        self.epsilon = np.array(budgets)
        self.sources = laid_out(tables)
        focus = lines.inverse_gain(self.epsilon)
        self.leakages = self._leakages(tables, focus)
        self.plain, paired = _term_kernels.plain_bounds(
            self.sources, self.epsilon, focus, self.leakages
        )
        self.paired = min(paired * widening(2 * len(tables) + 16), sum_up(self.leakages))

    def _leakages(self, tables: list[Table], focus: Floats) -> Floats:
        """L of each source: of a box of few values from its sets, which are exact, otherwise as ``leakages`` has it."""
        from deptriad.totals import _term_kernels

        boxes = np.array([isinstance(table, Box) for table in tables])
        by_sets = boxes & (self.sources.columns <= FEW)
        found = np.zeros(len(tables))
        if by_sets.any():
            found = _term_kernels.largest_leakages(self.sources, self.epsilon, focus)
            found = np.minimum(found * widening(16), self.epsilon)
        for others in (~boxes, boxes & ~by_sets):
            if others.any():
                some = [tables[i] for i in np.flatnonzero(others)]
                found[others] = leakages(some, self.epsilon[others])
        return found


def certify(target: str, own: float, budgets: Mapping[str, float], released: Released) -> Proof:
    """The proof of the least total of all forms; ``budgets`` name all that is released, also what says nothing."""
    ceiling = sum_up([own, *released.epsilon])
    if released.epsilon.size == 1:
        exact = min(sum_up([own, released.leakages[0]]), ceiling)
        return Proof(target, own, budgets, "one source", exact)
    bound, pairs, a, shares = _refined(released)
    slack = rounding_slack(released.epsilon)
    value = sum_up([own, max(bound, 0.0), slack])
    if value >= ceiling:
        return Proof(target, own, budgets, "sum of budgets", ceiling)
    form: Form = "reference" if len(pairs) else "plain"
    return Proof(target, own, budgets, form, value, pairs, a, shares)


def _refined(released: Released) -> tuple[float, Integers, Floats, Floats]:
    """The largest bound of any pair, and (a, λ) of the pairs that needed them.

    Pairs come by falling plain bound. Once that is not above what some pair already has, the rest stay plain.
    """
    from deptriad.totals._reference_kernels import refine

    pairs, a, shares = [], [], []
    highest = -math.inf
    for place in np.argsort(-released.plain, axis=None, kind="stable"):
        x, y = divmod(int(place), released.sources.rows)
        if x == y:
            continue
        bound = float(released.plain[x, y])
        if bound <= highest:
            break
        better, at, share = refine(released.sources, released.epsilon, x, y, highest)
        if better < bound:
            bound = float(better)
            pairs.append((x, y))
            a.append(at)
            shares.append(share)
        highest = max(highest, bound)
    return highest, np.array(pairs, dtype=np.int64), np.array(a), np.array(shares)


def rounding_slack(epsilon: Floats) -> float:
    """How far a computed plain or reference bound of m sources may be off, generously.

    Sums of up to m positive terms appear in k, in W and over the sources, a few roundings each; every logarithm is
    taken so that an error of its argument by ρ moves its term by at most about 2ρ·ε_i, or ρ·λ_i·R, and Σ λ_i = 1. So
    the whole is off by at most about (14m + 30) roundings of R = Σ ε_i. A second computation may be off as far.
    """
    return float((32 * epsilon.size + 128) * ROUNDOFF * epsilon.sum())
