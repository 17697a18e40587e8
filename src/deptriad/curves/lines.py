"""What a line ``E_γ = gap − (γ − 1)·lower`` of a profile says: its leakage at a budget (maths §1, §4).

A line stands for a set S of source values: ``lower`` = G'(S) and ``gap`` = G(S) − G'(S). Kept apart like this
nothing cancels, neither at tiny budgets nor at ratios of 1e300. All functions broadcast.
"""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ENTRY, ROUNDOFF

LARGE_BUDGET = 700.0
"""Above this ε, e^ε nears the end of the float range and logarithms take over."""

FAINT = 1e-290
"""Below this ε, products with it near the other end of the range: a leakage is then taken as the whole ε."""


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
    """Rounded-up leakage: never below the truth, never above ε, exactly 0 where it is 0 and ε is not faint.

    Entries off by a relative ρ change ln (1+tA)/(1+tB) by at most 2ρ·t/(1+t) = 2ρ/(1 + 1/t).
    """
    faint = epsilon < FAINT
    widened = value * (1.0 + 16 * ROUNDOFF) + (2 * ENTRY) / (1.0 + focus)
    widened = np.where(faint, epsilon, widened)
    return np.minimum(widened, epsilon, out=np.zeros_like(widened), where=faint | (value > 0.0))


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
