"""The search of a calibration: from wishes to the budgets that lose the least (maths §8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from deptriad.mechanisms import expected_error
from deptriad.planning import solver
from deptriad.planning.constraints import constraints
from deptriad.planning.wishes import Wishes, true_totals
from deptriad.totals.totals import Total
from deptriad.utils.arrays import Floats

START = 1.25
"""Times splitting from which the search sets out."""

FEW = 4
"""Attributes up to which every start is followed to its end."""

TRIES = 3
"""Times that budgets are corrected by how far the totals were from what the solver thought."""


class Search:
    """From wishes to budgets."""

    def __init__(self, wishes: Wishes, watch: Callable[[], None]) -> None:
        self.wishes, self.watch = wishes, watch
        floor = wishes.feasible_floor()
        ceiling = wishes.ceiling(floor)
        self.problem = solver.Problem(
            constraints(wishes.analysis, wishes.guarantee, ceiling > 0.0, wishes.limits),
            wishes.limits,
            floor,
            ceiling,
            expected_error.Utility(wishes.analysis.schema.sizes, wishes.mechanisms, wishes.weights),
            wishes.weights,
        )

    def found(self) -> tuple[Floats, list[Total]]:
        """Budgets and their totals, none above its promise."""
        problem, limits = self.problem, self.wishes.limits
        aims = limits * (1.0 - solver.MARGIN)
        epsilon, off = problem.floor, np.zeros(limits.size)
        kept: tuple[Floats, list[Total]] | None = None
        for attempt in range(TRIES):
            epsilon = self._best(aims, epsilon if attempt else None)
            totals = true_totals(self.wishes.analysis, epsilon)
            self.watch()
            true = self.wishes.guaranteed(totals)
            if (true <= limits).all():
                kept = epsilon, totals
            problem.constraints.scan(epsilon)
            problem.constraints.refresh(epsilon)
            before, off = off, true - problem.constraints.totals(epsilon)
            if kept is not None and np.max(np.abs(off - before) / limits) <= 10 * solver.MARGIN:
                break
            aims = (limits - off) * (1.0 - solver.MARGIN)
        return kept if kept is not None else self._shrunk(epsilon)

    def _shrunk(self, epsilon: Floats) -> tuple[Floats, list[Total]]:
        """Towards the least budgets, floor + s·(ε − floor), until the promise is kept (maths §8)."""
        floor, limits = self.problem.floor, self.wishes.limits
        for power in range(9, -1, -1):
            some = floor + (1.0 - 10.0**-power) * (epsilon - floor)
            totals = true_totals(self.wishes.analysis, some)
            self.watch()
            if (self.wishes.guaranteed(totals) <= limits).all():
                return some, totals
        return floor, true_totals(self.wishes.analysis, floor)

    def _best(self, aims: Floats, start: Floats | None) -> Floats:
        """The best budgets for these limits, from a start or from several."""
        problem = self.problem
        if not problem.free.any():
            return problem.floor
        if self.wishes.objective == "even":
            return self._even(aims)
        objective = problem.error if self.wishes.objective == "utility" else problem.loss
        if start is not None:
            return solver.descend(problem, objective, aims, start, self.watch)
        return self._of_many(objective, aims)

    def _of_many(self, objective: solver.Smooth, aims: Floats) -> Floats:
        problem, free = self.problem, self.problem.free
        start = np.minimum(START * problem.floor, problem.ceiling)
        best = solver.descend(problem, objective, aims, start, self.watch)
        for shape in self._shapes():
            problem.constraints.refresh(best)
            value = float(objective(np.log(best[free]))[0])
            start = solver.level(problem, aims, shape, self.watch, rounds=0)
            moved = problem.budgets(problem.solved(objective, aims, np.log(start[free])))
            if free.size <= FEW or objective(np.log(moved[free]))[0] < value - 1e-6:
                moved = solver.descend(problem, objective, aims, moved, self.watch)
                if self._better(objective, aims, moved, value):
                    best = moved
        return best

    def _better(
        self, objective: solver.Smooth, aims: Floats, epsilon: Floats, value: float
    ) -> bool:
        problem = self.problem
        problem.constraints.refresh(epsilon)
        over = problem.excess(epsilon, aims)
        return over <= solver.MARGIN and float(objective(np.log(epsilon[problem.free]))[0]) < value

    def _shapes(self) -> list[Floats]:
        """More starts: budgets by the number of values; and, of a few attributes, most for one of them."""
        size = self.problem.floor.size
        shapes = [np.sqrt(np.array(self.wishes.analysis.schema.sizes, dtype=np.float64))]
        if size <= FEW:
            shapes += [1.0 + 9.0 * row for row in np.eye(size)]
        return shapes

    def _even(self, aims: Floats) -> Floats:
        """The largest smallest ε_i/w_i; then those that no tight total depends on are raised, by utility."""
        problem = self.problem
        weights = self.wishes.weights
        epsilon = solver.level(problem, aims, weights / weights.mean(), self.watch)
        rows = problem.constraints.rows(epsilon)
        tight = rows.value >= aims[rows.target] * (1.0 - 1e-6)
        loose = problem.free & (np.max(rows.slope[tight], axis=0, initial=0.0) < 1e-9)
        if not loose.any():
            return epsilon
        rest = replace(problem, floor=epsilon, ceiling=np.where(loose, problem.ceiling, epsilon))
        if not rest.free.any():
            return epsilon
        return solver.descend(rest, rest.error, aims, epsilon, self.watch)
