"""Profile, the curve that answers every budget, and Triad, its two-knot summary (maths §1, §2, §4)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.curves import knots, lines
from deptriad.utils.arrays import as_budget, as_numbers, as_probability, as_whole, scalar_or_array
from deptriad.utils.rounding import ENTRY, widening

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deptriad.utils.arrays import Floats


LINES_AT_ONCE = 1 << 20
"""How many (budget, line) combinations a profile looks at together."""


class _Curve:
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
        budget = as_budget(epsilon)
        lost, allowed = (
            as_probability(mechanism_delta, "mechanism_delta"),
            as_probability(delta, "delta"),
        )
        budget, lost, allowed = np.broadcast_arrays(budget, lost, allowed)
        focus = lines.inverse_gain(budget)
        if not (lost.any() or allowed.any()):
            value = self._pure_leakage(budget, focus)
            return scalar_or_array(lines.outward(value, budget, focus))
        value = np.zeros(np.broadcast_shapes(budget.shape, lost.shape, allowed.shape))
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


@dataclass(frozen=True, eq=False, repr=False)
class Profile(_Curve):
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
        object.__setattr__(self, "gap", _frozen(self.gap, "gap"))
        object.__setattr__(self, "lower", _frozen(self.lower, "lower"))
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
            object.__setattr__(self, "gap", _frozen(np.maximum.reduceat(self.gap, starts), "gap"))
            object.__setattr__(self, "lower", _frozen(self.lower[starts], "lower"))

    @classmethod
    def from_knots(cls, gamma: ArrayLike, value: ArrayLike, *, exact: bool = False) -> Profile:
        """The least convex curve above points (γ, E_γ) of a convex curve: their chords, flat after the last.

        The first γ must be 1. Chords are rounded outward, so they never pass below a point.
        """
        place, height = np.asarray(gamma, dtype=np.float64), _frozen(value, "value")
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
        with np.errstate(
            divide="ignore"
        ):  # where 1/t is finite the largest η = gap/(1/t + lower) answers
            line = np.argmax(self.gap / (focus[:, None] + self.lower), axis=1)
        return lines.leakage(self.gap[line], self.lower[line], budget, focus)


def _frozen(values: ArrayLike, name: str) -> Floats:
    """A read-only float copy; refuses negative numbers and NaN."""
    array = np.array(values, dtype=np.float64)
    if (bad := ~(array >= 0.0)).any():
        raise ValueError(f"{name} is {array[bad].flat[0]}, expected a number ≥ 0")
    array.flags.writeable = False
    return array


def _all_digits(slope: Floats) -> Floats:
    """Slopes too small to keep all their digits become 0, which is on the safe side: a line rises with its ``gap``."""
    return np.where(slope < np.finfo(np.float64).tiny, 0.0, slope)


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
    slope = np.minimum.accumulate(_all_digits(slope))
    left = stick + eta * slope
    right = np.append(stick[1:] + eta[1:] * slope[:-1], 0.0)
    return np.maximum(left, right) * widening(4), slope


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Triad(_Curve):
    """(α, β, δ) of source → target: the chord of the profile from (1, φ) to (e^α, δ), flat after that.

    Three numbers that bound the leakage for every budget (the paper's Dependency Triad). Give ``beta`` or
    ``phi``: they say the same thing, and ``phi`` is the one to compute with (maths §2). Fields may be arrays:
    one object then holds many triads, and its methods broadcast.

    Parameters
    ----------
    alpha
        Logarithm of the largest finite ratio, ≥ 0.
    beta, phi
        Exactly one of them. ``phi`` is the largest total variation between two target values; ``beta`` is ∞ where
        phi is as large as alpha and delta allow. A larger ``phi`` (a relaxed one) is cut there.
    delta
        Largest probability of source values that another target value excludes.
    calibrated_at
        Budget ε₀ below which the triad is an estimate only; 0 for one that holds everywhere.
    exact
        Whether phi is the true maximum rather than an upper bound on it; for an array of triads, one answer for all
        of them or for each.

    Examples
    --------
    >>> import deptriad as dt
    >>> t = dt.Triad(alpha=1.5, beta=0.7, delta=0.0)
    >>> t.leakage([0.5, 1.0, 4.0]).round(4).tolist()
    [0.2341, 0.483, 1.3947]
    """

    alpha: float | Floats
    beta: float | Floats
    phi: float | Floats
    delta: float | Floats
    calibrated_at: float
    exact: bool | NDArray[np.bool_]

    def __init__(
        self,
        *,
        alpha: ArrayLike,
        delta: ArrayLike,
        beta: ArrayLike | None = None,
        phi: ArrayLike | None = None,
        calibrated_at: float = 0.0,
        exact: bool | NDArray[np.bool_] = True,
    ) -> None:
        ratio, lost = _frozen(alpha, "alpha"), as_probability(_frozen(delta, "delta"), "delta")
        if not np.isfinite(ratio).all():
            raise ValueError("alpha is infinite: an unbounded ratio belongs into delta")
        if (beta is None) == (phi is None):
            got = "neither" if beta is None else "both"
            raise ValueError(f"got {got} of beta and phi, expected exactly one of them")
        if beta is not None:
            recoded = _frozen(beta, "beta")
            variation = _phi(ratio, recoded, lost)
        elif phi is not None:
            variation = np.minimum(_frozen(phi, "phi"), _largest_phi(ratio, lost))
            if (variation < lost * (1.0 - 1e-12)).any():
                raise ValueError(
                    f"phi = {np.min(variation)} is below delta, expected phi ≥ delta: lower delta to phi"
                )
            variation = np.maximum(variation, lost)
            recoded = _beta(ratio, variation, lost)
        for name, value in (
            ("alpha", ratio),
            ("beta", recoded),
            ("phi", variation),
            ("delta", lost),
        ):
            object.__setattr__(self, name, scalar_or_array(value))
        object.__setattr__(self, "calibrated_at", float(as_budget(calibrated_at, "calibrated_at")))
        object.__setattr__(self, "exact", exact if np.ndim(exact) else bool(exact))

    def leakage(
        self, epsilon: ArrayLike, mechanism_delta: ArrayLike = 0.0, delta: ArrayLike = 0.0
    ) -> float | Floats:
        """Leakage at given budgets: see ``Profile.leakage``. Warns below the budget of a calibrated triad."""
        if self.calibrated_at > 0.0 and (as_budget(epsilon) < self.calibrated_at).any():
            warnings.warn(
                f"a triad calibrated at {self.calibrated_at:g} is only an estimate, no bound, for budgets below that",
                stacklevel=2,
            )
        return super().leakage(epsilon, mechanism_delta, delta)

    def _pure_leakage(self, budget: Floats, focus: Floats) -> Floats:
        """No more than max(α, ln(1 + δt)), where the chord ends: of use where its slope is too small for a float."""
        beyond = lines.leakage(np.asarray(self.delta), np.zeros(()), budget, focus)
        return np.minimum(super()._pure_leakage(budget, focus), np.maximum(self.alpha, beyond))

    def __len__(self) -> int:
        """How many triads an array of them holds."""
        return len(np.atleast_1d(self.phi))

    def __getitem__(self, index: Any) -> Triad:
        """Some triads of an array of them."""
        alpha, phi, delta, exact = (
            np.broadcast_to(value, np.shape(self.phi))[index]
            for value in (self.alpha, self.phi, self.delta, self.exact)
        )
        exact = exact if np.ndim(self.exact) else self.exact
        return Triad(
            alpha=alpha, phi=phi, delta=delta, calibrated_at=self.calibrated_at, exact=exact
        )

    def _pieces(self) -> list[tuple[Floats, Floats]]:
        alpha, phi, delta = np.asarray(self.alpha), np.asarray(self.phi), np.asarray(self.delta)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (
                (phi - delta) * np.exp(-alpha) / -np.expm1(-alpha)
            )  # (φ − δ)/(e^α − 1), no overflow
        chord = (phi, _all_digits(np.where(alpha > 0.0, slope, 0.0) / widening(8)))
        return [chord, (delta, np.zeros(()))] if delta.any() else [chord]

    def __repr__(self) -> str:
        shape = np.shape(self.phi)
        if shape:
            return (
                f"Triad({'×'.join(map(str, shape))} triads, largest phi = {np.max(self.phi):.6g})"
            )
        note = "" if self.calibrated_at == 0.0 else f", calibrated_at={self.calibrated_at:g}"
        return (
            f"Triad(alpha={self.alpha:.6g}, beta={self.beta:.6g}, delta={self.delta:.6g}, "
            f"phi={self.phi:.6g}{note})"
        )


def _largest_phi(alpha: Floats, delta: Floats) -> Floats:
    """The largest total variation that a largest ratio e^α and an excluded mass δ allow: 1 − (1−δ)e^(−α)."""
    return np.minimum((delta - (1.0 - delta) * np.expm1(-alpha)) * widening(4), 1.0)


def _phi(alpha: Floats, beta: Floats, delta: Floats) -> Floats:
    """φ of (α, β, δ) (maths §2), in a form that has no overflow and takes β = ∞."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.expm1(-alpha) * np.expm1(-beta) / -np.expm1(-(alpha + beta))
    return delta + (1.0 - delta) * np.where((alpha > 0.0) & (beta > 0.0), share, 0.0)


def _beta(alpha: Floats, phi: Floats, delta: Floats) -> Floats:
    """β of (α, φ, δ): 1 − e^(−β) = φ'w/(w − φ'(1−w)) with w = 1 − e^(−α) and φ' = (φ−δ)/(1−δ)."""
    width = -np.expm1(-alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(delta < 1.0, (phi - delta) / (1.0 - delta), width)
        lost = np.where(share > 0.0, share * width / (width - share * np.exp(-alpha)), 0.0)
        return np.asarray(0.0 - np.log1p(-np.clip(lost, 0.0, 1.0)))  # never −0
