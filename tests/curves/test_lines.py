"""Approximate LDP: (ε, δ_m) at the source, (ε', δ') at the target (maths.md §4)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deptriad as dt
import oracle
from drawn import boxes, budgets, ordinary_tables, tables

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
SLACKS = st.sampled_from([0.0, 1e-9, 1e-3, 0.05, 0.3, 0.9, 1.0])
OUT = st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0, 3.0])


# ------------------------------------------------------------------------------------ δ' at given ε'


@given(tables(), OUT, budgets(0.0, 50.0), SLACKS)
def test_delta_is_that_of_the_worst_response(known, epsilon_out, epsilon, slack):
    """Not below the worst corner of any subset in 500 digits, and within rounding of it."""
    reported = dt.profile(known.floats).delta_at(epsilon_out, epsilon, slack)
    gamma = oracle.exp(epsilon_out)
    truth = oracle.delta_out(oracle.cloud(known.exact), gamma, epsilon, slack)
    assert oracle.is_bound(reported, truth)
    assert oracle.is_close(reported, truth)
    assert reported <= 1


@settings(max_examples=30)
@given(ordinary_tables(max_rows=3, max_columns=5), OUT, budgets(0.01, 4.0), SLACKS)
def test_delta_is_that_of_the_program_over_binary_channels(known, epsilon_out, epsilon, slack):
    """HiGHS over every binary (ε, δ_m)-LDP channel."""
    worst = max(
        oracle.channel_program(row, other, math.exp(epsilon_out), epsilon, slack)
        for row, other in oracle.ordered_pairs(known.exact)
    )
    reported = dt.profile(known.floats).delta_at(epsilon_out, epsilon, slack)
    assert reported == pytest.approx(worst, abs=1e-7)


def hockey_stick(rows, gamma):
    """The largest E_γ between two rows."""
    return max(np.maximum(p - gamma * q, 0).sum() for p, q in oracle.ordered_pairs(rows))


def test_channels_with_more_outputs_never_exceed_it(rng):
    """Any channel is (ε, δ_m)-LDP at the δ_m that it has; no event of it does worse."""
    for _ in range(300):
        a, b, outputs = rng.integers(2, 7, 3)
        table = rng.dirichlet(np.full(b, 0.5), size=a)
        channel = rng.dirichlet(np.full(outputs, rng.choice([0.2, 1.0, 5.0])), size=b)
        epsilon, epsilon_out = rng.uniform(0, 2, 2)
        slack = min(1.0, hockey_stick(channel, math.exp(epsilon)) + 1e-12)
        attained = hockey_stick(table @ channel, math.exp(epsilon_out))
        assert dt.profile(table).delta_at(epsilon_out, epsilon, slack) >= attained - 1e-12


def test_leaking_the_value_sometimes_never_exceeds_it(rng):
    """An ε-LDP channel that gives the value away with probability δ_m."""
    for _ in range(100):
        a, b = rng.integers(2, 7, 2)
        table = rng.dirichlet(np.full(b, 0.5), size=a)
        epsilon, slack = rng.uniform(0.1, 2), rng.uniform(0, 0.3)
        truthful = np.exp(epsilon * np.eye(b))
        truthful /= truthful.sum(axis=1, keepdims=True)
        channel = np.hstack([(1 - slack) * truthful, slack * np.eye(b)])
        for epsilon_out in (0.0, 0.2, 1.0):
            attained = hockey_stick(table @ channel, math.exp(epsilon_out))
            assert dt.profile(table).delta_at(epsilon_out, epsilon, slack) >= attained - 1e-12


def test_delta_by_hand():
    """P has E_1 = .6. At ε' = 0, ε = ln 3, δ_m = .1: max(.06, 2.2·.6/4) = .33."""
    assert dt.profile(P).delta_at(0.0, math.log(3), 0.1) == pytest.approx(0.33, rel=1e-13)
    # At ε' = ln 7 E vanishes, and with it everything.
    assert dt.profile(P).delta_at(math.log(7), math.log(3), 0.1) == pytest.approx(0.0, abs=1e-14)
    # At ε' = ln 4 E = .3: the third corner is (2.2·.3 − .9·3)/4 < 0, so δ_m·E = .03 is left.
    assert dt.profile(P).delta_at(math.log(4), math.log(3), 0.1) == pytest.approx(0.03, rel=1e-12)


# -------------------------------------------------------------------------------------- ε' at given δ'


@given(tables(max_rows=4, max_columns=5), budgets(0.0, 50.0), SLACKS, SLACKS)
def test_leakage_keeps_its_delta(known, epsilon, slack, delta):
    """At the ε' reported the worst δ' is at most the one asked for: strictly, in 500 digits."""
    reported = dt.profile(known.floats).leakage(epsilon, mechanism_delta=slack, delta=delta)
    if math.isinf(reported):
        return  # the next test says when this may be
    points = oracle.cloud(known.exact)
    attained = oracle.delta_out(points, oracle.exp(reported), epsilon, slack)
    assert oracle.is_bound(delta, attained)


@given(tables(max_rows=4, max_columns=5), budgets(0.0, 50.0), SLACKS, SLACKS)
def test_leakage_is_the_smallest_that_keeps_its_delta(known, epsilon, slack, delta):
    """A hair below it the worst δ' is too large; infinite only where δ' < δ_m·δ (maths.md §4)."""
    reported = dt.profile(known.floats).leakage(epsilon, mechanism_delta=slack, delta=delta)
    points = oracle.cloud(known.exact)
    if math.isinf(reported):
        mass = float(oracle.lost_mass(known.exact, known.exact))
        assert delta <= slack * mass * (1 + 1e-12)
        return
    below = reported * (1 - 1e-9) - 1e-9
    if below > 0:
        attained = oracle.delta_out(points, oracle.exp(below), epsilon, slack)
        assert attained > delta * (1 - 1e-12) - 1e-15


@given(ordinary_tables(), budgets())
def test_no_slack_is_the_root_form(known, epsilon):
    """δ_m = 0 and δ' = 0 give back the leakage (maths.md §4)."""
    profile = dt.profile(known.floats)
    with_zeros = profile.leakage(epsilon, mechanism_delta=0.0, delta=0.0)
    assert with_zeros == pytest.approx(dt.leakage(known.floats, epsilon), rel=1e-11, abs=1e-15)


@given(ordinary_tables(), budgets(0.0, 20.0), st.sampled_from([1e-9, 0.01, 0.5]))
def test_slack_without_delta_leaks_the_largest_ratio(known, epsilon, slack):
    """δ_m > 0 and δ' = 0: α, or ∞ where a zero allows it (maths.md §4)."""
    reported = dt.profile(known.floats).leakage(epsilon, mechanism_delta=slack, delta=0.0)
    if oracle.lost_mass(known.exact, known.exact) > 0:
        assert reported == math.inf
    else:
        ratio = oracle.largest_ratio(known.exact, known.exact)
        assert oracle.is_close(reported, oracle.log(ratio), 1e-9)


@given(ordinary_tables(), budgets(0.01, 20.0), st.sampled_from([1e-6, 0.01, 0.2]))
def test_the_target_is_never_worse_off_than_the_source(known, epsilon, slack):
    """With δ' = δ_m, ε' ≤ ε: averaging rows of a channel cannot hurt."""
    reported = dt.profile(known.floats).leakage(epsilon, mechanism_delta=slack, delta=slack)
    assert reported <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("slack", [1e-9, 0.01, 0.3, 0.9])
def test_a_source_that_is_the_target_keeps_its_guarantee(slack):
    """The identity table turns (ε, δ_m) into (ε, δ_m): no less and no more."""
    profile = dt.profile(np.eye(2))
    for epsilon in (1e-6, 0.005, 0.1, 1.0, 3.0, 20.0):
        reported = profile.leakage(epsilon, mechanism_delta=slack, delta=slack)
        assert epsilon <= reported <= epsilon * (1 + 1e-12)


@given(ordinary_tables(), budgets(0.1, 5.0))
def test_more_slack_leaks_more_and_more_delta_less(known, epsilon):
    profile = dt.profile(known.floats)
    slacks = np.array([0.0, 1e-3, 0.01, 0.05])
    grows = profile.leakage(epsilon, mechanism_delta=slacks, delta=0.05)
    falls = profile.leakage(epsilon, mechanism_delta=0.01, delta=slacks[1:] * 10)
    assert (grows[1:] >= grows[:-1] - 1e-12).all()
    assert (falls[1:] <= falls[:-1] + 1e-12).all()


# --------------------------------------------------------- triads, robust and thinned profiles alike


@given(ordinary_tables(), OUT, budgets(0.01, 10.0), st.sampled_from([0.0, 0.01, 0.2]))
def test_every_summary_stays_above_the_exact_one(known, epsilon_out, epsilon, slack):
    """δ' is increasing in E, so every bound on the profile is a bound here (maths.md §4)."""
    exact = dt.profile(known.floats)
    truth = oracle.delta_out(oracle.cloud(known.exact), oracle.exp(epsilon_out), epsilon, slack)
    for summary in (
        dt.triad(known.floats),
        dt.triad(known.floats, epsilon_max=2.0),
        exact.thin(3, budgets=(0.01, 10.0)),
        dt.profile(dt.Relative(0.1).box(known.floats)),
    ):
        assert oracle.is_bound(summary.delta_at(epsilon_out, epsilon, slack), truth)
        loose = summary.leakage(epsilon, mechanism_delta=slack, delta=0.3)
        assert loose >= exact.leakage(epsilon, mechanism_delta=slack, delta=0.3) - 1e-12


@given(boxes(max_rows=3, max_columns=6), OUT, budgets(0.01, 10.0), SLACKS)
def test_robust_delta_is_never_below_the_truth(uncertain, epsilon_out, epsilon, slack):
    """The worst response about the worst tables of the box."""
    gamma = oracle.exp(epsilon_out)
    truth = oracle.delta_out(uncertain.cloud(), gamma, epsilon, slack)
    assert oracle.is_bound(dt.profile(uncertain.box).delta_at(epsilon_out, epsilon, slack), truth)
    assert oracle.is_bound(dt.triad(uncertain.box).delta_at(epsilon_out, epsilon, slack), truth)


def test_arrays_broadcast():
    profile, triad = dt.profile(P), dt.triad(P)
    epsilons, slacks = np.array([[0.1], [1.0]]), np.array([0.0, 0.01, 0.1])
    for made in (profile, triad):
        assert made.leakage(epsilons, mechanism_delta=slacks, delta=0.2).shape == (2, 3)
        assert made.delta_at(0.1, epsilons, slacks).shape == (2, 3)
        assert isinstance(made.leakage(1.0, mechanism_delta=0.01, delta=0.1), float)
        assert isinstance(made.delta_at(0.1, 1.0, 0.01), float)
        one = made.leakage(1.0, mechanism_delta=0.01, delta=0.2)
        many = made.leakage(epsilons, mechanism_delta=slacks, delta=0.2)
        assert many[1, 1] == pytest.approx(one, rel=1e-14)


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan])
def test_what_is_no_probability_is_refused(value):
    for made in (dt.profile(P), dt.triad(P)):
        with pytest.raises(ValueError, match=rf"(?i)mechanism_delta.*{value}"):
            made.leakage(1.0, mechanism_delta=value)
        with pytest.raises(ValueError, match=rf"(?i)delta.*{value}"):
            made.leakage(1.0, delta=value)
        with pytest.raises(ValueError, match=rf"(?i)mechanism_delta.*{value}"):
            made.delta_at(0.5, 1.0, value)


def test_delta_at_huge_budgets():
    """(e^ε − 1 − (e^ε' − 1))/(1 + e^ε) → 1 − e^(ε' − ε) for the identity table."""
    curve = dt.profile(np.eye(2))
    for summary in (curve, dt.triad(np.eye(2))):
        assert summary.delta_at(710.0, 712.0) == pytest.approx(1 - math.exp(-2))
        assert summary.delta_at(800.0, 800.0) == pytest.approx(0.0, abs=1e-12)
        assert summary.delta_at(math.inf, math.inf) == 1.0


def test_answers_take_the_shape_of_all_questions():
    curve = dt.profile([[0.7, 0.3], [0.1, 0.9]])
    assert np.shape(curve.leakage([1.0, 2.0], 0.0, [[0.0], [0.0]])) == (2, 2)
    assert np.shape(curve.leakage([1.0, 2.0], 0.0, [[0.0], [0.1]])) == (2, 2)
