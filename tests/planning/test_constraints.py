"""The constraints of a calibration: totals, and their derivatives (maths.md §5, §8)."""

import numpy as np
import pytest

import deptriad as dt
from dependent import analysis_of
from deptriad.planning.constraints import constraints
from deptriad.planning.wishes import true_totals

GUARANTEES = ("certified", "paired", "pairwise")


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("uncertainty", [None, dt.Relative(0.2)])
def test_constraints_are_the_totals_and_slopes_are_their_derivatives(guarantee, uncertainty):
    analysis = analysis_of(14, (3, 4, 5, 2), 0.5, uncertainty)
    held = constraints(analysis, guarantee, np.ones(4, dtype=bool))
    epsilon = np.array([0.4, 0.7, 0.5, 0.9])
    held.refresh(epsilon)
    value, slope = held.rows(epsilon).totals(4)
    true = [getattr(each, guarantee) for each in true_totals(analysis, epsilon)]
    assert value == pytest.approx(true, rel=1e-6)
    step = 1e-5
    for place in range(4):
        move = step * np.eye(4)[place]
        up, down = (
            np.array([getattr(each, guarantee) for each in true_totals(analysis, epsilon + sign)])
            for sign in (move, -move)
        )
        assert slope[:, place] == pytest.approx((up - down) / (2 * step), abs=1e-3)
