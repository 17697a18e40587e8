"""The synthetic tables against the published ones."""

import numpy as np
import pytest
from scipy.stats import chi2

from deptriad.paper import sine

PUBLISHED = {4: (50, 1.5), 7: (50, 1.5), 10: (5, 1.5), 50: (50, 1.5), 100: (5, 1.0)}
"""Size of a published table: million records, deviation of the noise."""


def excess(published, expected, weights):
    """χ² of a published table by the expected one, over its degrees of freedom; and the chance of more."""
    statistic = np.sum(weights[:, None] * (published - expected) ** 2 / expected)
    degrees = len(expected) * (len(expected) - 1)
    return statistic / degrees, chi2.sf(statistic, degrees)


@pytest.mark.parametrize("size", PUBLISHED)
def test_published_tables_differ_by_their_sampling_only(shared_dir, size):
    millions, deviation = PUBLISHED[size]
    published = np.loadtxt(shared_dir / "golden" / f"sin_{size}.csv", delimiter=",")
    weights = sine.chances(size, deviation).sum(axis=1) * millions * 1e6 / size
    ratio, chance = excess(published, sine.table(size, deviation), weights)
    assert 0.8 < ratio < 1.3
    assert chance > 0.01
    for other in (np.sqrt(2), 2.0):  # what the paper's N(0, 2) may mean
        assert excess(published, sine.table(size, other), weights)[0] > 1.9


def test_the_first_target_value_is_twice_as_wide():
    mass = sine.chances(50).sum(axis=1)
    assert mass[0] / mass[1] == pytest.approx(2.0, rel=0.02)


def test_expected_entries_are_bayes_rule_on_simulated_records(rng):
    size, records = 5, 400_000
    source = rng.integers(size, size=records)
    target = np.sin(2 * np.pi * source / size) + rng.normal(0, 1.5, records)
    place = np.trunc(size * (target + 0.5)).astype(int)
    kept = (place >= 0) & (place < size)
    counts = np.zeros((size, size))
    np.add.at(counts, (place[kept], source[kept]), 1)
    found = counts / counts.sum(axis=1, keepdims=True)
    # the standard error of an entry is below 0.003 with 18,000 records or more in a row
    assert found == pytest.approx(sine.table(size), abs=0.016)


def test_drawn_tables_come_near_with_many_records(rng):
    assert sine.drawn(10, rng) == pytest.approx(sine.table(10), abs=0.002)
    assert np.allclose(sine.drawn(10, rng, records=10_000).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="take more"):
        sine.drawn(50, rng, records=50)
