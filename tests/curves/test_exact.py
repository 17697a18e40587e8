"""The triad and the profile of a table: against all subsets in rational arithmetic (maths.md §1, §2)."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import deptriad as dt
import oracle
from bounds import assert_bound, capped
from drawn import (
    budgets,
    gammas,
    ordinary_tables,
    positive_tables,
    tables,
)
from some_tables import ordered_table

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])

# ----------------------------------------------------------------------------------------- profile


@given(tables(), budgets())
def test_profile_leakage_is_never_below_the_truth_nor_above_epsilon(known, epsilon):
    reported = dt.profile(known.floats).leakage(epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(tables(), budgets())
def test_profile_leakage_is_exact(known, epsilon):
    truth = oracle.leakage(oracle.cloud(known.exact), epsilon)
    assert oracle.is_close(dt.profile(known.floats).leakage(epsilon), truth)


@given(tables(min_rows=2), gammas(least=0.0))
def test_profile_is_the_hockey_stick_curve(known, gamma):
    """E_γ = max_S G(S) − γG'(S) for γ on either side of 1, not below and within rounding (§1, §5)."""
    reported = dt.profile(known.floats).hockey_stick(gamma)
    assert_bound(known, reported, lambda table: oracle.hockey_stick(oracle.cloud(table), gamma))
    assert oracle.is_close(reported, oracle.hockey_stick(oracle.cloud(known.exact), gamma))
    assert reported <= 1


@st.composite
def tables_and_kinks(draw):
    """A table and a γ at, or just below, one of its likelihood ratios: where the curve bends."""
    known = draw(tables(min_rows=2))
    pairs = oracle.ordered_pairs(known.exact)
    ratios = {g / h for row, other in pairs for g, h in zip(row, other, strict=True) if h}
    kinks = sorted(ratio for ratio in ratios if ratio >= 1)
    return known, float(draw(st.sampled_from(kinks or [1]))) * draw(st.sampled_from([1, 0.99]))


@given(tables_and_kinks())
def test_profile_is_not_below_the_curve_where_it_bends(drawn):
    """However little mass is left there."""
    known, gamma = drawn
    reported = dt.profile(known.floats).hockey_stick(gamma)
    assert_bound(known, reported, lambda table: oracle.hockey_stick(oracle.cloud(table), gamma))


def test_profile_keeps_the_ratio_of_the_smallest_mass():
    """The largest ratio, 101, is that of 1e-15 against 1e-17; the others end at 99."""
    table = [
        [9.900990099009891e-16, 0.00990099009900989, 0.9900990099009891],
        [9.80392156862745e-18, 0.9803921568627451, 0.0196078431372549],
    ]
    points, profile = oracle.cloud(oracle.as_fractions(table)), dt.profile(table)
    for gamma in (99.5, 100.0, 100.9):
        assert oracle.is_bound(profile.hockey_stick(gamma), oracle.hockey_stick(points, gamma))
    for epsilon in (40.0, 45.0, 100.0, 1e4):
        assert oracle.is_bound(profile.leakage(epsilon), oracle.leakage(points, epsilon))


@given(tables(min_rows=2))
def test_profile_knots_lie_on_the_curve_and_are_convex(known):
    profile = dt.profile(known.floats)
    points = oracle.cloud(known.exact)
    knots = profile.knots
    assert len(profile) == len(knots)
    assert knots[0, 0] == 1
    for gamma, height in knots:
        assert oracle.is_close(height, oracle.hockey_stick(points, gamma))
    assert (np.diff(knots[:, 0]) > 0).all()
    assert (np.diff(knots[:, 1]) <= 1e-15).all()


def test_profile_knots_by_hand():
    """One way .7 − .1γ. The other .9 − .3γ until γ = 1.5, then .6 − .1γ: below the first from 1 on."""
    profile = dt.profile(P)
    assert profile.knots == pytest.approx(np.array([[1.0, 0.6], [7.0, 0.0]]), abs=1e-14)


# ------------------------------------------------------------------------------------------- triad


@given(tables(), budgets())
def test_triad_is_never_below_the_truth_nor_above_epsilon(known, epsilon):
    """An upper bound for every ε, in floats too (maths.md §2, §9)."""
    reported = dt.triad(known.floats).leakage(epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(tables())
def test_triad_numbers_are_exact_and_rounded_up(known):
    """e^α the largest finite ratio, φ = E_1, δ the mass where G' = 0 (maths.md §2)."""
    triad = dt.triad(known.floats)
    facts = {
        "alpha": lambda table: oracle.log(oracle.largest_ratio(table, table)),
        "phi": lambda table: oracle.hockey_stick(oracle.cloud(table), 1),
        "delta": lambda table: oracle.lost_mass(table, table),
    }
    for name, fact in facts.items():
        reported = getattr(triad, name)
        assert oracle.is_close(reported, fact(known.exact), 1e-12), name
        if name == "alpha" and reported == 0:
            continue  # entries that are equal bit for bit are taken as equal (is_close has checked it)
        assert_bound(known, reported, fact)
    assert triad.exact


@given(tables(), gammas(least=0.0))
def test_triad_curve_is_never_below_the_truth(known, gamma):
    reported = dt.triad(known.floats).hockey_stick(gamma)
    assert_bound(known, reported, lambda table: oracle.hockey_stick(oracle.cloud(table), gamma))


@given(ordinary_tables(), budgets())  # where φ is tiny it rests on the last bits of large entries
def test_triad_estimate_is_the_chord(known, epsilon):
    points = oracle.cloud(known.exact)
    ratio = oracle.largest_ratio(known.exact, known.exact)
    delta = oracle.lost_mass(known.exact, known.exact)
    truth = oracle.triad_leakage(ratio, oracle.hockey_stick(points, 1), delta, epsilon)
    assert oracle.is_close(dt.triad(known.floats).leakage(epsilon), truth)


@given(positive_tables())
def test_triad_beta_is_that_of_the_paper(known):
    """β = ln (1 + φ + e^α(δ − 1) − 2δ)/(1 + (φ − 1)e^α − δ), where it is well-conditioned."""
    ratio = oracle.largest_ratio(known.exact, known.exact)
    phi = oracle.hockey_stick(oracle.cloud(known.exact), 1)
    delta = oracle.lost_mass(known.exact, known.exact)
    cap = 1 - (1 - delta) / ratio
    assume(phi > 1e-3 and cap - phi > 1e-3)
    truth = oracle.beta_from_phi(oracle.log(ratio), phi, delta)
    assert oracle.is_close(dt.triad(known.floats).beta, truth, 1e-10)


def test_triad_by_hand():
    """P: α = ln 7, φ = .6, δ = 0, e^β = (1 + .6 − 7)/(1 − .4·7) = 3."""
    triad = dt.triad(P)
    assert triad.alpha == pytest.approx(math.log(7), rel=1e-15)
    assert triad.phi == pytest.approx(0.6, rel=1e-15)
    assert triad.delta == 0
    assert triad.beta == pytest.approx(math.log(3), rel=1e-14)


def test_triad_of_a_table_that_says_nothing():
    for table in ([[0.3, 0.7]], [[1.0], [1.0]], [[0.3, 0.7]] * 3):
        triad = dt.triad(table)
        assert (triad.alpha, triad.phi, triad.delta) == (0, 0, 0)
        assert triad.leakage(1e4) == 0


@given(st.lists(tables(max_rows=4, max_columns=4), min_size=1, max_size=5))
def test_many_tables_at_once_are_the_same_one_by_one(many):
    together = dt.triads([known.floats for known in many])
    for i, known in enumerate(many):
        alone = dt.triad(known.floats)
        for name in ("alpha", "phi", "delta"):
            assert getattr(together, name)[i] == pytest.approx(getattr(alone, name), rel=1e-14)
        assert together.leakage(1.0)[i] == pytest.approx(alone.leakage(1.0), rel=1e-13)


def test_many_tables_as_one_array(rng):
    tables = rng.dirichlet(np.ones(3), size=(50, 2))
    together = dt.triads(tables)
    assert together.alpha.shape == together.phi.shape == together.delta.shape == (50,)
    assert together.leakage(1.0).shape == (50,)
    exact = np.array([dt.leakage(table, 1.0) for table in tables])
    assert (together.leakage(1.0) >= exact * (1 - 1e-13)).all()  # both are rounded up


@given(
    st.lists(tables(max_rows=4, max_columns=4), min_size=1, max_size=5),
    st.lists(budgets(), min_size=5, max_size=5),
)
def test_leakages_of_many_tables_are_the_same_one_by_one(many, epsilons):
    epsilons = epsilons[: len(many)]
    together = dt.leakages([known.floats for known in many], epsilons)
    for found, known, epsilon in zip(together, many, epsilons, strict=True):
        assert found == pytest.approx(dt.leakage(known.floats, epsilon), rel=1e-13, abs=1e-300)
        assert_bound(known, found, lambda table, e=epsilon: capped(oracle.cloud(table), e))
        assert found <= epsilon


def test_leakages_of_an_array_of_tables_on_many_threads(rng):
    tables = rng.dirichlet(np.ones(5), size=(2000, 4))
    epsilons = rng.uniform(0.0, 5.0, 2000)
    together = dt.leakages(tables, epsilons)
    alone = [dt.leakage(table, epsilon) for table, epsilon in zip(tables, epsilons, strict=True)]
    assert together == pytest.approx(alone, rel=1e-13)


@pytest.mark.parametrize("epsilons", [[1.0, 2.0], [[1.0]], -1.0, [math.nan]])
def test_budgets_that_do_not_fit_the_tables_are_refused(epsilons):
    with pytest.raises(ValueError, match="epsilons"):
        dt.leakages([P], epsilons)


# ---------------------------------------------------------- the other triads the paper compares with


@given(ordinary_tables(), budgets(0.01, 5.0), st.floats(1.0, 20.0))
def test_calibrated_triad_is_a_bound_from_its_budget_on(known, epsilon, factor):
    """Calibrated at ε₀ it is exact there and a bound for every ε ≥ ε₀ (maths.md §2)."""
    triad = dt.triad(known.floats, calibrate_at=epsilon)
    points = oracle.cloud(known.exact)
    assert triad.calibrated_at == epsilon
    assert oracle.is_close(triad.leakage(epsilon), oracle.leakage(points, epsilon), 1e-9)
    for later in (epsilon, epsilon * factor):
        reported = triad.leakage(later)
        assert_bound(known, reported, lambda table, at=later: capped(oracle.cloud(table), at))
        assert reported <= later


@given(ordinary_tables(), budgets(0.01, 5.0))
def test_calibrated_triad_is_never_looser_than_the_plain_one_beyond_its_budget(known, epsilon):
    """Its chord starts later on the same convex curve (maths.md §2)."""
    grid = epsilon * np.array([1.0, 1.5, 3.0, 10.0])
    calibrated = dt.triad(known.floats, calibrate_at=epsilon).leakage(grid)
    assert (calibrated <= dt.triad(known.floats).leakage(grid) + 1e-11).all()


@given(tables(), budgets())
def test_uncalibrated_triad_is_a_bound(known, epsilon):
    """The paper's (α, γ, δ)."""
    reported = dt.uncalibrated(known.floats).leakage(epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(ordinary_tables(), budgets())
def test_uncalibrated_triad_is_never_tighter_than_the_triad(known, epsilon):
    """β ≤ γ: that is what calibration is for."""
    plain, rough = dt.triad(known.floats), dt.uncalibrated(known.floats)
    assert rough.leakage(epsilon) >= plain.leakage(epsilon) * (1 - 1e-12) - 1e-300


def test_uncalibrated_triads_of_the_toy_example_of_the_paper():
    """Both scenarios have α = ln 4.5, γ = ln 4 and δ = 0, though they leak differently."""
    first = [[0.1, 0.1, 0.15, 0.2, 0.45], [0.4, 0.3, 0.1, 0.1, 0.1]]
    second = [[0.0025, 0.2975, 0.48, 0.13, 0.09], [0.01, 0.39, 0.47, 0.11, 0.02]]
    for table in (first, second):
        triad = dt.uncalibrated(table)
        assert triad.alpha == pytest.approx(math.log(4.5), rel=1e-12)
        assert triad.beta == pytest.approx(math.log(4), rel=1e-12)
        assert triad.delta == 0
    assert dt.leakage(first, 1.0) > 3 * dt.leakage(second, 1.0)


# ------------------------------------------------------------------- light values behind a heavy one


LIGHT = [0.2, 0.8, 1e-17], [0.02, 0.98, 1e-24]


@pytest.mark.parametrize("epsilon", [38.0, 42.0, 50.0, 60.0])
def test_a_light_value_behind_the_kink_of_a_heavy_one_is_seen(epsilon):
    """η may rest on the kink of a heavy value; rounding must not hide lighter values with larger ratios there."""
    truth = oracle.leakage(oracle.cloud(oracle.as_fractions(np.array(LIGHT))), epsilon)
    curve = dt.profile(LIGHT)
    for reported in (dt.leakage(LIGHT, epsilon), curve.leakage(epsilon)):
        assert oracle.is_bound(reported, truth)
        assert oracle.is_close(reported, truth)
    assert oracle.is_bound(curve.thin(2).leakage(epsilon), truth)


def test_kinks_of_heavy_values_anywhere():
    for a in range(1, 100, 7):
        for b in range(1, 100, 7):
            table = [[a / 100, 1 - a / 100, 1e-17], [b / 100, 1 - b / 100, 1e-24]]
            truth = oracle.leakage(oracle.cloud(oracle.as_fractions(np.array(table))), 42.0)
            assert oracle.is_bound(dt.leakage(table, 42.0), truth), table
            assert oracle.is_bound(dt.profile(table).leakage(42.0), truth), table


def test_ratios_in_a_rounding_of_each_other():
    for step in range(1, 60, 4):
        ratio = 10 * (1 + step * 2.0**-50)
        top, bottom = [0.4, 1e-6 * ratio, 0.5], [0.04, 1e-6, 0.3]
        table = np.array([[*top, 1 - sum(top)], [*bottom, 1 - sum(bottom)]])
        truth = oracle.leakage(oracle.cloud(oracle.as_fractions(table)), 60.0)
        curve = dt.profile(table)
        for reported in (dt.leakage(table, 60.0), curve.leakage(60.0), curve.thin(2).leakage(60.0)):
            assert oracle.is_bound(reported, truth), step


@pytest.mark.parametrize("large", [605.0, 710.0, 1200.0, math.inf])
def test_triads_made_for_huge_budgets_are_plain_ones(large):
    for x in (P, np.eye(2), dt.Relative(0.1).box(P)):
        assert dt.triad(x, epsilon_max=large).leakage(1.0) >= dt.leakage(x, 1.0) * (1 - 1e-13)
    assert dt.triad(P, calibrate_at=large).leakage(max(large, 720.0)) == pytest.approx(math.log(7))


# --------------------------------------------------------------------------------------- tuned triads


@given(tables(), st.sampled_from([0.1, 1.0, 3.0, 20.0]), budgets())
def test_tuned_triads_are_never_below_the_truth_nor_above_epsilon(known, most, epsilon):
    """Valid for every ε, whatever it is tuned for."""
    reported = dt.triad(known.floats, epsilon_max=most).leakage(epsilon)
    assert oracle.is_bound(reported, oracle.leakage(oracle.cloud(known.exact), epsilon))
    assert reported <= epsilon


@given(tables(tiny=False), budgets(1e-3, 20.0))
def test_tuned_triads_are_exact_where_they_are_tuned(known, most):
    """At ε_max the second knot is the root itself (maths.md §2)."""
    reported = dt.triad(known.floats, epsilon_max=most).leakage(most)
    assert oracle.is_close(reported, oracle.leakage(oracle.cloud(known.exact), most), 1e-10)


@given(tables(), budgets(1e-3, 100.0))
def test_tuned_triads_are_exact_at_the_start(known, most):
    """φ = E_1, so the slope at ε → 0 is right (maths.md §2)."""
    triad = dt.triad(known.floats, epsilon_max=most)
    assert oracle.is_close(triad.phi, oracle.hockey_stick(oracle.cloud(known.exact), 1), 1e-11)


@given(tables(tiny=False), budgets(1e-3, 100.0))
def test_tuned_triads_are_never_looser_in_their_range(known, most):
    """For ε ≤ ε_max not above the paper's (maths.md §2)."""
    grid = most * np.array([1e-6, 0.01, 0.1, 0.3, 0.6, 0.9, 1.0])
    tuned = dt.triad(known.floats, epsilon_max=most).leakage(grid)
    plain = dt.triad(known.floats).leakage(grid)
    assert (tuned <= plain * (1 + 1e-10) + 1e-300).all()


def test_tuning_pays():
    """On an ordered table at ε = 1 it removes most of the error."""
    table = ordered_table(10)
    exact = dt.leakage(table, 0.5)
    plain = dt.triad(table).leakage(0.5) - exact
    tuned = dt.triad(table, epsilon_max=1.0).leakage(0.5) - exact
    assert tuned < plain / 4


def test_tuned_triad_by_hand():
    """Second knot at γ = e^{L(ε_max)} with height (γ − 1)/t, by the root form."""
    table = ordered_table(4)
    root = math.exp(dt.leakage(table, 1.0))
    triad = dt.triad(table, epsilon_max=1.0)
    assert triad.alpha == pytest.approx(math.log(root), rel=1e-10)
    assert triad.delta == pytest.approx((root - 1) / (math.e - 1), rel=1e-9)


@pytest.mark.parametrize("most", [-1.0, math.nan])
def test_bad_ranges_are_refused(most):
    with pytest.raises(ValueError, match=rf"(?i)epsilon_max.*{most}"):
        dt.triad(ordered_table(3), epsilon_max=most)


def test_tuned_triad_of_a_table_stays_below_the_largest_ratio():
    """Past e^α the curve is flat: a knot beyond it would only lengthen the chord."""
    table = [[0.1, 0.9, 0.0], [0.2, 0.4, 0.4]]
    assert dt.triad(table, epsilon_max=4.0).leakage(1.0) <= dt.triad(table).leakage(1.0)
