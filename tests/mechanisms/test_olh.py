"""OLH: its hash functions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from deptriad.mechanisms import OLH
from deptriad.mechanisms.olh import digits


def test_hashes_of_any_two_values_are_independent():
    """The same hash in 8 bits instead of 32, over all seeds: 4-bit values, the upper 5 bits kept."""
    slope, shift = (part.ravel() for part in np.meshgrid(np.arange(256), np.arange(256)))
    hashes = [(slope * value + shift) % 256 >> 3 for value in range(16)]
    for one, other in itertools.combinations(hashes, 2):
        assert (np.bincount(one * 32 + other, minlength=1024) == 64).all()


@pytest.mark.parametrize("cells", [2, 4, 7, 1000, 4096])
def test_digits_collide_as_often_as_the_estimate_supposes(cells):
    held = np.bincount((np.arange(1 << 17) * cells) >> 17, minlength=cells)
    low, high = Fraction(1, 7), Fraction(3, 4)
    chance = Fraction(int((held**2).sum()), 1 << 34)

    olh = OLH(5, 1.0)
    olh.__dict__.pop("probabilities", None)
    olh.__dict__.update(cells=cells, levels=(high, low))
    assert olh.probabilities == (high, low + (high - low) * chance)
    seeds = np.random.default_rng(23).integers(0, 2**64, 200_000, dtype=np.uint64)
    same = [digits(np.uint32(value), seeds, cells) for value in (3, 40_000)]
    hits = int((same[0] == same[1]).sum())
    assert stats.binomtest(hits, seeds.size, float(chance)).pvalue > 1e-6
