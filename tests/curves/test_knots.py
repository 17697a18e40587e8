"""Few numbers, still a bound: thinned profiles and tuned triads (maths.md §2)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
import oracle
from drawn import boxes, budgets, tables
from some_tables import ordered_table

RANGE = (0.01, 10.0)
GRID = np.geomspace(*RANGE, 400)

# ---------------------------------------------------------------------------------- thinned profiles


@given(tables(min_rows=2), st.integers(2, 6), budgets())
def test_thinned_profiles_are_never_below_the_truth(known, knots, epsilon):
    """At every ε, in the range it was made for and outside it."""
    thinned = dt.profile(known.floats).thin(knots, budgets=RANGE)
    reported = thinned.leakage(epsilon)
    assert len(thinned) <= knots
    assert oracle.is_bound(reported, oracle.leakage(oracle.cloud(known.exact), epsilon))
    assert reported <= epsilon


@given(boxes(max_rows=3, max_columns=6), st.integers(2, 6), budgets())
def test_thinned_robust_profiles_are_never_below_the_truth(uncertain, knots, epsilon):
    reported = dt.profile(uncertain.box).thin(knots, budgets=RANGE).leakage(epsilon)
    assert oracle.is_bound(reported, oracle.leakage(uncertain.cloud(), epsilon))


@given(
    boxes(max_rows=3, max_columns=5, tiny=True),
    st.integers(2, 6),
    budgets(),
    st.floats(1.0, 1e3),
    st.sampled_from([0.0, 1e-3]),
)
def test_thinned_curves_of_boxes_with_tiny_entries(uncertain, knots, epsilon, gamma, lost):
    """Leakage, sticks and δ of the thinned curve: all above the truth of the box."""
    thinned = dt.profile(uncertain.box).thin(knots)
    cloud = uncertain.cloud()
    assert oracle.is_bound(thinned.leakage(epsilon), oracle.leakage(cloud, epsilon))
    assert oracle.is_bound(thinned.hockey_stick(gamma), oracle.hockey_stick(cloud, gamma))
    out = min(epsilon, 5.0)
    truth = oracle.delta_out(cloud, oracle.exp(out), epsilon, lost)
    assert oracle.is_bound(thinned.delta_at(out, epsilon, lost), truth)


def test_the_last_knot_takes_the_highest_of_several_flat_lines():
    """Slopes made monotone leave several lines with lower = 0; keeping the last of them lost 12 nats."""
    table = [[0.04, 0.15, 3e-25, 0.81], [0.1, 0.09, 0.31, 0.5]]
    curve = dt.profile(dt.Relative(0.3).box(table))
    for knots in (2, 3, 4):
        assert curve.thin(knots).leakage(50.0) >= curve.leakage(50.0) >= dt.leakage(table, 50.0)
    several = dt.Profile([0.5, 0.4, 0.3], [0.1, 0.0, 0.0])
    assert several.gap.tolist() == [0.5, 0.4]
    assert several.thin(2).leakage(50.0) == several.leakage(50.0)


@pytest.mark.parametrize("size", [5, 30])
@pytest.mark.parametrize("knots", [2, 3, 4, 8])
def test_thinned_profiles_lie_above_the_exact_one_on_a_dense_grid(size, knots):
    profile = dt.profile(ordered_table(size))
    assert (profile.thin(knots, budgets=RANGE).leakage(GRID) >= profile.leakage(GRID) - 1e-14).all()


@given(tables(min_rows=2), st.floats(1.0, 1e3))
def test_thinned_curves_lie_above_the_curve(known, gamma):
    """The hockey-stick curve itself, at every γ ≥ 1."""
    thinned = dt.profile(known.floats).thin(3, budgets=RANGE)
    truth = oracle.hockey_stick(oracle.cloud(known.exact), gamma)
    assert oracle.is_bound(thinned.hockey_stick(gamma), truth)


@given(tables(min_rows=2, max_rows=4, max_columns=4))
def test_thinning_to_all_knots_changes_nothing(known):
    profile = dt.profile(known.floats)
    thinned = profile.thin(max(2, len(profile)), budgets=RANGE)
    assert thinned.leakage(GRID) == pytest.approx(profile.leakage(GRID), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 1e-4])
def test_thinning_keeps_its_tolerance(tolerance):
    profile = dt.profile(ordered_table(30))
    thinned = profile.thin(tolerance=tolerance, budgets=RANGE)
    excess = thinned.leakage(GRID) - profile.leakage(GRID)
    assert excess.min() >= -1e-14
    assert (excess <= tolerance * np.maximum(1, profile.leakage(GRID))).all()
    assert len(thinned) <= len(profile)


def test_a_finer_tolerance_takes_more_knots():
    profile = dt.profile(ordered_table(30))
    sizes = [len(profile.thin(tolerance=tol, budgets=RANGE)) for tol in (0.1, 0.01, 1e-3, 1e-5)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_more_knots_are_closer():
    profile = dt.profile(ordered_table(30))
    exact = profile.leakage(GRID)
    excess = [(profile.thin(k, budgets=RANGE).leakage(GRID) - exact).max() for k in (3, 6, 12)]
    assert excess[0] > excess[1] > excess[2]


@pytest.mark.parametrize("size", [10, 30, 100])
def test_eight_knots_cut_the_error_of_the_triad_by_four(size):
    """On a hard regime (maths.md §2)."""
    table = ordered_table(size)
    exact = dt.leakage(table, GRID)
    triad = (dt.triad(table).leakage(GRID) - exact).max()
    eight = (dt.profile(table).thin(8, budgets=RANGE).leakage(GRID) - exact).max()
    assert triad > 0.1  # it is a hard regime
    assert eight <= triad / 4


def test_thinning_needs_one_aim():
    profile = dt.profile(ordered_table(5))
    with pytest.raises((TypeError, ValueError), match=r"(?i)knots|tolerance|\bk\b"):
        profile.thin()
    with pytest.raises(ValueError, match=r"\b0\b"):
        profile.thin(0)
    with pytest.raises(ValueError, match=r"-0\.1"):
        profile.thin(tolerance=-0.1)
    with pytest.raises(ValueError, match=r"(?i)budgets"):
        profile.thin(3, budgets=(2.0, 1.0))


@pytest.mark.filterwarnings("error")
def test_tiny_entries_are_thinned_without_a_warning():
    table = [
        [0.5, 0.25, 0.25, 0.0],
        [0.5, 0.25, 0.25 - 6e-13, 6e-13],
        [9e-299, 7e-289, 1.0, 4e-207],
    ]
    profile = dt.profile(table)
    assert profile.thin(3).leakage(50.0) >= profile.leakage(50.0)
