"""The worst joint of two or three sources for one pair of target values, to check proofs with (maths §5)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from deptriad.mechanisms.rational import exp_below
from deptriad.totals import least_denominator
from deptriad.totals._proof_points import Cloud
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ROUNDOFF

NOT_FEW = "a pair has the way of all events for a source whose sets are too many: expected another"


def events_bound(clouds: list[Cloud], x: int, y: int, epsilon: Floats) -> float:
    """The largest ln N(A)/D(B) over all events: N of nested events, D the largest plane that is proved to be below."""
    if not all(cloud.few for cloud in clouds):
        raise ValueError(NOT_FEW)
    points = [cloud.best_points(x, y) for cloud in clouds]
    planes = proved_planes(tuple(epsilon.tolist()))
    rest_lower, rest_upper = (
        [grid.ravel() for grid in np.meshgrid(*(both[k] for both in points[1:]))] for k in (0, 1)
    )
    count = math.prod(len(lower) for lower, _ in points[1:])
    best = 0.0
    for lower, upper in zip(*points[0], strict=True):  # one event of the first source at a time
        above = _nested(np.stack([np.full(count, upper), *rest_upper]), epsilon)
        below = planes[:, :1] + planes[:, 1:] @ np.stack([np.full(count, lower), *rest_lower])
        least = np.maximum(below.max(axis=0), 0.0)
        best = max(best, float(((above - least) / (1.0 + least)).max()))
    return math.log1p(best)


def _nested(upper: Floats, epsilon: Floats) -> Floats:
    """N − 1 of nested events (columns): Σ_j (e^{ε_1 + … + ε_j} − e^{ε_1 + … + ε_{j−1}})·A_j, by falling A."""
    order = np.argsort(-upper, axis=0)
    before = np.cumsum(epsilon[order], axis=0) - epsilon[order]
    steps = np.exp(before) * np.expm1(epsilon[order])
    return np.asarray((steps * np.take_along_axis(upper, order, axis=0)).sum(axis=0))


@lru_cache(maxsize=256)
def proved_planes(epsilon: tuple[float, ...]) -> Floats:
    """Planes below the least denominator, each checked in rational arithmetic for every set of events."""
    size = len(epsilon)
    found = least_denominator.planes(np.array(epsilon))[:, : size + 1]
    below = [exp_below(each) for each in epsilon]
    for plane in found:
        first, *rest = map(Fraction, plane.tolist())
        for events in product((0, 1), repeat=size):
            height = math.prod(e for e, inside in zip(below, events, strict=True) if inside) - 1
            if first + sum(p for p, inside in zip(rest, events, strict=True) if inside) > height:
                raise ValueError(f"no planes are proved below the least denominator of {epsilon}")
    return found


def hulls_bound(
    clouds: list[Cloud], x: int, y: int, epsilon: Floats, theta: float, part: float
) -> float:
    """ln of the least γ for which two weights prove N ≤ γ·D over all events, ∞ if there is none.

    N − 1 ≤ t_1·A_1 + t_2·A_2 + t_1·t_2·(θ·A_2 + (1 − θ)·A_1) and D − 1 ≥ t_1·B_1 + t_2·B_2 + w·(B_1 + B_2 − 1), with
    w the given part of t_1·t_2: both are linear, so that N − γ·D is largest at a point of each source by itself.
    """
    one, two = np.expm1(epsilon)
    weight = part * one * two
    slopes = one + (1.0 - theta) * one * two, two + theta * one * two
    points = [cloud.points(x, y) for cloud in clouds]
    gamma = 1.0
    for _ in range(1000):
        above, below, size = 1.0, 1.0 - weight, 1.0 + weight
        for (lower, upper), up, t in zip(points, slopes, (one, two), strict=True):
            down = t + weight
            place = int(np.argmax(up * upper - gamma * down * lower))
            above += float(up * upper[place])
            below += float(down * lower[place])
            size += float(down * lower[place])
        if above - gamma * below + 8 * ROUNDOFF * (above + gamma * size) <= 0.0:
            return math.log(gamma)
        if below <= 0.0 or gamma > math.exp(epsilon.sum()):
            return math.inf
        gamma = max(gamma * (1.0 + 2.0**-48), above / below)
    return math.inf
