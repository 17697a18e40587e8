"""The numbers of boxes, certified: triads, leakages, profiles that no table in them exceeds (maths §3).

Each is an inquiry of certified hockey sticks (see box_search), so that many boxes are asked side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deptriad.curves import lines
from deptriad.curves.box_search import Ends, Inquiry, Searches, Stick
from deptriad.curves.exact import beyond, closer, extremes
from deptriad.curves.lines import LARGE_BUDGET
from deptriad.curves.profile import Profile
from deptriad.curves.triad import Triad
from deptriad.tables.table import Box
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import ENTRY, widening

MOST_KNOTS = 1024
"""Where the refinement of a box's profile stops, however small the tolerance."""

TRIAD_KNOTS, TRIAD_TOLERANCE = 5, 0.02
"""How closely the curve is followed to find the second knot of a triad."""

CHORD = widening(4)
"""Lifts a chord above its own rounding."""

ORDINARY = np.geomspace(0.01, 10.0, 50)
"""Budgets that the triad of a box is made for where none are named."""

Knots = dict[float, Stick]


# --- triads ---------------------------------------------------------------------------------------------------------


def box_triads(boxes: Sequence[Box]) -> Triad:
    """(α, φ, δ) of each box with certified knots, the second where it serves ORDINARY budgets best."""
    from deptriad.curves import _box_batch

    searches = Searches(boxes)
    inquiries = [
        _triad_inquiry(len(box.lower), ends) for box, ends in zip(boxes, searches.ends, strict=True)
    ]
    found = searches.run(inquiries)
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
    [knots] = searches.run([_tuned_inquiry(searches.ends[0], epsilon_max)])
    first, *others = (
        (eta, knots[0.0].bound, knots[eta].bound, knots[0.0].exact) for eta in sorted(knots)
    )
    choices = [_knot_triad(*numbers) for numbers in others or [first]]
    return closer(choices[0], choices[-1], epsilon_max)


def _triad_inquiry(rows: int, ends: Ends) -> Inquiry[Knots]:
    if rows < 2:
        return {0.0: Stick(0.0, 0.0, 0.0, True)}
    return (yield from _knots(ends, TRIAD_TOLERANCE, TRIAD_KNOTS))


def _tuned_inquiry(ends: Ends, epsilon_max: float) -> Inquiry[Knots]:
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
    from deptriad.curves import _program_kernels

    if box.shape[0] < 2:
        return Triad(alpha=0.0, phi=0.0, delta=0.0)
    alpha, delta = extremes(box.lower, box.upper)
    phi = _program_kernels.paper_variation(box.lower, box.upper, box.spare, box.surplus)
    phi = min(phi * widening(2 * box.shape[1]) + 2 * ENTRY, 1.0) if phi > 0.0 else 0.0
    return Triad(alpha=alpha, phi=phi, delta=min(delta, phi), exact=False)


# --- leakages -------------------------------------------------------------------------------------------------------


def box_leakage(box: Box, budget: Floats) -> Floats:
    """Certified leakage of a box at each budget, rounded outward."""
    return box_leakages([box], budget.reshape(1, -1)).reshape(budget.shape)


def box_leakages(boxes: Sequence[Box], budget: Floats) -> Floats:
    """Certified leakages, rounded outward: a row of budgets for each box."""
    searches = Searches(boxes)
    inquiries = [
        _leakage_inquiry(len(box.lower), budgets)
        for box, budgets in zip(boxes, budget.tolist(), strict=True)
    ]
    eta = np.array(searches.run(inquiries)).reshape(budget.shape)
    alpha, delta = np.array(searches.ends).T[:, :, None]
    value = np.minimum(beyond(alpha, delta, budget), np.log1p(eta))
    return lines.outward(value, budget, lines.inverse_gain(budget))


def _leakage_inquiry(rows: int, budgets: list[float]) -> Inquiry[list[float]]:
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
    searches.run([_event_inquiry(epsilon)])
    return searches.event(0)


def _event_inquiry(epsilon: float) -> Inquiry[float]:
    first = yield 0.0, 0.0
    return (yield from _climb(first, epsilon))


def _climb(first: Stick, epsilon: float) -> Inquiry[float]:
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
    [knots] = searches.run([_knots(searches.ends[0], tolerance, MOST_KNOTS)])
    etas = sorted(knots)
    return Profile._above(np.array(etas), np.array([knots[eta].bound for eta in etas]))


def _knots(ends: Ends, tolerance: float, most: int) -> Inquiry[Knots]:
    """Certified E_γ by η = γ − 1, from 0 to e^α − 1, added where the attained lines of neighbours meet.

    A stretch is done when its chord is within the tolerance of the certificate there, relative to the gap of the
    event that attains it: a curve that is too high by e moves the answer η by e·η/gap.
    """
    first = yield 0.0, 0.0
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


def _last_stick(ends: Ends) -> Inquiry[Stick]:
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
