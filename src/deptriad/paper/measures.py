"""How the paper scores estimates on whole datasets: TCPL, estimation error and NMSE over all ordered pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

import deptriad as dt
from deptriad.paper.estimators import EPSILON_MAX, KNOTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.lines import Floats
    from deptriad.prior import Prior

ESTIMATES = ("exact", "triad", "tuned", "8 knots")
"""The leakage itself, the paper's triad, and ours beside it."""


def tcpl(leakages: ArrayLike) -> float:
    """Sum of the leakages of all ordered pairs (the paper's TCPL).

    >>> tcpl([0.25, 0.5])
    0.75
    """
    return float(np.sum(leakages))


def cpl_error(estimated: ArrayLike, exact: ArrayLike) -> Floats:
    """Estimate less truth, pair by pair (the paper's CPL estimation error); negative where it is no bound."""
    return np.asarray(estimated, dtype=np.float64) - np.asarray(exact, dtype=np.float64)


def nmse(estimated: ArrayLike, exact: ArrayLike) -> float:
    """Squared errors over squared leakages, summed over all pairs (the paper's NMSE-CPL).

    >>> nmse([1.0, 2.0], [1.0, 1.0])
    0.5
    """
    return float(np.sum(cpl_error(estimated, exact) ** 2) / np.sum(np.square(exact)))


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
