"""Transition matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptriad.rivals import channels
from drawn import budgets
from rival_measures import same


@given(st.integers(1, 6), budgets(most=100.0))
def test_channels_are_channels(size, epsilon):
    for channel in (channels.grr(size, epsilon), channels.unary(size, epsilon)):
        assert channel.shape[1] == size
        assert channel.sum(axis=0) == same(np.ones(size))
        ratio = np.log(channel.max(axis=1)) - np.log(channel.min(axis=1))
        assert ratio.max() == same(epsilon if size > 1 else 0.0, rel=1e-12, absolute=1e-12)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (channels.unary, (17, 1.0), "size is 17, expected at most 16"),
        (channels.unary, (8, 1e4), "epsilon is 10000"),
        (channels.grr, (0, 1.0), "size is 0"),
        (channels.grr, (3, -1.0), r"epsilon is -1\.0"),
        (channels.grr, (3, [1.0]), r"epsilon has shape \(1,\), expected one number"),
    ],
)
def test_impossible_channels_are_named(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments)
