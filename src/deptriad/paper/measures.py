"""Estimates of all ordered pairs of a dataset at once; ``deptriad.metrics`` scores them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

import deptriad as dt
from deptriad.metrics import normalized_squared_error
from deptriad.paper.estimators import EPSILON_MAX, KNOTS

if TYPE_CHECKING:
    from deptriad.analysis.prior import Prior
    from deptriad.utils.arrays import Floats

ESTIMATES = ("exact", "triad", "tuned", "8 knots")
"""The leakage itself, the paper's triad, and ours beside it."""


def as_matrix(leakages: Floats) -> Floats:
    """Leakages of all ordered pairs, in the order of ``permutations``, as a matrix; its diagonal is 0.

    >>> as_matrix(np.array([0.25, 0.5])).tolist()
    [[0.0, 0.25], [0.5, 0.0]]
    """
    size = round((1.0 + math.sqrt(1.0 + 4.0 * len(leakages))) / 2.0)
    matrix = np.zeros((size, size))
    matrix[~np.eye(size, dtype=np.bool_)] = leakages
    return matrix


def nmse(leakages: Mapping[str, Floats]) -> dict[str, float]:
    """The paper's NMSE-CPL of every estimate, from leakages of all ordered pairs."""
    exact = as_matrix(leakages["exact"])
    return {
        f"nmse {name}": normalized_squared_error(as_matrix(leakages[name]), exact)
        for name in ESTIMATES[1:]
    }


def pair_tables(prior: Prior) -> list[dt.Conditional]:
    """Tables of all ordered pairs (source, target), in the order of ``permutations``."""
    return [prior.table(*pair) for pair in permutations(prior.names, 2)]


class Estimators:
    """Everything that answers budgets for many tables, made once.

    Parameters
    ----------
    tables
        Tables p(source | target).
    epsilon_max
        Largest budget that the tuned triads are made for.
    """

    def __init__(self, tables: Sequence[dt.Conditional], epsilon_max: float = EPSILON_MAX) -> None:
        self.tables = tables
        self.triads = dt.triads(tables)
        # the curve of a 2 × 2 table has two knots, so that its triad is exact and so is all else
        self._larger = [k for k, table in enumerate(tables) if table.shape != (2, 2)]
        self._tuned = [dt.triad(tables[k], epsilon_max=epsilon_max) for k in self._larger]
        self._thin = [dt.profile(tables[k]).thin(KNOTS) for k in self._larger]

    def leakages(self, epsilon: float) -> dict[str, Floats]:
        """What each of ``ESTIMATES`` says about all tables at a budget."""
        triad = np.asarray(self.triads.leakage(epsilon))
        return {
            "exact": dt.leakages(self.tables, epsilon),
            "triad": triad,
            "tuned": self._with(triad, self._tuned, epsilon),
            "8 knots": self._with(triad, self._thin, epsilon),
        }

    def _with(
        self, triad: Floats, curves: Sequence[dt.Triad | dt.Profile], epsilon: float
    ) -> Floats:
        """The triad's answers, but for the larger tables those of other curves."""
        found = triad.copy()
        found[self._larger] = [float(np.asarray(curve.leakage(epsilon))) for curve in curves]
        return found
