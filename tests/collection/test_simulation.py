"""Simulation: as if every user had reported, and in no time."""

import math
import time

import numpy as np
import pytest
from scipy import stats

import deptriad as dt
from deptriad.collection import simulated_reports
from deptriad.collection.marginal import estimate
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.simulation import simulate
from deptriad.collection.split import Separate, Split
from deptriad.mechanisms import GRR, OLH, OUE, SUE, Channel, Staircase, SubsetSelection
from luck import unless_unlucky
from quick_shares import quick

SCHEMA = dt.Schema(
    [
        dt.Attribute("a", ["x", "y"], missing="error"),
        dt.Attribute("b", ["p", "q", "r"], missing="error"),
    ]
)
COUNTS = np.array([[9, 3, 1], [0, 4, 7]])
CHANNEL = Channel([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
CASES = {
    "grr": (Split(SCHEMA, 2.0, "grr"), ("a", "b")),
    "grr, one": (Split(SCHEMA, 2.0, "grr"), ("b",)),
    "hadamard": (Split(SCHEMA, 2.0, "hadamard"), ("a", "b")),
    "oue": (Split(SCHEMA, 2.0, "oue"), ("a", "b")),
    "subset": (Split(SCHEMA, 2.0, "subset"), ("b", "a")),
    "mixed": (Separate(SCHEMA, {"a": CHANNEL, "b": Staircase(3, 1.0)}), ("a", "b")),
    "one of two": (Separate(SCHEMA, {"b": SUE(3, 1.0)}), ("b",)),
    "sample": (Sample(SCHEMA, 2.0, "grr"), ("b",)),
    "sample pair": (Sample(SCHEMA, 2.0, "grr", k=2), ("b", "a")),
    "sample pair, one": (Sample(SCHEMA, 2.0, "hadamard", k=2), ("a",)),
    "sample oue": (Sample(SCHEMA, 2.0, "oue", k=2), ("a", "b")),
    "fakes": (SampleWithFakes(SCHEMA, 1.0, "grr"), ("b",)),
    "fakes oue": (SampleWithFakes(SCHEMA, 1.0, "oue"), ("b",)),
}


def users(counts):
    return np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0)


@pytest.mark.parametrize("case", CASES)
def test_simulation_equals_perturbing_every_user_in_distribution(case, rng):
    """Every cell's estimate, and random combinations of all, by the Kolmogorov–Smirnov test on 150 of each."""
    strategy, names = CASES[case]
    codes = users(COUNTS)

    def by_hand():
        return _shares(strategy, lambda: quick(strategy, rng, names, codes), names)

    def at_once():
        return _shares(strategy, lambda: simulated(strategy, names, rng), names)

    def check():
        one = np.array([by_hand() for _ in range(150)])
        two = np.array([at_once() for _ in range(150)])
        ways = np.column_stack([np.eye(one.shape[1]), rng.normal(size=(one.shape[1], 3))])
        for way in ways.T:
            # ties make the test conservative; rounding makes equal sums look different
            first, second = (np.round(each @ way, 9) for each in (one, two))
            assert stats.ks_2samp(first, second).pvalue > 1e-4

    unless_unlucky(check, 0.001)  # 9 ways at most


def simulated(strategy, names, rng, counts=COUNTS):
    sums = strategy.needed(names)
    simulate(counts, strategy, rng).fill(sums)
    return strategy.shares([sums], names)


def _shares(strategy, found, names):
    try:
        return found().frequencies.ravel()
    except ValueError:  # of 24 users hardly ever none is asked
        return np.zeros(math.prod(SCHEMA[name].size for name in names))


def test_counts_of_reports_are_multinomial(rng):
    """Against the exact distribution of two users' reports."""
    schema = dt.Schema([dt.Attribute("a", [0, 1, 2], missing="error")])
    split = Split(schema, 1.0, "grr")
    p, q = map(float, GRR(3, 1.0).probabilities)

    def check():
        seen = np.zeros(3)
        for _ in range(5000):
            (part,) = simulate([2, 0, 0], split, rng).parts
            seen[int(part.counts[0])] += 1
        expected = np.array([(2 * q) ** 2, 2 * p * 2 * q, p * p]) * 5000
        assert stats.chisquare(seen, expected).pvalue > 1e-3

    unless_unlucky(check, 0.002)


def test_a_billion_users_are_as_quick_as_a_thousand():
    schema = dt.Schema([dt.Attribute(name, list(range(8)), missing="error") for name in "abcd"])
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(8**4))
    few, many = ((weights * n).round().astype(np.int64).reshape([8] * 4) for n in (1e3, 1e9))
    for strategy in (Split(schema, 4.0, "grr"), Sample(schema, 4.0, "grr", k=2)):
        times = []
        for counts in (few, many):
            best = math.inf
            for _ in range(5):
                start = time.process_time()
                simulate(counts, strategy, rng)
                best = min(best, time.process_time() - start)
            times.append(best)
        # binomials of large numbers take rejection steps, and fewer cells are empty: a factor, not a million
        assert times[1] < 100 * times[0]
    found = estimate(strategy, simulate(many, strategy, rng), ["a", "b"])
    true = many.sum(axis=(2, 3)) / many.sum()
    assert np.abs(found.frequencies - true).max() < 1e-3


def test_the_same_seed_gives_the_same_counts():
    for strategy, _ in CASES.values():
        one, two = (simulate(COUNTS, strategy, np.random.default_rng(1)) for _ in range(2))
        for first, second in zip(one.parts, two.parts, strict=True):
            np.testing.assert_array_equal(first.counts, second.counts)
    assert repr(one) == "Simulation(SampleWithFakes, 24 users)"
    simulate(COUNTS, strategy)


@pytest.mark.parametrize(
    "counts, strategy, said",
    [
        (COUNTS.T, Split(SCHEMA, 1.0), "expected \\(2, 3\\): an axis for each attribute, a, b"),
        (-COUNTS, Split(SCHEMA, 1.0), "no whole numbers"),
        (COUNTS / 2, Split(SCHEMA, 1.0), "no whole numbers"),
        (COUNTS * 1e16, Split(SCHEMA, 1.0), "at most 2\\^53"),
    ],
)
def test_what_cannot_be_simulated(counts, strategy, said):
    with pytest.raises(ValueError, match=said):
        simulate(counts, strategy)


OLH_PAIR = Split(SCHEMA, 4.0, "olh")
WIDE = dt.Schema(
    [dt.Attribute("a", ["x", "y"], missing="error"), dt.Attribute("b", list(range(20)))]
)
DRAWN = {
    "olh": (OLH_PAIR, COUNTS, ("a", "b")),
    "olh and grr": (Separate(SCHEMA, {"a": GRR(2, 1.0), "b": OLH(3, 2.0)}), COUNTS, ("b", "a")),
    "one of an olh pair": (Sample(SCHEMA, 3.0, "olh", k=2), COUNTS, ("b",)),
    "fakes olh": (SampleWithFakes(SCHEMA, 2.0, "olh"), COUNTS, ("b",)),
    "wide oue": (Split(WIDE, 4.0, "oue"), np.arange(42).reshape(2, 21) % 5, ("a", "b")),
}


@pytest.mark.parametrize("case", DRAWN)
def test_users_who_are_drawn_have_the_moments_of_perturbing_everyone(case, monkeypatch, rng):
    """Means, variances and covariances of all cells over 200 collections, drawn in full and by a part of the users.

    Each number is a mean of 200, compared with that of 200 others in units of its own standard error; below 7.5 for
    up to 1,000 numbers by bad luck with a chance of 1e-10, and a bit more as squares have longer tails than normal.
    """
    strategy, counts, names = DRAWN[case]
    counts = 10 * counts
    codes = users(counts)
    one = np.array([quick(strategy, rng, names, codes).frequencies.ravel() for _ in range(200)])
    true = one.mean(axis=0)
    for most in (1 << 18, 60):
        monkeypatch.setattr(simulated_reports, "MOST_DRAWN", most)
        two = [simulated(strategy, names, rng, counts).frequencies.ravel() for _ in range(200)]
        for power in (1, 2):
            first, second = (_moments(np.asarray(each) - true, power) for each in (one, two))
            error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 200)
            assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) < 7.5 * error + 1e-12).all()


def _moments(off, power):
    """Distances of each collection, or products of any two of the first eight."""
    if power == 1:
        return off
    few = off[:, :8]
    return (few[:, :, None] * few[:, None, :]).reshape(len(off), -1)


def test_nothing_is_too_large_to_simulate(monkeypatch, rng):
    monkeypatch.setattr(simulated_reports, "MOST_DRAWN", 1 << 13)
    schema = dt.Schema([dt.Attribute(name, list(range(30)), missing="error") for name in "ab"])
    counts = np.full((30, 30), 10**6)
    pair = Sample(schema, 1.0, "oue", k=2)
    cases = [
        (Separate(schema, {"a": OUE(30, 1.0)}), "a"),
        (Separate(schema, {"a": SubsetSelection(30, 1.0), "b": OLH(30, 2.0)}), ["b", "a"]),
        (pair, "a"),
        (pair, ["a", "b"]),
    ]
    for strategy, names in cases:
        found = estimate(strategy, simulate(counts, strategy, rng), names)
        share = 1 / found.frequencies.size
        assert found.n in (9 * 10**8, pytest.approx(9 * 10**8, rel=1e-2))
        assert (np.abs(found.unbiased - share) < 8.0 * found.standard_errors).all()  # 1e-15 each
    five = dt.Schema([dt.Attribute(name, list(range(30)), missing="error") for name in "abcde"])
    few = np.zeros([30] * 5, dtype=np.int32)
    few[0, 0, 0, 0, :3] = 500
    split = Split(five, 10.0, "hadamard")
    found = estimate(split, simulate(few, split, rng), "e")
    assert (
        np.abs(found.unbiased - np.repeat([1 / 3, 0], [3, 27])) < 8 * found.standard_errors
    ).all()


def test_simulated_reports_of_another_strategy_are_refused():
    schema = dt.Schema([dt.Attribute(name, ["n", "y"], missing="error") for name in "ab"])
    found = simulate([[90, 0], [0, 10]], SampleWithFakes(schema, 1.0), np.random.default_rng(1))
    for other in (Sample(schema, 1.0), SampleWithFakes(schema, 2.0)):
        with pytest.raises(ValueError, match="simulated with another"):
            estimate(other, found, "a")
