"""Chains: no bound is below the truth, limits are limits, budgets keep the promise (maths.md §12)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chain_oracle
import deptriad as dt
import oracle
from drawn import tables

THIRDS = [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]]


def fractions(*rows):
    return [[Fraction(entry) for entry in row] for row in rows]


def truth(forward, initial, epsilons, at):
    return chain_oracle.told(fractions(*forward), [Fraction(one) for one in initial], epsilons, at)


@st.composite
def cases(draw):
    """A square table, a start, budgets, and the time that is asked about: few enough to try all event sequences."""
    size = draw(st.integers(2, 3))
    square = tables(size, size, size, size, tiny=False)
    forward = draw(square).exact
    initial = draw(tables(1, 1, size, size, tiny=False)).exact[0]
    times = draw(st.integers(1, 5 if size == 2 else 3))
    budgets = st.sampled_from([0.0, 1e-9, 0.1, 1.0, 3.0, 20.0]) | st.floats(0.01, 4.0)
    epsilons = draw(st.lists(budgets, min_size=times, max_size=times))
    return forward, initial, epsilons, draw(st.integers(0, times - 1))


def assert_bounds(chain, forward, initial, epsilons, at):
    found = chain.totals(epsilons)
    for name, most in chain_oracle.told(forward, initial, epsilons, at).items():
        assert oracle.is_bound(getattr(found, name)[at], most), (name, most)
    assert oracle.is_bound(
        float(np.sum(epsilons)) * (1 + 1e-15), Fraction(float(found.total.max()))
    )


@given(cases())
def test_no_bound_is_below_the_truth_of_a_given_start(case):
    forward, initial, epsilons, at = case
    chain = dt.Chain(oracle.as_floats(forward), [float(one) for one in initial])
    assert_bounds(chain, forward, initial, epsilons, at)


@given(cases())
def test_no_bound_is_below_the_truth_of_an_unknown_start(case):
    forward, initial, epsilons, at = case
    assert_bounds(dt.Chain(oracle.as_floats(forward)), forward, initial, epsilons, at)


@given(cases())
def test_no_bound_is_below_the_truth_of_a_stationary_chain(case):
    forward, _, epsilons, at = case
    initial = chain_oracle.stationary(forward)
    chain = dt.Chain(oracle.as_floats(forward), "stationary")
    if initial is None:  # it may stay in more than one place
        with pytest.raises(ValueError, match="depends on where it started"):
            chain.totals(epsilons)
    else:
        assert_bounds(chain, forward, initial, epsilons, at)


@given(
    cases(),
    st.sampled_from([0.05, 0.3]),
    st.sampled_from(["given", "stationary", "unknown"]),
    st.randoms(),
)
def test_no_bound_of_a_box_is_below_the_truth_of_a_table_in_it(case, margin, start, chance):
    forward, initial, epsilons, at = case
    box = dt.Relative(margin).box(oracle.as_floats(forward))
    moved = [_within(low, high, chance) for low, high in zip(box.lower, box.upper, strict=True)]
    if start == "stationary":
        initial = chain_oracle.stationary(moved)
    if initial is None:
        return
    given_start = [float(one) for one in initial] if start == "given" else None
    chain = dt.Chain(box, "stationary" if start == "stationary" else given_start)
    assert_bounds(chain, moved, initial, epsilons, at)


def _within(low, high, chance):
    """A row between the edges, exactly: each entry takes of what is left as much as it can, in a random order."""
    row = [Fraction(float(one)) for one in low]
    left = 1 - sum(row)
    for place in chance.sample(range(len(row)), len(row)):
        more = min(max(left, 0), Fraction(float(high[place])) - Fraction(float(low[place])))
        row[place] += more
        left -= more
    return [one / sum(row) for one in row] if abs(left) < Fraction(1, 10**14) else row


# --- counter-examples -----------------------------------------------------------------------------------------------


def test_the_stationary_table_understates_a_chain_that_is_not_stationary():
    forward, start, epsilons = [[0.0022, 0.9978], [0.0, 1.0]], [0.72, 0.28], [2.0, 2.0, 2.0, 1.0]
    most = truth(forward, start, epsilons, 3)["total"]
    assert oracle.is_close(6.02517, most, 1e-5)
    assert oracle.is_bound(dt.Chain(forward, start).totals(epsilons).total[3], most)
    assert oracle.is_bound(dt.Chain(forward).totals(epsilons).total[3], most)
    # in the end nobody has the first value, so that taken as stationary only the last release tells anything
    assert dt.Chain(forward, "stationary").totals(epsilons).total[3] < 1.02
    assert 1.0 + dt.leakage(forward, 2.0 + dt.leakage(forward, 2.0)) < 1.02  # nor is forth back


@pytest.mark.parametrize("margin", [None, 0.0])
def test_a_value_whose_share_is_lost_to_underflow_is_protected(margin):
    """Who has the last value had the second one before, however few these are: 1e-350 of all."""
    table = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 1e-150], [0.0, 0.5, 0.5]])
    forward = table if margin is None else dt.Relative(margin).box(table)
    chain = dt.Chain(forward, [1.0, 1e-200, 0.0])
    assert chain.totals([1.0, 1.0, 1.0]).backward[1] >= 2.0 - 1e-12


def test_a_box_of_the_forward_table_is_none_of_the_backward_one():
    """A stationary chain in which one value is rare: what came before it is known better than what follows."""
    forward = [[0.3, 0.1, 0.6], [0.16, 0.01, 0.83], [0.01, 0.26, 0.73]]
    start = chain_oracle.stationary(oracle.normalised(fractions(*forward)))
    exact = oracle.normalised(fractions(*forward))
    most = chain_oracle.told(exact, start, [1.0, 0.0], 1)["backward"]
    assert oracle.is_close(0.8498, most, 1e-4)
    assert dt.leakage(forward, 1.0) < 0.4  # as if back were forth
    assert dt.leakage(dt.Relative(0.01).box(forward), 1.0) < 0.41
    for known in (forward, dt.Box(forward, forward), dt.Relative(0.01).box(forward)):
        assert oracle.is_bound(dt.Chain(known, "stationary").totals([1.0, 0.0]).backward[1], most)


def test_other_answers_add_up_where_they_outlast_the_value():
    """Totals of a plan may stand for budgets only if other answers depend on the past through the target alone.

    Here the target is a fresh coin each time, told apart by a fixed answer: 0.9 of one side for one half of the people,
    0.1 for the other. The fixed answer is asked each time with ε = 1. Each release tells L(1) about today's coin; as a
    chain the coin forgets at once, yet n releases of the fixed answer tell what one with nε does.
    """
    table = [[0.9, 0.1], [0.1, 0.9]]
    plan_total = dt.leakage(table, 1.0)
    as_a_chain = dt.Chain([[0.5, 0.5], [0.5, 0.5]]).totals([plan_total] * 4).total
    assert as_a_chain.max() < 1.01 * plan_total < dt.leakage(table, 4.0) / 2


# --- limits ---------------------------------------------------------------------------------------------------------


def chain_of(rng, start, size=None):
    size = size or int(rng.integers(2, 6))
    forward = rng.dirichlet(np.full(size, 0.7), size=size) * 0.98 + 0.02 / size
    initial = rng.dirichlet(np.ones(size)) if start == "given" else start
    return dt.Chain(forward, initial)


@pytest.mark.parametrize("start", [None, "stationary", "given"])
def test_the_limit_is_the_supremum_of_the_recursion(start, rng):
    for _ in range(10):
        chain = chain_of(rng, start)
        epsilon = float(rng.uniform(0.01, 2.0))
        bounds = chain.totals([epsilon] * 3000)
        limit, total = chain.limit(epsilon), chain.limit_total(epsilon)
        assert bounds.backward.max() <= limit <= bounds.backward.max() * (1 + 1e-6) + 1e-6
        assert bounds.total.max() <= total <= bounds.total.max() * (1 + 1e-6) + 1e-6


def test_there_is_a_limit_below_the_threshold_only():
    forward = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]]
    chain = dt.Chain(forward, "stationary")
    assert chain.threshold == pytest.approx(math.log(2.0), abs=1e-12)
    assert chain.limit(chain.threshold * (1 - 1e-6)) < math.inf
    assert chain.limit(math.log(2.0)) == math.inf
    last = [chain.totals([math.log(2.0)] * steps).backward[-1] for steps in (100, 1000, 10_000)]
    assert last[2] - last[1] > 2.0  # ln of the number of steps
    assert dt.Chain(forward).threshold == 0.0
    assert dt.Chain(forward).limit(0.01) == math.inf
    assert dt.Chain(forward).limit(0.0) == 0.0


def test_a_chain_that_remembers_nothing_tells_each_release_once():
    for start in (None, "stationary"):
        chain = dt.Chain([[0.25, 0.75], [0.25, 0.75]], start)
        assert (chain.totals([0.5, 1.5, 1.0]).total == [0.5, 1.5, 1.0]).all()
        assert chain.limit_total(2.0) == 2.0 == chain.calibrate(2.0)


def test_a_chain_that_never_moves_adds_up():
    for start in (None, [0.5, 0.5]):
        chain = dt.Chain([[1.0, 0.0], [0.0, 1.0]], start)
        assert chain.totals([0.1] * 30).total == pytest.approx(3.0)
        assert chain.limit(0.1) == math.inf
        assert chain.calibrate(3.0) == 0.0
        assert chain.calibrate(3.0, 30) == pytest.approx(0.1)


def test_an_unknown_start_is_attained(rng):
    """At the second time, with all shares on two values in the worst proportion."""
    for _ in range(3):
        forward = fractions(*rng.dirichlet(np.ones(3), size=3))
        forward = oracle.normalised(forward)
        bound = dt.Chain(oracle.as_floats(forward)).totals([1.0, 0.0]).backward[1]
        best = max(
            float(chain_oracle.told(forward, _two(i, j, odds), [1.0, 0.0], 1)["backward"])
            for i in range(3)
            for j in range(3)
            if i != j
            for odds in _odds(forward, i, j)
        )
        assert best == pytest.approx(bound, rel=1e-6)


def _two(i, j, odds):
    share = Fraction(odds / (1.0 + odds))
    return [share if x == i else 1 - share if x == j else Fraction(0) for x in range(3)]


def _odds(forward, i, j):
    """The odds at which each pair of columns tells most: o·o' = e^{−ε} for the odds seen from both."""
    ratios = [float(forward[i][x] / forward[j][x]) for x in range(3)]
    return [math.exp(-0.5) / math.sqrt(a * b) for a in ratios for b in ratios if a != b]


# --- budgets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [None, "stationary", "given"])
def test_calibrated_budgets_keep_the_promise_to_the_last_bit_and_none_larger_does(start, rng):
    for _ in range(5):
        chain = chain_of(rng, start)
        promise = float(rng.uniform(0.2, 6.0))
        epsilon = chain.calibrate(promise)
        assert chain.limit_total(epsilon) <= promise < chain.limit_total(epsilon * (1 + 1e-9))
        assert chain.totals([epsilon] * 500).total.max() <= promise
        few = chain.calibrate(promise, 7)
        assert chain.totals([few] * 7).total.max() <= promise
        assert chain.totals([few * (1 + 1e-9)] * 7).total.max() > promise
        assert epsilon <= few * (1 + 1e-9)


@pytest.mark.parametrize("steps", [1, 2, 6, 100])
def test_a_schedule_keeps_the_promise_and_is_no_worse_than_a_constant_budget(steps, rng):
    from deptriad.chains.schedule import variance

    chain = chain_of(rng, "stationary", 3)
    promise = float(rng.uniform(0.5, 4.0))
    budgets = chain.schedule(promise, steps)
    assert budgets.shape == (steps,)
    assert chain.totals(budgets).total.max() <= promise
    assert variance(budgets) <= variance(np.full(steps, chain.calibrate(promise, steps)))


def test_no_small_change_makes_a_schedule_better(rng):
    from deptriad.chains.schedule import variance

    chain = dt.Chain(THIRDS, "stationary")
    budgets = chain.schedule(2.0, 6)
    for _ in range(300):
        other = budgets * np.exp(rng.normal(scale=10.0 ** rng.uniform(-4, -1), size=6))
        if chain.totals(other).total.max() <= 2.0:
            assert variance(other) >= variance(budgets) * (1 - 1e-6)


# --- what goes in and comes out -------------------------------------------------------------------------------------


def test_totals_print_as_a_table_and_become_a_frame():
    pytest.importorskip("pandas")
    found = dt.Chain(THIRDS).totals(np.full(40, 0.2))
    frame = found.to_frame()
    assert list(frame.columns) == ["time", "epsilon", "backward", "forward", "total"]
    assert len(frame) == len(found) == 40
    assert (frame["total"] == found.total).all()
    lines = repr(found).splitlines()
    assert lines[0].split() == [*frame.columns, "50", "%", "sure", "becomes"]
    assert "…" in lines[9]
    assert "unknown start" in lines[-1]
    assert "<table" in found._repr_html_()


def test_values_that_nobody_has_are_left_out():
    """Two values that are never left for the third, which is never come to."""
    forward = [[0.7, 0.3, 0.0], [0.4, 0.6, 0.0], [0.3, 0.3, 0.4]]
    inner = dt.Chain([[0.7, 0.3], [0.4, 0.6]], "stationary")
    for start in ("stationary", [4 / 7, 3 / 7, 0.0]):
        assert dt.Chain(forward, start).limit_total(1.0) == pytest.approx(
            inner.limit_total(1.0), rel=1e-6
        )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([[0.5, 0.5]],), "as many columns as rows"),
        ((THIRDS, "now"), "'stationary', a distribution, or None"),
        ((THIRDS, [0.5, 0.5]), "a probability for each of the 3 values"),
        ((THIRDS, [0.5, 0.5, 0.5]), "initial is no distribution: row 0 sums to 1.5"),
    ],
)
def test_what_is_no_chain_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        dt.Chain(*arguments)


def test_a_backward_table_is_for_stationary_chains():
    with pytest.raises(ValueError, match="one table for all times"):
        dt.Chain(THIRDS, backward=THIRDS)
    with pytest.raises(ValueError, match="expected the same values"):
        dt.Chain(THIRDS, "stationary", backward=[[1.0]])


@pytest.mark.parametrize("epsilons", [[], 1.0, [[1.0]], [math.inf]])
def test_budgets_are_a_list_of_finite_numbers(epsilons):
    with pytest.raises(ValueError, match="a list of finite budgets"):
        dt.Chain(THIRDS).totals(epsilons)
