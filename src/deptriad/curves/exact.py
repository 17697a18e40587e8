"""The numbers of one table, exact but for an outward rounding: α, φ, δ, the profile, the leakage (maths §1, §2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves import lines
from deptriad.curves.envelope import envelope
from deptriad.curves.lines import LARGE_BUDGET
from deptriad.curves.profile import Profile
from deptriad.curves.triad import Triad
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import ENTRY, ROUNDOFF, widening


def extremes(lower: Floats, upper: Floats) -> tuple[float, float]:
    """α and δ, rounded up, of all tables between two edges (for one table, twice the same)."""
    alpha, delta = _rounded_extremes(
        _height(lower, upper), np.asarray(_excluded(lower, upper)), lower.shape[1]
    )
    return float(alpha), float(delta)


def table_triad(table: Floats) -> Triad:
    """(α, β, δ) of a table."""
    from deptriad.curves import _table_kernels

    variation = np.asarray(_table_kernels.largest_distance(table) / 2.0)
    return rounded_triad(
        _height(table, table), variation, np.asarray(_excluded(table, table)), table.shape[1]
    )


def rounded_triad(height: Floats, variation: Floats, excluded: Floats, columns: ArrayLike) -> Triad:
    """Triads from their raw numbers, each rounded up: the chord only rises with any of them."""
    alpha, delta = _rounded_extremes(height, excluded, columns)
    widen = 1.0 + (np.asarray(columns) + 4) * ROUNDOFF
    phi = np.where(variation > 0.0, np.minimum(variation * widen + 2 * ENTRY, 1.0), 0.0)
    return Triad(alpha=alpha, phi=np.maximum(phi, delta), delta=delta)


def calibrated(table: Floats, at: float) -> Triad:
    """The triad that meets the exact leakage l at ε₀: its chord has g' = (e^l − 1 − δt)/(t(e^α − e^l)) (maths §2)."""
    plain = table_triad(table)
    alpha, phi, delta = float(plain.alpha), float(plain.phi), float(plain.delta)
    if not 0.0 < at < LARGE_BUDGET - 100.0:  # nothing to meet, or nothing left to gain
        return Triad(alpha=alpha, phi=phi, delta=delta, calibrated_at=at)
    met = float(lines.outward(*_with_focus(np.log1p(steepest(table, at)[0]), at)))
    if 0.0 < met < alpha:
        # φ₀ = δ + g'(e^α − 1), with every exponential divided by e^α
        share = np.expm1(met) * lines.inverse_gain(np.asarray(at)) - delta
        chord = share * np.expm1(-alpha) / np.expm1(met - alpha)
        phi = min(phi, (delta + max(float(chord), 0.0)) * widening(16))
    return Triad(alpha=alpha, phi=phi, delta=delta, calibrated_at=at)


def tuned(table: Floats, epsilon_max: float) -> Triad:
    """The triad whose second knot is where the curve answers ε_max (maths §2)."""
    from deptriad.curves import _table_kernels

    plain = table_triad(table)
    if epsilon_max > LARGE_BUDGET - 100.0:
        return plain
    eta, _, _ = steepest(table, epsilon_max)
    if np.log1p(eta) >= plain.alpha:  # the curve is flat there
        return plain
    stick = _table_kernels.largest_stick(table, eta) * widening(table.shape[1])
    # rounding shifts γ, not E: the true E at γ(1 + 4ρ) is at most the computed one at γ (see rounding)
    knot = Triad(
        alpha=np.log1p(eta) * widening(4) + 4 * ENTRY,
        phi=plain.phi,
        delta=min(stick, float(plain.phi)),
    )
    return closer(knot, plain, epsilon_max)


def closer(one: Triad, other: Triad, epsilon: float) -> Triad:
    """Whichever of two triads says less at a budget."""
    return one if one.leakage(epsilon) <= other.leakage(epsilon) else other


def table_profile(table: Floats) -> Profile:
    """The exact curve of a table."""
    gap, lower = envelope(table, *extremes(table, table))
    widen = widening(table.shape[1])
    return Profile(gap * widen, lower / widen)


def steepest(table: Floats, epsilon: float, eta: float = 0.0) -> tuple[float, int, int]:
    """η = γ − 1 of the leakage at a budget, and the rows it compares; η may be given a start it is known to reach.

    Above ε = 600, where e^ε nears the end of the float range, table and focus are scaled alike: no ratio changes.
    """
    from deptriad.curves import _table_kernels

    scale = 1.0 if epsilon < LARGE_BUDGET - 100.0 else 2.0**500
    focus = float(_focus(np.asarray(epsilon), scale))
    return _table_kernels.steepest_event(table if scale == 1.0 else table * scale, focus, eta)


def _focus(epsilon: Floats, scale: float = 1.0) -> Floats:
    """1/t times a scale, which may be too large for 1/t itself to be told from 0."""
    with np.errstate(over="ignore"):  # ∞ at budgets that are next to 0
        return np.asarray(np.exp(np.log(scale) - epsilon) / -np.expm1(-epsilon))


def table_leakage(table: Floats, budget: Floats) -> Floats:
    """Exact leakage of a table at each budget, rounded outward."""
    value = np.zeros(budget.shape)
    eta = 0.0
    # a larger budget starts from what a smaller one reached
    for index in np.argsort(budget, axis=None):
        epsilon = float(budget.flat[index])
        if epsilon > LARGE_BUDGET - 100.0:
            value.flat[index] = _large_leakage(table, epsilon)
        elif epsilon > 0.0:
            eta, _, _ = steepest(table, epsilon, eta)
            value.flat[index] = np.log1p(eta * widening(table.shape[1] + 8))
    return lines.outward(value, budget, lines.inverse_gain(budget))


def table_leakages(values: Floats, rows: Integers, columns: Integers, budget: Floats) -> Floats:
    """Exact leakages of tables laid end to end, each at its own budget, rounded outward."""
    from deptriad.curves import _table_kernels

    starts = np.cumsum(rows * columns) - rows * columns
    value = np.zeros(budget.shape)
    some = np.flatnonzero((budget > 0.0) & (budget <= LARGE_BUDGET - 100.0))
    if some.size:
        each = starts[some], rows[some], columns[some]
        eta = _table_kernels.many_leakages(values, *each, _focus(budget[some]))
        value[some] = np.log1p(eta * (1.0 + (columns[some] + 12) * ROUNDOFF))
    for k in np.flatnonzero(budget > LARGE_BUDGET - 100.0):
        table = values[starts[k] : starts[k] + rows[k] * columns[k]]
        value[k] = _large_leakage(table.reshape(rows[k], columns[k]), float(budget[k]))
    return lines.outward(value, budget, lines.inverse_gain(budget))


def _large_leakage(table: Floats, epsilon: float) -> float:
    """Past e^α the curve is flat at δ, and far beyond the smallest float (e^−745) only the largest ratio counts."""
    alpha, delta = extremes(table, table)
    ceiling = float(beyond(alpha, delta, epsilon))
    if ceiling > alpha or epsilon > LARGE_BUDGET + 100.0 or alpha > LARGE_BUDGET:
        return ceiling
    return min(ceiling, float(np.log1p(steepest(table, epsilon)[0] * widening(table.shape[1] + 8))))


def beyond(alpha: ArrayLike, delta: ArrayLike, epsilon: ArrayLike) -> Floats:
    """max(α, ln(1 + δt)): the leakage at ε never exceeds it, and meets it for large ε."""
    return np.maximum(alpha, lines.leakage(*_with_focus(delta, 0.0, epsilon)))


def _with_focus(*numbers: ArrayLike) -> tuple[Floats, ...]:
    """The numbers as arrays, and 1/t of the last, which is a budget."""
    arrays = tuple(np.asarray(number, dtype=np.float64) for number in numbers)
    return (*arrays, lines.inverse_gain(arrays[-1]))


def _height(lower: Floats, upper: Floats) -> Floats:
    """Logarithm of the largest ratio; from logarithms where the ratio itself overflows."""
    from deptriad.curves import _table_kernels

    ratio, height = _table_kernels.largest_ratio(lower, upper)
    return np.asarray(np.log(ratio) if np.isfinite(ratio) else height)


def _excluded(lower: Floats, upper: Floats) -> float:
    """Largest Σ upper[x, u] over the u where lower[x', u] = 0, x ≠ x': one matrix product, at most 1."""
    zeros = lower == 0.0
    rows = np.flatnonzero(zeros.any(axis=1))
    if not rows.size or lower.shape[0] < 2:
        return 0.0
    mass = upper @ zeros[rows].T.astype(np.float64)
    mass[rows, np.arange(rows.size)] = 0.0
    return min(float(mass.max()), 1.0)


def _rounded_extremes(
    height: Floats, excluded: Floats, columns: ArrayLike
) -> tuple[Floats, Floats]:
    widen = 1.0 + (np.asarray(columns) + 16) * ROUNDOFF
    alpha = np.where(height > 0.0, height * (1.0 + 16 * ROUNDOFF) + 3 * ENTRY, 0.0)
    return alpha, np.minimum(excluded * widen, 1.0)
