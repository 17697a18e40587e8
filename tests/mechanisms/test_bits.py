"""Unary encodings: bits are set where they should be."""

import itertools

import numpy as np
import pytest

from deptriad.mechanisms import OUE, SUE
from some_mechanisms import tape


@pytest.mark.parametrize("kind", [SUE, OUE])
@pytest.mark.parametrize("size", [3, 64, 70])
def test_unary_bits_are_set_below_the_threshold_only(kind, size):
    mechanism = kind(size, 1.0)
    keep, add = (int(chance * 2**64) for chance in mechanism.probabilities)
    for true, other in itertools.product((-1, 0), repeat=2):
        # bit i of the words is the number add + other in all lanes, most significant bit first
        needed = 64 - (add & -add).bit_length() + 1  # the last bit of the threshold decides
        lanes = [(2**64 - 1) * ((add + other) >> (63 - i) & 1) for i in range(needed)]
        words = [keep + true, *lanes, *lanes]
        report = mechanism._report(np.array([1], dtype=np.uint32), tape(words))
        bits = np.unpackbits(report, axis=1, bitorder="little")[0, :size]
        expected = [other < 0] * size
        expected[1] = true < 0
        assert bits.tolist() == expected
