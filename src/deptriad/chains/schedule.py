"""The best uneven budgets: the least sum of variances under a promise (maths §12)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.chains.passage import Passage
from deptriad.utils.arrays import Floats

if TYPE_CHECKING:
    from deptriad.chains.chain import Chain

SEARCHED = 40
"""Releases whose budgets are searched one by one; of more, the first and last half of these, and one for the rest."""

SHRINKINGS = 60
"""How often the interval of factors is halved that bring budgets back under the promise."""


def best(chain: Chain, promise: float, constant: float, steps: int) -> Floats:
    """Of the constant budget, the level one and the one that a search finds: the one with the least variance."""
    candidates = [np.full(steps, constant)]
    if steps > 1:
        level = _level(chain, promise, steps)
        start = level if level.min() > 0.0 else candidates[0]
        found = _searched(chain, promise, start[_shown(steps)])
        candidates += [_kept(chain, each, promise) for each in (level, _stretched(found, steps))]
    return min(candidates, key=variance)


def variance(budgets: Floats) -> float:
    """Σ 1/sinh²(ε/2), the variances of the releases but for a factor; ∞ where one says nothing."""
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.sum(np.sinh(budgets / 2.0) ** -2.0))


def _level(chain: Chain, promise: float, steps: int) -> Floats:
    """Budgets with the same total at every time: the bounds start at their limits, and stay there."""
    middle = chain.calibrate(promise)
    budgets = np.full(steps, middle)
    budgets[0], budgets[-1] = chain.limit(middle), chain._onwards.limit(middle)
    return np.asarray(np.minimum(budgets, promise))


def _shown(steps: int) -> slice | list[int]:
    """The places that are searched."""
    if steps <= SEARCHED:
        return slice(None)
    half = SEARCHED // 2
    return [*range(half), *range(steps - half, steps)]


def _stretched(found: Floats, steps: int) -> Floats:
    """Budgets of all releases, from those that were searched: between the ends all are like the middle."""
    half = found.size // 2
    middle = np.full(steps - found.size, min(found[half - 1 : half + 1]))
    return np.concatenate([found[:half], middle, found[half:]])


def _kept(chain: Chain, budgets: Floats, promise: float) -> Floats:
    """The budgets, all made smaller by one factor where they are above the promise, so that they keep it exactly."""
    if chain._keeps(budgets, promise):
        return budgets
    low, high = 0.0, 1.0
    for _ in range(SHRINKINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if chain._keeps(middle * budgets, promise) else (low, middle)
    return low * budgets


# --- the search -----------------------------------------------------------------------------------------------------


def _searched(chain: Chain, promise: float, start: Floats) -> Floats:
    """The least Σ 1/sinh²(ε/2) with every total at most the promise, by sequential quadratic programs."""
    from scipy.optimize import minimize

    back = list(islice(chain._back.passages(), start.size - 1))
    onwards = list(repeat(chain._onwards, start.size - 1))

    def room(budgets: Floats) -> Floats:
        return promise - _told(budgets, back, onwards)[0]

    def slopes(budgets: Floats) -> Floats:
        return -_told(budgets, back, onwards)[1]

    scale = 1.0 / variance(start)
    found: Any = minimize(  # type: ignore[call-overload]
        lambda budgets: scale * variance(budgets),
        start,
        method="SLSQP",
        jac=lambda budgets: -scale * np.cosh(budgets / 2.0) / np.sinh(budgets / 2.0) ** 3,
        bounds=[(1e-3 * promise / start.size, promise)] * start.size,
        constraints={"type": "ineq", "fun": room, "jac": slopes},
        options={"maxiter": 100, "ftol": 1e-10},
    )
    return np.asarray(found.x if np.isfinite(found.x).all() else start)


def _told(budgets: Floats, back: list[Passage], onwards: list[Passage]) -> tuple[Floats, Floats]:
    """Totals at all times and their derivatives (a row for each time), to the nearest float."""
    past, past_slopes = _one_way(budgets, back)
    future, future_slopes = _one_way(budgets[::-1], onwards)
    total = past + future[::-1] - budgets
    return total, past_slopes + future_slopes[::-1, ::-1] - np.eye(budgets.size)


def _one_way(budgets: Floats, passages: Iterable[Passage]) -> tuple[Floats, Floats]:
    """B_t and its derivatives by all budgets: those of B_{t−1} times L'(B_{t−1}), and 1 by its own."""
    bounds, slopes = budgets.astype(float), np.eye(budgets.size)
    for time, passage in enumerate(passages, start=1):
        bound = float(bounds[time - 1])
        bounds[time] += passage.leakage(bound)
        slopes[time] += passage.slope(bound) * slopes[time - 1]
    return bounds, slopes
