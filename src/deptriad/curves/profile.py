"""Profile: the curve that answers every budget (maths §1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves import knots, lines
from deptriad.curves.curve import Curve, all_digits, frozen
from deptriad.utils.arrays import Floats, as_whole
from deptriad.utils.rounding import widening

LINES_AT_ONCE = 1 << 20
"""How many (budget, line) combinations a profile looks at together."""


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Curve):
    """The privacy profile of source → target: one convex curve E_γ that answers every budget.

    Parameters
    ----------
    gap, lower
        One entry a line ``E_γ = gap − (γ − 1)·lower``, by decreasing ``lower``; the curve is their maximum.
    exact
        Whether the curve is the table's own, or only above it (a thinned one, or that of a box).

    Examples
    --------
    >>> import deptriad as dt
    >>> curve = dt.profile([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    >>> curve.knots.round(3).tolist()
    [[1.0, 0.6], [7.0, 0.0]]
    """

    gap: Floats
    lower: Floats
    _: KW_ONLY
    exact: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", frozen(self.gap, "gap"))
        object.__setattr__(self, "lower", frozen(self.lower, "lower"))
        if np.max(self.gap, initial=0.0) > 1.0 + 1e-9:
            raise ValueError(
                f"gap is {np.max(self.gap)}, expected at most 1: or see Profile.from_knots"
            )
        if self.gap.ndim != 1 or self.gap.shape != self.lower.shape or not self.gap.size:
            raise ValueError(
                f"gap has shape {self.gap.shape} and lower {self.lower.shape}, expected two equal lists of numbers"
            )
        if (np.diff(self.lower) > 0.0).any():
            raise ValueError("lower increases, expected the lines by decreasing lower: sort them")
        if not np.diff(self.lower).all():  # of parallel lines the highest counts, also as the last
            starts = np.flatnonzero(np.append(True, np.diff(self.lower)))
            object.__setattr__(self, "gap", frozen(np.maximum.reduceat(self.gap, starts), "gap"))
            object.__setattr__(self, "lower", frozen(self.lower[starts], "lower"))

    @classmethod
    def from_knots(cls, gamma: ArrayLike, value: ArrayLike, *, exact: bool = False) -> Profile:
        """The least convex curve above points (γ, E_γ) of a convex curve: their chords, flat after the last.

        The first γ must be 1. Chords are rounded outward, so they never pass below a point.
        """
        place, height = np.asarray(gamma, dtype=np.float64), frozen(value, "value")
        if place.ndim != 1 or place.shape != height.shape or not place.size:
            raise ValueError(
                f"gamma has shape {place.shape} and value {height.shape}, expected two equal lists of one or more knots"
            )
        if place[0] != 1.0:
            raise ValueError(f"the first knot is at gamma = {place[0]}, expected 1")
        if not (np.diff(place) > 0.0).all() or not np.isfinite(place).all():
            raise ValueError("gamma does not increase: sort the knots and drop repeated ones")
        if (np.diff(height) > 0.0).any() or height[0] > 1.0:
            raise ValueError(f"value is {height}, expected numbers in [0, 1] that decrease")
        slope = np.diff(height) / np.diff(place)
        if (np.diff(slope) < -1e-9 * np.abs(slope[:-1])).any():
            raise ValueError("the knots are not convex: no profile passes through them all")
        return cls._above(place - 1.0, height, exact=exact)

    @classmethod
    def _above(cls, eta: Floats, stick: Floats, *, exact: bool = False) -> Profile:
        """Chords through bounds on a convex curve at increasing η = γ − 1."""
        apart = np.append(True, np.diff(eta) > 1e-14 * eta[1:])
        return cls(*_chords(eta[apart], np.minimum.accumulate(stick[apart])), exact=exact)

    @property
    def knots(self) -> Floats:
        """Points (γ, E_γ) between which the curve is straight; it is flat after the last."""
        eta = _corners(self.gap, self.lower)
        height = np.max(self.gap[:, None] - self.lower[:, None] * eta, axis=0)
        return np.column_stack([1.0 + eta, height])

    def thin(
        self,
        k: int | None = None,
        *,
        tolerance: float | None = None,
        budgets: tuple[float, float] = (0.0, np.inf),
    ) -> Profile:
        """An upper bound with few knots: k of them, or as few as keep the leakage within a relative tolerance.

        Parameters
        ----------
        k
            Number of knots, at least 2. Give either this or ``tolerance``.
        tolerance
            Largest relative excess of the leakage over the curve's own, such as 0.01.
        budgets
            The range of ε in which the excess counts. Outside it the result is still a bound.

        Examples
        --------
        >>> import deptriad as dt
        >>> curve = dt.profile([[0.5, 0.3, 0.15, 0.05], [0.1, 0.15, 0.25, 0.5]])
        >>> len(curve), len(curve.thin(2))
        (3, 2)
        """
        if (k is None) == (tolerance is None):
            got = "neither" if k is None else "both"
            raise ValueError(f"got {got} of k and tolerance, expected exactly one of them")
        if k is not None:
            as_whole(k, "k", 2)
        if tolerance is not None and not tolerance >= 0.0:
            raise ValueError(f"tolerance is {tolerance}, expected a number ≥ 0, such as 0.01")
        if not 0.0 <= budgets[0] < budgets[1]:
            raise ValueError(f"budgets is {budgets}, expected a smallest and a larger ε")
        if len(self) <= (k or 2):
            return self
        eta, stick = knots.candidates(self, budgets)
        chosen = knots.choose(knots.chord_errors(eta, stick, budgets), k, tolerance)
        return Profile._above(eta[chosen], stick[chosen])

    def __len__(self) -> int:
        """How many knots the curve has."""
        return len(self.knots)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "upper bound"
        ratio = self.knots[-1, 0]
        count = f"{len(self)} knot" + ("s" if len(self) > 1 else "")
        return f"Profile({count}, E_1 = {self.gap[0]:.4g}, flat after γ = {ratio:.4g}, {kind})"

    def _pieces(self) -> list[tuple[Floats, Floats]]:
        return list(zip(self.gap, self.lower, strict=True))

    def _pure_leakage(self, budget: Floats, focus: Floats) -> Floats:
        """The highest answer of all lines; budgets in blocks, so that memory stays small."""
        value = np.empty(budget.size)
        step = max(1, LINES_AT_ONCE // self.gap.size)
        for start in range(0, budget.size, step):
            block = slice(start, start + step)
            value[block] = self._highest(budget.ravel()[block], focus.ravel()[block])
        return value.reshape(budget.shape)

    def _highest(self, budget: Floats, focus: Floats) -> Floats:
        if np.max(budget) > lines.LARGE_BUDGET:
            each = lines.leakage(self.gap, self.lower, budget[:, None], focus[:, None])
            return np.asarray(each.max(axis=1))
        with np.errstate(divide="ignore"):  # the largest η = gap/(1/t + lower) answers
            line = np.argmax(self.gap / (focus[:, None] + self.lower), axis=1)
        return lines.leakage(self.gap[line], self.lower[line], budget, focus)


def _corners(gap: Floats, lower: Floats) -> Floats:
    """η = γ − 1 of the corners of the highest of lines by decreasing lower, 0 first; lines in a rounding are one."""
    kept: list[int] = []
    start: list[float] = []  # where each kept line takes over
    for line in range(gap.size):
        meet = 0.0
        while kept:
            last = kept[-1]
            fall = lower[last] - lower[line]
            rise = gap[last] - gap[line]
            meet = rise / fall if fall > 0.0 and rise > 0.0 else 0.0
            if meet > start[-1] + 1e-14 * (1.0 + start[-1]) and rise > 1e-14 * gap[last]:
                break
            kept.pop()
            start.pop()
        kept.append(line)
        start.append(meet if start else 0.0)
    return np.array(start)


def _chords(eta: Floats, stick: Floats) -> tuple[Floats, Floats]:
    """Lines through neighbouring points, above both of them in floating point too; the last one is flat."""
    slope = np.append(-np.diff(stick) / np.diff(eta), 0.0)
    slope = np.minimum.accumulate(all_digits(slope))
    left = stick + eta * slope
    right = np.append(stick[1:] + eta[1:] * slope[:-1], 0.0)
    return np.maximum(left, right) * widening(4), slope
