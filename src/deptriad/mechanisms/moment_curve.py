"""What an error is as a function of the budget: in closed form, or as a smooth curve through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from deptriad.utils.arrays import Floats

BUDGETS = np.geomspace(1e-4, 64.0, 121)
"""Where a curve touches the error itself; outside it goes on as a constant."""


def fraction(
    c0: float | Floats, c1: float | Floats, c2: float | Floats, epsilon: Floats
) -> tuple[Floats, Floats]:
    """1 + (c0 + c1·z + c2·z²)/(1 − z)² for z = e^{−ε}, and its derivative by ε: m of many mechanisms."""
    z, kept = np.exp(-epsilon), -np.expm1(-epsilon)
    top = c0 + c1 * z + c2 * z * z
    by_z = (c1 + 2.0 * c2 * z) / kept**2 + 2.0 * top / kept**3
    return np.asarray(1.0 + top / kept**2), np.asarray(-z * by_z)


@lru_cache(maxsize=256)
def moment_curve(
    moment: Callable[[float, int], float], size: int
) -> Callable[[float], tuple[float, float]]:
    """A function of ε: m and dm/dε, by a monotone cubic in ln ε through ln m.

    It smooths the steps of mechanisms that turn on whole numbers, such as the width of a subset, so that a descent
    can follow it.
    """
    from scipy.interpolate import PchipInterpolator

    logs = PchipInterpolator(np.log(BUDGETS), np.log([moment(each, size) for each in BUDGETS]))
    slopes = logs.derivative()

    def at(epsilon: float) -> tuple[float, float]:
        inside = min(max(epsilon, BUDGETS[0]), BUDGETS[-1])
        value = float(np.exp(logs(np.log(inside))))
        return value, value * float(slopes(np.log(inside))) / inside * (inside == epsilon)

    return at
