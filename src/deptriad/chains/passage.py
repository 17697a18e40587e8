"""Passage: one step in time, and what a bound on the answer at one end becomes at the other (maths §12).

What some releases say about x has likelihood ratios of at most e^B. Seen from a neighbouring time, through a table of
p(x there | x here), they have ratios of at most e^L(B): the leakage of maths §1, with B in the place of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptriad.curves import lines
from deptriad.curves.profile import Profile
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ENTRY, ROUNDOFF, sum_up, widening

LARGE = lines.LARGE_BUDGET - 100.0
"""Beyond this bound the profile answers itself, by logarithms."""

TRIES = 200
"""How often a limit is raised, each time by twice as much, before it is given up as infinite."""


class Passage:
    """A step in time, from what is known about one answer to what that tells about its neighbour."""

    def leakage(self, bound: float) -> float:
        """The most that releases with ratios of at most e^bound say across the step; rounded up, never above bound."""
        raise AssertionError("every passage has a leakage")

    def slope(self, bound: float) -> float:
        """How fast the leakage grows with the bound, between 0 and 1; for searches, not rounded."""
        raise AssertionError("every passage has a slope")

    def _fixed_point(self, epsilon: float) -> float:
        """A number close to the solution of B = ε + L(B), or ∞ where there is none."""
        raise AssertionError("every passage has a fixed point")

    @property
    def threshold(self) -> float:
        """For every ε below this there is a limit, and for none from it on; rounded down."""
        raise AssertionError("every passage has a threshold")

    def limit(self, epsilon: float) -> float:
        """The supremum of B = ε + L(B before), starting from ε, over any number of steps; never below it.

        The closed form is only a guess here. What makes it a bound is ε + L(B) ≤ B, checked as the steps themselves
        are computed: then a bound of at most B stays one.
        """
        if self.leakage(epsilon) == 0.0:
            return epsilon
        limit = max(self._fixed_point(epsilon), epsilon)
        rise = limit * 2 * ROUNDOFF
        for _ in range(TRIES):
            if limit == math.inf:
                break
            if sum_up([epsilon, self.leakage(limit)]) <= limit:
                return limit
            limit, rise = limit + rise, 2.0 * rise
        return math.inf


@dataclass(frozen=True)
class ByTable(Passage):
    """Through a table that is known, or a box of it.

    Parameters
    ----------
    profile
        The curve of the table.
    slack
        Logarithm of the largest factor by which an entry of the true table may differ from the one of the profile.
    """

    profile: Profile
    slack: float = 0.0

    def leakage(self, bound: float) -> float:
        """L(bound) of the profile; entries off by a factor κ add at most 2·ln κ·(1 − e^−bound)."""
        if bound == 0.0:
            return 0.0
        if bound > LARGE:
            value = float(np.asarray(self.profile.leakage(bound)))
            return min(sum_up([value, 2.0 * self.slack]), bound)
        focus = 1.0 / math.expm1(bound)
        value = math.log1p((self.profile.gap / (focus + self.profile.lower)).max())
        if not (value > 0.0 or self.slack):  # rows that are equal as given are equal
            return 0.0
        more = (2.0 * ENTRY + 2.0 * self.slack) / (1.0 + focus)
        return min(value * (1.0 + 16 * ROUNDOFF) + more * widening(4), bound)

    def slope(self, bound: float) -> float:
        """d L/d bound of the line that answers: e^−B-forms of tA/(1 + tA) and its like, which survive any bound."""
        focus = 1.0 / math.expm1(bound) if bound < LARGE else 0.0
        with np.errstate(divide="ignore"):
            line = int(np.argmax(self.profile.gap / (focus + self.profile.lower)))
        lower = float(self.profile.lower[line])
        upper = min(lower + float(self.profile.gap[line]), 1.0)
        rest = math.exp(-bound)
        one, other = (
            mass / (rest + mass * (1.0 - rest)) if mass else 0.0 for mass in (upper, lower)
        )
        return min(max(one - other, 0.0), 1.0)

    @cached_property
    def _granted(self) -> tuple[Floats, Floats]:
        """The lines when masses may be off by e^slack and by the roundings of ``leakage``."""
        grant = self.slack + 3 * ENTRY
        gap, lower = self.profile.gap, self.profile.lower
        wide = gap * math.exp(grant) + lower * (2.0 * math.sinh(grant))
        lower = lower * math.exp(-grant)
        return np.where((gap > 0.0) | (self.slack > 0.0), np.minimum(wide, 1.0 - lower), 0.0), lower

    @property
    def threshold(self) -> float:
        """−ln δ, with δ the height at which the curve is flat in the end."""
        gap, lower = self._granted
        flat = float(np.max(gap[lower == 0.0], initial=0.0))
        if not flat:
            return math.inf
        return max(-math.log(flat) * (1.0 - 8 * ROUNDOFF) - 8 * ROUNDOFF, 0.0)

    def _fixed_point(self, epsilon: float) -> float:
        """ε + log1p of the largest positive root of e^ε·l·η² − (e^ε·g − (e^ε − 1)·l − 1)·η − (e^ε − 1)·g of a line."""
        if epsilon >= self.threshold:
            return math.inf
        if epsilon > LARGE:  # where the curve ends at 0, and L stops at the largest ratio
            return sum_up([epsilon, self.leakage(math.inf)])
        gap, lower = self._granted
        gain = math.expm1(epsilon)
        square, constant = math.exp(epsilon) * lower, gain * gap
        linear = gap + gain * (gap - lower) - 1.0
        root = np.sqrt(linear * linear + 4.0 * square * constant)
        with np.errstate(divide="ignore", invalid="ignore"):
            # two spellings of one root, each where nothing cancels
            eta = np.where(
                linear < 0.0, 2.0 * constant / (root - linear), (root + linear) / (2.0 * square)
            )
        return (epsilon + math.log1p(float(np.max(np.where(gap > 0.0, eta, 0.0))))) * widening(4)


@dataclass(frozen=True)
class Unknown(Passage):
    """Back in time through a forward table, whatever the shares of the values were: tanh L/4 = tanh B/4 · tanh Δ/4.

    Parameters
    ----------
    diameter
        Δ = ln max P(i, x)P(j, x')/(P(j, x)P(i, x')), rounded up; ∞ where an entry is 0.
    """

    diameter: float

    def leakage(self, bound: float) -> float:
        """2·log1p((u − 1)(v − 1)/(u + v)) with u = e^{B/2}, v = e^{Δ/2}: the same without a cancellation."""
        least, most = sorted((bound, self.diameter))
        if least == 0.0 or most == math.inf:
            return least
        apart = math.exp(-least / 2.0) + math.exp(-most / 2.0)
        if apart < 1e-290:
            return least
        eta = math.expm1(-least / 2.0) * math.expm1(-most / 2.0) / apart
        return min(2.0 * math.log1p(eta * widening(8)) * widening(8), least)

    def slope(self, bound: float) -> float:
        """uv/(1 + uv) − u/(u + v)."""
        one = 1.0 / (1.0 + math.exp(-(bound + self.diameter) / 2.0))
        other = 1.0 / (1.0 + math.exp(min((self.diameter - bound) / 2.0, LARGE)))
        return min(max(one - other, 0.0), 1.0)

    @property
    def threshold(self) -> float:
        """There is a limit for every ε if Δ is finite, and none otherwise."""
        return math.inf if self.diameter < math.inf else 0.0

    def _fixed_point(self, epsilon: float) -> float:
        """2·ln u of the positive root of u² − (e^{ε/2} − 1)·v·u − e^{ε/2}, held to ε + Δ."""
        most = epsilon + self.diameter
        if most == math.inf or epsilon > LARGE or self.diameter > LARGE:
            return most * widening(4)
        half = math.expm1(epsilon / 2.0) * math.exp(self.diameter / 2.0) / 2.0
        # u − 1, so that a small ε keeps its digits
        more = half + (half * half + math.expm1(epsilon / 2.0)) / (
            1.0 + math.sqrt(half * half + 1.0 + math.expm1(epsilon / 2.0))
        )
        return min(2.0 * math.log1p(more) * widening(16), most * widening(4))


NOTHING_LOST = ByTable(Profile(np.ones(1), np.zeros(1)))
"""Every bound passes whole: for shares too small to be followed."""
