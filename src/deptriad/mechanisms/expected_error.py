"""Expected errors of marginals: what a budget buys (maths §7).

A report of attribute i supports some of its b values. With p = P[it supports the true value] and q = P[it supports
another one], z_i(v) = (1{the report supports v} − q) / (p − q) has mean 1{the true value is v}, and, whatever the true
value is,

    m_i = E Σ_v z_i(v)² = 1 + [p(1 − p) + (b − 1)·q(1 − q)] / (p − q)²

Reports are independent given the true values, so E Σ_{v,w} z_i(v)²·z_j(w)² = m_i·m_j. Averages of z over n users
therefore estimate a one-way marginal with summed variance (m_i − Σf²)/n, and a two-way one with (m_i·m_j − Σf²)/n,
f being the true frequencies. Σf² does not depend on the budgets. Where a number is shown it is left out, which makes
it an upper bound that needs to know nothing about the people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats

MECHANISMS = ("grr", "oue", "sue", "olh")
"""Names of the mechanisms whose errors are known here."""

AUTO = ("grr", "olh")
"""Those that "auto" chooses from."""

LARGEST = 300.0
"""Budgets above this are noiseless to the last digit."""


def moment(mechanism: str, epsilon: float, size: int) -> float:
    """m = E Σ_v z(v)² of one report; ∞ without a budget.

    Parameters
    ----------
    mechanism
        "grr", "oue", "sue" or "olh", which hashes to round(e^ε) + 1 values.
    epsilon
        The budget of the report.
    size
        How many values the attribute has.

    Examples
    --------
    >>> import math
    >>> round(moment("grr", math.log(3), 2), 9)
    2.5
    """
    if epsilon <= 0.0:
        return np.inf
    if mechanism == "olh":
        return _hashed(min(epsilon, LARGEST), size)
    return float(smooth_moment(mechanism, np.array([epsilon]), np.array([size]))[0][0])


def _hashed(epsilon: float, size: int) -> float:
    """m of OLH. With n = g − 1 and E = e^ε it is 1 + [E(n + 1)² + (b − 1)(E + n)²] / (n(E − 1)²)."""
    others = float(round(np.exp(epsilon)))
    less = np.exp(-epsilon)  # everything is divided by E²
    own = less * (others + 1.0) ** 2 / others
    rest = (size - 1) * (1.0 + others * less) ** 2 / others
    return float(1.0 + (own + rest) / np.expm1(-epsilon) ** 2)


def choose(mechanism: str, epsilon: float, size: int) -> str:
    """The mechanism itself, or for "auto" the one of GRR and OLH with the smaller error; "none" without a budget.

    Examples
    --------
    >>> choose("auto", 1.0, 4), choose("auto", 1.0, 40), choose("auto", 0.0, 4)
    ('grr', 'olh', 'none')
    """
    if epsilon <= 0.0:
        return "none"
    if mechanism != "auto":
        return mechanism
    return min(AUTO, key=lambda name: moment(name, epsilon, size))


def smooth_moment(mechanism: str, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
    """m and dm/dε of many attributes, in z = e^{−ε}; OLH as if it could hash to e^ε + 1 values, which is OUE's m."""
    if mechanism == "auto":
        return _smaller(smooth_moment("grr", epsilon, size), smooth_moment("oue", epsilon, size))
    if mechanism == "sue":
        value, slope = _fraction(0.0, size, 0.0, 0.5 * epsilon)
        return value, 0.5 * slope
    if mechanism == "grr":
        return _fraction(0.0, 2.0 * (size - 1.0), (size - 1.0) * (size - 2.0), epsilon)
    return _fraction(1.0, 2.0 + 4.0 * (size - 1.0), 1.0, epsilon)


def _fraction(
    c0: float | Floats, c1: float | Floats, c2: float | Floats, epsilon: Floats
) -> tuple[Floats, Floats]:
    """1 + (c0 + c1·z + c2·z²)/(1 − z)² for z = e^{−ε}, and its derivative by ε."""
    z, kept = np.exp(-epsilon), -np.expm1(-epsilon)
    top = c0 + c1 * z + c2 * z * z
    by_z = (c1 + 2.0 * c2 * z) / kept**2 + 2.0 * top / kept**3
    return np.asarray(1.0 + top / kept**2), np.asarray(-z * by_z)


def _smaller(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    first = one[0] <= other[0]
    return np.where(first, one[0], other[0]), np.where(first, one[1], other[1])


@dataclass(frozen=True)
class Utility:
    """The mean of m over all one- and two-way marginals of the released attributes, by weight.

    J = (Σ_i w_i·m_i + Σ_{i<j} w_i·w_j·m_i·m_j) / (Σ_i w_i + Σ_{i<j} w_i·w_j), weights scaled to a mean of 1. Divided
    by the number of users, J is the mean summed variance, Σf² left out.
    """

    sizes: Sequence[int]
    mechanisms: Sequence[str]
    weights: Floats

    def smooth(self, epsilon: Floats) -> tuple[float, Floats]:
        """ln J and its gradient, with smooth errors; attributes without a budget are no part of it."""
        size = np.asarray(self.sizes, dtype=np.float64)
        value, slope = np.full(size.size, np.inf), np.zeros(size.size)
        for name in dict.fromkeys(self.mechanisms):
            some = np.array([each == name for each in self.mechanisms]) & (epsilon > 0.0)
            value[some], slope[some] = smooth_moment(name, epsilon[some], size[some])
        mean, by_moment = self._mean(value)
        return float(np.log(mean)), by_moment * slope / mean

    def exact(self, epsilon: Floats) -> float:
        """J with the mechanisms that will be used; attributes without a budget are no part of it."""
        value = np.array(
            [
                moment(choose(name, each, size), each, size)
                for name, each, size in zip(self.mechanisms, epsilon, self.sizes, strict=True)
            ]
        )
        return self._mean(value)[0]

    def _mean(self, value: Floats) -> tuple[float, Floats]:
        """J, and its derivatives by each m."""
        used = np.isfinite(value) & (self.weights > 0.0)
        weight = np.where(used, self.weights, 0.0)
        weight = weight * (used.sum() / weight.sum()) if used.any() else weight
        terms = weight * np.where(used, value, 0.0)
        all_terms, all_weights = terms.sum(), weight.sum()
        pairs = 0.5 * (all_terms**2 - (terms**2).sum())
        count = all_weights + 0.5 * (all_weights**2 - (weight**2).sum())
        if count == 0.0:
            return 1.0, np.zeros(value.size)
        return float((all_terms + pairs) / count), weight * (1.0 + all_terms - terms) / count
