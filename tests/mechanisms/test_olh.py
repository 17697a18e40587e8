"""OLH: its hash functions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from deptriad.mechanisms import OLH
from deptriad.mechanisms.olh import FIELD, MODULUS, digits


def times(one, two):
    """The product of two elements of the field, as one learns it: polynomials over GF(2), then the remainder."""
    product = 0
    for bit in range(two.bit_length()):
        product ^= (one << bit) * (two >> bit & 1)
    while product >> FIELD:
        product ^= MODULUS << (product.bit_length() - 1 - FIELD)
    return product


def test_the_field_is_one():
    """t^20 + t^3 + 1 is irreducible (Rabin): t^(2^20) = t, and t^(2^(20/q)) − t is prime to it for q = 2 and 5."""

    def power(exponent):
        found = 2
        for _ in range(exponent):
            found = times(found, found)
        return found

    def common(one, two):
        while two:
            while one and one.bit_length() >= two.bit_length():
                one ^= two << (one.bit_length() - two.bit_length())
            one, two = two, one
        return one

    assert power(20) == 2
    for prime in (2, 5):
        assert common(MODULUS, power(20 // prime) ^ 2) == 1


def test_a_hash_is_a_polynomial_of_degree_two(rng):
    seeds = rng.integers(0, 2**64, 40, dtype=np.uint64)
    codes = rng.integers(0, 2**16, 40).astype(np.uint32)
    for seed, code, digit in zip(
        seeds.tolist(), codes.tolist(), digits(codes, seeds, 4096), strict=True
    ):
        c, b, a = (seed >> FIELD * part & ((1 << FIELD) - 1) for part in range(3))
        hashed = times(a, times(code, code)) ^ times(b, code) ^ c
        assert digit == hashed * 4096 >> FIELD


def test_hashes_of_any_three_values_are_independent():
    """The same hash in GF(8) = GF(2)[t]/(t^3 + t + 1), over all 512 seeds: each three hashes of three values once."""

    def small(one, two):
        product = 0
        for bit in range(3):
            product ^= (one << bit) * (two >> bit & 1)
        for bit in (4, 3):
            product ^= (0b1011 << (bit - 3)) * (product >> bit & 1)
        return product

    seeds = list(itertools.product(range(8), repeat=3))
    for three in itertools.combinations(range(8), 3):
        found = {tuple(small(a, small(x, x)) ^ small(b, x) ^ c for x in three) for a, b, c in seeds}
        assert len(found) == 512


@pytest.mark.parametrize("size", [2, 3, 17, 64, 1000])
def test_support_is_that_of_the_digits(size, rng):
    olh = OLH(size, 1.5)
    reports = olh.perturb(rng.integers(0, size, 300), rng)
    values = np.arange(size, dtype=np.uint32)
    own = digits(values, reports[:, :1], olh.cells) == reports[:, 1:]
    np.testing.assert_array_equal(olh.supported(reports), own)
    np.testing.assert_array_equal(olh.support(reports), own.sum(axis=0))


@pytest.mark.parametrize("cells", [2, 4, 7, 1000, 4096])
def test_digits_collide_as_often_as_the_estimate_supposes(cells):
    held = np.bincount((np.arange(1 << FIELD) * cells) >> FIELD, minlength=cells)
    low, high = Fraction(1, 7), Fraction(3, 4)
    chance = Fraction(int((held**2).sum()), 1 << 2 * FIELD)

    olh = OLH(5, 1.0)
    olh.__dict__.pop("probabilities", None)
    olh.__dict__.update(cells=cells, levels=(high, low))
    assert olh.probabilities == (high, low + (high - low) * chance)
    seeds = np.random.default_rng(23).integers(0, 2**64, 200_000, dtype=np.uint64)
    same = [digits(np.uint32(value), seeds, cells) for value in (3, 40_000)]
    hits = int((same[0] == same[1]).sum())
    assert stats.binomtest(hits, seeds.size, float(chance)).pvalue > 1e-6


def test_parts_of_joint_values_have_the_error_of_the_whole():
    """Of 6 × 5 values at ε = 1, the scores of each attribute: 400,000 reports, whose means have errors of 0.5 %."""
    olh, rng = OLH(30, 1.0), np.random.default_rng(5)
    scores = olh.scores(olh.perturb(np.full(400_000, 13), rng)).reshape(-1, 6, 5)
    for axis in (1, 2):
        found = float((scores.sum(axis=axis) ** 2).sum(axis=1).mean())
        assert found == pytest.approx(OLH.moment(1.0, 30), rel=0.03)
