"""TCPL, NMSE and the estimators of whole datasets, against the public metrics and one table at a time."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper.measures import ESTIMATES, Estimators, cpl_error, nmse, tcpl


@pytest.fixture
def tables(rng):
    shapes = [(2, 2), (2, 2), (3, 4), (5, 3), (6, 8)]
    return [dt.Conditional(rng.dirichlet(np.ones(b), a)) for a, b in shapes]


def test_scores_are_those_of_matrices(rng):
    exact, more = rng.random((4, 4)), rng.random((4, 4))
    off = ~np.eye(4, dtype=bool)
    assert tcpl(exact[off]) == pytest.approx(dt.metrics.total_leakage(exact))
    ours = nmse(more[off], exact[off])
    assert ours == pytest.approx(dt.metrics.normalized_squared_error(more, exact))
    assert cpl_error([1.0], [1.5]).tolist() == [-0.5]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_estimators_agree_with_one_table_at_a_time(tables, epsilon):
    found = Estimators(tables).leakages(epsilon)
    assert tuple(found) == ESTIMATES
    for place, table in enumerate(tables):
        assert found["exact"][place] == pytest.approx(dt.leakage(table, epsilon))
        assert found["triad"][place] == pytest.approx(dt.triad(table).leakage(epsilon))
        tuned = dt.triad(table, epsilon_max=3.0).leakage(epsilon)
        assert found["tuned"][place] == pytest.approx(tuned)
        thin = dt.profile(table).thin(8).leakage(epsilon)
        assert found["8 knots"][place] == pytest.approx(thin)
