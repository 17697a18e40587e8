"""The marginal study: what it says is what a collection by hand gives, and strategies rank as they must."""

from itertools import combinations

import numpy as np
import pytest

import deptriad as dt
from deptriad.collection.accuracy_study import Distance, marginal_study, usual
from deptriad.collection.marginal import estimate
from deptriad.collection.sample import Sample
from deptriad.collection.simulation import simulate
from deptriad.collection.split import Split

SCHEMA = dt.Schema([dt.Attribute(name, [0, 1, 2], missing="error") for name in "abcd"])
COUNTS = np.random.default_rng(0).multinomial(20_000, np.full(81, 1 / 81)).reshape([3] * 4)


def test_all_strategies_are_in_it():
    study = marginal_study(COUNTS, SCHEMA, [1.0, 4.0], rng=np.random.default_rng(1), repetitions=3)
    assert len(study) == 4 * 2 * 3
    assert all(isinstance(row, Distance) for row in study)
    assert all(0 <= row.mean <= 1 and row.spread >= 0 for row in study)
    for name in usual(SCHEMA):
        for k in (2, 3, 4):
            assert study.get(name, k, 4.0).mean < study.get(name, k, 1.0).mean + 0.02
    assert list(study.to_frame().columns) == ["strategy", "k", "epsilon", "mean", "spread"]
    assert "random view" in repr(study)
    with pytest.raises(KeyError, match="no row of 'plan'"):
        study.get("plan", 2, 1.0)


@pytest.mark.parametrize("k", [2, 3])
def test_a_number_of_it_by_hand(k):
    only = {"rs": lambda epsilon, k: Sample(SCHEMA, epsilon, "grr", k=k)}
    study = marginal_study(
        COUNTS, SCHEMA, [2.0], [k], only, repetitions=1, rng=np.random.default_rng(5)
    )
    sample = Sample(SCHEMA, 2.0, "grr", k=k)
    reports = simulate(COUNTS, sample, np.random.default_rng(5))
    found = []
    for view in combinations(SCHEMA.names, k):
        others = tuple(j for j, name in enumerate(SCHEMA.names) if name not in view)
        found.append(estimate(sample, reports, view).distance(COUNTS.sum(axis=others)))
    assert study.get("rs", k, 2.0).mean == pytest.approx(np.mean(found))
    assert study.get("rs", k, 2.0).spread == 0.0


def test_progress_and_a_plan_of_ones_own():
    seen = []
    both = {
        "split": lambda epsilon, k: Split(SCHEMA, epsilon),
        "more": lambda epsilon, k: Split(SCHEMA, 9 * epsilon),
    }
    study = marginal_study(
        COUNTS, SCHEMA, [1.0], [2], both, repetitions=2, progress=lambda *done: seen.append(done)
    )
    assert seen == [(1, 2), (2, 2)]
    assert study.get("more", 2, 1.0).mean < study.get("split", 2, 1.0).mean
