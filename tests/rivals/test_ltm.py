"""LTM: its pieces, and the function they merge to."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import deptriad as dt
from deptriad.rivals import ltm
from drawn import tables
from rival_measures import measured, same


def test_transition_points_by_hand():
    """Sorted by q/d: (0.4, 0.05), (0.3, 0.1), (0.2, 0.15); the fourth value has q < d."""
    q, d = [Fraction(n, 100) for n in (40, 30, 20)], [Fraction(n, 100) for n in (5, 10, 15)]
    expected = [math.inf]
    for k in (1, 2):
        top, bottom = sum(q[: k + 1]), sum(d[: k + 1])
        expected.append(math.log1p((q[k] - d[k]) / (top * d[k] - bottom * q[k])))
    found = ltm.pieces([[0.4, 0.3, 0.2, 0.1], [0.05, 0.1, 0.15, 0.7]])
    row = found.point[1]  # pairs are (0, 0), (0, 1), (1, 0), (1, 1)
    assert row == same([*expected, 0.0])
    assert found.gap[1] == same([0.35, 0.55, 0.6, 0.6])
    assert found.lower[1] == same([0.05, 0.15, 0.3, 0.3])


def test_points_are_budgets_and_not_their_exponentials():
    """Without ln(1 + ·) the second value would stay in the set too long."""
    table = [[0.4, 0.3, 0.1, 0.1, 0.1], [0.05, 0.15, 0.27, 0.27, 0.26]]
    point = ltm.pieces(table).point[1, 1]
    assert point < 2.0 < math.expm1(point)
    assert measured("ltm", table, 2.0) == same(math.log1p(0.35 / (1 / math.expm1(2.0) + 0.05)))
    assert measured("ltm", table, 2.0) == same(dt.leakage(table, 2.0))


@pytest.mark.parametrize(
    "table",
    [
        [[1e-17, 0.01, 0.99], [0.0, 0.5, 0.5]],  # 1e-17 does not show in the running sums
        [[1e-150, 0.5, 0.5], [0.0, 1e-299, 1.0]],  # 1e-150 · 1e-299 is no float
    ],
)
def test_a_tiny_value_that_one_row_lacks(table):
    """At large budgets it is all that counts."""
    for epsilon in (1.0, 50.0, 100.0, 1e4):
        exact = dt.leakage(table, epsilon)
        assert measured("ltm", table, epsilon) == same(exact)
        assert ltm.prepare(table).leakage(epsilon) == same(exact)
        assert measured("hcc-2", table, epsilon) == same(exact)


@given(tables(min_rows=2))
def test_points_decrease_and_pieces_start_one_after_another(known):
    found = ltm.pieces(known.floats)
    assert (found.point[:, 1:] <= found.point[:, :-1]).all()
    function = found.merged()
    assert function.start[0] == 0
    assert (function.start[1:] >= function.start[:-1]).all()
    assert function.start.shape == function.gap.shape == function.lower.shape


def test_the_merged_function_needs_few_pieces(rng):
    """It keeps pieces of the largest pair only, as many as the exact profile has lines."""
    table = rng.dirichlet(np.ones(40), 40)
    assert len(ltm.prepare(table).start) <= len(dt.profile(table).gap) + 2
