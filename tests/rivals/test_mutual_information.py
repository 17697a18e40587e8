"""MI and PCC, which bound nothing."""

import math

import numpy as np

import deptriad as dt
from rival_measures import P, measured, same


def records(counts):
    """The two columns of a dataset with these counts."""
    target, source = np.indices(counts.shape)
    return np.repeat(target.ravel(), counts.ravel()), np.repeat(source.ravel(), counts.ravel())


def test_mutual_information_from_entropies(rng):
    for _ in range(20):
        counts = rng.integers(0, 20, rng.integers(2, 6, 2)) + np.eye(1, dtype=int)
        joint = counts / counts.sum()
        entropy = [
            -sum(p * math.log(p) for p in part.ravel() if p)
            for part in (joint, joint.sum(axis=0), joint.sum(axis=1))
        ]
        table = dt.Conditional.from_counts(counts)
        value = measured("mi", table, 1.0, weights=counts.sum(axis=1))
        assert value == same(entropy[1] + entropy[2] - entropy[0])


def test_correlation_of_records(rng):
    for _ in range(20):
        counts = rng.integers(0, 20, rng.integers(2, 6, 2)) + 1
        expected = np.corrcoef(*records(counts))[0, 1]
        table = dt.Conditional.from_counts(counts)
        assert measured("pcc", table, 1.0, weights=counts.sum(axis=1)) == same(expected)


def test_targets_are_equally_likely_unless_told():
    for name in ("mi", "pcc"):
        assert measured(name, P, 1.0) == same(measured(name, P, 1.0, weights=[3, 3]))
        assert abs(measured(name, P, 1.0) - measured(name, P, 1.0, weights=[1, 9])) > 0.01
    assert measured("mi", np.eye(4), 1.0) == same(math.log(4))
    assert measured("pcc", np.eye(4), 1.0) == same(1.0)
    assert measured("pcc", np.eye(4)[::-1], 1.0) == same(-1.0)


def test_they_bound_nothing():
    """One in a thousand is revealed with certainty; the averages hardly see it."""
    table, weights = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [0.999, 0.001]
    assert measured("mi", table, 5.0, weights=weights) < 0.01
    assert measured("pcc", table, 5.0, weights=weights) < 0.1
    assert dt.leakage(table, 5.0) == same(5.0)


def test_what_does_not_vary_tells_nothing():
    for name in ("mi", "pcc"):
        assert measured(name, [[1.0, 0.0], [1.0, 0.0]], 1.0) == 0
        assert measured(name, [[0.3, 0.7]], 1.0) == same(0)
        assert measured(name, P, 1.0, weights=[1, 0]) == same(0)
