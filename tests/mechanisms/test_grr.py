"""GRR: words are cut where it says."""

from fractions import Fraction

import numpy as np
import pytest

from deptriad.mechanisms import GRR
from some_mechanisms import tape


@pytest.mark.parametrize("size, epsilon", [(50, 1.0), (5, 0.5), (1000, 1e-3), (50, 20.0)])
def test_randomised_response_cuts_words_where_it_says(size, epsilon):
    grr = GRR(size, epsilon)
    cell, bits = grr._cell
    assert bits == (32 if epsilon in (1.0, 0.5) else 64)
    numbers = sorted({k * cell + step for k in range(size + 1) for step in (-1, 0)} - {-1})
    numbers.append(2**bits - 1)
    expected = [n // cell if n < size * cell else 1 for n in numbers]
    words = numbers
    if bits == 32:
        even = numbers + [0] * (len(numbers) % 2)
        words = [low + (high << 32) for low, high in zip(even[::2], even[1::2], strict=True)]
    codes = np.ones(len(numbers), dtype=np.uint32)
    assert grr._report(codes, tape(words)).tolist() == expected
    assert grr.probabilities[1] == Fraction(cell, 2**bits)
