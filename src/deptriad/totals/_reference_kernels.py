"""The compiled loops of totals, third part: the reference form of one pair (maths §5).

The reference a is where the sets of all sources are worst together. It makes the steps k(u) = Σ_j ε_j·1{u ≤ a_j}, and
W(v) is the integral of e^k from 0 to v.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._point_kernels import BY_ZERO, all_points
from deptriad.totals._term_kernels import HUGE, Curve, largest_term, log, log_sum, log_tilt
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.compiled import compiled
from deptriad.utils.rounding import ROUNDOFF

SWEEPS = 20
"""Rounds of coordinate ascent after which the reference is taken as it stands."""


class Steps(NamedTuple):
    """k(u) as steps: ``height[j]`` from edge[j] to edge[j + 1]."""

    edge: Floats
    height: Floats


class Curves(NamedTuple):
    """A Curve for each source, a row each, and how many points it has."""

    lower: Floats
    q: Floats
    log_q: Floats
    log_rest: Floats
    up: Booleans
    edged: Booleans
    counts: Integers


# --- the reference: sets that are worst together ----------------------------------------------------------------


@compiled()
def steps_of(a, epsilon, skip):
    """The steps of k(u), without those of source ``skip``."""
    edge, height = np.empty(a.size + 2), np.empty(a.size + 1)
    order = np.argsort(a)
    count = 0
    edge[0] = 0.0
    for j in order:
        if j != skip:
            count += 1
            edge[count] = a[j]
    edge[count + 1] = 1.0
    height[count] = 0.0
    place = count
    for j in order[::-1]:
        if j != skip:
            place -= 1
            height[place] = height[place + 1] + epsilon[j]
    return Steps(edge[: count + 2], height[: count + 1])


@compiled(**BY_ZERO)
def _improve(i, a, epsilon, lower, upper):
    """The best point of source i while the others stay: maximises ln N(A) − ε·B, N = W(1) + (e^ε − 1)·W(A)."""
    edge, height = steps_of(a, epsilon, i)
    first = 0
    while edge[first + 1] == 0.0:
        first += 1
    scale = height[first]  # of the highest step that is not empty
    whole = 0.0
    for j in range(first, height.size):
        whole += math.exp(height[j] - scale) * (edge[j + 1] - edge[j])
    gain = math.expm1(epsilon[i]) if epsilon[i] < HUGE else 1.0
    rest = whole if epsilon[i] < HUGE else whole * math.exp(-epsilon[i])
    best, winner = -np.inf, 0
    mass, j = 0.0, first
    for k in range(lower.size):
        while j < height.size - 1 and edge[j + 1] < upper[k]:
            mass += math.exp(height[j] - scale) * (edge[j + 1] - edge[j])
            j += 1
        reached = mass + math.exp(height[j] - scale) * (upper[k] - edge[j])
        value = math.log(max((rest + gain * reached) / whole, 1e-300)) - epsilon[i] * lower[k]
        if value > best + 1e-14 * abs(best):
            best, winner = value, k
    return winner


@compiled()
def ascend(epsilon, points, choice):
    """Coordinate ascent of ln N(A) − Σ ε_i·B_i from a choice of points, which it replaces."""
    size = epsilon.size
    a = np.empty(size)
    for i in range(size):
        a[i] = points.upper[i, choice[i]]
    for _ in range(SWEEPS):
        still = True
        for i in range(size):
            count = points.counts[i]
            winner = _improve(i, a, epsilon, points.lower[i, :count], points.upper[i, :count])
            if winner != choice[i]:
                still = False
                choice[i] = winner
                a[i] = points.upper[i, winner]
        if still:
            break


@compiled()
def plain_choice(epsilon, points):
    """The point of each source that is worst in the plain form; corners only."""
    total = epsilon.sum()
    choice = np.zeros(epsilon.size, dtype=np.int64)
    for i in range(epsilon.size):
        best = -np.inf
        for k in range(points.counts[i]):
            a = points.upper[i, k]
            value = log_tilt(total, log(a), a, 0.0, True) / total - points.lower[i, k]
            if value > best:
                best, choice[i] = value, k
    return choice


# --- what a reference makes of the points -----------------------------------------------------------------------


@compiled()
def _log_mass(steps, start, stop):
    """ln of ∫ e^{k(u)} du from start to stop, each step by itself: nothing cancels, nothing overflows."""
    edge, height = steps
    top = -np.inf
    for j in range(height.size):
        wide = min(stop, edge[j + 1]) - max(start, edge[j])
        if wide > 0.0:
            top = max(top, height[j] + math.log(wide))
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(height.size):
        wide = min(stop, edge[j + 1]) - max(start, edge[j])
        if wide > 0.0:
            total += math.exp(height[j] + math.log(wide) - top)
    return top + math.log(total)


@compiled()
def _log_whole(steps):
    """ln W(1), exact to rounding of itself even where it is tiny."""
    edge, height = steps
    if height[0] >= HUGE:
        return _log_mass(steps, 0.0, 1.0)
    total = 0.0
    for j in range(height.size):
        total += math.expm1(height[j]) * (edge[j + 1] - edge[j])
    return math.log1p(total)


@compiled()
def _split(a, points, i, low, high):
    """The points of source i, with one more wherever an edge passes a step of k(u); returns how many."""
    lower, upper, edged = points.lower[i], points.upper[i], points.edged[i]
    low[0], high[0] = lower[0], upper[0]
    filled = 1
    cuts = np.sort(a) if edged else a
    for k in range(1, points.counts[i]):
        if edged:
            rise, run = upper[k] - upper[k - 1], lower[k] - lower[k - 1]
            for cut in cuts:
                if high[filled - 1] < cut < upper[k] and cut > upper[k - 1]:
                    along = lower[k - 1] + run * ((cut - upper[k - 1]) / rise)
                    low[filled] = max(along * (1.0 - 8 * ROUNDOFF), low[filled - 1])
                    high[filled] = cut
                    filled += 1
        low[filled], high[filled] = lower[k], upper[k]
        filled += 1
    return filled


@compiled()
def _weigh(a, steps, whole, high, curve):
    """Fill in q = |W(A) − W(a)| / W(1) of each point; where it counts against the bound it is rounded down.

    There 1 − q comes from what lies outside: next to 1, q says nothing of it.
    """
    less = 1.0 - (4 * steps.height.size + 16) * (1.0 + steps.height[0]) * ROUNDOFF
    for k in range(high.size):
        up = high[k] >= a
        start, stop = (a, high[k]) if up else (high[k], a)
        curve.up[k] = up
        curve.log_q[k] = min(_log_mass(steps, start, stop) - whole, 0.0)
        curve.q[k] = math.exp(curve.log_q[k]) * (1.0 if up else less)
        curve.log_rest[k] = 0.0
        if not up:
            before, after = _log_mass(steps, 0.0, start), _log_mass(steps, stop, 1.0)
            curve.log_rest[k] = min(log_sum(before, after) - whole, 0.0)


@compiled()
def _curve(curves, i):
    """The curve of source i."""
    count = curves.counts[i]
    return Curve(
        curves.lower[i, :count],
        curves.q[i, :count],
        curves.log_q[i, :count],
        curves.log_rest[i, :count],
        curves.up[i, :count],
        curves.edged[i],
    )


@compiled()
def _curves(a, steps, whole, points):
    """The points of all sources as the reference a sees them."""
    size = a.size
    width = points.lower.shape[1] + size
    low, high = np.empty((size, width)), np.empty((size, width))
    log_q, q, log_rest = np.empty((size, width)), np.empty((size, width)), np.empty((size, width))
    up, counts = np.empty((size, width), dtype=np.bool_), np.empty(size, dtype=np.int64)
    curves = Curves(low, q, log_q, log_rest, up, points.edged, counts)
    for i in range(size):
        counts[i] = _split(a, points, i, low[i], high[i])
        _weigh(a[i], steps, whole, high[i, : counts[i]], _curve(curves, i))
    return curves


# --- shares, and the bound --------------------------------------------------------------------------------------


@compiled()
def _narrow(price, low, high, curves, epsilon):
    """Halve the bracket around each source's share at a price: where its term stops falling faster than that."""
    for i in range(epsilon.size):
        if high[i] > low[i] * (1.0 + 1e-10):
            middle = math.sqrt(low[i] * high[i])
            if largest_term(_curve(curves, i), epsilon[i], middle)[1] > price:
                low[i] = middle
            else:
                high[i] = middle


@compiled(**BY_ZERO)
def _best_shares(curves, epsilon):
    """Shares λ that minimise the sum of the terms, each convex and falling in its λ: bisection on a common price.

    The dearer, the smaller the shares. Brackets are narrowed only until it is plain whether they sum to more than 1.
    """
    small, large = np.maximum(1e-6 * epsilon / epsilon.sum(), 1e-300), np.ones(epsilon.size)
    cheap, dear = math.log(1e-60), math.log(1e5)
    while dear - cheap > 1e-9 and large.sum() - small.sum() > 1e-9:
        middle = 0.5 * (cheap + dear)
        low, high = small.copy(), large.copy()
        while low.sum() <= 1.0 < high.sum() and high.sum() - low.sum() > 1e-9:
            _narrow(math.exp(middle), low, high, curves, epsilon)
        if high.sum() > 1.0:
            cheap = middle
            large[:] = high
        else:
            dear = middle
            small[:] = low
    # Where the sum jumps past 1 at one price, the shares just above and just below are found to the end, and
    # everything in between costs the same.
    low, high = small.copy(), large.copy()
    for _ in range(40):
        _narrow(math.exp(dear), small, high, curves, epsilon)
        _narrow(math.exp(cheap), low, large, curves, epsilon)
    above, below = large.sum(), small.sum()
    part = (1.0 - below) / (above - below) if above > 1.0 > below else 0.0
    share = small + min(max(part, 0.0), 1.0) * (large - small)
    return share / share.sum()


@compiled()
def _reference(epsilon, a, points):
    """The reference form at a, with the best shares: the bound and the shares."""
    steps = steps_of(a, epsilon, -1)
    whole = _log_whole(steps)
    curves = _curves(a, steps, whole, points)
    share = _best_shares(curves, epsilon)
    terms = 0.0
    for i in range(epsilon.size):
        terms += largest_term(_curve(curves, i), epsilon[i], share[i])[0]
    return whole + terms, share


@compiled()
def refine(sources, epsilon, x, y, enough):
    """The reference form of one pair: the bound, a and λ, for the best of three a, or the first that is low ``enough``.

    Where sets are worst together need not be where the bound is least. So a is tried before the ascent too, and a = 0,
    which is the plain form with better shares.
    """
    points = all_points(sources, x, y)
    size = epsilon.size
    choice = plain_choice(epsilon, points)
    best, best_a, best_share = np.inf, np.zeros(size), np.zeros(size)
    for attempt in range(3):
        if attempt == 1:
            ascend(epsilon, points, choice)
        a = np.zeros(size)
        if attempt < 2:
            for i in range(size):
                a[i] = points.upper[i, choice[i]]
        bound, share = _reference(epsilon, a, points)
        if bound < best:
            best, best_a, best_share = bound, a, share
        if best <= enough:
            break
    return best, best_a, best_share
