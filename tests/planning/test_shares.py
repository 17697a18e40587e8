"""Shares: as good as a slow and simple algorithm, with a certificate that holds."""

import numpy as np
import pytest

from deptriad.planning.shares import objective, optimal_shares, prices


def problem(rng):
    """Views that each have some marginals, every marginal in one of them at least."""
    views, marginals = rng.integers(2, 40), rng.integers(1, 30)
    precision = np.exp(rng.normal(0.0, 2.0, (views, marginals)))
    precision *= rng.random((views, marginals)) < 0.3
    precision[rng.integers(0, views, marginals), np.arange(marginals)] += 1.0
    return precision, rng.random(marginals) + 0.01


def slowly(precision, cost, steps=20_000):
    """π ← π·√g, normalised: each step makes the objective smaller."""
    share = np.full(len(precision), 1.0 / len(precision))
    for _ in range(steps):
        share = share * np.sqrt(precision @ prices(share, precision, cost))
        share /= share.sum()
    return objective(share, precision, cost)


def test_shares_are_as_good_as_a_slow_algorithm_finds(rng):
    for _ in range(3):
        precision, cost = problem(rng)
        found = optimal_shares(precision, cost)
        assert found.share.min() >= 0.0
        assert found.share.sum() == pytest.approx(1.0, abs=1e-12)
        assert found.objective == objective(found.share, precision, cost)
        best = slowly(precision, cost)
        assert found.objective <= 1.001 * best
        assert found.ratio <= 1.001
        assert found.objective <= found.ratio * best * (1 + 1e-12)


def test_no_mixture_is_below_what_the_certificate_says(rng):
    precision, cost = problem(rng)
    found = optimal_shares(precision, cost)
    for _ in range(200):
        share = rng.dirichlet(np.full(len(precision), 0.2))
        assert found.objective <= found.ratio * objective(share, precision, cost) * (1 + 1e-12)


def test_one_view_is_asked_of_everybody():
    found = optimal_shares(np.array([[0.5, 0.25]]), np.array([1.0, 1.0]))
    assert found.share.tolist() == [1.0]
    assert (found.objective, found.ratio) == (6.0, 1.0)
