"""Temporal privacy leakage: the published recursion gives what chains give, at a cost for every pair and step."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.rivals import measures
from deptriad.rivals.temporal import step, temporal_leakage


def test_a_step_is_the_leakage_that_ltm_gives(rng):
    for _ in range(30):
        table = rng.dirichlet(np.ones(4), size=4) * rng.integers(0, 2, (4, 4))
        table = (table + np.eye(4) * 0.1) / (table + np.eye(4) * 0.1).sum(axis=1, keepdims=True)
        for bound in (0.01, 1.0, 8.0):
            assert step(table, bound) == pytest.approx(dt.leakage(table, bound), rel=1e-9)
            assert step(table, bound) == pytest.approx(
                measures["ltm"].measure(table, bound), rel=1e-9
            )


def test_the_recursion_is_that_of_a_stationary_chain(rng):
    forward = rng.dirichlet(np.ones(3), size=3)
    counts = rng.integers(1, 50, (3, 3))
    forward, backward = (c / c.sum(axis=1, keepdims=True) for c in (counts, counts.T))
    epsilons = rng.uniform(0.0, 2.0, 8)
    ours = dt.Chain(forward, "stationary", backward=dt.Conditional(backward)).totals(epsilons).total
    rival = temporal_leakage(forward, backward, epsilons)
    assert (ours >= rival - 1e-12).all() or ours.max() == pytest.approx(epsilons.sum())
    assert ours == pytest.approx(np.minimum(rival, epsilons.sum()), rel=1e-9)
