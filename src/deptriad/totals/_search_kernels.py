"""The compiled loops of totals, third part: the search for a and λ of the reference form of one pair (maths §5).

Whatever a and λ are found are a proof, so the search may be rough: edges are a few points, and masses are plain
numbers over the highest step. _reference_kernels has the bound that a and λ prove.

The reference a is where the sets of all sources are worst together. It makes the steps k(u) = Σ_j ε_j·1{u ≤ a_j}, and
W(v) is the integral of e^k from 0 to v.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._point_kernels import BY_ZERO, Points, sort_falling
from deptriad.totals._term_kernels import HUGE, log, raised
from deptriad.utils.arrays import Floats
from deptriad.utils.compiled import compiled, part

SWEEPS = 20
"""Rounds of coordinate ascent after which the reference is taken as it stands."""

SMALL_SHARE = 1e-7
"""No share is below this part of its source's part of all budgets."""

EDGE_PARTS = 32
"""Points that stand for an edge from A = 0 to A = 1."""

ROUNDS = 16
"""Steps of shares towards equal prices, before they are bracketed instead."""


CLOSE = 1e-6
"""Relative distance at which a bracket of prices or shares is closed."""

FAINT = 1e-140
"""Shares and prices below this are not told apart: the product of two of them would be lost, and no bracket close."""


class Choice(NamedTuple):
    """What a pair holds of each source: its a and λ, the B and A of two points, and how much the first counts."""

    a: Floats
    share: Floats
    points: Floats
    part: Floats


class Masses(NamedTuple):
    """Where the steps of k(u) end, k there; over e^k of the highest step, which is ``top``, e^k there and W."""

    edge: Floats
    height: Floats
    rate: Floats
    mass: Floats
    top: float


@part(**BY_ZERO)
def masses_of(a, epsilon, skip):
    """W at the steps that a reference makes, without those of source ``skip``."""
    size = a.size
    order = np.arange(size)
    sort_falling(a, order)
    pieces = size if skip >= 0 else size + 1
    edge, height = np.empty(pieces + 1), np.empty(pieces)
    rate, mass = np.empty(pieces), np.empty(pieces + 1)
    edge[0], edge[pieces], height[pieces - 1] = 0.0, 1.0, 0.0
    place = pieces - 1
    for k in range(size):
        if order[k] != skip:
            edge[place] = a[order[k]]
            height[place - 1] = height[place] + epsilon[order[k]]
            place -= 1
    first = 0
    while first < pieces - 1 and edge[first + 1] <= 0.0:
        first += 1
    top = height[first]  # of the highest step that is not empty
    mass[0] = 0.0
    for j in range(pieces):
        wide = edge[j + 1] - edge[j]
        rate[j] = math.exp(min(height[j] - top, 0.0))  # steps above the top are empty
        mass[j + 1] = mass[j] + rate[j] * wide
    return Masses(edge, height, rate, mass, top)


@part()
def mass_at(place, masses):
    """W(place) over e^top."""
    low, high = 0, masses.height.size - 1
    while low < high:  # the last step that begins below it
        middle = (low + high + 1) // 2
        if masses.edge[middle] < place:
            low = middle
        else:
            high = middle - 1
    return masses.mass[low] + masses.rate[low] * (place - masses.edge[low])


# --- the reference: sets that are worst together ----------------------------------------------------------------


@part()
def _worst_alone(epsilon, points, i, total):
    """The point of source i that is worst in the plain form."""
    best, winner = -np.inf, 0
    for k in range(points.counts[i]):
        a = points.upper[i, k]
        value = raised(total, log(a), a) / total - points.lower[i, k]
        if value > best:
            best, winner = value, k
    return winner


@part(**BY_ZERO)
def _ascend(epsilon, points, a, choice):
    """Coordinate ascent of ln N(A) − Σ ε_i·B_i from a choice of points, which it replaces, and their A.

    While the others stay, N = W(1) + (e^ε − 1)·W(A).
    """
    for _ in range(SWEEPS):
        still = True
        for i in range(epsilon.size):
            masses = masses_of(a, epsilon, i)
            whole = masses.mass[-1]
            gain = math.expm1(epsilon[i]) if epsilon[i] < HUGE else 1.0
            rest = whole if epsilon[i] < HUGE else whole * math.exp(-epsilon[i])
            best, winner = -np.inf, 0
            for k in range(points.counts[i]):
                reached = (rest + gain * mass_at(points.upper[i, k], masses)) / whole
                value = math.log(max(reached, 1e-300)) - epsilon[i] * points.lower[i, k]
                if value > best + 1e-14 * abs(best):
                    best, winner = value, k
            if winner != choice[i]:
                still = False
                choice[i] = winner
                a[i] = points.upper[i, winner]
        if still:
            break


@part()
def _with_edges(points):
    """The points of every source, with more of them along edges that count."""
    size, width = points.lower.shape
    low, high = np.empty((size, width + EDGE_PARTS)), np.empty((size, width + EDGE_PARTS))
    filled = np.zeros(size, dtype=np.int64)
    for i in range(size):
        for k in range(points.counts[i]):
            parts = 1
            if points.edged[i] and k:
                run = points.lower[i, k] - points.lower[i, k - 1]
                rise = points.upper[i, k] - points.upper[i, k - 1]
                parts = max(int(EDGE_PARTS * rise), 1)
                for j in range(1, parts):
                    low[i, filled[i]] = points.lower[i, k - 1] + j * run / parts
                    high[i, filled[i]] = points.upper[i, k - 1] + j * rise / parts
                    filled[i] += 1
            low[i, filled[i]], high[i, filled[i]] = points.lower[i, k], points.upper[i, k]
            filled[i] += 1
    return Points(low, high, filled, points.edged)


# --- shares -----------------------------------------------------------------------------------------------------


@part(**BY_ZERO)
def tilted(strength, q):
    """ln(1 + c·q) with c = e^s − 1 for q ≥ 0 and 1 − e^{−s} below, and c'·q/(1 + c·q)."""
    if q <= 0.0:
        inside = 1.0 - math.expm1(-strength) * q
        return math.log(inside), math.exp(-strength) * q / inside
    if strength < HUGE:
        inside = 1.0 + math.expm1(strength) * q
        return math.log(inside), math.exp(strength) * q / inside
    power = strength + math.log(q)
    tilt = math.log1p(math.exp(-abs(power))) + max(power, 0.0)
    return tilt, math.exp(power - tilt)


@part(**BY_ZERO)
def _winner(q, lower, count, epsilon, share):
    """The point with the largest λ·tilt − ε·B, and how fast that falls with λ: its price."""
    strength = epsilon / share
    up = math.expm1(min(strength, HUGE))
    down = -math.expm1(-strength)
    best, place = -np.inf, 0
    for k in range(count):
        if strength < HUGE or q[k] <= 0.0:
            tilt = math.log(1.0 + (up if q[k] > 0.0 else down) * q[k])
        else:
            tilt = tilted(strength, q[k])[0]
        value = share * tilt - epsilon * lower[k]
        if value > best:
            best, place = value, k
    tilt, push = tilted(strength, q[place])
    return best, max(strength * push - tilt, 0.0), place


@part(**BY_ZERO)
def _even_prices(q, lower, counts, epsilon, tolerance, share):
    """Shares that minimise the sum of the terms, each convex and falling in its λ, so of equal prices.

    For small tilts prices fall with the square of λ, so λ·√price is where they are even. The sum is at most the
    largest price less the mean one above its minimum. Returns whether that is within the tolerance, and the mean price.
    """
    price = np.empty(epsilon.size)
    best, kept, mean, power = np.inf, share.copy(), 0.0, 0.5
    for _ in range(ROUNDS):
        total, most, here = 0.0, 0.0, 0.0
        for i in range(epsilon.size):
            value, price[i], _ = _winner(q[i], lower[i], counts[i], epsilon[i], share[i])
            total += value
            most = max(most, price[i])
            here += share[i] * price[i]
        if total < best:
            best, mean = total, here
            kept[:] = share
        else:
            power *= 0.5  # a kink: smaller steps
        if most - here <= tolerance or power < 0.01:
            break
        scale = 0.0
        for i in range(epsilon.size):
            share[i] = share[i] * max(price[i] / most, SMALL_SHARE) ** power
            scale += share[i]
        share /= scale
    share[:] = kept
    return most - here <= tolerance, mean


@part(**BY_ZERO)
def _halved(q, lower, counts, epsilon, price, low, high):
    """Halve the brackets of the shares at a price: whether all are closed, and the sums of their sides."""
    closed, below, above = True, 0.0, 0.0
    for i in range(epsilon.size):
        if high[i] > low[i] * (1.0 + CLOSE):
            closed = False
            middle = math.sqrt(low[i] * high[i])
            if _winner(q[i], lower[i], counts[i], epsilon[i], middle)[1] > price:
                low[i] = middle
            else:
                high[i] = middle
        below, above = below + low[i], above + high[i]
    return closed, below, above


@part(**BY_ZERO)
def _bracketed(q, lower, counts, epsilon, share, mean):
    """The same by bisection on the price, around the mean one: where terms have kinks prices jump."""
    small, large = SMALL_SHARE * share, np.ones(epsilon.size)
    for i in range(epsilon.size):
        small[i] = max(small[i], FAINT)
    low, high = small.copy(), large.copy()
    cheap, dear = mean * 1e-3, mean * 1e3
    while dear > cheap * (1.0 + CLOSE):
        middle = math.sqrt(cheap * dear)
        for i in range(epsilon.size):
            low[i], high[i] = small[i], large[i]
        closed, below, above = False, 0.0, np.inf
        while (
            not closed and below <= 1.0 < above
        ):  # until it is known whether they are too much together
            closed, below, above = _halved(q, lower, counts, epsilon, middle, low, high)
        if above > 1.0:
            cheap = middle
            large[:] = high
        else:
            dear = middle
            small[:] = low
    closed = False
    low[:], high[:] = small, large
    while not closed:
        closed, _, _ = _halved(q, lower, counts, epsilon, dear, small, high)
    closed = False
    while not closed:
        closed, _, _ = _halved(q, lower, counts, epsilon, cheap, low, large)
    # where shares jump past 1 at one price, everything in between costs the same
    above, below = large.sum(), small.sum()
    part = (1.0 - below) / (above - below) if above > 1.0 > below else 1.0
    share[:] = small + part * (large - small)
    share /= share.sum()
    return math.sqrt(cheap * dear)


# --- one pair ---------------------------------------------------------------------------------------------------


@part(**BY_ZERO)
def _reference(a, epsilon, points, tolerance, choice):
    """The reference form at a with the best shares: about its value; the choice is filled in."""
    masses = masses_of(a, epsilon, -1)
    whole = masses.mass[-1]
    lower, upper, counts, _ = points
    q = np.empty(upper.shape)
    total = masses.top + math.log(whole)
    for i in range(epsilon.size):
        own = mass_at(a[i], masses)
        choice.a[i] = a[i]
        choice.share[i] = epsilon[i] / epsilon.sum()
        for k in range(counts[i]):
            q[i, k] = min(max((mass_at(upper[i, k], masses) - own) / whole, -1.0), 1.0)
    near, price = _even_prices(q, lower, counts, epsilon, tolerance, choice.share)
    if not near and price > FAINT:
        before = choice.share.copy()
        worth = 0.0
        for i in range(epsilon.size):
            worth += _winner(q[i], lower[i], counts[i], epsilon[i], before[i])[0]
        other = _bracketed(q, lower, counts, epsilon, choice.share, price)
        for i in range(epsilon.size):
            worth -= _winner(q[i], lower[i], counts[i], epsilon[i], choice.share[i])[0]
        if worth < 0.0:
            choice.share[:] = before
        else:
            price = other
    for i in range(epsilon.size):
        share = choice.share[i]
        total += _winner(q[i], lower[i], counts[i], epsilon[i], share)[0]
        _, more, one = _winner(q[i], lower[i], counts[i], epsilon[i], share * (1.0 - 1e-5))
        _, less, two = _winner(q[i], lower[i], counts[i], epsilon[i], share * (1.0 + 1e-5))
        choice.points[i, 0], choice.points[i, 1] = lower[i, one], upper[i, one]
        choice.points[i, 2], choice.points[i, 3] = lower[i, two], upper[i, two]
        choice.part[i] = min(max((price - less) / (more - less), 0.0), 1.0) if more > less else 0.0
    return total


@part()
def _room(size):
    """Room for the choice of one pair."""
    return Choice(np.zeros(size), np.zeros(size), np.zeros((size, 4)), np.zeros(size))


@compiled()
def search(epsilon, corners, enough, tolerance):
    """About the reference form of one pair for the best of three a, or the first that is low ``enough``; the choice.

    Where sets are worst together need not be where the bound is least. So a is tried before the ascent too, and a = 0,
    which is the plain form with better shares.
    """
    size = epsilon.size
    points = _with_edges(corners) if corners.edged.any() else corners
    worst, a = np.zeros(size, dtype=np.int64), np.zeros(size)
    for i in range(size):
        worst[i] = _worst_alone(epsilon, corners, i, epsilon.sum())
        a[i] = corners.upper[i, worst[i]]
    best, least = _room(size), np.inf
    for attempt in range(3):
        if attempt == 1:
            _ascend(epsilon, corners, a, worst)
        elif attempt == 2:
            a[:] = 0.0
        tried = _room(size)
        value = _reference(a, epsilon, points, tolerance, tried)
        if value < least:
            least, best = value, tried
        if least <= enough:
            break
    return least, best
