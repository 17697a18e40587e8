"""The paper's calibration: gradient descent on Σ_k (total_k − promise)² with pairwise totals, never below splitting.

Its step size and number of steps are not published; the same ones serve for both measures here, so that their times can
be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from deptriad.rivals import ltm

if TYPE_CHECKING:
    from deptriad.analysis.analysis import Analysis
    from deptriad.utils.arrays import Floats

STEPS = 2_000
RATE = 0.05
"""With so many steps of this size the loss no longer falls by a per cent; budgets still trade places a little."""

NUDGE = 1e-6
"""Step of the difference quotients."""

Leak = Callable[["Floats"], "Floats"]
"""From a budget for each ordered pair, that of its source, to its leakage."""


def by_triads(analysis: Analysis) -> Leak:
    """Leakages by the triads, all at once."""
    return lambda epsilon: np.asarray(analysis.numbers.leakage(epsilon))


def by_ltm(analysis: Analysis) -> Leak:
    """Leakages by LTM's functions, which are prepared once for each pair."""
    functions = [ltm.prepare(analysis.tables[pair].table) for pair in analysis.pairs]  # type: ignore[union-attr]
    return lambda epsilon: np.array(
        [
            float(np.asarray(function.leakage(budget)))
            for function, budget in zip(functions, epsilon, strict=True)
        ]
    )


def descend(analysis: Analysis, leak: Leak, promise: float, steps: int = STEPS) -> Floats:
    """Budgets, one for each attribute, whose pairwise totals by ``leak`` keep the promise."""
    sources, targets = analysis._places
    size = len(analysis.names)
    splitting = np.full(size, promise / size)

    def totals(epsilon: Floats) -> Floats:
        found = epsilon.copy()
        np.add.at(found, targets, leak(epsilon[sources]))
        return found

    epsilon = splitting.copy()
    for _ in range(steps):
        here = leak(epsilon[sources])
        slope = (leak(epsilon[sources] + NUDGE) - here) / NUDGE
        excess = epsilon - promise
        np.add.at(excess, targets, here)
        step = 2.0 * excess
        np.add.at(step, sources, 2.0 * excess[targets] * slope)
        epsilon = np.clip(epsilon - RATE / size * step, splitting, promise)
    return _kept(epsilon, splitting, promise, totals)


def _kept(
    epsilon: Floats, splitting: Floats, promise: float, totals: Callable[[Floats], Floats]
) -> Floats:
    """As far from splitting towards the budgets as the promise allows: splitting always keeps it."""
    if totals(epsilon).max() <= promise:
        return epsilon
    low, high = 0.0, 1.0
    for _ in range(50):
        part = 0.5 * (low + high)
        kept = totals(splitting + part * (epsilon - splitting)).max() <= promise
        low, high = (part, high) if kept else (low, part)
    return splitting + low * (epsilon - splitting)
