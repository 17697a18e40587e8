"""The plain bounds of points, hulls and boxes behind a certificate (maths.md §5)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import deptriad as dt
from deptriad.totals import _point_kernels
from deptriad.totals.shared_target import FEW
from deptriad.utils.compiled import compiled
from total_cases import COIN, plain_bounds, random_table


def test_the_hull_is_above_the_sets(rng):
    """One more value without mass sends a source of 12 values to the hull: never below, and not far above."""
    for _ in range(40):
        rows, epsilon = 2, [float(rng.choice([0.1, 1.0, 4.0, 15.0])), 1.0]
        exact = random_table(rng, rows, 12, zeros=rng.random() < 0.5)
        padded = dt.Conditional(np.hstack([exact.table, np.zeros((rows, 1))]))
        other = random_table(rng, rows, 2)
        by_sets, by_hull = (plain_bounds([first, other], epsilon) for first in (exact, padded))
        assert (by_hull >= by_sets * (1 - 1e-13)).all()
        assert (by_hull <= by_sets + epsilon[0] * exact.table.max()).all()


def test_edges_of_the_hull_count(rng):
    """The best point of a long edge lies inside it: against a fine grid."""
    for _ in range(50):
        g, h = (np.append(np.full(13, 1e-12), rng.dirichlet([1.0, 1.0])) for _ in range(2))
        table = dt.Conditional(np.array([g / g.sum(), h / h.sum()]))
        epsilon = [float(rng.uniform(0.5, 20)), float(rng.uniform(0.1, 5))]
        total = sum(epsilon)
        plain = plain_bounds([table, COIN], epsilon)[0, 1]
        order = np.argsort(-table.table[0] / table.table[1])
        corners = np.vstack([np.zeros(2), np.cumsum(table.table[::-1, order].T, axis=0)])
        along = np.linspace(0, 1, 2001)
        upper = np.concatenate(
            [
                np.interp(along, [0, 1], pair)
                for pair in zip(corners[:-1, 1], corners[1:, 1], strict=True)
            ]
        )
        lower = np.concatenate(
            [
                np.interp(along, [0, 1], pair)
                for pair in zip(corners[:-1, 0], corners[1:, 0], strict=True)
            ]
        )
        grid = epsilon[0] * (np.log1p(np.expm1(total) * upper) / total - lower)
        coin = epsilon[1] * (math.log1p(math.expm1(total) / 2) / total - 0.5)
        assert plain >= grid.max() + coin - 1e-12
        assert plain == pytest.approx(grid.max() + coin, abs=1e-4 * total)


def test_few_values_are_looked_at_set_by_set():
    """The tests above rely on it: 12 values by sets, 13 by hull."""
    assert FEW == 12


SCALE = 1 << 1074
"""Times this, every float is a whole number."""


def whole(numbers):
    return np.array([int(Fraction(number) * SCALE) for number in numbers], dtype=object)


@compiled()
def certificate(low, high, low2, high2, spare, surplus, gamma):
    """A door to the part that has none."""
    return _point_kernels._certificate(low, high, low2, high2, spare, surplus, gamma)


def test_many_values_leave_the_certificate_a_bound(rng):
    """Its lines for a box of 1,000 values, against the same sums in whole numbers."""
    size, quarters = 1000, (4 * _point_kernels.PRICES).astype(int).tolist()
    assert quarters == [0, 1, 2, 3, 4]
    for _ in range(4):
        low, low2 = (rng.dirichlet(np.full(size, 0.1)) * 0.8 for _ in range(2))
        high, high2 = (
            np.minimum(part + 10.0 ** -rng.uniform(1, 18, size), 1.0) for part in (low, low2)
        )
        spare, surplus = (float(rng.uniform(0, 0.2)) for _ in range(2))
        g, h, g2, h2, (more, less) = map(whole, (low, high, low2, high2, (spare, surplus)))
        for gamma in (0.3, 1.0, 7.7):
            times, over = gamma.as_integer_ratio()
            best = Fraction(1)
            for mu, nu in itertools.product(quarters, quarters):
                up, down = (4 - mu) * g + mu * h, (4 - nu) * h2 + nu * g2
                total = np.maximum(over * up - times * down, 0).sum()
                total += over * (4 - mu) * more + times * (4 - nu) * less
                best = min(best, Fraction(total, 4 * over * SCALE))
            found = certificate(low, high, low2, high2, spare, surplus, gamma)
            assert Fraction(float(found)) >= best
            assert found == pytest.approx(float(best), rel=1e-9)
