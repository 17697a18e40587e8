"""What a line ``E_γ = gap − (γ − 1)·lower`` of a profile says: its leakage at a budget (maths §1, §4).

A line stands for a set S of source values: ``lower`` = G'(S) and ``gap`` = G(S) − G'(S). Kept apart like this
nothing cancels, neither at tiny budgets nor at ratios of 1e300. All functions broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deptriad.rounding import ENTRY, ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

LARGE_BUDGET = 700.0
"""Above this ε, e^ε nears the end of the float range and logarithms take over."""


def as_numbers(value: ArrayLike, name: str) -> Floats:
    """Numbers as a float array; refuses text, nothing and ragged lists."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf" or array.size == 0:
            return array.astype(np.float64)
        raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, expected a number or an array of numbers") from None


def as_budget(epsilon: ArrayLike, name: str = "epsilon") -> Floats:
    """Budgets as a float array; refuses negative ones and NaN."""
    budget = as_numbers(epsilon, name)
    bad = ~(budget >= 0.0)
    if bad.any():
        raise ValueError(f"{name} is {budget[bad].flat[0]}, expected a number ≥ 0")
    return budget


def as_probability(value: ArrayLike, name: str) -> Floats:
    """Probabilities as a float array; refuses what lies outside [0, 1]."""
    probability = as_numbers(value, name)
    bad = ~((probability >= 0.0) & (probability <= 1.0))
    if bad.any():
        raise ValueError(f"{name} is {probability[bad].flat[0]}, expected a number in [0, 1]")
    return probability


def as_whole(value: Any, name: str, least: int) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


def scalar_or_array(value: Floats) -> float | Floats:
    """A float for a 0-d result, the array otherwise."""
    return float(value) if np.ndim(value) == 0 else value


def inverse_gain(epsilon: Floats) -> Floats:
    """1/t = 1/(e^ε − 1): the focus from which a budget looks at the curve; ∞ at ε = 0, 0 at ε = ∞."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(1.0 / np.expm1(epsilon))


def leakage(gap: Floats, lower: Floats, epsilon: Floats, focus: Floats) -> Floats:
    """ln (1 + tA)/(1 + tB) of a line, for B = lower, A = lower + gap and focus = 1/t."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = np.log1p(gap / (focus + lower))
        if np.size(epsilon) and np.max(epsilon) > LARGE_BUDGET:
            above = np.logaddexp(np.log(gap + lower), -epsilon)
            beyond = above - np.logaddexp(np.log(lower), -epsilon)
            beyond += 8 * ROUNDOFF * np.minimum(epsilon, 1e5)  # logarithms this large are coarse
            value = np.where((epsilon > LARGE_BUDGET) & (lower < 1e-270), beyond, value)
            value = np.where(gap > 0.0, value, 0.0)
    return np.asarray(value)


def outward(value: Floats, epsilon: Floats, focus: Floats) -> Floats:
    """Rounded-up leakage: never below the truth, never above ε, exactly 0 where it is 0.

    Entries off by a relative ρ change ln (1+tA)/(1+tB) by at most 2ρ·t/(1+t) = 2ρ/(1 + 1/t).
    """
    widened = value * (1.0 + 16 * ROUNDOFF) + (2 * ENTRY) / (1.0 + focus)
    return np.minimum(widened, epsilon, out=np.zeros_like(widened), where=value > 0.0)


def granting_rounding(gap: Floats, lower: Floats) -> Floats:
    """The gap of a line when every entry behind it may be off by its rounding: A(1+ρ) − B(1−ρ)."""
    return np.minimum(gap * (1.0 + 2 * ENTRY) + (2 * ENTRY) * lower, 1.0)


def approximate_leakage(
    gap: Floats, lower: Floats, epsilon: Floats, mechanism_delta: Floats, delta: Floats
) -> Floats:
    """Least ε' at which a line allows δ' ≤ delta, after an (ε, mechanism_delta)-LDP release (maths §4).

    With E = D − ηB both conditions of §4 are linear in η = e^ε' − 1, so each gives its least η directly.
    """
    gap = granting_rounding(gap, lower)
    weight = np.exp(-epsilon)  # everything below is divided by e^ε, which may overflow
    gain = -np.expm1(-epsilon) + 2.0 * mechanism_delta * weight
    above = (gain * gap) * (1.0 + 8 * ROUNDOFF) - delta * (1.0 + weight) * (1.0 - 8 * ROUNDOFF)
    beside = (mechanism_delta * gap) * (1.0 + 8 * ROUNDOFF) - delta
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mixed = above / (gain * lower + (1.0 - mechanism_delta) * weight)
        lost = beside / (mechanism_delta * lower)
    eta = np.maximum(np.where(above > 0.0, mixed, 0.0), np.where(beside > 0.0, lost, 0.0))
    return np.log1p(eta)


def approximate_delta(
    stick: Floats, epsilon_out: Floats, epsilon: Floats, mechanism_delta: Floats
) -> Floats:
    """Largest δ' of the target at epsilon_out when the source's mechanism is (ε, mechanism_delta)-LDP (maths §4)."""
    weight = np.exp(-epsilon)
    gain = -np.expm1(-epsilon) + 2.0 * mechanism_delta * weight
    with np.errstate(over="ignore", invalid="ignore"):
        far = np.nan_to_num(np.exp(epsilon_out - epsilon) - weight, nan=0.0, posinf=np.inf)
        growth = np.where(epsilon_out < LARGE_BUDGET, np.expm1(epsilon_out) * weight, far)
        kept = (1.0 - mechanism_delta) * growth
        mixed = (gain * stick * (1.0 + 16 * ROUNDOFF) - kept * (1.0 - 16 * ROUNDOFF)) / (
            1.0 + weight
        )
    return np.maximum(np.maximum(mechanism_delta * stick, np.nan_to_num(mixed)), 0.0)
