"""Channels: tables of one's own."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from deptriad.mechanisms import GRR, SUE, Channel, HadamardResponse, Staircase
from some_mechanisms import CHANNEL, named, tape


@pytest.mark.parametrize("mechanism", [Channel(CHANNEL), Staircase(9, 1.0)], ids=named)
def test_tables_cut_words_where_they_say(mechanism):
    for value, row in enumerate(mechanism.probabilities):
        edges = [int(edge * 2**63) for edge in itertools.accumulate(row)]
        numbers = [0, *(edge + step for edge in edges[:-1] for step in (-1, 0)), 2**63 - 1]
        expected = [sum(edge <= number for edge in edges) for number in numbers]
        codes = np.full(len(numbers), value, dtype=np.uint32)
        words = [2 * number + 1 for number in numbers]
        assert mechanism._report(codes, tape(words)).tolist() == expected


def test_a_channel_follows_its_matrix():
    channel, rng = Channel(CHANNEL), np.random.default_rng(21)
    for value, row in enumerate(CHANNEL):
        seen = np.bincount(channel.perturb(np.full(200_000, value), rng), minlength=4)
        assert stats.chisquare(seen, np.array(row) * 200_000).pvalue > 1e-6


def test_a_channel_tells_its_true_budget():
    assert Channel([[0.75, 0.25], [0.25, 0.75]]).epsilon == pytest.approx(math.log(3), rel=1e-15)
    assert Channel([[0.75, 0.25], [0.25, 0.75]]).worst_ratio == 3
    assert Channel([[0.5, 0.5], [0.5, 0.5]]).epsilon == 0.0
    assert Channel(np.eye(3)).epsilon == math.inf
    assert Channel([[1 - 1e-300, 1e-300], [0.5, 0.5]]).epsilon < math.inf
    for kind in (GRR, Staircase, HadamardResponse, SUE):
        mechanism = kind(5, 1.0)
        assert Channel(mechanism.matrix()).epsilon == pytest.approx(1.0, rel=1e-6)


def test_channels_are_the_same_if_their_tables_are():
    one, same, other = Channel(CHANNEL), Channel(np.array(CHANNEL)), Channel(CHANNEL[::-1])
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert repr(one) == "Channel(3 × 4, epsilon=1.38629)"
    assert GRR(3, 1) == GRR(3, 1.0) != SUE(3, 1.0)
    assert repr(GRR(3, 1)) == "GRR(size=3, epsilon=1.0)"


def test_exact_rows_of_a_channel_sum_to_one(rng):
    table = rng.exponential(size=(50, 70)) * (rng.random((50, 70)) < 0.5) + 1e-30
    table /= table.sum(axis=1, keepdims=True)
    channel = Channel(table)
    assert all(sum(row) == 1 for row in channel.probabilities)
    np.testing.assert_allclose(channel.matrix(), table, rtol=1e-14, atol=2e-19)
    assert (channel.matrix() > 0).all()


@pytest.mark.parametrize(
    "matrix, message",
    [
        ([[0.5, 0.4], [0.5, 0.5]], "row 0 sums to 0.9"),
        ([[1.5, -0.5], [0.5, 0.5]], "expected a finite number"),
        ([[1.0, 0.0]], "number of rows is 1"),
    ],
)
def test_matrices_that_are_no_channels_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Channel(matrix)


def test_a_channel_that_tells_too_little_can_be_used_but_not_inverted():
    narrow = [[0.5, 0.5], [0.3, 0.7], [0.4, 0.6]]
    level = np.full((3, 3), 1 / 3)
    twins = [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    for matrix in (narrow, level, twins):
        channel = Channel(matrix)
        reports = channel.perturb([0, 1, 2])
        with pytest.raises(ValueError, match="do not determine the frequencies"):
            channel.estimate(reports)
