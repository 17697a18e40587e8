"""The paper's estimators of the leakage of a table, and ours beside them, by the names of the columns."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

import deptriad as dt

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.utils.arrays import Floats

CALIBRATED = (1.0, 0.5, 0.1)
"""The paper's calibration budgets above 0; at 0 it is the triad itself."""

EPSILON_MAX = 3.0
"""Largest budget that the tuned triad is made for."""

KNOTS = 8

PAPER = (
    "exact",
    "uncalibrated",
    *(f"calibrated at {budget:g}" for budget in CALIBRATED),
    "triad",
)
OURS = ("tuned", "8 knots")
NAMES = (*PAPER, *OURS)

TITLES = {
    "exact": "exact (CPL*)",
    "uncalibrated": "(α, γ, δ)",
    **{f"calibrated at {budget:g}": f"(α, β, δ), ε₀ = {budget:g}" for budget in CALIBRATED},
    "triad": "triad (ε₀ = 0)",
    "tuned": f"ours: tuned triad, ε ≤ {EPSILON_MAX:g}",
    "8 knots": "ours: 8 knots",
}
"""What the figures call them."""


def estimates(table: ArrayLike, epsilon: ArrayLike) -> dict[str, Floats]:
    """What each estimator says about a table at some budgets.

    Examples
    --------
    >>> from deptriad.paper.estimators import estimates
    >>> found = estimates([[0.5, 0.3, 0.15, 0.05], [0.1, 0.15, 0.25, 0.5]], [1.0])
    >>> round(float(found["exact"][0]), 4), round(float(found["triad"][0]), 4)
    (0.5377, 0.618)
    """
    budgets = np.atleast_1d(np.asarray(epsilon, dtype=np.float64))
    curve = dt.profile(table)
    found: dict[str, Floats] = {
        "exact": np.asarray(curve.leakage(budgets)),
        "uncalibrated": np.asarray(dt.uncalibrated(table).leakage(budgets)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # below their budget they are no bound: shown
        for start in CALIBRATED:
            calibrated = dt.triad(table, calibrate_at=start)
            found[f"calibrated at {start:g}"] = np.asarray(calibrated.leakage(budgets))
    found["triad"] = np.asarray(dt.triad(table).leakage(budgets))
    found["tuned"] = np.asarray(dt.triad(table, epsilon_max=EPSILON_MAX).leakage(budgets))
    found["8 knots"] = np.asarray(curve.thin(KNOTS).leakage(budgets))
    return found
