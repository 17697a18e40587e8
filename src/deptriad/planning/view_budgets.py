"""Budgets inside one view of separate GRR reports: what is worth most at given prices, under the promise (maths §11).

With f_i the precision of attribute i, a view gains Σ_C λ_C·Π_{i∈C} f_i over the marginals C inside it; a report's
likelihood is Σ_C p(y_C | x)·Π_{i∈C} t_i. Both are sums over sets of attributes. Rows, two likelihoods of one report,
are collected as they begin to matter: solve with those there are, look where the totals are now, add the worst.
"""

from __future__ import annotations

import numpy as np

from deptriad.planning import _budget_kernels
from deptriad.planning.told import Told
from deptriad.utils.arrays import Floats

ROUNDS = 12
"""Times that rows are added, at most."""

EXCESS = 1e-5
"""How far a total may be above its promise, relatively, in the search; a plan's budgets are mended when it is made."""

NEAR = 0.1
"""Part of its promise by which a total may be below it and still become a row."""


class ViewBudgets:
    """The search in one view; what it learnt about the view's totals is kept for other prices.

    Parameters
    ----------
    told
        What the view tells about all targets.
    promises
        The promise for each target.
    most
        No budget of the view's attributes is above this.
    """

    def __init__(self, told: Told, promises: Floats, most: Floats) -> None:
        self.told, self.promises, self.most = told, promises, most
        self.sizes = told.sizes.astype(np.float64)
        self.above = self.below = np.empty((0, 1 << most.size))
        self.targets: list[int] = []
        self.seen: set[tuple[int, ...]] = set()
        self.even = self.scaled(np.ones(most.size))

    def scaled(self, shape: Floats) -> Floats:
        """The largest budgets of a shape that keep the promise."""
        factor = most = float(np.min(self.most / shape))
        for _ in range(ROUNDS):
            if self.targets:
                rows = self.above, self.below, self.promises[self.targets]
                factor = _budget_kernels.largest_factor(*rows, shape, most)
            if self._looked(factor * shape) <= 1e-9:
                return np.asarray(factor * shape)
        return np.asarray((1.0 - ROUNDS * EXCESS) * factor * shape)

    def best(self, worth: Floats) -> Floats:
        """The budgets that gain most, ``worth`` being λ_C of every set C of attributes, a binary number each."""
        epsilon = self.even
        if epsilon.size == 1 or not worth.any():
            return epsilon
        for _ in range(ROUNDS):
            epsilon = self._solved(worth, self._inside(0.9 * epsilon))
            if self._looked(epsilon) <= EXCESS:
                return np.asarray((1.0 - EXCESS) * epsilon)
        return self.scaled(epsilon)

    def _inside(self, epsilon: Floats) -> Floats:
        """Shrunk until all rows are kept with some room."""
        epsilon = np.maximum(epsilon, 2.0 * LEAST * self.most)
        rows = self.above, self.below, (1.0 - 1e-3) * self.promises[self.targets]
        return np.asarray(epsilon * min(1.0, _budget_kernels.largest_factor(*rows, epsilon, 1.0)))

    def _solved(self, worth: Floats, start: Floats) -> Floats:
        rows = self.above, self.below, self.promises[self.targets]
        found = _budget_kernels.best_budgets(start, *rows, worth, self.sizes, self.most)
        return np.asarray(found)

    def _looked(self, epsilon: Floats) -> float:
        """How far the totals are above their promises, relatively; those near them become rows."""
        totals, where = self.told.totals(epsilon)
        ratio = totals / self.promises
        for target in np.flatnonzero(ratio > 1.0 - NEAR).tolist():
            cell, high, low = where[target].tolist()
            if cell >= 0 and (target, cell, high, low) not in self.seen:
                self.seen.add((target, cell, high, low))
                self.targets.append(target)
                self.above = np.vstack([self.above, self.told.classes(high, cell)])
                self.below = np.vstack([self.below, self.told.classes(low, cell)])
        return float(ratio.max() - 1.0)


LEAST = _budget_kernels.LEAST
