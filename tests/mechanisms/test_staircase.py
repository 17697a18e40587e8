"""The staircase: its steps, its columns and its ends."""

import math

import numpy as np
import pytest

from deptriad.mechanisms import Staircase
from some_mechanisms import BUDGETS, SIZES, exp_below


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_staircase_has_only_the_columns_it_says(size, epsilon):
    counts = Staircase(size, epsilon)._counts
    assert {sum(row) for row in counts.tolist()} == {2**63}
    bound = exp_below(epsilon)
    for most, least in zip(counts.max(axis=0).tolist(), counts.min(axis=0).tolist(), strict=True):
        assert most <= bound * least


@pytest.mark.parametrize("size", [*range(2, 32), 100, 199])
def test_staircase_steps_are_those_with_an_inverse(size):
    for epsilon in (0.1, 1.0, 4.0):
        staircase = Staircase(size, epsilon)
        assert np.linalg.cond(staircase.matrix()) < 1e9
        if size > 31:
            continue
        for step in range(1, size):
            other = Staircase(size, epsilon)
            other.__dict__.update(step=step)
            other.__dict__.pop("_heights")
            assert (np.linalg.cond(other.matrix()) < 1e9) == staircase._tells_all(step)


def test_staircase_is_clamped_noise():
    staircase = Staircase(7, 1.0)
    ratio, step, reach = math.exp(-1.0), staircase.step, 6
    far = np.arange(-3000, 3001)
    noise = ratio ** (np.abs(far) // reach + (np.abs(far) % reach >= step))
    noise /= noise.sum()
    for value, row in enumerate(staircase.matrix()):
        clamped = np.clip(value + far, 0, reach)
        expected = np.bincount(clamped, weights=noise, minlength=7)
        np.testing.assert_allclose(row, expected, rtol=1e-9)
