"""The compiled loops of totals, first part: the points of every source for a pair of target values (maths §5).

For a pair (x, x') every source is a list of points (B, A) = (G'(S), G(S)), by increasing B and A: one for each set S
worth looking at, or the corners of a concave curve above all of them, whose edges then count too. A is rounded up and
B down, so that the points lie beyond those of every table within rounding of the one given (see rounding).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.compiled import compiled, part
from deptriad.utils.rounding import ENTRY, ROUNDOFF

SLOPES = 48
"""How many supporting lines stand for the hull of a box with many values."""

PRICES = np.linspace(0.0, 1.0, 5)
"""Multipliers μ and ν that the certificate of a box is tried with (maths §3)."""

BY_ZERO = {"error_model": "numpy"}
"""A division by zero is ±∞ or NaN; each that can happen says below what that means."""


class Points(NamedTuple):
    """The points of all sources for one pair, a row each: how many, and whether the edges between them count."""

    lower: Floats  # B
    upper: Floats  # A
    counts: Integers
    edged: Booleans


class Pairs(NamedTuple):
    """The points of all sources for many pairs: those of pair p and source i begin at [p, i, 0], 0 after the last."""

    lower: Floats  # B
    upper: Floats  # A
    counts: Integers


# --- sets one by one -------------------------------------------------------------------------------------


@compiled()
def set_points(points, i, more, less, top, low, order, whole):
    """The points of source i, whose sets are few, for pairs of target values (more likely, less likely).

    Sets with a larger A than every set of smaller B: the objective rises with A and falls with B. Of all sets, the
    empty and the full one are left out: N(S) + N(Sᶜ) = (1 + e^ε)·N(∅) in numerator and denominator alike, so S or its
    complement does at least as well. The same holds for sets that differ from them by values of no mass.
    """
    lower, upper, counts = points
    last = top.shape[1] - 1
    for p in range(more.size):
        x, y = more[p], less[p]
        count = 0
        for k in range(order.shape[1]):
            s = order[y, k]
            if whole and (
                (top[x, s] == 0.0 and top[y, s] == 0.0)
                or (top[x, last - s] == 0.0 and top[y, last - s] == 0.0)
            ):
                continue
            if count == 0 or top[x, s] > upper[p, i, count - 1]:
                if count and low[y, s] == lower[p, i, count - 1]:
                    count -= 1
                lower[p, i, count], upper[p, i, count] = low[y, s], top[x, s]
                count += 1
        if count == 0:  # one value has all the mass: a report says nothing about this pair
            lower[p, i, 0], upper[p, i, 0] = 0.0, 0.0
            count = 1
        counts[p, i] = count


@part()
def sort_falling(keys, order):
    """Put ``order`` into the order of falling keys: by heaps, which need no more room and are never slow."""
    size = order.size
    for end in range(size // 2 - 1 + size, 0, -1):
        # first every parent sinks into the heap below it; then the least key goes to the end, again and again
        root, stop = (end - size, size) if end >= size else (0, end)
        if end < size:
            order[0], order[end] = order[end], order[0]
        while 2 * root + 1 < stop:
            child = 2 * root + 1
            if child + 1 < stop and keys[order[child + 1]] < keys[order[child]]:
                child += 1
            if keys[order[root]] <= keys[order[child]]:
                break
            order[root], order[child] = order[child], order[root]
            root = child


# --- a curve above the sets of many values ----------------------------------------------------------------------


@part()
def slack_of(columns):
    """Relative error granted to a sum of so many entries: their own and that of adding them."""
    return ENTRY + (2 * columns + 8) * ROUNDOFF


@part(**BY_ZERO)
def _hull_points(g, h, lower, upper):
    """Corners of the hull of all sets of two known rows: values by falling ratio g/h, from the empty set on."""
    slack = slack_of(g.size)
    ratio = np.empty(g.size)
    for u in range(g.size):
        ratio[u] = g[u] / h[u] if h[u] > 0.0 else (np.inf if g[u] > 0.0 else 0.0)
    lower[0] = upper[0] = above = below = 0.0
    count = 1
    order = np.arange(g.size)
    sort_falling(ratio, order)
    for u in order:
        if g[u] > 0.0:
            above, below = above + g[u], below + h[u]
            upper[count], lower[count] = (
                min(above * (1.0 + slack), 1.0),
                max(below * (1.0 - slack), lower[count - 1]),
            )
            count += 1
    return count


@part()
def _certificate(low, high, low2, high2, spare, surplus, gamma):
    """A bound on max G(S) − γ·min G'(S) over all sets: the two-multiplier certificate, best of a few (maths §3)."""
    best = 1.0
    for mu in PRICES:
        for nu in PRICES:
            total = (1.0 - mu) * spare + gamma * (1.0 - nu) * surplus
            for u in range(low.size):
                # two positive terms each, which do not cancel: off by roundings of themselves
                term = (1.0 - mu) * low[u] + mu * high[u]
                less = (1.0 - nu) * high2[u] + nu * low2[u]
                term -= gamma * less * (1.0 - 16 * ROUNDOFF)
                total += max(term, 0.0)
            best = min(best, total)
    return min(best * (1.0 + 2.0 * slack_of(low.size)), 1.0)


@compiled(**BY_ZERO)
def slopes_of(low, high, low2, high2):
    """Slopes of the supporting lines: ratios that the values of the box may have, at most SLOPES, falling."""
    size = low.size
    ratio = np.empty(size + 3)
    for u in range(size):
        middle = low2[u] + high2[u]
        ratio[u] = (low[u] + high[u]) / middle if middle > 0.0 else 1.0
    steepest, flattest = 1.0, 1.0
    for u in range(size):
        if low2[u] > 0.0:
            steepest = max(steepest, high[u] / low2[u])
        if high2[u] > 0.0 and low[u] > 0.0:
            flattest = min(flattest, low[u] / high2[u])
    ratio[size], ratio[size + 1], ratio[size + 2] = steepest, 1.0, flattest
    order = np.arange(ratio.size)
    sort_falling(ratio, order)
    slopes = np.empty(SLOPES)
    count = 0
    step = max((ratio.size - 1) / (SLOPES - 1), 1.0)
    for k in range(min(SLOPES, ratio.size)):
        gamma = ratio[order[min(int(k * step + 0.5), ratio.size - 1)]]
        if 1e-9 < gamma < 1e9 and (count == 0 or gamma < slopes[count - 1] * 0.999):
            slopes[count] = gamma
            count += 1
    return slopes[:count]


@part(**BY_ZERO)
def _box_points(low, high, low2, high2, spare, surplus, lower, upper):
    """Corners of a polygon above all sets of two box rows: where certified lines A ≤ E_γ + γB meet.

    A corner is off by the rounding of E over the difference of slopes; moved that far outward it stays above.
    """
    slopes = slopes_of(low, high, low2, high2)
    height = np.empty(slopes.size)
    now = -1
    for k in range(slopes.size):
        height[k] = _certificate(low, high, low2, high2, spare, surplus, slopes[k])
        if now < 0 or height[k] <= height[now]:
            now = k
    lower[0], upper[0] = 0.0, height[now] if now >= 0 else 1.0
    count = 1
    while now >= 0 and upper[count - 1] < 1.0:
        after, where, doubt = -1, (1.0 - height[now]) / slopes[now], 0.0
        for k in range(now + 1, slopes.size):
            meeting = (height[k] - height[now]) / (slopes[now] - slopes[k])
            if meeting <= where:
                after, where = k, meeting
        if after >= 0:
            doubt = 8 * ROUNDOFF * (height[after] + height[now]) / (slopes[now] - slopes[after])
        doubt += 8 * ROUNDOFF * where
        lower[count] = max(where - doubt, lower[count - 1])
        top = (height[now] + slopes[now] * (where + doubt)) * (1.0 + 8 * ROUNDOFF)
        upper[count] = min(max(top, upper[count - 1]), 1.0) if after >= 0 else 1.0
        count += 1
        now = after
    return count


@compiled()
def table_points(points, i, more, less, table):
    """The points of source i, whose values are many, for pairs of target values: corners of the hull of its sets."""
    for p in range(more.size):
        points.counts[p, i] = _hull_points(
            table[more[p]], table[less[p]], points.lower[p, i], points.upper[p, i]
        )


@compiled()
def box_points(points, i, more, less, low, high, spare, surplus):
    """The same for a box: corners of a curve above the hull of every table in it."""
    for p in range(more.size):
        x, y = more[p], less[p]
        points.counts[p, i] = _box_points(
            low[x],
            high[x],
            low[y],
            high[y],
            spare[x],
            surplus[y],
            points.lower[p, i],
            points.upper[p, i],
        )
