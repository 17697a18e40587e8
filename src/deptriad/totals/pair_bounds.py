"""PairBounds: the least bound on what all sources say about one pair of target values, and what proves it (maths §5).

Importing this module imports numba: do so inside functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deptriad.curves.lines import FAINT
from deptriad.totals import (
    _reference_kernels,
    _search_kernels,
    _term_kernels,
    _worst_joint_kernels,
)
from deptriad.totals._point_kernels import Points
from deptriad.totals.least_denominator import MOST
from deptriad.totals.proof import EVENTS, HULLS, REFERENCE
from deptriad.utils.arrays import Floats

if TYPE_CHECKING:
    from deptriad.totals.certificate import Released

MOST_EVENTS = 200_000
"""Choices of an event for each source up to which all are looked at."""

POOL = 5
"""Sources, those with the most to gain, of which any two or three are kept and the others left out."""

STEEP = 60.0
"""Sum of budgets up to which a worst joint is looked for: so far are products of e^ε proved in rational numbers."""

CLOSE = 1e-8
"""How near the least bound shares are searched for, as a part of the sum of budgets."""


class PairBounds:
    """The bounds of one pair: the least so far, in which way it is proved, and with which a and shares.

    A share of 0 leaves a source out: its report counts with its whole budget.
    """

    def __init__(self, released: Released, x: int, y: int) -> None:
        self.released, self.epsilon = released, released.epsilon
        self.points = released.tables.points.at(x, y)
        plain, self.alone = plain_bound(self.points, self.epsilon, released.focus)
        self.budgets = self.epsilon.tolist()
        self.total = math.fsum(self.budgets)
        self.gain = np.maximum(self.epsilon - self.alone, 0.0)
        self.bound = min(plain, self.total - float(self.gain.max()))
        self.simple = True
        self.way = REFERENCE
        self.a = self.shares = np.zeros(self.epsilon.size)

    def sharpen(self, enough: float) -> None:
        """Look for a lower bound, until one is low enough."""
        every = range(self.epsilon.size)
        if self.epsilon.size <= MOST and self._few(list(every)) is not None:
            return  # nothing is below the worst joint itself
        choice = self._reference(list(every), enough)
        for kept in self._kept():
            if self.bound <= enough:
                return
            self._few(kept)
        if self.bound > enough:
            self._leave_out(list(every), choice, enough)

    def _improve(
        self, value: float, kept: list[int], way: int, a: Sequence[float] | Floats, share: Floats
    ) -> None:
        """Take a bound on the sources that are kept if it is the least, all others left out."""
        bound = value + self._rest(kept)
        if bound < self.bound:
            self.bound, self.way, self.simple = bound, way, False
            self.a, self.shares = np.zeros(self.epsilon.size), np.zeros(self.epsilon.size)
            self.a[kept], self.shares[kept] = a, share

    def _rest(self, kept: Sequence[int]) -> float:
        """The budgets of all other sources."""
        return math.fsum(each for i, each in enumerate(self.budgets) if i not in kept)

    # --- two or three sources: the worst joint ---

    def _few(self, kept: list[int]) -> bool | None:
        """The worst joint of a few sources, over all events, or over the hulls of two; None if neither is feasible."""
        if self.epsilon[kept].sum() > STEEP:
            return None
        even = np.full(len(kept), 1.0 / len(kept))
        if feasible(self.points, kept):
            planes = self.released.planes(tuple(kept))
            found, _ = worst_events(self.points, kept, self.epsilon[kept], planes)
            self._improve(found, kept, EVENTS, np.zeros(len(kept)), even)
            return True
        if len(kept) != 2:
            return None
        gains = np.expm1(self.epsilon[kept])
        if math.prod(gains.tolist()) < FAINT:
            return None
        start = math.exp(min(self.bound - self._rest(kept), float(self.epsilon[kept].sum())))
        gamma, theta, weight = _worst_joint_kernels.two_hulls(
            some_points(self.points, kept, 2), gains, start
        )
        if gamma < math.inf:
            weights = [theta, min(weight / math.prod(gains.tolist()), 1.0)]
            self._improve(math.log(gamma) * (1.0 + 1e-12), kept, HULLS, weights, even)
        return None

    def _kept(self) -> Iterator[list[int]]:
        """Two or three sources that may be worth keeping alone, the most promising first.

        Whatever is kept, the bound is not below the budgets of the others and the largest leakage among them.
        """
        pool = sorted(np.argsort(-self.gain, kind="stable")[:POOL].tolist())
        some = [list(kept) for size in (3, 2) for kept in combinations(pool, size)]
        alone = self.alone.tolist()
        floors = [
            self.total - sum(self.budgets[i] for i in kept) + max(alone[i] for i in kept)
            for kept in some
        ]
        for floor, kept in sorted(zip(floors, some, strict=True)):
            if floor < self.bound and len(kept) < self.epsilon.size:
                yield kept

    # --- many sources: the reference form ---

    def _reference(self, kept: list[int], enough: float) -> tuple[float, Floats]:
        """The reference form of some sources: its bound, and the point of each, B and A, that is largest in it."""
        epsilon = self.epsilon[kept]
        points = some_points(self.points, kept, len(kept))
        rest = self._rest(kept)
        _, choice = _search_kernels.search(
            epsilon, points, enough - rest, CLOSE * float(epsilon.sum())
        )
        share = choice.share / choice.share.sum()
        found = float(_reference_kernels.proved(epsilon, choice.a, share, points))
        self._improve(found, kept, REFERENCE, choice.a, share)
        return found, np.asarray(choice.points[:, :2])

    def _leave_out(self, kept: list[int], found: tuple[float, Floats], enough: float) -> None:
        """Leave sources out one by one while that pays.

        With Jensen's denominator the worst events themselves never gain by it. So what can be gained is at most how
        far the reference form is above them, less what leaving a source out adds to them.
        """
        while len(kept) > 2 and self.bound > enough:
            bound, points = found
            attained, added = _jensen(self.epsilon[kept], *points.T)
            out = int(np.argmin(added))
            if 2.0 * added[out] > bound - attained:
                return
            before = self.bound
            kept = [*kept[:out], *kept[out + 1 :]]
            found = self._reference(kept, enough)
            if not self.bound < before:
                return


def plain_bound(points: Points, epsilon: Floats, focus: Floats) -> tuple[float, Floats]:
    """The plain bound of one pair, and the leakage of each source about it."""
    terms, alone = np.empty(epsilon.size), np.empty(epsilon.size)
    _term_kernels.plain_terms(points, epsilon, focus, terms, alone)
    if points.edged.any():
        _term_kernels.plain_edges(points, epsilon, terms)
    return float(np.cumsum(terms)[-1]), alone


def some_points(points: Points, kept: list[int], size: int) -> Points:
    """The points of some sources, filled up with sources that say nothing."""
    rows = [*kept, *[kept[0]] * (size - len(kept))]
    lower, upper, counts = points.lower[rows], points.upper[rows], points.counts[rows]
    lower[len(kept) :, 0] = upper[len(kept) :, 0] = 0.0
    counts[len(kept) :] = 1
    return Points(lower, upper, counts, points.edged[rows])


def feasible(points: Points, kept: list[int]) -> bool:
    """Whether all events of some sources can be looked at."""
    events = math.prod(points.counts[kept].tolist())
    return events <= MOST_EVENTS and not points.edged[kept].any()


def worst_events(
    points: Points, kept: list[int], epsilon: Floats, planes: Floats
) -> tuple[float, list[int]]:
    """ln of the largest likelihood ratio of up to three sources over all joints, and the point of each."""
    gains = np.zeros(MOST)
    gains[: len(kept)] = np.expm1(epsilon)
    found, places = _worst_joint_kernels.worst_events(
        some_points(points, kept, MOST), gains, planes
    )
    return float(found), list(places[: len(kept)])


def _jensen(epsilon: Floats, lower: Floats, upper: Floats) -> tuple[float, Floats]:
    """ln N(A) − Σ ε_i·B_i, and how much it and ε_i exceed that once source i is left out: N loses (1 − e^−ε)·W(A)."""
    order = np.argsort(upper)
    edge = np.concatenate([[0.0], upper[order], [1.0]])
    height = np.append(np.cumsum(epsilon[order][::-1])[::-1], 0.0)
    mass = np.cumsum(np.exp(height - height[0]) * np.diff(edge))
    inside = np.empty(epsilon.size)
    inside[order] = mass[:-1] / max(mass[-1], 1e-300)
    with np.errstate(divide="ignore"):  # the whole mass is inside: nothing may be left out
        added = epsilon * (1.0 + lower) + np.log1p(np.expm1(-epsilon) * inside)
    attained = height[0] + math.log(max(mass[-1], 1e-300)) - epsilon @ lower
    return attained, added
