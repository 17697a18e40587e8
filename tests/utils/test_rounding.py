"""Rounding outward."""

import math

import oracle
from deptriad.utils.rounding import sum_up


def test_sums_are_rounded_up(rng):
    for _ in range(200):
        terms = rng.random(5).tolist()
        exact = sum(map(oracle.Fraction, terms))
        assert oracle.Fraction(sum_up(terms)) >= exact
        assert oracle.Fraction(math.nextafter(sum_up(terms), 0)) < exact
