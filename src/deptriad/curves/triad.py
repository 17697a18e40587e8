"""Triad: (α, β, δ), the two-knot summary of a profile (maths §2)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves import lines
from deptriad.curves.curve import Curve, all_digits, frozen
from deptriad.utils.arrays import Booleans, Floats, as_budget, as_probability, scalar_or_array
from deptriad.utils.rounding import widening


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Triad(Curve):
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
    exact: bool | Booleans

    def __init__(
        self,
        *,
        alpha: ArrayLike,
        delta: ArrayLike,
        beta: ArrayLike | None = None,
        phi: ArrayLike | None = None,
        calibrated_at: float = 0.0,
        exact: bool | Booleans = True,
    ) -> None:
        ratio, lost = frozen(alpha, "alpha"), as_probability(frozen(delta, "delta"), "delta")
        if not np.isfinite(ratio).all():
            raise ValueError("alpha is infinite: an unbounded ratio belongs into delta")
        if (beta is None) == (phi is None):
            got = "neither" if beta is None else "both"
            raise ValueError(f"got {got} of beta and phi, expected exactly one of them")
        if beta is not None:
            recoded = frozen(beta, "beta")
            variation = _phi(ratio, recoded, lost)
        elif phi is not None:
            variation = np.minimum(frozen(phi, "phi"), _largest_phi(ratio, lost))
            if (variation < lost * (1.0 - 1e-12)).any():
                raise ValueError(
                    f"phi = {np.min(variation)} is below delta, expected phi ≥ delta: lower delta to phi"
                )
            variation = np.maximum(variation, lost)
            recoded = _beta(ratio, variation, lost)
        numbers = {"alpha": ratio, "beta": recoded, "phi": variation, "delta": lost}
        for name, value in numbers.items():
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
        with np.errstate(divide="ignore", invalid="ignore"):  # (φ − δ)/(e^α − 1), no overflow
            slope = (phi - delta) * np.exp(-alpha) / -np.expm1(-alpha)
        chord = (phi, all_digits(np.where(alpha > 0.0, slope, 0.0) / widening(8)))
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
