"""Curve: what every convex curve made of lines can answer, be it a Profile or a Triad (maths §1, §4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves import lines
from deptriad.utils.arrays import Floats, as_budget, as_numbers, as_probability, scalar_or_array
from deptriad.utils.rounding import ENTRY, widening


class Curve:
    """Everything a convex curve made of lines ``E_γ = gap − (γ − 1)·lower`` can answer."""

    def _pieces(self) -> list[tuple[Floats, Floats]]:
        """The lines (gap, lower), each a pair of arrays that broadcast against the question."""
        raise AssertionError("every curve names its lines")

    def leakage(
        self, epsilon: ArrayLike, mechanism_delta: ArrayLike = 0.0, delta: ArrayLike = 0.0
    ) -> float | Floats:
        """Largest log-likelihood ratio an ε-LDP release of the source allows about the target (the paper's CPL).

        Parameters
        ----------
        epsilon
            Budget of the source's mechanism, ≥ 0; a number or an array.
        mechanism_delta
            δ of that mechanism where it is only (ε, δ)-LDP.
        delta
            Probability with which the answer may be exceeded: the target is then (answer, delta)-protected.
            With ``mechanism_delta > 0`` and a zero ``delta`` the answer is the largest ratio of the table.

        Returns
        -------
        An upper bound for every ε (for a triad calibrated at ε₀, for ε ≥ ε₀), rounded outward and never above ε
        where the mechanism is pure.

        Examples
        --------
        >>> import deptriad as dt
        >>> curve = dt.profile([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
        >>> round(curve.leakage(1.0), 4)
        0.6312
        """
        lost = as_probability(mechanism_delta, "mechanism_delta")
        allowed = as_probability(delta, "delta")
        budget, lost, allowed = np.broadcast_arrays(as_budget(epsilon), lost, allowed)
        focus = lines.inverse_gain(budget)
        if not (lost.any() or allowed.any()):
            value = self._pure_leakage(budget, focus)
            return scalar_or_array(lines.outward(value, budget, focus))
        value = np.zeros(budget.shape)
        for gap, lower in self._pieces():
            value = np.maximum(value, lines.approximate_leakage(gap, lower, budget, lost, allowed))
        value = value * widening(32)
        # what the source is protected by, the target is too
        return scalar_or_array(np.where(allowed < lost, value, np.minimum(value, budget)))

    def _pure_leakage(self, budget: Floats, focus: Floats) -> Floats:
        pieces = iter(self._pieces())
        value = lines.leakage(*next(pieces), budget, focus)
        for gap, lower in pieces:
            value = np.maximum(value, lines.leakage(gap, lower, budget, focus))
        return value

    def hockey_stick(self, gamma: ArrayLike) -> float | Floats:
        """E_γ, the most that any event's probability under one target value exceeds γ times another's.

        Any γ ≥ 0: below 1 by E_γ = 1 − γ + γ·E_{1/γ}, which holds since pairs are taken in both orders.
        """
        asked = as_numbers(gamma, "gamma")
        if (bad := ~(asked >= 0.0)).any():
            raise ValueError(f"gamma is {asked[bad].flat[0]}, expected a number ≥ 0")
        small = asked < 1.0
        with np.errstate(divide="ignore", over="ignore"):
            folded = np.where(small, 1.0 / asked, asked)
        stick = self._stick(folded - 1.0)
        with np.errstate(invalid="ignore"):  # ∞·0 in the branch that is not taken
            flipped = np.minimum((1.0 - asked + asked * stick) * widening(4) + 2 * ENTRY, 1.0)
        return scalar_or_array(np.where(small, flipped, stick))

    def _stick(self, eta: Floats) -> Floats:
        """E_γ at γ = 1 + η, rounded outward."""
        value = np.zeros(())
        for gap, lower in self._pieces():
            with np.errstate(invalid="ignore"):  # ∞·0 at γ = ∞ on the flat line
                height = lines.granting_rounding(gap, lower) - eta * lower
            value = np.maximum(value, np.where(lower > 0.0, height, gap))
        return np.minimum(value * widening(4), 1.0)

    def delta_at(
        self, epsilon_out: ArrayLike, epsilon: ArrayLike, mechanism_delta: ArrayLike = 0.0
    ) -> float | Floats:
        """Least δ' for which an (ε, mechanism_delta)-LDP release keeps the target (epsilon_out, δ')-protected.

        Exact over all such mechanisms when the profile is exact (maths §4); an upper bound otherwise.
        """
        out, budget = as_budget(epsilon_out, "epsilon_out"), as_budget(epsilon)
        with np.errstate(over="ignore"):
            eta = np.minimum(np.expm1(out), np.finfo(np.float64).max)
        lost = as_probability(mechanism_delta, "mechanism_delta")
        value = lines.approximate_delta(self._stick(eta), out, budget, lost)
        return scalar_or_array(np.minimum(value * widening(8), 1.0))


def frozen(values: ArrayLike, name: str) -> Floats:
    """A read-only float copy; refuses negative numbers and NaN."""
    array = np.array(values, dtype=np.float64)
    if (bad := ~(array >= 0.0)).any():
        raise ValueError(f"{name} is {array[bad].flat[0]}, expected a number ≥ 0")
    array.flags.writeable = False
    return array


def all_digits(slope: Floats) -> Floats:
    """Slopes too small to keep all their digits become 0, which is on the safe side: a line rises with its ``gap``."""
    return np.where(slope < np.finfo(np.float64).tiny, 0.0, slope)
