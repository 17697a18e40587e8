"""TCPL, NMSE and the estimators of whole datasets, against the public metrics and one table at a time."""

import numpy as np
import pandas as pd
import pytest

import deptriad as dt
from deptriad.paper.measures import ESTIMATES, Estimators, as_matrix, nmse, pair_tables


@pytest.fixture
def tables(rng):
    shapes = [(2, 2), (2, 2), (3, 4), (5, 3), (6, 8)]
    return [dt.Conditional(rng.dirichlet(np.ones(b), a)) for a, b in shapes]


def test_scores_are_those_of_matrices(rng):
    exact, more = rng.random((4, 4)), rng.random((4, 4))
    off = ~np.eye(4, dtype=bool)
    found = nmse({name: exact[off] if name == "exact" else more[off] for name in ESTIMATES})
    by_hand = ((more - exact)[off] ** 2).sum() / (exact[off] ** 2).sum()
    assert found == pytest.approx({f"nmse {name}": by_hand for name in ESTIMATES[1:]})
    assert as_matrix(exact[off])[off].tolist() == exact[off].tolist()


def test_the_matrix_is_that_of_the_analysis(rng):
    codes = rng.integers(0, 3, (300, 3))
    schema = dt.Schema([dt.Attribute(name, [0, 1, 2], missing="error") for name in "abc"])
    prior = dt.Prior.from_data(pd.DataFrame(codes, columns=list("abc")), schema)
    ours = as_matrix(dt.leakages(pair_tables(prior), 1.0))
    theirs = np.asarray(dt.analyze(prior).leakage(1.0, exact=True))
    off = ~np.eye(3, dtype=bool)
    assert ours[off] == pytest.approx(theirs[off])


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
