"""Certified hockey sticks of boxes: above every table in them, and where possible exactly the largest (maths §3).

What is asked about a box is written as a plan: a generator that yields questions (η, floor) and is sent the sticks that
answer them. Many plans run side by side, so that one compiled call answers a question of each.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from deptriad.curves import lines
from deptriad.curves.exact import beyond, closer, extremes
from deptriad.curves.lines import LARGE_BUDGET
from deptriad.curves.profile import Profile, Triad
from deptriad.utils.rounding import widening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.tables.table import Box
    from deptriad.utils.arrays import Floats, Integers

NODES = 400
"""How many times a pair may be branched before its bound is taken as it stands."""

AT_ONCE = 64
"""Pairs settled together; the best event among them spares the rest."""

SMALL = 10_000
"""rows² · columns up to which one thread settles the pairs of a box in turn."""

MOST_KNOTS = 1024
"""Where the refinement of a box's profile stops, however small the tolerance."""

TRIAD_KNOTS, TRIAD_TOLERANCE = 5, 0.02
"""How closely the curve is followed to find the second knot of a triad."""

CHORD = widening(4)
"""Lifts a chord above its own rounding."""

ORDINARY = np.geomspace(0.01, 10.0, 50)
"""Budgets that the triad of a box is made for where none are named."""


class Stick(NamedTuple):
    """E_γ over a box: certified from above by ``bound``, attained by an event with this gap and mass."""

    bound: float
    gap: float
    lower: float
    exact: bool


Knots = dict[float, Stick]
Ends = tuple[float, float]
"""α and δ of a box."""
Answer = TypeVar("Answer")
Plan: TypeAlias = Generator[tuple[float, float], Stick, Answer]


class Search:
    """Answers E_γ of one large box for any γ by all threads, and remembers prices from one question to the next.

    A price for each row in each role makes a bound for every pair in one pass. Pairs that it leaves above what is
    already attained are priced on their own, and branched; where they are many, rows learn better prices first.
    """

    def __init__(self, box: Box, nodes: int = NODES) -> None:
        self.lower, self.upper = box.lower, box.upper
        self.spare, self.surplus = box.spare, box.surplus
        self.nodes = nodes
        self.prices = np.full((len(self.lower), 2), 0.5)
        self.learnt = False
        self.pair = 0, 0
        self.event = np.zeros(0, dtype=np.int64)

    def stick(self, eta: float, floor: float = 0.0) -> Stick:
        """E_γ at γ = 1 + η. Pairs below ``floor`` are not looked into: the bound is the floor where all are."""
        gamma = 1.0 + eta
        rows = np.arange(len(self.lower))
        if not self.learnt:
            self._learn_prices(np.roll(rows, 1), np.roll(rows, -1), gamma)
        bounds = self._bounds(gamma)
        gap = lower = 0.0
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
                gap, lower = float(above - below), float(below)
                self.pair = int(more[top]), int(less[top])
                self.event = np.flatnonzero(events[top])
        exact = highest <= reached * (1.0 + 1e-12) + 1e-14 * (gap + lower)
        bound = min(highest * widening(2 * self.lower.shape[1]), 1.0)
        return Stick(bound, gap, lower, bool(exact))

    def _bounds(self, gamma: float) -> Floats:
        """The certificate of every ordered pair at the current prices, every term rounded up."""
        from deptriad.curves import _box_kernels

        mu, nu = self.prices[:, :1], self.prices[:, 1:]
        wide = self.upper - self.lower
        bounds = _box_kernels.price_bounds(
            (self.lower + mu * wide) * (1.0 + _box_kernels.TERM_ERROR),
            gamma * (self.lower + (1.0 - nu) * wide) * (1.0 - _box_kernels.TERM_ERROR),
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
        from deptriad.curves import _box_kernels

        box = self.lower, self.upper, self.spare, self.surplus
        return _box_kernels.settle_pairs(box, more, less, gamma, floor, nodes, self.prices)


class Searches:
    """Answers E_γ of many boxes, each at a γ of its own: small ones in one compiled call, a large one by its Search."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        from deptriad.curves import _box_batch

        self.large = {k: Search(box) for k, box in enumerate(boxes) if _work(box) > SMALL}
        small = [k for k in range(len(boxes)) if k not in self.large]
        self.place = {k: place for place, k in enumerate(small)}
        self.small = _box_batch.laid_out(
            [boxes[k].lower for k in small], [boxes[k].upper for k in small]
        )
        ends = dict(zip(small, map(tuple, self.small.ends.tolist()), strict=True))
        ends |= {k: extremes(search.lower, search.upper) for k, search in self.large.items()}
        self.ends: list[Ends] = [ends[k] for k in range(len(boxes))]

    def run(self, plans: Sequence[Plan[Answer]]) -> list[Answer]:
        """What the plans return, one for each box: in every round one question of each that is not done."""
        answers: dict[int, Answer] = {}
        replies: dict[int, Any] = dict.fromkeys(range(len(plans)))
        while replies:
            questions = {}
            for k, reply in replies.items():
                try:
                    questions[k] = plans[k].send(reply)
                except StopIteration as done:
                    answers[k] = done.value
            replies = self._sticks(questions)
        return [answers[k] for k in range(len(plans))]

    def _sticks(self, questions: dict[int, tuple[float, float]]) -> dict[int, Stick]:
        from deptriad.curves import _box_batch

        found = {k: self.large[k].stick(*questions.pop(k)) for k in self.large if k in questions}
        if questions:
            which = np.array([self.place[k] for k in questions])
            eta, floor = np.array(list(questions.values())).T.copy()
            *numbers, exact = _box_batch.many_sticks(self.small, which, eta, floor, NODES).T
            columns = [column.tolist() for column in (*numbers, exact > 0.0)]
            found.update(zip(questions, map(Stick, *columns), strict=True))
        return found

    def event(self, k: int) -> tuple[tuple[int, int], Integers]:
        """The rows and the source values of the last event of a box that rose above a floor."""
        if k in self.large:
            return self.large[k].pair, self.large[k].event
        boxes, place = self.small, self.place[k]
        more, less = boxes.pair[place].tolist()
        start = boxes.column_starts[place]
        return (more, less), np.flatnonzero(boxes.event[start : start + boxes.columns[place]])


def _work(box: Box) -> int:
    rows, columns = box.shape
    return rows * rows * columns


# --- triads ---------------------------------------------------------------------------------------------------------


def box_triads(boxes: Sequence[Box]) -> Triad:
    """(α, φ, δ) of each box with certified knots, the second where it serves ORDINARY budgets best."""
    from deptriad.curves import _box_batch

    searches = Searches(boxes)
    plans = [
        _triad_plan(len(box.lower), ends) for box, ends in zip(boxes, searches.ends, strict=True)
    ]
    found = searches.run(plans)
    counts = np.array([len(knots) for knots in found])
    ordered = [sorted(knots.items()) for knots in found]
    etas = np.array([eta for curve in ordered for eta, _ in curve])
    bounds = np.array([stick.bound for curve in ordered for _, stick in curve])
    starts = np.cumsum(counts) - counts
    best = _box_batch.best_knots(etas, bounds, starts, counts, lines.inverse_gain(ORDINARY))
    exact = np.array([knots[0.0].exact for knots in found], dtype=np.bool_)
    return _knot_triad(etas[best], bounds[starts], bounds[best], exact)


def box_triad(box: Box, epsilon_max: float | None) -> Triad:
    """(α, φ, δ) of a box with certified knots; the second one where the curve answers ε_max, if that is given."""
    if epsilon_max is None:
        return box_triads([box])[0]
    if box.shape[0] < 2:
        return Triad(alpha=0.0, phi=0.0, delta=0.0)
    searches = Searches([box])
    [knots] = searches.run([_tuned_plan(searches.ends[0], epsilon_max)])
    first, *others = (
        (eta, knots[0.0].bound, knots[eta].bound, knots[0.0].exact) for eta in sorted(knots)
    )
    choices = [_knot_triad(*numbers) for numbers in others or [first]]
    return closer(choices[0], choices[-1], epsilon_max)


def _triad_plan(rows: int, ends: Ends) -> Plan[Knots]:
    if rows < 2:
        return {0.0: Stick(0.0, 0.0, 0.0, True)}
    first = yield 0.0, 0.0
    return (yield from _knots(first, ends, TRIAD_TOLERANCE, TRIAD_KNOTS))


def _tuned_plan(ends: Ends, epsilon_max: float) -> Plan[Knots]:
    """Knots at γ = 1, at e^α and, where it is below that, where the curve answers ε_max."""
    first = yield 0.0, 0.0
    end = math.expm1(min(ends[0], LARGE_BUDGET))
    knots = {end: (yield from _last_stick(ends)), 0.0: first}
    if epsilon_max < LARGE_BUDGET - 100.0:
        eta = yield from _climb(first, epsilon_max)
        if eta < end:
            knots[eta] = yield eta, 0.0
    return knots


def _knot_triad(eta: Any, phi: Any, delta: Any, exact: Any) -> Triad:
    """The triad with its second knot at γ = 1 + η, from numbers or from arrays of them."""
    alpha = np.log1p(eta) * widening(4)
    return Triad(alpha=alpha, phi=phi, delta=np.minimum(delta, phi), exact=exact)


def paper_triad(box: Box) -> Triad:
    """The paper's triad of a box: φ from its linear program, in closed form."""
    from deptriad.curves import _box_kernels

    if box.shape[0] < 2:
        return Triad(alpha=0.0, phi=0.0, delta=0.0)
    alpha, delta = extremes(box.lower, box.upper)
    phi = _box_kernels.paper_variation(box.lower, box.upper, box.spare, box.surplus)
    phi = min(phi * widening(2 * box.shape[1]), 1.0)
    return Triad(alpha=alpha, phi=phi, delta=min(delta, phi), exact=False)


# --- leakages -------------------------------------------------------------------------------------------------------


def box_leakage(box: Box, budget: Floats) -> Floats:
    """Certified leakage of a box at each budget, rounded outward."""
    return box_leakages([box], budget.reshape(1, -1)).reshape(budget.shape)


def box_leakages(boxes: Sequence[Box], budget: Floats) -> Floats:
    """Certified leakages, rounded outward: a row of budgets for each box."""
    searches = Searches(boxes)
    plans = [
        _leakage_plan(len(box.lower), budgets)
        for box, budgets in zip(boxes, budget.tolist(), strict=True)
    ]
    eta = np.array(searches.run(plans)).reshape(budget.shape)
    alpha, delta = np.array(searches.ends).T[:, :, None]
    value = np.minimum(beyond(alpha, delta, budget), np.log1p(eta))
    return lines.outward(value, budget, lines.inverse_gain(budget))


def _leakage_plan(rows: int, budgets: list[float]) -> Plan[list[float]]:
    """η for each budget; ∞ for one too large to climb to."""
    if rows < 2:
        return [0.0] * len(budgets)
    first = yield 0.0, 0.0
    etas = []
    for epsilon in budgets:
        climbs = 0.0 < epsilon < LARGE_BUDGET - 100.0
        etas.append((yield from _climb(first, epsilon)) if climbs else np.inf)
    return etas


def box_event(box: Box, epsilon: float) -> tuple[tuple[int, int], Integers]:
    """The rows and the source values of the event that comes closest to the leakage of a box at a budget."""
    searches = Searches([box])
    searches.run([_event_plan(epsilon)])
    return searches.event(0)


def _event_plan(epsilon: float) -> Plan[float]:
    first = yield 0.0, 0.0
    return (yield from _climb(first, epsilon))


def _climb(first: Stick, epsilon: float) -> Plan[float]:
    """A certified η = γ − 1 for the leakage of a box at a budget; the last event asked for comes closest to it.

    Climbs from event to event while one rises above focus·η. Since E falls with γ, a bound on E at any η ≥ 0 makes
    max(η, bound/focus) a valid answer; where branching left a gap, a step along the last event's slope narrows it.
    """
    focus = 1.0 / math.expm1(epsilon)
    eta, found, bound = 0.0, first, first.bound
    while found.gap > 0.0 and (higher := found.gap / (focus + found.lower)) > eta * (1.0 + 1e-14):
        eta = higher
        above = yield eta, eta * focus
        bound = above.bound
        if above.gap - eta * above.lower <= eta * focus * (1.0 + 1e-14):
            break
        found = above
    far = max(eta, bound / focus)
    if far > eta * (1.0 + 1e-12):
        near = min(far, eta + 2.0 * (bound - eta * focus) / (focus + found.lower))
        beside = yield near, near * focus
        far = min(far, max(near, beside.bound / focus))
    return far * widening(16)


# --- curves ---------------------------------------------------------------------------------------------------------


def box_profile(box: Box, tolerance: float) -> Profile:
    """Chords through certified knots, each within ``tolerance`` of the certificate between them."""
    if box.shape[0] < 2:
        return Profile(np.zeros(1), np.zeros(1))
    searches = Searches([box])
    [knots] = searches.run([_profile_plan(searches.ends[0], tolerance)])
    etas = sorted(knots)
    return Profile._above(np.array(etas), np.array([knots[eta].bound for eta in etas]))


def _profile_plan(ends: Ends, tolerance: float) -> Plan[Knots]:
    first = yield 0.0, 0.0
    return (yield from _knots(first, ends, tolerance, MOST_KNOTS))


def _knots(first: Stick, ends: Ends, tolerance: float, most: int) -> Plan[Knots]:
    """Certified E_γ by η = γ − 1, from 0 to e^α − 1, added where the attained lines of neighbours meet.

    A stretch is done when its chord is within the tolerance of the certificate there, relative to the gap of the
    event that attains it: a curve that is too high by e moves the answer η by e·η/gap.
    """
    end = math.expm1(min(ends[0], LARGE_BUDGET))
    knots = {end: (yield from _last_stick(ends)), 0.0: first}
    waiting = [(0.0, end)]
    # where lower edges are 0 the curve may go on falling past e^α: follow it until it is flat
    while most == MOST_KNOTS and knots[end].lower > 0.0 and end < 1e15:
        further = 4.0 * end + 1.0
        knots[further] = yield further, 0.0
        waiting.append((end, further))
        end = further
    while waiting and len(knots) < most:
        left, right = waiting.pop(0)
        middle = _meeting(knots[left], knots[right], left, right)
        if not left < middle < right:
            continue
        chord = (right - middle) * knots[left].bound + (middle - left) * knots[right].bound
        chord /= right - left
        found = yield middle, 0.0
        knots[middle] = Stick(min(found.bound, chord * CHORD), *found[1:])
        # by convexity the curve may fall this far below the new chords, wherever in the stretch
        below = (chord - found.bound) * (right - left) / min(middle - left, right - middle)
        if below > tolerance * (knots[right].gap or found.gap / 2.0):
            waiting += [(left, middle), (middle, right)]
    return knots


def _last_stick(ends: Ends) -> Plan[Stick]:
    """E at e^α, which is at most the excluded mass δ; looked for only where that is not 0."""
    alpha, delta = ends
    if alpha < LARGE_BUDGET and delta == 0.0:
        return Stick(0.0, 0.0, 0.0, True)
    found = yield math.expm1(min(alpha, LARGE_BUDGET)), 0.0
    return Stick(min(delta, found.bound), *found[1:]) if alpha < LARGE_BUDGET else found


def _meeting(one: Stick, two: Stick, left: float, right: float) -> float:
    """Where the attained lines of two knots meet; half way (in e^L) where they do not meet in between."""
    fall = one.lower - two.lower
    middle = (one.gap - two.gap) / fall if fall > 0.0 else left
    if left + 1e-9 * min(right, 1.0 + left) < middle < right * (1.0 - 1e-9):
        return middle
    return math.sqrt((1.0 + left) * (1.0 + right)) - 1.0 if right > left * (1.0 + 1e-9) else left
