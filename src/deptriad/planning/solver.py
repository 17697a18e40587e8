"""Budgets that keep a promise and lose the least: sequential programming with exact derivatives (maths §8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.utils.arrays import Booleans, Floats

if TYPE_CHECKING:
    from deptriad.mechanisms.expected_error import Utility
    from deptriad.planning.constraints import Constraints

Smooth = Callable[[Floats], tuple[Any, Floats]]
"""A function of the logarithms of the budgets: its value, and its slopes."""

MARGIN = 1e-7
"""Relative room that the solver leaves below a promise: as close as its constraints agree with the totals."""

ROUNDS = 12
"""Solves of held constraints, at most."""

STEP = 1.0
"""How far ln ε may move in the first solve; less once the held constraints prove wrong at such a distance."""


def minimize(
    objective: Smooth, constraint: Smooth, start: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Minimise a function subject to constraint ≥ 0 and bounds: scipy's SLSQP, the only place where it is called."""
    from scipy import optimize

    last: dict[str, tuple[bytes, tuple[Any, Floats]]] = {}

    def once(name: str, function: Smooth, x: Floats) -> tuple[Any, Floats]:
        key = x.tobytes()
        if name not in last or last[name][0] != key:
            last[name] = key, function(x)
        return last[name][1]

    scipy_minimize: Any = optimize.minimize  # its stubs know no such call
    found = scipy_minimize(
        lambda x: once("objective", objective, x)[0],
        start,
        jac=lambda x: once("objective", objective, x)[1],
        bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda x: once("constraint", constraint, x)[0],
                "jac": lambda x: once("constraint", constraint, x)[1],
            }
        ],
        method="SLSQP",
        options={"ftol": 1e-8, "maxiter": 100},  # of ln of the error
    )
    x = np.asarray(found.x, dtype=np.float64)
    return np.clip(np.where(np.isfinite(x), x, start), lower, upper)


@dataclass
class Problem:
    """What is to be solved.

    Parameters
    ----------
    constraints
        The totals.
    limits
        What each total may be at most; ∞ where it does not matter.
    floor, ceiling
        Limits of each budget.
    utility
        The errors of the marginals.
    weights
        How much each attribute matters.
    """

    constraints: Constraints
    limits: Floats
    floor: Floats
    ceiling: Floats
    utility: Utility
    weights: Floats

    def __post_init__(self) -> None:
        self.free: Booleans = self.ceiling > self.floor * (1.0 + 1e-12)

    def excess(self, epsilon: Floats, limits: Floats) -> float:
        """How far the worst total is above its limit, relative to that."""
        return float(np.max(self.constraints.totals(epsilon) / limits - 1.0))

    # --- budgets as far as they are free, by their logarithms ---

    def budgets(self, x: Floats) -> Floats:
        """All budgets."""
        epsilon = self.floor.copy()
        epsilon[self.free] = np.clip(np.exp(x), self.floor[self.free], self.ceiling[self.free])
        return epsilon

    def error(self, x: Floats) -> tuple[float, Floats]:
        """ln of the mean error."""
        epsilon = self.budgets(x)
        value, slope = self.utility.smooth(epsilon)
        return value, (slope * epsilon)[self.free]

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """The paper's squared distance of all totals from their limits, relative to the limits' mean."""
        epsilon = self.budgets(x)
        value, slope = self.constraints.rows(epsilon).totals(epsilon.size)
        known = np.isfinite(self.limits)
        scale = self.limits[known].mean()
        short = (value[known] - self.limits[known]) / scale
        weight = self.weights[known] / self.weights[known].mean()
        by_budget = (2.0 * weight * short) @ slope[known] / scale
        return float((weight * short**2).sum()), (by_budget * epsilon)[self.free]

    def room(self, limits: Floats) -> Smooth:
        """1 − total/limit of every row that has a limit."""

        def left(x: Floats) -> tuple[Floats, Floats]:
            epsilon = self.budgets(x)
            rows = self.constraints.rows(epsilon)
            limit = limits[rows.target]
            bound = np.isfinite(limit)
            slope = rows.slope[bound] / limit[bound, None] * -epsilon
            return 1.0 - rows.value[bound] / limit[bound], slope[:, self.free]

        return left

    def solved(self, objective: Smooth, limits: Floats, x: Floats, step: float = np.inf) -> Floats:
        """The minimum near a start with the constraints held as they are."""
        low, high = np.log(self.floor[self.free]), np.log(self.ceiling[self.free])
        lower, upper = np.maximum(low, x - step), np.minimum(high, x + step)
        return minimize(objective, self.room(limits), x, lower, upper)


def descend(
    problem: Problem,
    objective: Smooth,
    limits: Floats,
    start: Floats,
    watch: Callable[[], None],
) -> Floats:
    """Budgets from a start: solve with held constraints, refresh them there, and again until nothing moves.

    Of all budgets that keep to the limits (to a part of MARGIN) the best; if none do, the last.
    """
    epsilon, x, step = start, np.log(start[problem.free]), STEP
    problem.constraints.refresh(epsilon)
    best, best_value = epsilon, np.inf
    value = np.inf
    for _ in range(ROUNDS):
        moved = problem.solved(objective, limits, x, step)
        far = float(np.max(np.abs(moved - x)))
        x = moved
        epsilon = problem.budgets(x)
        problem.constraints.refresh(epsilon)
        watch()
        before, value = value, float(objective(x)[0])
        over = problem.excess(epsilon, limits)
        if over <= 0.5 * MARGIN and value < best_value:
            best, best_value = epsilon, value
        if far < 1e-7 or (abs(before - value) < 1e-8 and over <= 0.5 * MARGIN):
            break
        if over > 1e-3:
            step = max(0.3 * min(step, far), 1e-3)
    return best if np.isfinite(best_value) else epsilon


def level(
    problem: Problem,
    limits: Floats,
    shape: Floats,
    watch: Callable[[], None],
    rounds: int = ROUNDS,
) -> Floats:
    """The largest budgets of a shape that keep to the limits: by bisection on their common factor.

    Totals increase with every budget, and a few refreshes do; with ``rounds=0`` the constraints stay as they are and
    the factor is rough.
    """
    if not rounds:
        return _clipped(problem, _largest_factor(problem, limits, shape, 1e-3), shape)
    factor = 0.0
    epsilon = problem.floor
    for _ in range(rounds):
        problem.constraints.refresh(epsilon)
        watch()
        before, factor = factor, _largest_factor(problem, limits, shape)
        epsilon = _clipped(problem, factor, shape)
        if abs(factor - before) <= 1e-9 * factor:
            break
    return epsilon


def _clipped(problem: Problem, factor: float, shape: Floats) -> Floats:
    return np.clip(factor * shape, problem.floor, problem.ceiling)


def _largest_factor(
    problem: Problem, limits: Floats, shape: Floats, tolerance: float = 1e-10
) -> float:
    def kept(factor: float) -> bool:
        return problem.excess(_clipped(problem, factor, shape), limits) <= 0.0

    low, high = 0.0, float(np.max(problem.ceiling / shape))
    if kept(high):
        return high
    while high - low > tolerance * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
