"""Subset selection: draws of sets."""

import numpy as np
import pytest

from deptriad.mechanisms import SubsetSelection
from deptriad.mechanisms._kernels import _draw
from deptriad.utils.compiled import compiled
from some_mechanisms import tape


@compiled()
def draw(half, count):
    """A door to the part that has none."""
    return _draw(half, count)


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 50, 1000, 65536, 65537])
def test_bounded_draws_are_exactly_uniform(count):
    excess = 2**32 % count
    for number in {0, 1, count // 2, count - 1} & set(range(count)):
        first, after = -(-number * 2**32 // count), -(-(number + 1) * 2**32 // count)
        rejected = [
            half for half in range(first, min(first + 2, after)) if draw(np.uint64(half), count) < 0
        ]
        assert after - first - len(rejected) == 2**32 // count
        assert all(half * count % 2**32 < excess for half in rejected)
        assert draw(np.uint64(after - 1), count) == number


def test_a_rejected_draw_starts_the_record_again():
    subset = SubsetSelection(10, 1.0)
    row = int(subset._words)
    good = [0] + [0x9ABCDEF012345678] * (row - 1)
    bad = [2**64 - 1] + [0] * (row - 1)  # zeros are rejected below any count but a power of two
    codes = np.array([4, 4], dtype=np.uint32)
    once = subset._report(codes, tape(good + good))
    again = subset._report(codes, tape(bad + good + good))
    assert once.tolist() == again.tolist()
    assert subset.supported(again)[:, 4].all()
