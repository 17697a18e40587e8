"""How many people are asked which view: A-optimal shares, and a proof of how close to the best they are (maths §11)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptriad.utils.arrays import Floats

CLOSE = 1e-4
"""Relative distance from the optimum, by its certificate, at which the search ends."""

STEPS = 60
"""Newton steps, at most; some 20 are usual."""


class Optimum(NamedTuple):
    """Shares of views, the objective J they reach, and a bound on J over that of the best shares."""

    share: Floats
    objective: float
    ratio: float


def objective(share: Floats, precision: Floats, cost: Floats) -> float:
    """J = Σ_w c_w / Σ_v π_v·h_{v,w}: the summed cost of variances; ∞ where a marginal is never asked."""
    with np.errstate(divide="ignore"):
        return float(np.sum(cost / (share @ precision)))


def prices(share: Floats, precision: Floats, cost: Floats) -> Floats:
    """λ_w = c_w/(Σ_v π_v·h_{v,w})²: what a little more precision of a marginal is worth.

    A view gains g_v = Σ_w λ_w·h_{v,w}. Shares are optimal iff no view has g_v > J, and J is never above max_v g_v / J
    times the least there is: J is convex, and its slope towards a view is J − g_v.
    """
    return np.asarray(cost / (share @ precision) ** 2)


def optimal_shares(precision: Floats, cost: Floats) -> Optimum:
    """The shares that minimise J over all mixtures of the views.

    Minimised is J(π) + Σπ over π ≥ 0, whose solution is proportional to the best shares, by Newton steps from the
    inside (Mehrotra's way, without a corrector). Then π_v ← π_v·√(g_v/J) never makes J larger.

    Parameters
    ----------
    precision
        h_{v,w}: a row for each view, a column for each marginal.
    cost
        c_w, all above 0.

    Examples
    --------
    >>> import numpy as np
    >>> found = optimal_shares(np.array([[1.0, 0.0], [0.0, 1.0], [0.1, 0.1]]), np.array([1.0, 4.0]))
    >>> found.share.round(2), round(found.objective, 2), found.ratio < 1.001
    (array([0.33, 0.67, 0.  ]), 9.0, True)
    """
    count = len(precision)
    if count == 1:
        return Optimum(np.ones(1), objective(np.ones(1), precision, cost), 1.0)
    share = np.full(count, 1.0 / count)
    share *= np.sqrt(objective(share, precision, cost))
    price = np.ones(count)
    best = _certified(share, precision, cost)
    for _ in range(STEPS):
        if best.ratio <= 1.0 + CLOSE:
            break
        share, price = _stepped(share, price, precision, cost)
        found = _certified(share, precision, cost)
        best = min(best, found, key=lambda each: each.ratio)
    return best


def _certified(share: Floats, precision: Floats, cost: Floats) -> Optimum:
    """Normalised, made better by one multiplicative step, with its certificate."""
    share = share / share.sum()
    gains = precision @ prices(share, precision, cost)
    share = share * np.sqrt(gains)
    share /= share.sum()
    value = objective(share, precision, cost)
    gains = precision @ prices(share, precision, cost)
    return Optimum(share, value, float(max(gains.max() / value, 1.0)))


def _stepped(
    share: Floats, price: Floats, precision: Floats, cost: Floats
) -> tuple[Floats, Floats]:
    """One primal-dual step: ∇(J + Σπ) = z and π·z = μ, with μ well below what it is."""
    sums = share @ precision
    slope = 1.0 - precision @ (cost / sums**2)
    gap = float(share @ price) / share.size
    aim = 0.1 * gap
    diagonal, right = price / share, aim / share - slope
    # (D + H Λ Hᵀ)⁻¹ by a system of as many unknowns as there are marginals
    scaled = precision / diagonal[:, None]
    inner = precision.T @ scaled
    inner[np.diag_indices_from(inner)] += sums**3 / (2.0 * cost)
    towards = right / diagonal - scaled @ np.linalg.solve(inner, precision.T @ (right / diagonal))
    price_towards = aim / share - price - diagonal * towards
    return (
        share + _length(share, towards) * towards,
        price + _length(price, price_towards) * price_towards,
    )


def _length(at: Floats, towards: Floats) -> float:
    """How far one may go and stay above 0."""
    falling = towards < 0.0
    return min(1.0, 0.95 * float(np.min(-at[falling] / towards[falling], initial=np.inf)))
