"""The compiled loops of totals, second part: the largest term of a source, its leakage, the plain form (maths §5).

A bound is a claim about the likelihood ratio of all reports together. For a in [0, 1] and shares λ that sum to 1,

    ln ratio ≤ ln W(1) + Σ_i max { λ_i·ln(1 ± (e^{±ε_i/λ_i} − 1)·q) − ε_i·B },     q = |W(A) − W(a_i)| / W(1)

with + where A ≥ a_i and − elsewhere: the reference form with W(1) taken out. Everything with e^k is kept as logarithm.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._point_kernels import BY_ZERO, fill_points
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.compiled import compiled
from deptriad.utils.rounding import ROUNDOFF

HUGE = 600.0
"""Exponents above this stay logarithms."""


class Curve(NamedTuple):
    """The points of one source as a reference sees them, and whether the edges between them count."""

    lower: Floats  # B
    q: Floats
    log_q: Floats
    log_rest: Floats  # ln(1 − q), needed where up is false
    up: Booleans  # A ≥ a
    edged: bool


@compiled()
def log(number):
    """ln, −∞ at 0."""
    return math.log(number) if number > 0.0 else -np.inf


@compiled()
def log_sum(one, other):
    """ln(e^one + e^other)."""
    high, low = max(one, other), min(one, other)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@compiled()
def log_tilt(strength, log_q, q, log_rest, up):
    """ln(1 + (e^{±s} − 1)·q): the logarithm of how much a tilt by s multiplies a mass q; log_rest is ln(1 − q).

    Downward it is ln((1 − q) + e^−s·q) where q may be so near 1 that 1 − q is lost. Upward log_rest is not needed.
    """
    if not up:
        fall = -q * math.expm1(-strength)
        return math.log1p(-fall) if fall < 0.5 else log_sum(log_rest, log_q - strength)
    if strength < HUGE:
        return math.log1p(q * math.expm1(strength))
    power = strength + log_q
    if power > 0.0:
        return power + math.log1p(math.exp(-power) * (1.0 - q))
    return math.log1p(math.exp(power))


@compiled()
def _spent(strength, log_q, q, up, tilt):
    """−d/dλ of λ·ln(1 + (e^{±ε/λ} − 1)·q): a relative entropy, so never negative."""
    if up:
        return max(strength * math.exp(min(log_q + strength - tilt, 0.0)) - tilt, 0.0)
    return max(-strength * q * math.exp(-strength - tilt) - tilt, 0.0)


@compiled(**BY_ZERO)
def largest_term(curve, epsilon, share):
    """Largest λ·tilt − ε·B over the points (and edges) of a source, and how fast it falls with λ."""
    lower, q, log_q, log_rest, up, edged = curve
    best, fall = -np.inf, 0.0
    if share <= 0.0:  # the limit
        for k in range(lower.size):
            reached = epsilon if up[k] and log_q[k] > -np.inf else 0.0
            best = max(best, reached - epsilon * lower[max(k - 1, 0) if edged else k])
        return best, np.inf
    strength = epsilon / share
    for k in range(lower.size):
        tilt = log_tilt(strength, log_q[k], q[k], log_rest[k], up[k])
        value = share * tilt - epsilon * lower[k]
        if value > best:
            best, fall = value, _spent(strength, log_q[k], q[k], up[k], tilt)
    if edged:
        for k in range(1, lower.size):
            value, log_mass, mass, above, tilt = _edge_term(curve, k, epsilon, share)
            if value > best:
                best, fall = value, _spent(strength, log_mass, mass, above, tilt)
    return best, fall


@compiled(**BY_ZERO)
def _edge_term(curve, k, epsilon, share):
    """The largest term inside the edge that ends at point k, −∞ where it has none; ln q, q, whether A ≥ a, the tilt.

    On an edge q and B are linear in each other, where the term is concave: its derivative vanishes at
    q = (λ/ε)·dq/dB − 1/(e^{±s} − 1).
    """
    lower, q, log_q, log_rest, up, _ = curve
    strength = epsilon / share
    run = lower[k] - lower[k - 1]
    tail = up[k]
    end, rest, end_rest = q[k], 1.0, 1.0
    if up[k] != up[k - 1] and q[k - 1] > 0.0:
        end, tail = 0.0, False  # the piece ends at a, where both sides have q = 0
    elif not tail:
        end_rest = math.exp(log_rest[k])
    rise = end - q[k - 1]
    if not tail:
        rest = math.exp(log_rest[k - 1])
        if q[k - 1] > 0.5:
            rise = rest - end_rest
    if strength > HUGE and (tail and log_q[k] > -np.inf):
        # too steep for q as a number: the corner with the A of one end and the B of the other is above the edge
        tilt = log_tilt(strength, log_q[k], q[k], 0.0, True)
        return share * tilt - epsilon * lower[k - 1], log_q[k], q[k], True, tilt
    if run <= 0.0 or rise == 0.0:
        return -np.inf, 0.0, 0.0, True, 0.0
    flat = 1.0 / math.expm1(strength)
    ahead = -flat - q[k - 1] if tail else flat + rest  # −1/(e^{±s} − 1) − q
    # ±∞ or NaN where the edge is too short for a number: then its ends say it all
    part = (share * rise / (epsilon * run) + ahead) / rise
    if not 0.0 < part < 1.0:
        return -np.inf, 0.0, 0.0, True, 0.0
    mass = (1.0 - part) * q[k - 1] + part * end
    rest = (1.0 - part) * rest + part * end_rest
    tilt = log_tilt(strength, log(mass), mass, log(rest), tail)
    value = share * tilt - epsilon * (lower[k - 1] + part * run)
    return value, log(mass), mass, tail, tilt


# --- leakages and the plain form --------------------------------------------------------------------------------


@compiled()
def leakage(lower, upper, count, epsilon, focus):
    """Leakage of one source for one pair: the best corner, since the ratio is quasi-linear (maths §1)."""
    best = 0.0
    for k in range(count):
        a, b = upper[k], lower[k]
        if a > b and epsilon < HUGE:
            best = max(best, math.log1p((a - b) / (focus + b)))
        elif a > b:
            high = log_tilt(epsilon, log(a), a, 0.0, True)
            low = log_tilt(epsilon, log(b), b, 0.0, True)
            best = max(best, high - low + 8 * ROUNDOFF * epsilon)
    return min(best, epsilon)


@compiled()
def distances(sources):
    """The largest A − B of each source for every ordered pair of target values: what no budgets change (maths §5)."""
    rows, size = sources.rows, sources.columns.size
    found = np.zeros((rows * rows, size))
    lower, upper = np.empty(sources.width), np.empty(sources.width)
    for x in range(rows):
        for y in range(rows):
            for i in range(size):
                if x != y:
                    count, _ = fill_points(sources, i, x, y, lower, upper)
                    for k in range(count):
                        found[x * rows + y, i] = max(found[x * rows + y, i], upper[k] - lower[k])
    return found


@compiled()
def largest_sum(sources, some, epsilon, focus, most, places, ceilings):
    """The largest sum of the leakages of some sources for one pair, none of them above its ``most``.

    Pairs come by falling ceilings of their sums: once these are not above what was found, the rest need no look.
    """
    best = 0.0
    lower, upper = np.empty(sources.width), np.empty(sources.width)
    for place in places:
        if ceilings[place] <= best:
            break
        x, y = place // sources.rows, place % sources.rows
        together = 0.0
        for i in some:
            count, _ = fill_points(sources, i, x, y, lower, upper)
            together += min(leakage(lower, upper, count, epsilon[i], focus[i]), most[i])
        best = max(best, together)
    return best


@compiled()
def pair_terms(points, epsilon, focus):
    """The plain bound of one pair, where W(v) = v and so q = A; and the leakage of each source about it."""
    size, width = points.lower.shape
    total, bound = epsilon.sum(), 0.0
    alone = np.empty(size)
    log_q, up = np.empty(width), np.ones(width, dtype=np.bool_)
    for i in range(size):
        n = points.counts[i]
        lower, upper, logs = points.lower[i, :n], points.upper[i, :n], log_q[:n]
        for k in range(n):
            logs[k] = log(upper[k])
        curve = Curve(lower, upper, logs, logs, up[:n], points.edged[i])
        bound += largest_term(curve, epsilon[i], epsilon[i] / total)[0]
        alone[i] = leakage(lower, upper, n, epsilon[i], focus[i])
    return bound, alone
