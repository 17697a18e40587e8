"""The compiled loops behind slopes: the reference form with exact derivatives by every budget (maths §5, §8).

A row is what all sources say about one pair (x, x') of values of one target. The reference form is the least, over
shares λ, of a sum of largest terms: a saddle. Where the least λ_i lies at a kink, its two terms count in the mixture
whose slope by λ_i is the common price of λ (the envelope theorem of saddles). So a row is kept as a, λ, two points for
each source and how much the first one counts; with these held it is a smooth function of the budgets that has the
bound's own value and slopes where it was made.

_reference_kernels has the form that is certified, with exact edges and every e^k a logarithm: 3 to 9 times as slow.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._hull_kernels import FREE
from deptriad.totals._point_kernels import Points, all_points
from deptriad.totals._reference_kernels import ascend, plain_choice, steps_of
from deptriad.totals._term_kernels import HUGE
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled

SMALL_SHARE = 1e-7
"""No share is below this part of its source's part of all budgets."""

NEAR = 0.9
"""A pair whose bound is below this part of the largest one need not be known any better."""

EDGE_PARTS = 32
"""Points that stand for an edge from A = 0 to A = 1."""


class Choice(NamedTuple):
    """What a row holds of each source: its a and λ, the B and A of two points, and how much the first counts."""

    a: Floats
    share: Floats
    points: Floats
    part: Floats


class HeldRows(NamedTuple):
    """Rows with all their choices held: row r has entries ``first[r]`` to ``first[r + 1]``, each of one attribute."""

    first: Integers
    attribute: Integers
    a: Floats
    ratio: Floats  # of the share to the budget, where the row was made
    points: Floats
    part: Floats


class Masses(NamedTuple):
    """W at the steps of k(u), over e^k of its highest step, which is ``top``."""

    edge: Floats
    height: Floats
    mass: Floats
    top: float


@compiled(**FREE)
def _tilted(strength, q):
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


@compiled(**FREE)
def _masses_of(a, epsilon):
    """W at the steps that a reference makes."""
    edge, height = steps_of(a, epsilon, -1)
    pieces = height.size
    mass = np.empty(pieces + 1)
    first = 0
    while first < pieces - 1 and edge[first + 1] <= 0.0:
        first += 1
    top = height[first]
    mass[0] = 0.0
    for j in range(pieces):
        wide = edge[j + 1] - edge[j]
        mass[j + 1] = mass[j] + (math.exp(height[j] - top) * wide if wide > 0.0 else 0.0)
    return Masses(edge, height, mass, top)


@compiled(**FREE)
def _mass_at(place, masses):
    """W(place) over e^top."""
    edge, height, mass, top = masses
    j = min(max(np.searchsorted(edge, place) - 1, 0), height.size - 1)
    return mass[j] + math.exp(height[j] - top) * (place - edge[j])


@compiled(**FREE)
def _winner(q, lower, count, epsilon, share):
    """The point with the largest λ·tilt − ε·B, and how fast that falls with λ."""
    strength = epsilon / share
    best, fall, place = -np.inf, 0.0, 0
    for k in range(count):
        tilt, push = _tilted(strength, q[k])
        value = share * tilt - epsilon * lower[k]
        if value > best:
            best, fall, place = value, max(strength * push - tilt, 0.0), k
    return best, fall, place


@compiled(**FREE)
def _narrow(price, low, high, q, lower, counts, epsilon):
    """Halve the bracket around each source's share at a price."""
    for i in range(epsilon.size):
        if high[i] > low[i] * (1.0 + 1e-6):
            middle = math.sqrt(low[i] * high[i])
            if _winner(q[i], lower[i], counts[i], epsilon[i], middle)[1] > price:
                low[i] = middle
            else:
                high[i] = middle


@compiled(**FREE)
def _price_bracket(q, lower, counts, epsilon):
    """Prices of λ between which the shares sum to 1: those of the sources at shares in proportion to ε."""
    share = epsilon / epsilon.sum()
    least, most = np.inf, 0.0
    for i in range(epsilon.size):
        fall = _winner(q[i], lower[i], counts[i], epsilon[i], share[i])[1]
        least, most = min(least, fall), max(most, fall)
    return max(least, 1e-9 * most), most


@compiled(**FREE)
def _shares(q, lower, counts, epsilon):
    """Shares that minimise the sum of the terms, and the price, only as close as it matters.

    An error of the price changes the sum in second order.
    """
    share = epsilon / epsilon.sum()
    cheap, dear = _price_bracket(q, lower, counts, epsilon)
    if not dear > 0.0:
        return share, 0.0
    small, large = SMALL_SHARE * share, np.ones(epsilon.size)
    while True:
        middle = math.sqrt(cheap * dear)
        low, high = small.copy(), large.copy()
        while low.sum() <= 1.0 < high.sum() and high.sum() - low.sum() > 1e-6:
            _narrow(middle, low, high, q, lower, counts, epsilon)
        if high.sum() > 1.0:
            cheap = middle
            large[:] = high
        else:
            dear = middle
            small[:] = low
        if dear < cheap * (1.0 + 1e-4) or large.sum() - small.sum() < 1e-6:
            break
    low, high = small.copy(), large.copy()
    for _ in range(16):
        _narrow(dear, small, high, q, lower, counts, epsilon)
        _narrow(cheap, low, large, q, lower, counts, epsilon)
    above, below = large.sum(), small.sum()
    if above <= 1.0:  # more than enough for all
        return large / above, 0.0
    part = (1.0 - below) / (above - below) if below < 1.0 else 0.0
    share = small + part * (large - small)
    return share / share.sum(), math.sqrt(cheap * dear)


@compiled(**FREE)
def _with_edges(points):
    """The points of every source, with more of them along edges that count."""
    size, width = points.lower.shape
    low, high = np.empty((size, width + EDGE_PARTS)), np.empty((size, width + EDGE_PARTS))
    filled = np.zeros(size, dtype=np.int64)
    for i in range(size):
        lower, upper = points.lower[i], points.upper[i]
        for k in range(points.counts[i]):
            if points.edged[i] and k:
                run, rise = lower[k] - lower[k - 1], upper[k] - upper[k - 1]
                parts = max(int(EDGE_PARTS * rise), 1)
                for j in range(1, parts):
                    low[i, filled[i]] = lower[k - 1] + j * run / parts
                    high[i, filled[i]] = upper[k - 1] + j * rise / parts
                    filled[i] += 1
            low[i, filled[i]], high[i, filled[i]] = lower[k], upper[k]
            filled[i] += 1
    return Points(low, high, filled, points.edged)


@compiled(**FREE)
def _reference(a, epsilon, points, choice):
    """The reference form at a: its value; the choice is filled in."""
    masses = _masses_of(a, epsilon)
    whole = masses.mass[-1]
    lower, upper, counts, _ = points
    q = np.empty(upper.shape)
    for i in range(epsilon.size):
        own = _mass_at(a[i], masses)
        for k in range(counts[i]):
            q[i, k] = min(max((_mass_at(upper[i, k], masses) - own) / whole, -1.0), 1.0)
    choice.a[:] = a
    choice.share[:], price = _shares(q, lower, counts, epsilon)
    total = masses.top + math.log(whole)
    for i in range(epsilon.size):
        share = choice.share[i]
        total += _winner(q[i], lower[i], counts[i], epsilon[i], share)[0]
        _, more, one = _winner(q[i], lower[i], counts[i], epsilon[i], share * (1.0 - 1e-5))
        _, less, two = _winner(q[i], lower[i], counts[i], epsilon[i], share * (1.0 + 1e-5))
        choice.points[i, 0], choice.points[i, 1] = lower[i, one], upper[i, one]
        choice.points[i, 2], choice.points[i, 3] = lower[i, two], upper[i, two]
        choice.part[i] = min(max((price - less) / (more - less), 0.0), 1.0) if more > less else 0.0
    return total


@compiled(**FREE)
def _choices(count, size):
    """Room for the choices of so many rows."""
    return Choice(
        np.zeros((count, size)),
        np.zeros((count, size)),
        np.zeros((count, size, 4)),
        np.zeros((count, size)),
    )


@compiled(**FREE)
def _taken(choices, rows):
    """The choices of some rows, or of one."""
    return Choice(choices.a[rows], choices.share[rows], choices.points[rows], choices.part[rows])


@compiled(**FREE)
def _refine(sources, epsilon, x, y, enough, best):
    """The reference form of one pair for the best of three a, or the first that is low ``enough``: its value.

    The same three as in _reference_kernels.refine. The best choice is filled in.
    """
    corners = all_points(sources, x, y)
    worst = plain_choice(epsilon, corners)
    points = _with_edges(corners) if corners.edged.any() else corners
    a, least = np.zeros(epsilon.size), np.inf
    tried = _taken(_choices(1, epsilon.size), 0)
    for attempt in range(3):
        if attempt == 1:
            ascend(epsilon, corners, worst)
        for i in range(epsilon.size):
            a[i] = corners.upper[i, worst[i]] if attempt < 2 else 0.0
        value = _reference(a, epsilon, points, tried)
        if value < least:
            least = value
            best.a[:], best.share[:] = tried.a, tried.share
            best.points[:], best.part[:] = tried.points, tried.part
        if least <= enough:
            break
    return least


@compiled(**FREE)
def worst_pairs(sources, epsilon, plain, most):
    """The pairs with the largest bounds, refined by falling plain bound until the rest cannot be larger.

    Returns their choices, a row each, that of the largest bound first.
    """
    rows = plain.shape[0]
    bounds, choices = np.full(most + 1, -np.inf), _choices(most + 1, epsilon.size)
    for place in np.argsort(-plain.ravel(), kind="mergesort"):
        x, y = place // rows, place % rows
        if x == y:
            continue
        if plain[x, y] <= bounds[0]:
            break
        enough = NEAR * bounds[0]
        bounds[most] = _refine(sources, epsilon, x, y, enough, _taken(choices, most))
        order = np.argsort(-bounds, kind="mergesort")
        bounds, choices = bounds[order], _taken(choices, order)
    return _taken(choices, np.flatnonzero(bounds[:most] > -np.inf))


@compiled(**FREE)
def reference_rows(rows, epsilon):
    """The reference form of each row with all its choices held, and its slopes by all budgets.

    Shares follow the budgets, λ_i = r_i·ε_i/Σ r_j·ε_j. W(min(u, v)) = min(W(u), W(v)), since W increases.
    """
    first, attribute, a, ratio, points, part = rows
    values, slopes = np.zeros(first.size - 1), np.zeros((first.size - 1, epsilon.size))
    for r in range(first.size - 1):
        start, stop = first[r], first[r + 1]
        size = stop - start
        here = attribute[start:stop]
        some = epsilon[here]
        masses = _masses_of(a[start:stop], some)
        whole = masses.mass[-1]
        own, pull = np.empty(size), np.zeros((2, size))
        reached, by_share, slope = np.empty((2, size)), np.zeros(size), np.zeros(size)
        scale = (ratio[start:stop] * some).sum()
        total, mean, drift = masses.top + math.log(whole), 0.0, 0.0
        for i in range(size):
            e = start + i
            own[i] = _mass_at(a[e], masses) / whole
            share, strength = ratio[e] * some[i] / scale, scale / ratio[e]
            for side in range(2):
                weight = part[e] if side == 0 else 1.0 - part[e]
                reached[side, i] = own[i]
                if weight == 0.0:
                    continue
                b, high = points[e, 2 * side], points[e, 2 * side + 1]
                reached[side, i] = _mass_at(high, masses) / whole
                q = min(max(reached[side, i] - own[i], -1.0), 1.0)
                tilt, push = _tilted(strength, q)
                total += weight * (share * tilt - some[i] * b)
                slope[i] += weight * (push - b)
                by_share[i] += weight * (tilt - strength * push)
                c = math.expm1(min(strength, HUGE)) if q > 0.0 else -math.expm1(-strength)
                pull[side, i] = weight * share / (1.0 / c + q) if c > 0.0 else 0.0
                drift += pull[side, i] * q
            mean += share * by_share[i]
        for j in range(size):
            moved = own[j] * (1.0 - drift)
            for i in range(size):
                under = min(own[i], own[j])
                moved += pull[0, i] * (min(reached[0, i], own[j]) - under)
                moved += pull[1, i] * (min(reached[1, i], own[j]) - under)
            slope[j] += moved + ratio[start + j] / scale * (by_share[j] - mean)
        values[r] = total
        for j in range(size):
            slopes[r, here[j]] = slope[j]
    return values, slopes
