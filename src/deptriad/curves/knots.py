"""Which knots to keep: the best few-knot upper bound of a profile for a range of budgets (maths §2).

Chords of a convex curve lie above it, so any choice of knots that starts at γ = 1 gives an upper bound, flat after
the last knot. What is chosen is where the bound may be loose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import widening

if TYPE_CHECKING:
    from deptriad.curves.profile import Profile

CANDIDATES = 160
"""Places at which knots are considered, besides the ends."""


def candidates(profile: Profile, budgets: tuple[float, float]) -> tuple[Floats, Floats]:
    """η and E_γ of the places where a knot may go: from γ = 1 to where the curve answers the largest budget."""
    natural = profile.knots[:, 0] - 1.0
    natural[-1] = max(natural[-1], _end(profile))
    least, largest = budgets
    last = (
        natural[-1] if np.isinf(largest) else min(np.expm1(profile.leakage(largest)), natural[-1])
    )
    grid = np.geomspace(max(least, 1e-3), min(max(largest, 2e-3), 100.0), CANDIDATES // 2)
    answers = np.expm1(np.asarray(profile.leakage(grid)))
    eta = np.unique(np.concatenate([natural[natural < last], answers[answers < last]]))
    if eta.size > CANDIDATES:
        eta = eta[np.linspace(0, eta.size - 1, CANDIDATES).round().astype(int)]
    eta = np.unique(np.concatenate([[0.0], eta, [last]]))
    stick = profile._stick(eta)
    if last == natural[-1]:
        stick[-1] = profile.gap[-1]
    return eta, stick


def _end(profile: Profile) -> float:
    """η from which no line is above the last, flat one; past every corner, also those in a rounding of each other."""
    fall = profile.lower - profile.lower[-1]
    rise = np.maximum(profile.gap - profile.gap[-1], 0.0)
    return float(np.max(rise[fall > 0.0] / fall[fall > 0.0], initial=0.0)) * widening(4)


def chord_errors(eta: Floats, stick: Floats, budgets: tuple[float, float]) -> Floats:
    """Largest relative excess of the leakage, over the budgets asked for, of the chord from knot i to knot j."""
    count = eta.size
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        focus = stick / eta  # 1/t of the budget that the curve answers at each place
        counted = (np.log1p(1.0 / focus) >= budgets[0]) & (eta > 0.0)
    errors = np.full((count, count), np.inf)
    for i in range(count - 1):
        slope = (stick[i] - stick[i + 1 :]) / (eta[i + 1 :] - eta[i])
        gap = stick[i] + eta[i] * slope
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            answer = np.log1p(gap[:, None] / (focus[None, i + 1 :] + slope[:, None]))
            excess = answer / np.log1p(eta[i + 1 :])[None, :] - 1.0
        inside = np.tri(count - i - 1, dtype=bool) & counted[None, i + 1 :]
        errors[i, i + 1 :] = np.max(np.where(inside, np.nan_to_num(excess, nan=0.0), 0.0), axis=1)
    return errors


def choose(errors: Floats, knots: int | None, tolerance: float | None) -> list[int]:
    """The knots, first and last included, with the least largest error: so many, or as few as meet the tolerance."""
    count = len(errors)
    worst = np.full(count, np.inf)
    worst[0] = 0.0
    came_from: list[Floats] = []
    steps = min(knots - 1, count - 1) if knots is not None else count - 1
    for _ in range(steps):
        through = np.maximum(worst[:, None], errors)
        came_from.append(through.argmin(axis=0))
        worst = through.min(axis=0)
        if tolerance is not None and worst[-1] <= tolerance:
            break
    chosen = [count - 1]
    for previous in reversed(came_from):
        chosen.append(int(previous[chosen[-1]]))
    return sorted(set(chosen))
