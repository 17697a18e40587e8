"""The compiled loops of totals, last part: the worst joint of two or three sources (maths §5).

Given events of probabilities A and B, numerator and denominator of the likelihood ratio have nothing in common. The
numerator is largest where the events are nested, the denominator where they avoid each other: the largest of a few
planes in B, since it is a linear program. With t = e^ε − 1,

    N − 1 = Σ_i t_i·A_i + Σ_{i<j} t_i·t_j·min(A_i, A_j) + t_1·t_2·t_3·min(A_1, A_2, A_3)
    D − 1 ≥ p_0 + Σ_i p_i·B_i    for every plane p
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np

from deptriad.totals._point_kernels import BY_ZERO
from deptriad.utils.compiled import compiled, part
from deptriad.utils.rounding import ROUNDOFF

HALVINGS = 32
"""Steps of the search for each weight of two hulls: any weights are a proof."""


@compiled(**BY_ZERO)
def worst_events(points, gains, planes):
    """The largest ln N/D over all choices of a point for each of three sources, and these; planes are rounded down."""
    lower, upper, counts, _ = points
    t1, t2, t3 = gains
    best, first, second, third = 0.0, 0, 0, 0
    for i in range(counts[0]):
        a1, b1 = upper[0, i], lower[0, i]
        for j in range(counts[1]):
            a2, b2 = upper[1, j], lower[1, j]
            both = min(a1, a2)
            two = t1 * a1 + t2 * a2 + t1 * t2 * both
            for k in range(counts[2]):
                a3, b3 = upper[2, k], lower[2, k]
                more = a3 + t1 * min(a1, a3) + t2 * min(a2, a3) + t1 * t2 * min(both, a3)
                above = (two + t3 * more) * (1.0 + 16 * ROUNDOFF)
                below = 0.0
                for p in range(planes.shape[0]):
                    plane = planes[p]
                    reached = plane[0] + plane[1] * b1 + plane[2] * b2 + plane[3] * b3
                    below = max(below, reached)
                ratio = (above - below) / (1.0 + below)
                if ratio > best:
                    best, first, second, third = ratio, i, j, k
    return math.log1p(best), (first, second, third)


# --- hulls: weights between the linear pieces of N and of D -----------------------------------------------------


@part()
def _most(lower, upper, count, gain, loss):
    """The point with the largest gain·A − loss·B."""
    best, place = -np.inf, 0
    for k in range(count):
        value = gain * upper[k] - loss * lower[k]
        if value > best:
            best, place = value, k
    return place


@part(**BY_ZERO)
def _tested(points, gains, theta, weight, gamma):
    """max N − γ·D, rounded up, and the N and D of that place: linear pieces of both mixed by weights.

    N − 1 ≤ t_1·A_1 + t_2·A_2 + t_1·t_2·(θ·A_2 + (1 − θ)·A_1) and D − 1 ≥ t_1·B_1 + t_2·B_2 + w·(B_1 + B_2 − 1) for
    all θ in [0, 1] and w in [0, t_1·t_2], with equality of both for some.
    """
    t1, t2 = gains[0], gains[1]
    up1, up2 = t1 + (1.0 - theta) * t1 * t2, t2 + theta * t1 * t2
    down1, down2 = t1 + weight, t2 + weight
    i = _most(points.lower[0], points.upper[0], points.counts[0], up1, gamma * down1)
    j = _most(points.lower[1], points.upper[1], points.counts[1], up2, gamma * down2)
    above = 1.0 + up1 * points.upper[0, i] + up2 * points.upper[1, j]
    mass = 1.0 + down1 * points.lower[0, i] + down2 * points.lower[1, j]
    doubt = 16 * ROUNDOFF * (above + gamma * (mass + weight))
    return above - gamma * (mass - weight) + doubt, above, mass - weight


@part(**BY_ZERO)
def _best_theta(points, gains, weight, gamma):
    """The θ with the least max N − γ·D, which is convex in it: thirds of its range are cut off."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        one, two = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        if (
            _tested(points, gains, one, weight, gamma)[0]
            <= _tested(points, gains, two, weight, gamma)[0]
        ):
            high = two
        else:
            low = one
    theta = 0.5 * (low + high)
    return theta, _tested(points, gains, theta, weight, gamma)[0]


@part(**BY_ZERO)
def root(points, gains, theta, weight, most):
    """A γ ≤ most with N ≤ γ·D for these weights, ∞ if there is none: Newton's steps from below, then a hair up."""
    gamma = 1.0
    for _ in range(200):
        excess, above, below = _tested(points, gains, theta, weight, gamma)
        if excess <= 0.0:
            return gamma
        if below <= 0.0 or not gamma <= most:
            return np.inf
        gamma = max(gamma * (1.0 + 2.0**-46), above / below)
    return np.inf


@compiled(**BY_ZERO)
def two_hulls(points, gains, gamma):
    """The least γ below the one given for which some weights are a proof, and these: θ and w; ∞ if there is none."""
    best, best_theta, best_weight = np.inf, 0.0, 0.0
    top = math.log1p(gains[0] * gains[1])
    for _ in range(8):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            one, two = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
            left = _best_theta(points, gains, math.expm1(one * top), gamma)[1]
            if left <= _best_theta(points, gains, math.expm1(two * top), gamma)[1]:
                high = two
            else:
                low = one
        weight = math.expm1(0.5 * (low + high) * top)
        theta = _best_theta(points, gains, weight, gamma)[0]
        found = root(points, gains, theta, weight, gamma)
        if not found < best:
            break
        done = found > best * (1.0 - 1e-9) if best < np.inf else found > gamma * (1.0 - 1e-9)
        best, best_theta, best_weight, gamma = found, theta, weight, found
        if done:
            break
    return best, best_theta, best_weight
