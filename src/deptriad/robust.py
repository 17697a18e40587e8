"""Certified hockey sticks of a box: above every table in it, and where possible exactly the largest (maths §3)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deptriad import lines
from deptriad.exact import beyond, closer, extremes
from deptriad.lines import LARGE_BUDGET
from deptriad.profile import Profile, Triad
from deptriad.rounding import widening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.lines import Floats, Integers
    from deptriad.tables import Box

NODES = 400
"""How many times a pair may be branched before its bound is taken as it stands."""

AT_ONCE = 64
"""Pairs settled together; the best event among them spares the rest."""


MOST_KNOTS = 1024
"""Where the refinement of a box's profile stops, however small the tolerance."""


ORDINARY = np.geomspace(0.01, 10.0, 50)
"""Budgets that the triad of a box is made for where none are named."""


class Stick(NamedTuple):
    """E_γ over a box: certified from above by ``bound``, attained by the event with this gap and mass."""

    bound: float
    gap: float
    lower: float
    pair: tuple[int, int]
    event: Integers
    exact: bool


class Search:
    """Answers E_γ of one box for any γ, and remembers prices from one question to the next.

    A price for each row in each role makes a bound for every pair in one pass. Pairs that it leaves above what is
    already attained are priced on their own, and branched; where they are many, rows learn better prices first.
    """

    def __init__(self, box: Box, nodes: int = NODES) -> None:
        self.lower, self.upper = box.lower, box.upper
        self.spare, self.surplus = box.spare, box.surplus
        self.nodes = nodes
        self.prices = np.full((len(self.lower), 2), 0.5)
        self.learnt = False

    @cached_property
    def first(self) -> Stick:
        """The stick at γ = 1: φ."""
        return self.stick(0.0)

    def stick(self, eta: float, floor: float = 0.0) -> Stick:
        """E_γ at γ = 1 + η. Pairs below ``floor`` are not looked into: the bound is the floor where all are."""
        gamma = 1.0 + eta
        rows = np.arange(len(self.lower))
        if not self.learnt:
            self._learn_prices(np.roll(rows, 1), np.roll(rows, -1), gamma)
        bounds = self._bounds(gamma)
        found = Stick(0.0, 0.0, 0.0, (0, 0), np.zeros(0, dtype=np.int64), True)
        highest = reached = floor
        rounds = 0
        while (waiting := np.flatnonzero(bounds > reached)).size:
            rounds += 1
            if (top_bound := float(bounds.max())) <= reached * (
                1.0 + 1e-12
            ):  # near enough as it is
                highest = max(highest, top_bound)
                break
            if 1 < rounds < 6 and waiting.size > 4 * len(self.lower):
                self._learn_prices(bounds.argmax(axis=1), bounds.argmax(axis=0), gamma)
                bounds = np.minimum(bounds, self._bounds(gamma))
                waiting = np.flatnonzero(bounds > reached)
            if waiting.size > AT_ONCE:
                waiting = waiting[np.argpartition(bounds.ravel()[waiting], -AT_ONCE)[-AT_ONCE:]]
            if not waiting.size:
                break
            more, less = np.divmod(waiting, len(self.lower))
            settled, events = self._settle(more, less, gamma, reached, self.nodes)
            bounds[more, less] = 0.0
            highest = max(highest, float(settled[:, 0].max()))
            value = settled[:, 1] - gamma * settled[:, 2]
            top = int(np.argmax(value))
            if value[top] > reached:
                reached = float(value[top])
                above, below = settled[top, 1:3]
                pair = int(more[top]), int(less[top])
                found = Stick(
                    0.0, float(above - below), float(below), pair, np.flatnonzero(events[top]), True
                )
        exact = highest <= reached * (1.0 + 1e-12) + 1e-14 * (found.gap + found.lower)
        return found._replace(bound=min(self._rounded(highest), 1.0), exact=exact)

    def _rounded(self, bound: float) -> float:
        return bound * widening(2 * self.lower.shape[1])

    def _bounds(self, gamma: float) -> Floats:
        """The certificate of every ordered pair at the current prices, every term rounded up."""
        from deptriad import box_kernels

        mu, nu = self.prices[:, :1], self.prices[:, 1:]
        wide = self.upper - self.lower
        bounds = box_kernels.price_bounds(
            (self.lower + mu * wide) * (1.0 + box_kernels.TERM_ERROR),
            gamma * (self.lower + (1.0 - nu) * wide) * (1.0 - box_kernels.TERM_ERROR),
            (1.0 - mu[:, 0]) * self.spare,
            gamma * (1.0 - nu[:, 0]) * self.surplus,
        )
        return bounds * widening(self.lower.shape[1])

    def _learn_prices(self, less: Integers, more: Integers, gamma: float) -> None:
        """Each row takes the prices that suit it against one partner in either role."""
        rows = np.arange(len(self.lower))
        less = np.where(less == rows, (rows + 1) % rows.size, less)
        more = np.where(more == rows, (rows + 1) % rows.size, more)
        as_more, _ = self._settle(rows, less, gamma, 0.0, 1)
        as_less, _ = self._settle(more, rows, gamma, 0.0, 1)
        self.prices = np.column_stack([as_more[:, 3], as_less[:, 4]])
        self.learnt = True

    def _settle(
        self, more: Integers, less: Integers, gamma: float, floor: float, nodes: int
    ) -> tuple[Floats, NDArray[np.bool_]]:
        from deptriad import box_kernels

        box = self.lower, self.upper, self.spare, self.surplus
        return box_kernels.settle_pairs(box, more, less, gamma, floor, nodes, self.prices)


def box_triad(box: Box, epsilon_max: float | None) -> Triad:
    """(α, φ, δ) of a box with certified knots; the second one where the curve answers ε_max, if that is given."""
    if box.shape[0] < 2:
        return Triad(alpha=0.0, phi=0.0, delta=0.0)
    search = Search(box)
    if epsilon_max is None:
        return _best_triad(certified_knots(search, *extremes(box.lower, box.upper), 0.02, 5))
    alpha, delta = extremes(box.lower, box.upper)
    end = float(np.expm1(min(alpha, LARGE_BUDGET)))
    knots = {0.0: search.first, end: _last_stick(search, alpha, delta)}
    eta = end
    if epsilon_max < LARGE_BUDGET - 100.0:
        eta, _ = steepest_in_box(search, epsilon_max)
    if not eta < end:
        return _knot_triad(knots, end)
    knots[eta] = search.stick(eta)
    return closer(_knot_triad(knots, eta), _knot_triad(knots, end), epsilon_max)


def _knot_triad(knots: dict[float, Stick], eta: float) -> Triad:
    """The triad with its second knot at γ = 1 + η."""
    first = knots[0.0]
    alpha = float(np.log1p(eta)) * widening(4)
    return Triad(
        alpha=alpha, phi=first.bound, delta=min(knots[eta].bound, first.bound), exact=first.exact
    )


def _best_triad(knots: dict[float, Stick]) -> Triad:
    """The triad whose second knot serves ORDINARY budgets best; the last knot, at e^α, unless that is worse by far.

    A tiny lower edge sends α to the sky, and a chord that reaches so far says little about ordinary budgets.
    """
    last = max(knots)
    choices = {eta: _knot_triad(knots, eta) for eta in knots if eta > 0.0 or last == 0.0}
    curve = _chords(knots).leakage(ORDINARY)
    with np.errstate(invalid="ignore"):
        excess = {
            eta: np.nan_to_num(choice.leakage(ORDINARY) / curve) for eta, choice in choices.items()
        }
    never_looser = [eta for eta in choices if (excess[eta] <= excess[last] * (1.0 + 1e-12)).all()]
    best = min(never_looser, key=lambda eta: float(excess[eta].max()))
    return choices[best if excess[last].max() > 1.1 * excess[best].max() else last]


def paper_triad(box: Box) -> Triad:
    """The paper's triad of a box: φ from its linear program, in closed form."""
    from deptriad import box_kernels

    if box.shape[0] < 2:
        return Triad(alpha=0.0, phi=0.0, delta=0.0)
    search = Search(box)
    alpha, delta = extremes(box.lower, box.upper)
    phi = search._rounded(
        box_kernels.paper_variation(box.lower, box.upper, search.spare, search.surplus)
    )
    phi = min(float(phi), 1.0)
    return Triad(alpha=alpha, phi=phi, delta=min(delta, phi), exact=False)


def box_leakage(box: Box, budget: Floats) -> Floats:
    """Certified leakage of a box at each budget, rounded outward."""
    value = np.zeros(budget.shape)
    if box.shape[0] > 1:
        search = Search(box)
        ends = extremes(box.lower, box.upper)
        for index in np.ndindex(budget.shape):
            epsilon = float(budget[index])
            ceiling = beyond(*ends, epsilon)
            if 0.0 < epsilon < LARGE_BUDGET - 100.0:
                eta, _ = steepest_in_box(search, epsilon)
                ceiling = min(ceiling, float(np.log1p(eta)))
            value[index] = ceiling
    return lines.outward(value, budget, lines.inverse_gain(budget))


def steepest_in_box(search: Search, epsilon: float) -> tuple[float, Stick]:
    """A certified η = γ − 1 for the leakage of a box at a budget, and the event that comes closest to it.

    Climbs from event to event while one rises above focus·η. Since E falls with γ, a bound on E at any η ≥ 0 makes
    max(η, bound/focus) a valid answer; where branching left a gap, a step along the last event's slope narrows it.
    """
    focus = float(lines.inverse_gain(np.asarray(epsilon)))
    eta, found = 0.0, search.first
    while found.gap > 0.0 and (higher := found.gap / (focus + found.lower)) > eta * (1.0 + 1e-14):
        eta = higher
        above = search.stick(eta, floor=eta * focus)
        if above.gap - eta * above.lower <= eta * focus * (1.0 + 1e-14):
            found = found._replace(bound=above.bound, exact=above.exact)
            break
        found = above
    far = max(eta, found.bound / focus)
    if far > eta * (1.0 + 1e-12):
        near = min(far, eta + 2.0 * (found.bound - eta * focus) / (focus + found.lower))
        far = min(far, max(near, search.stick(near, floor=near * focus).bound / focus))
    return far * widening(16), found


def box_profile(box: Box, tolerance: float) -> Profile:
    """Chords through certified knots, each within ``tolerance`` of the certificate between them."""
    if box.shape[0] < 2:
        return Profile(np.zeros(1), np.zeros(1))
    ends = extremes(box.lower, box.upper)
    return _chords(certified_knots(Search(box), *ends, tolerance, MOST_KNOTS))


def certified_knots(
    search: Search, alpha: float, delta: float, tolerance: float, most: int
) -> dict[float, Stick]:
    """Certified E_γ by η = γ − 1, from 0 to e^α − 1, added where the attained lines of neighbours meet.

    A stretch is done when its chord is within the tolerance of the certificate there, relative to the gap of the
    event that attains it: a curve that is too high by e moves the answer η by e·η/gap.
    """
    end = float(np.expm1(min(alpha, LARGE_BUDGET)))
    knots = {end: _last_stick(search, alpha, delta), 0.0: search.first}
    waiting = [(0.0, end)]
    # where lower edges are 0 the curve may go on falling past e^α: follow it until it is flat
    while most == MOST_KNOTS and knots[end].lower > 0.0 and end < 1e15:
        further = 4.0 * end + 1.0
        knots[further] = search.stick(further)
        waiting.append((end, further))
        end = further
    while waiting and len(knots) < most:
        left, right = waiting.pop(0)
        middle = _meeting(knots[left], knots[right], left, right)
        if not left < middle < right:
            continue
        chord = (right - middle) * knots[left].bound + (middle - left) * knots[right].bound
        chord /= right - left
        found = search.stick(middle)
        knots[middle] = found._replace(bound=min(found.bound, chord * widening(4)))
        # by convexity the curve may fall this far below the new chords, wherever in the stretch
        below = (chord - found.bound) * (right - left) / min(middle - left, right - middle)
        if below > tolerance * (knots[right].gap or found.gap / 2.0):
            waiting += [(left, middle), (middle, right)]
    return knots


def _last_stick(search: Search, alpha: float, delta: float) -> Stick:
    """E at e^α, which is at most the excluded mass δ; looked for only where that is not 0."""
    if alpha < LARGE_BUDGET and delta == 0.0:
        return Stick(0.0, 0.0, 0.0, (0, 0), np.zeros(0, dtype=np.int64), True)
    found = search.stick(float(np.expm1(min(alpha, LARGE_BUDGET))))
    return found._replace(bound=min(delta, found.bound) if alpha < LARGE_BUDGET else found.bound)


def _chords(knots: dict[float, Stick]) -> Profile:
    etas = sorted(knots)
    return Profile._above(np.array(etas), np.array([knots[eta].bound for eta in etas]))


def _meeting(one: Stick, two: Stick, left: float, right: float) -> float:
    """Where the attained lines of two knots meet; half way (in e^L) where they do not meet in between."""
    fall = one.lower - two.lower
    middle = (one.gap - two.gap) / fall if fall > 0.0 else left
    if left + 1e-9 * min(right, 1.0 + left) < middle < right * (1.0 - 1e-9):
        return middle
    return (
        float(np.sqrt((1.0 + left) * (1.0 + right))) - 1.0 if right > left * (1.0 + 1e-9) else left
    )
