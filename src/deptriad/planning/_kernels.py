"""The compiled loops of calibration: totals with exact derivatives by every budget (maths §5, §8).

A row is what all sources say about one pair (x, x') of values of one target. Each source is a list of points
(B, A) = (G'(S), G(S)), as in total_kernels; on an edge that counts, a few points stand for it here.

- The leakage of a source is the largest ln (1 + tA)/(1 + tB), and its slope that of the largest one.
- The reference form is the least, over shares λ, of a sum of largest terms: a saddle. Where the least λ_i lies at a
  kink, its two terms count in the mixture whose slope by λ_i is the common price of λ (the envelope theorem of
  saddles). So a row is kept as a, λ, two points for each source and how much the first one counts; with these held it
  is a smooth function of the budgets that has the bound's own value and slopes where it was made.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np

from deptriad.totals._kernels import (
    HUGE,
    _all_points,
    _ascend,
    _leakage,
    _plain_choice,
    _points,
    _segments,
)
from deptriad.utils.compiled import compiled

FREE = {"nogil": True, "error_model": "numpy"}
"""Targets are refreshed side by side; a division by zero is ±∞, and each that can happen says what that means."""

SMALL_SHARE = 1e-7
"""No share is below this part of its source's part of all budgets."""

NEAR = 0.9
"""A pair whose bound is below this part of the largest one need not be known any better."""

EDGE_PARTS = 32
"""Points that stand for an edge from A = 0 to A = 1."""


# --- sums of leakages -------------------------------------------------------------------------------------------


@compiled(**FREE)
def leak_rows(first, attribute, begin, lower, upper, epsilon, values, slopes):
    """Σ_i L_i of each row and its slopes; row r has sources first[r] … first[r + 1] − 1."""
    for r in range(first.size - 1):
        values[r] = 0.0
        slopes[r] = 0.0
        for e in range(first[r], first[r + 1]):
            i = attribute[e]
            focus = 1.0 / math.expm1(epsilon[i])
            best, gap, under = 0.0, 0.0, 0.0
            for k in range(begin[e], begin[e + 1]):
                ratio = (upper[k] - lower[k]) / (focus + lower[k])
                if ratio > best:
                    best, gap, under = ratio, upper[k] - lower[k], lower[k]
            values[r] += math.log1p(best)
            # d/dε of ln(1 + gap/(1/t + B)), where d(1/t)/dε = −(1/t)(1 + 1/t)
            slopes[r, i] += gap * focus * (1.0 + focus) / ((focus + under) * (focus + under + gap))


@compiled(**FREE)
def pair_leakages(sources, epsilon, focus, rows, width):
    """Σ_i L_i of every ordered pair of target values."""
    sums = np.full((rows, rows), -1.0)
    lower, upper = np.empty(width), np.empty(width)
    for x in range(rows):
        for y in range(rows):
            if x != y:
                sums[x, y] = 0.0
                for i in range(epsilon.size):
                    count, _ = _points(sources, i, x, y, lower, upper)
                    sums[x, y] += _leakage(lower, upper, count, epsilon[i], focus[i])
    return sums


@compiled(**FREE)
def _hull(lower, upper, count):
    """Those of points by increasing B and A that some budget may choose: the upper hull. Returns how many."""
    kept = 0
    for k in range(count):
        if upper[k] <= lower[k]:
            continue
        while kept > 1:
            run, rise = lower[kept - 1] - lower[kept - 2], upper[kept - 1] - upper[kept - 2]
            if rise * (lower[k] - lower[kept - 2]) > (upper[k] - upper[kept - 2]) * run:
                break
            kept -= 1
        lower[kept], upper[kept] = lower[k], upper[k]
        kept += 1
    return kept


@compiled(**FREE)
def pair_hull(sources, x, y, width):
    """The hull of each source's points for one pair: where each begins, B and A, end to end."""
    size = sources.columns.size
    begin = np.zeros(size + 1, dtype=np.int64)
    lower, upper, counts, _ = _all_points(sources, x, y, width)
    for i in range(size):
        begin[i + 1] = begin[i] + _hull(lower[i], upper[i], counts[i])
    return begin, *_end_to_end(lower, upper, begin)


@compiled(**FREE)
def _end_to_end(lower, upper, begin):
    flat_lower, flat_upper = np.empty(begin[-1]), np.empty(begin[-1])
    for i in range(begin.size - 1):
        count = begin[i + 1] - begin[i]
        flat_lower[begin[i] : begin[i + 1]] = lower[i, :count]
        flat_upper[begin[i] : begin[i + 1]] = upper[i, :count]
    return flat_lower, flat_upper


@compiled(**FREE)
def whole_hull(sources, rows, width):
    """The hull of each source's points over all pairs together, which is all its leakage needs (maths §1)."""
    size = sources.columns.size
    begin = np.zeros(size + 1, dtype=np.int64)
    all_lower, all_upper = np.empty((size, 2 * width)), np.empty((size, 2 * width))
    lower, upper = np.empty(width), np.empty(width)
    for i in range(size):
        held = 0
        for x in range(rows):
            for y in range(rows):
                if x != y:
                    count, _ = _points(sources, i, x, y, lower, upper)
                    held = _merged(all_lower[i], all_upper[i], held, lower, upper, count)
        begin[i + 1] = begin[i] + held
    return begin, *_end_to_end(all_lower, all_upper, begin)


@compiled(**FREE)
def _merged(held_lower, held_upper, held, lower, upper, count):
    """The hull of a hull and more points."""
    count = _hull(lower, upper, count)
    held_lower[held : held + count] = lower[:count]
    held_upper[held : held + count] = upper[:count]
    size = held + count
    order = np.argsort(held_lower[:size])
    low, high = held_lower[:size][order], held_upper[:size][order]
    kept, best = 0, -1.0
    for k in range(size):  # increasing in B and in A; of equal B the largest A
        if high[k] > best:
            if kept and held_lower[kept - 1] == low[k]:
                kept -= 1
            held_lower[kept], held_upper[kept] = low[k], high[k]
            best = high[k]
            kept += 1
    return _hull(held_lower, held_upper, kept)


# --- the reference form ------------------------------------------------------------------------------------------


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
def _masses(a, epsilon, edge, height, mass):
    """W at the steps of k(u), over e^k of its highest step; returns the steps' number and that k."""
    pieces = _segments(a, epsilon, -1, edge, height)
    first = 0
    while first < pieces - 1 and edge[first + 1] <= 0.0:
        first += 1
    top = height[first]
    mass[0] = 0.0
    for j in range(pieces):
        wide = edge[j + 1] - edge[j]
        mass[j + 1] = mass[j] + (math.exp(height[j] - top) * wide if wide > 0.0 else 0.0)
    return pieces, top


@compiled(**FREE)
def _mass_at(place, edge, height, mass, pieces, top):
    """W(place) over e^top."""
    j = min(max(np.searchsorted(edge[: pieces + 1], place) - 1, 0), pieces - 1)
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
    """Shares that minimise the sum of the terms, and the price: as in total_kernels, but only as close as it matters.

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
def _with_edges(lower, upper, counts, edged, width):
    """The points of every source, with more of them along edges that count."""
    size = counts.size
    low, high = np.empty((size, width + EDGE_PARTS)), np.empty((size, width + EDGE_PARTS))
    filled = np.zeros(size, dtype=np.int64)
    for i in range(size):
        for k in range(counts[i]):
            if edged[i] and k:
                parts = max(int(EDGE_PARTS * (upper[i, k] - upper[i, k - 1])), 1)
                for j in range(1, parts):
                    low[i, filled[i]] = (
                        lower[i, k - 1] + j * (lower[i, k] - lower[i, k - 1]) / parts
                    )
                    high[i, filled[i]] = (
                        upper[i, k - 1] + j * (upper[i, k] - upper[i, k - 1]) / parts
                    )
                    filled[i] += 1
            low[i, filled[i]], high[i, filled[i]] = lower[i, k], upper[i, k]
            filled[i] += 1
    return low, high, filled


@compiled(**FREE)
def _reference(a, epsilon, lower, upper, counts, share, points, part):
    """The reference form at a: its value; λ, the two points of each source and the part of the first are filled in."""
    size = epsilon.size
    edge, height, mass = np.empty(size + 2), np.empty(size + 2), np.empty(size + 2)
    pieces, top = _masses(a, epsilon, edge, height, mass)
    whole = mass[pieces]
    q = np.empty(upper.shape)
    for i in range(size):
        own = _mass_at(a[i], edge, height, mass, pieces, top)
        for k in range(counts[i]):
            reached = _mass_at(upper[i, k], edge, height, mass, pieces, top)
            q[i, k] = min(max((reached - own) / whole, -1.0), 1.0)
    share[:], price = _shares(q, lower, counts, epsilon)
    total = top + math.log(whole)
    for i in range(size):
        total += _winner(q[i], lower[i], counts[i], epsilon[i], share[i])[0]
        _, more, one = _winner(q[i], lower[i], counts[i], epsilon[i], share[i] * (1.0 - 1e-5))
        _, less, two = _winner(q[i], lower[i], counts[i], epsilon[i], share[i] * (1.0 + 1e-5))
        points[i, 0], points[i, 1] = lower[i, one], upper[i, one]
        points[i, 2], points[i, 3] = lower[i, two], upper[i, two]
        part[i] = min(max((price - less) / (more - less), 0.0), 1.0) if more > less else 0.0
    return total


@compiled(**FREE)
def _refine(sources, epsilon, x, y, width, enough, a, share, points, part):
    """The reference form of one pair for the best of three a, or the first that is low ``enough``: its value.

    The same three as in total_kernels.refine. Everything else is filled in.
    """
    lower, upper, counts, edged = _all_points(sources, x, y, width)
    choice = _plain_choice(epsilon, lower, upper, counts)
    low, high, filled = lower, upper, counts
    if edged.any():
        low, high, filled = _with_edges(lower, upper, counts, edged, width)
    size = epsilon.size
    this_a, this_share = np.zeros(size), np.zeros(size)
    this_points, this_part = np.zeros((size, 4)), np.zeros(size)
    best = np.inf
    for attempt in range(3):
        if attempt == 1:
            _ascend(epsilon, lower, upper, counts, choice)
        for i in range(size):
            this_a[i] = upper[i, choice[i]] if attempt < 2 else 0.0
        value = _reference(this_a, epsilon, low, high, filled, this_share, this_points, this_part)
        if value < best:
            best = value
            a[:], share[:], points[:], part[:] = this_a, this_share, this_points, this_part
        if best <= enough:
            break
    return best


@compiled(**FREE)
def reference_rows(first, attribute, a, ratio, points, part, epsilon, values, slopes):
    """The reference form of each row with all its choices held, and its slopes by all budgets.

    Shares follow the budgets, λ_i = r_i·ε_i/Σ r_j·ε_j. W(min(u, v)) = min(W(u), W(v)), since W increases.
    """
    for r in range(first.size - 1):
        start, stop = first[r], first[r + 1]
        size = stop - start
        here = attribute[start:stop]
        some = epsilon[here]
        edge, height, mass = np.empty(size + 2), np.empty(size + 2), np.empty(size + 2)
        pieces, top = _masses(a[start:stop], some, edge, height, mass)
        whole = mass[pieces]
        own, pull = np.empty(size), np.zeros((2, size))
        reached, by_share, slope = np.empty((2, size)), np.zeros(size), np.zeros(size)
        scale = (ratio[start:stop] * some).sum()
        total, mean, drift = top + math.log(whole), 0.0, 0.0
        for i in range(size):
            e = start + i
            own[i] = _mass_at(a[e], edge, height, mass, pieces, top) / whole
            share, strength = ratio[e] * some[i] / scale, scale / ratio[e]
            for side in range(2):
                weight = part[e] if side == 0 else 1.0 - part[e]
                reached[side, i] = own[i]
                if weight == 0.0:
                    continue
                b, high = points[e, 2 * side], points[e, 2 * side + 1]
                reached[side, i] = _mass_at(high, edge, height, mass, pieces, top) / whole
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
        slopes[r] = 0.0
        for j in range(size):
            slopes[r, here[j]] = slope[j]


@compiled(**FREE)
def worst_pairs(sources, epsilon, plain, width, most):
    """The pairs with the largest bounds, refined by falling plain bound until the rest cannot be larger.

    Returns their bounds, a, λ, points and parts; the largest bound first.
    """
    rows, size = plain.shape[0], epsilon.size
    room = most + 1
    bounds = np.full(room, -np.inf)
    a, share, part = np.zeros((room, size)), np.zeros((room, size)), np.zeros((room, size))
    points = np.zeros((room, size, 4))
    for place in np.argsort(-plain.ravel(), kind="mergesort"):
        x, y = place // rows, place % rows
        if x == y:
            continue
        if plain[x, y] <= bounds[0]:
            break
        last = room - 1
        bounds[last] = _refine(
            sources,
            epsilon,
            x,
            y,
            width,
            NEAR * bounds[0],
            a[last],
            share[last],
            points[last],
            part[last],
        )
        order = np.argsort(-bounds, kind="mergesort")
        bounds = bounds[order]
        a, share, points, part = a[order], share[order], points[order], part[order]
    found = 0
    while found < most and bounds[found] > -np.inf:
        found += 1
    return bounds[:found], a[:found], share[:found], points[:found], part[:found]
