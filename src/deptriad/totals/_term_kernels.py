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

from deptriad.totals._point_kernels import BY_ZERO
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.compiled import compiled, part
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


@part()
def log(number):
    """ln, −∞ at 0."""
    return math.log(number) if number > 0.0 else -np.inf


@part()
def log_sum(one, other):
    """ln(e^one + e^other)."""
    high, low = max(one, other), min(one, other)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@part()
def raised(strength, log_q, q):
    """ln(1 + (e^s − 1)·q): the logarithm of how much a tilt by s multiplies a mass q."""
    if strength < HUGE:
        return math.log1p(q * math.expm1(strength))
    power = strength + log_q
    if power > 0.0:
        return power + math.log1p(math.exp(-power) * (1.0 - q))
    return math.log1p(math.exp(power))


@part()
def log_tilt(strength, log_q, q, log_rest, up):
    """The same with e^{±s}; log_rest is ln(1 − q).

    Downward it is ln((1 − q) + e^−s·q) where q may be so near 1 that 1 − q is lost. Upward log_rest is not needed.
    """
    if up:
        return raised(strength, log_q, q)
    fall = -q * math.expm1(-strength)
    return math.log1p(-fall) if fall < 0.5 else log_sum(log_rest, log_q - strength)


@part(**BY_ZERO)
def largest_term(curve, epsilon, share):
    """Largest λ·tilt − ε·B over the points (and edges) of a source."""
    lower, q, log_q, log_rest, up, edged = curve
    best = -np.inf
    if share <= 0.0:  # the limit
        for k in range(lower.size):
            reached = epsilon if up[k] and log_q[k] > -np.inf else 0.0
            best = max(best, reached - epsilon * lower[max(k - 1, 0) if edged else k])
        return best
    strength = epsilon / share
    for k in range(lower.size):
        tilt = log_tilt(strength, log_q[k], q[k], log_rest[k], up[k])
        best = max(best, share * tilt - epsilon * lower[k])
    if edged:
        for k in range(1, lower.size):
            best = max(best, edge_term(curve, k, epsilon, share))
    return best


@part(**BY_ZERO)
def edge_term(curve, k, epsilon, share):
    """The largest term inside the edge that ends at point k, −∞ where it has none.

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
        return share * raised(strength, log_q[k], q[k]) - epsilon * lower[k - 1]
    if run <= 0.0 or rise == 0.0:
        return -np.inf
    flat = 1.0 / math.expm1(strength)
    ahead = -flat - q[k - 1] if tail else flat + rest  # −1/(e^{±s} − 1) − q
    # ±∞ or NaN where the edge is too short for a number: then its ends say it all
    part = (share * rise / (epsilon * run) + ahead) / rise
    if not 0.0 < part < 1.0:
        return -np.inf
    mass = (1.0 - part) * q[k - 1] + part * end
    rest = (1.0 - part) * rest + part * end_rest
    tilt = log_tilt(strength, log(mass), mass, log(rest), tail)
    return share * tilt - epsilon * (lower[k - 1] + part * run)


# --- leakages and the plain form --------------------------------------------------------------------------------


@part()
def leakage(lower, upper, count, epsilon, focus):
    """Leakage of one source for one pair: the best corner, since the ratio is quasi-linear (maths §1)."""
    best = 0.0
    for k in range(count):
        a, b = upper[k], lower[k]
        if a > b:
            if epsilon < HUGE:
                value = math.log1p((a - b) / (focus + b))
            else:
                value = raised(epsilon, log(a), a) - raised(epsilon, log(b), b)
                value += 8 * ROUNDOFF * epsilon
            best = max(best, value)
    return min(best, epsilon)


@compiled()
def largest_sum(points, places, ceilings, some, epsilon, focus, most, best):
    """The largest sum of the leakages of some sources for one pair, none of them above its ``most``; or ``best``.

    Pairs come by falling ceilings of their sums: once these are not above what was found, the rest need no look.
    """
    for k in range(places.size):
        if ceilings[k] <= best:
            break
        together, pair = 0.0, places[k]
        for e in range(some.size):
            i = some[e]
            lower, upper = points.lower[pair, i], points.upper[pair, i]
            count = points.counts[pair, i]
            together += min(leakage(lower, upper, count, epsilon[i], focus[i]), most[i])
        best = max(best, together)
    return best


@compiled()
def plain_terms(points, epsilon, focus, terms, alone):
    """Fill in what the corners of each source say in the plain form of one pair, where q = A, and its leakage."""
    total = 0.0
    for i in range(epsilon.size):
        total += epsilon[i]
    for i in range(epsilon.size):
        lower, upper, count = points.lower[i], points.upper[i], points.counts[i]
        share, best = epsilon[i] / total, -np.inf
        for k in range(count):
            a = upper[k]
            if share > 0.0:
                value = share * raised(epsilon[i] / share, log(a), a) - epsilon[i] * lower[k]
            else:  # the limit
                reached = epsilon[i] if a > 0.0 else 0.0
                value = reached - epsilon[i] * lower[max(k - 1, 0) if points.edged[i] else k]
            best = max(best, value)
        terms[i] = best
        alone[i] = leakage(lower, upper, count, epsilon[i], focus[i])


@compiled()
def plain_edges(points, epsilon, terms):
    """Raise these terms to those of the edges that count."""
    width, total = points.lower.shape[1], 0.0
    for i in range(epsilon.size):
        total += epsilon[i]
    log_q, up = np.empty(width), np.empty(width, dtype=np.bool_)
    for i in range(epsilon.size):
        share = epsilon[i] / total
        if points.edged[i] and share > 0.0:
            lower, upper = points.lower[i], points.upper[i]
            for k in range(points.counts[i]):
                log_q[k], up[k] = log(upper[k]), True
            curve = Curve(lower, upper, log_q, log_q, up, True)
            for k in range(1, points.counts[i]):
                terms[i] = max(terms[i], edge_term(curve, k, epsilon[i], share))
