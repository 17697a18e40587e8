"""Stationary shares: within the error that is claimed, also where a chain hardly ever moves."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import chain_oracle
import oracle
from deptriad.chains.stationary import reached, recurrent, stationary


@oracle.exactly
def off(found, exact):
    """The largest |ln| by which a ratio of two shares is off."""
    ratio = [
        oracle.decimal(float(one)) / oracle.decimal(two)
        for one, two in zip(found, exact, strict=True)
    ]
    return max(ratio).ln() - min(ratio).ln()


def test_ratios_of_shares_are_within_the_error_claimed(rng):
    for _ in range(30):
        size = int(rng.integers(2, 8))
        weights = 10.0 ** -rng.uniform(0, 12, (size, size)) * (rng.random((size, size)) < 0.8)
        weights += np.roll(np.eye(size), 1, axis=1) * 1e-6 + np.eye(size)
        floats = weights / weights.sum(axis=1, keepdims=True)
        exact = chain_oracle.stationary(oracle.normalised(oracle.as_fractions(floats)))
        shares, error = stationary(floats)
        assert off(shares, exact) <= Decimal(error)
        assert error < 1e-12


def test_shares_of_a_chain_that_hardly_moves():
    slow = 1e-15
    shares, _ = stationary(np.array([[1 - slow, slow], [3 * slow, 1 - 3 * slow]]))
    assert shares == pytest.approx([0.75, 0.25], rel=1e-14)


def test_where_a_chain_stays_and_where_it_can_go():
    table = np.array(
        [[0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.1, 0.0, 0.9, 0.0], [0.0, 0.0, 0.5, 0.5]]
    )
    assert recurrent(table).tolist() == [0, 1]
    assert reached(table, np.array([False, False, True, False])).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"never leaves values \[0\], nor values \[1\]"):
        recurrent(np.eye(2))


def test_shares_too_small_to_follow_are_refused():
    tiny = float(Fraction(1, 10**290))
    with pytest.raises(ValueError, match="merge values"):
        stationary(np.array([[1.0, tiny], [1.0, 0.0]]))
