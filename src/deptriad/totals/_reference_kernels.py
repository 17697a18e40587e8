"""The compiled loops of totals, fourth part: what a and λ prove about one pair, the reference form (maths §5).

Every e^k is kept as its logarithm, and edges count exactly.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np

from deptriad.totals._search_kernels import masses_of
from deptriad.totals._term_kernels import HUGE, Curve, largest_term, log_sum
from deptriad.utils.compiled import compiled, part
from deptriad.utils.rounding import ROUNDOFF


@part()
def _log_mass(steps, start, stop):
    """ln of ∫ e^{k(u)} du from start to stop, each step by itself: nothing cancels, nothing overflows."""
    edge, height = steps.edge, steps.height
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


@part()
def _log_whole(steps):
    """ln W(1), exact to rounding of itself even where it is tiny."""
    edge, height = steps.edge, steps.height
    if height[0] >= HUGE:
        return _log_mass(steps, 0.0, 1.0)
    total = 0.0
    for j in range(height.size):
        total += math.expm1(height[j]) * (edge[j + 1] - edge[j])
    return math.log1p(total)


@part()
def _split(cuts, points, i, low, high):
    """The points of source i, with one more wherever an edge passes a rising cut, a step of k(u); returns how many."""
    lower, upper, edged = points.lower[i], points.upper[i], points.edged[i]
    low[0], high[0] = lower[0], upper[0]
    filled = 1
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


@part()
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
def proved(epsilon, a, share, points):
    """The reference form of one pair at a with shares λ."""
    size = epsilon.size
    steps = masses_of(a, epsilon, -1)
    whole = _log_whole(steps)
    width = points.lower.shape[1] + size
    low, high, q = np.empty(width), np.empty(width), np.empty(width)
    log_q, log_rest, up = np.empty(width), np.empty(width), np.empty(width, dtype=np.bool_)
    terms = 0.0
    for i in range(size):
        n = _split(steps.edge, points, i, low, high)
        curve = Curve(low[:n], q[:n], log_q[:n], log_rest[:n], up[:n], points.edged[i])
        _weigh(a[i], steps, whole, high[:n], curve)
        terms += largest_term(curve, epsilon[i], share[i])
    return whole + terms
