"""The plain numbers the paper compares methods with, by hand."""

import numpy as np
import pytest

from deptriad.metrics import (
    estimation_error,
    normalized_overestimation,
    normalized_squared_error,
    normalized_underestimation,
    total_leakage,
    total_variation_distance,
)

EXACT = np.array([[7.0, 1.0, 2.0], [0.5, 7.0, 0.0], [1.0, 1.5, 7.0]])
ESTIMATE = np.array([[9.0, 1.5, 2.0], [0.25, 9.0, 0.0], [1.0, 2.5, 9.0]])


def test_total_leakage_leaves_the_diagonal_out():
    assert total_leakage(EXACT) == pytest.approx(6.0)
    holes = EXACT.copy()
    np.fill_diagonal(holes, np.nan)
    assert total_leakage(holes) == pytest.approx(6.0)


def test_estimation_error_has_a_sign():
    assert estimation_error(1.5, 1.0) == pytest.approx(0.5)
    assert estimation_error(0.25, 0.5) == pytest.approx(-0.25)
    assert np.array_equal(estimation_error(ESTIMATE, EXACT), ESTIMATE - EXACT)


def test_normalized_squared_error_leaves_the_diagonal_out():
    """(.5² + .25² + 1²) / (1 + 4 + .25 + 0 + 1 + 2.25)."""
    assert normalized_squared_error(ESTIMATE, EXACT) == pytest.approx(1.3125 / 8.5)
    assert normalized_squared_error(EXACT, EXACT) == 0


def test_total_variation_distance_is_half_the_sum_of_differences():
    assert total_variation_distance([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]) == pytest.approx(0.5)
    assert total_variation_distance([[0.5, 0], [0, 0.5]], [[0, 0.5], [0.5, 0]]) == pytest.approx(1)
    assert total_variation_distance([0.2, 0.8], [0.2, 0.8]) == 0


def test_under_and_overestimation_share_the_budget():
    estimate, exact = np.array([1.5, 0.25, 1.0]), np.array([1.0, 0.5, 1.0])
    assert normalized_overestimation(estimate, exact, 2.0) == pytest.approx([0.25, 0, 0])
    assert normalized_underestimation(estimate, exact, 2.0) == pytest.approx([0, 0.125, 0])


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"(?i)shape|\(2, 2\)"):
        normalized_squared_error(np.ones((2, 2)), EXACT)
    with pytest.raises(ValueError, match=r"(?i)shape|\(2,\)"):
        total_variation_distance([0.5, 0.5], [0.2, 0.3, 0.5])
