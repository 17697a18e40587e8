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

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptriad.mechanisms import mechanisms
from deptriad.utils.arrays import Floats

AUTO = ("grr", "olh")
"""Those that "auto" chooses from."""

SCATTERED = ("olh", "oue", "sue", "subset")
"""Those whose supports of two wrong values are not correlated above 0: parts have no more error than the whole."""

MANY = "oue"
"""What stands in for one of them where it cannot have so many values."""


def moment(mechanism: str, epsilon: float, size: int) -> float:
    """m = E Σ_v z(v)² of one report; ∞ without a budget.

    Parameters
    ----------
    mechanism
        A key of ``deptriad.mechanisms.mechanisms``.
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
    return mechanisms[mechanism].moment(epsilon, size) if epsilon > 0.0 else np.inf


def part_moment(mechanism: str, epsilon: float, sizes: Sequence[int], kept: Sequence[int]) -> float:
    """m of the marginal of some attributes that are reported with others as one value (maths §11).

    With b cells kept out of B, r = B/b of the joint ones make one. A report of GRR names one cell, so that
    m = [(1 − r·q)² + (b − 1)·(r·q)²]/(p − q)². Bits that are drawn independently (OUE, SUE) and hashes that are
    independent for any three values (OLH) have the m of the whole; it is an upper bound for subsets.

    Parameters
    ----------
    mechanism, epsilon
        As for ``moment``; the mechanism reports the joint value.
    sizes
        How many values each attribute of the joint value has.
    kept
        Places of those that the marginal is about.

    Examples
    --------
    >>> part_moment("grr", 1.0, (3, 4), [0]) < part_moment("grr", 1.0, (3, 4), [0, 1]) == moment("grr", 1.0, 12)
    True
    """
    size = math.prod(sizes)
    if len(kept) == len(sizes) or mechanism in SCATTERED:
        return moment(mechanism, epsilon, size)
    if epsilon <= 0.0:
        return np.inf
    cells = math.prod(sizes[place] for place in kept)
    if mechanism == "grr":
        z = math.exp(-epsilon)
        lies = size // cells * z / (1.0 + (size - 1) * z)
        kept_back = -math.expm1(-epsilon) / (1.0 + (size - 1) * z)  # p − q
        return ((1.0 - lies) ** 2 + (cells - 1) * lies**2) / kept_back**2
    made = mechanisms[mechanism](size, epsilon)
    others = tuple(1 + place for place in range(len(sizes)) if place not in kept)
    scores = made.weights.reshape(-1, *sizes).sum(axis=others).reshape(-1, cells)
    return float((made.matrix() @ (scores**2).sum(axis=1)).max())


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
    best = min(AUTO, key=lambda name: moment(name, epsilon, size))
    return best if size <= mechanisms[best].most_values else MANY


def smooth_moment(mechanism: str, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
    """m and dm/dε of many attributes; for "auto" the smaller one."""
    if mechanism != "auto":
        return mechanisms[mechanism].smooth_moment(epsilon, size)
    one, other = (mechanisms[name].smooth_moment(epsilon, size) for name in AUTO)
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
        every = zip(self.mechanisms, epsilon, self.sizes, strict=True)
        value = [moment(choose(name, each, size), each, size) for name, each, size in every]
        return self._mean(np.array(value))[0]

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
