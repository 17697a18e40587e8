"""Where boxes come from: Relative, Absolute, Spread, Confidence (maths.md §3)."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import deptriad as dt
import oracle
from deptriad.tables.uncertainty import share_ends
from drawn import Known, ordinary_tables

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def assert_box(box, lower, upper, tolerance=1e-12):
    """The box is [lower, upper], clipped and tightened."""
    low, up = oracle.tightened(oracle.as_fractions(lower), oracle.as_fractions(upper))
    assert np.abs(box.lower - oracle.as_floats(low)).max() <= tolerance
    assert np.abs(box.upper - oracle.as_floats(up)).max() <= tolerance


@given(ordinary_tables(), st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0, 3.0]))
def test_relative_is_a_share_of_each_entry(known, e):
    """Δ = eP."""
    box = dt.Relative(e).box(known.floats)
    assert_box(box, known.floats * (1 - e), known.floats * (1 + e))
    assert (box.upper[known.floats == 0] <= 1e-300).all()  # a zero stays a zero


@given(ordinary_tables(), st.sampled_from([0.0, 0.01, 0.3, 2.0]))
def test_absolute_is_the_same_everywhere(known, delta):
    box = dt.Absolute(delta).box(known.floats)
    assert_box(box, known.floats - delta, known.floats + delta)


def test_absolute_takes_a_width_for_each_entry():
    widths = np.array([[0.1, 0.0, 0.05], [0.2, 0.01, 0.3]])
    assert_box(dt.Absolute(widths).box(P), P - widths, P + widths)


def test_a_conditional_works_and_hands_on_its_labels():
    table = dt.Conditional(P, target="t", source="s", target_values=["x", "y"])
    for box in (dt.Relative(0.1).box(table), dt.Absolute(0.1).box(table)):
        assert (box.target, box.source, box.target_values) == ("t", "s", ("x", "y"))


SOURCES = np.array([P, [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]], [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]])
WIDTHS = {
    "range": SOURCES.max(axis=0) - SOURCES.min(axis=0),
    "std": np.sqrt(((SOURCES - SOURCES.mean(axis=0)) ** 2).sum(axis=0) / 2),
    "variance": ((SOURCES - SOURCES.mean(axis=0)) ** 2).sum(axis=0) / 2,
    "mad": np.abs(SOURCES - SOURCES.mean(axis=0)).mean(axis=0),
}


@pytest.mark.parametrize("kind", WIDTHS)
def test_spread_is_around_the_mean_table(kind):
    """Δ is the paper's range, standard deviation (N − 1), variance or mean absolute deviation."""
    centre = SOURCES.mean(axis=0)
    box = dt.Spread(kind).box(list(SOURCES))
    assert_box(box, centre - WIDTHS[kind], centre + WIDTHS[kind])


def test_spread_by_hand():
    """Two tables .1 apart: range .1, std .1/√2, variance .005, mean absolute deviation .05."""
    two = [[[0.5, 0.5]], [[0.6, 0.4]]]
    for kind, width in {
        "range": 0.1,
        "std": 0.1 / math.sqrt(2),
        "variance": 0.005,
        "mad": 0.05,
    }.items():
        box = dt.Spread(kind).box(two)
        assert box.upper[0, 0] - 0.55 == pytest.approx(width, abs=1e-12)
        assert 0.55 - box.lower[0, 0] == pytest.approx(width, abs=1e-12)


def test_spread_of_range_contains_every_source():
    """The mean ± the range is the one kind that contains all of them."""
    box = dt.Spread("range").box(list(SOURCES))
    assert (box.lower <= SOURCES + 1e-15).all()
    assert (box.upper + 1e-15 >= SOURCES).all()


# --------------------------------------------------------------------------------------- confidence

COUNTS = np.array([[30, 12, 0], [5, 45, 150], [1, 0, 0]])


@pytest.mark.parametrize(("level", "cells"), [(0.95, None), (0.5, None), (0.999, 100)])
def test_confidence_is_exact_binomial_with_bonferroni(level, cells):
    """Each cell at error (1 − level)/cells, two-sided, against scipy's exact interval."""
    each = 1 - (1 - level) / (cells or COUNTS.size)
    totals = COUNTS.sum(axis=1)
    intervals = [
        [stats.binomtest(int(k), int(n)).proportion_ci(each, "exact") for k in row]
        for row, n in zip(COUNTS, totals, strict=True)
    ]
    lower = [[interval.low for interval in row] for row in intervals]
    upper = [[interval.high for interval in row] for row in intervals]
    assert_box(dt.Confidence(level, cells=cells).box(COUNTS), lower, upper, tolerance=1e-9)


def test_confidence_knows_nothing_of_a_row_without_records():
    box = dt.Confidence(0.95).box([[0, 0, 0], [5, 5, 5]])
    assert np.array_equal(box.lower[0], [0, 0, 0])
    assert np.array_equal(box.upper[0], [1, 1, 1])


def test_confidence_contains_the_observed_shares_and_shrinks_with_records():
    small, large = dt.Confidence(0.9).box([[6, 3, 1]]), dt.Confidence(0.9).box([[600, 300, 100]])
    shares = np.array([[0.6, 0.3, 0.1]])
    for box in (small, large):
        assert (box.lower < shares).all()
        assert (shares < box.upper).all()
    assert (large.upper - large.lower < small.upper - small.lower).all()


def test_more_cells_used_together_need_wider_boxes():
    alone, together = dt.Confidence(0.9).box([[6, 4]]), dt.Confidence(0.9, cells=50).box([[6, 4]])
    assert (together.lower < alone.lower).all()
    assert (together.upper > alone.upper).all()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_confidence_covers_the_truth_at_its_level(level):
    """Exact coverage: sum the multinomial probability of all tables of counts whose box holds it."""
    records = 9
    found = {
        counts: dt.Confidence(level).box([counts])
        for counts in itertools.product(range(records + 1), repeat=3)
        if sum(counts) == records
    }
    for truth in ([0.2, 0.3, 0.5], [0.01, 0.09, 0.9], [1 / 3, 1 / 3, 1 / 3], [0.0, 0.5, 0.5]):
        covered = sum(
            stats.multinomial.pmf(counts, records, truth)
            for counts, box in found.items()
            if (box.lower[0] <= truth).all() and (truth <= box.upper[0]).all()
        )
        assert covered >= level - 1e-12


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("e", [-0.1, math.nan, math.inf])
def test_relative_refuses_a_share_outside_zero_to_infinity(e):
    with pytest.raises(ValueError, match=f"(?i){e}"):
        dt.Relative(e)


@pytest.mark.parametrize("delta", [-0.1, math.nan])
def test_absolute_refuses_a_negative_width(delta):
    with pytest.raises(ValueError, match=f"(?i){delta}"):
        dt.Absolute(delta)


def test_absolute_refuses_widths_of_another_shape():
    with pytest.raises(ValueError, match=r"\(3, 3\).*\(2, 3\)|\(2, 3\).*\(3, 3\)"):
        dt.Absolute(np.zeros((3, 3))).box(P)


def test_spread_refuses_an_unknown_kind_and_says_which_there_are():
    with pytest.raises(ValueError, match=r"(?s)'?sigma'?.*range.*std.*variance.*mad"):
        dt.Spread("sigma")


def test_spread_refuses_tables_of_different_shapes_and_no_tables():
    with pytest.raises(ValueError, match=r"(?i)shape"):
        dt.Spread("range").box([P, P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)])
    with pytest.raises(ValueError, match=r"(?i)table"):
        dt.Spread("range").box([])


@pytest.mark.parametrize("level", [-0.1, 1.0, 1.5, math.nan])
def test_confidence_refuses_a_level_that_is_no_probability_below_one(level):
    with pytest.raises(ValueError, match=f"(?i){level}"):
        dt.Confidence(level)


def test_confidence_refuses_what_are_no_counts():
    with pytest.raises(ValueError, match=r"-1"):
        dt.Confidence(0.95).box([[3, -1], [2, 2]])
    with pytest.raises(ValueError, match=r"0\.7"):
        dt.Confidence(0.95).box(P)


def test_bad_tables_are_refused_here_too():
    for kind in (dt.Relative(0.1), dt.Absolute(0.1)):
        with pytest.raises(ValueError, match=r"row 0\b.*sums to"):
            kind.box([[0.5, 0.4]])


@given(ordinary_tables())
def test_no_uncertainty_is_the_table_itself(known: Known):
    """e = 0 leaks what the table leaks (to rounding)."""
    exact = dt.leakage(known.floats, 1.0)
    assert dt.triad(dt.Relative(0.0).box(known.floats)).phi == pytest.approx(
        dt.triad(known.floats).phi, abs=1e-11
    )
    assert dt.triad(dt.Absolute(0.0).box(known.floats)).leakage(1.0) >= exact - 1e-13


def test_cells_counts_at_least_this_table():
    with pytest.raises(ValueError, match="cells is 1, expected at least the 4"):
        dt.Confidence(0.95, cells=1).box([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"cells is 2\.5, expected a whole number"):
        dt.Confidence(0.95, cells=2.5)


@pytest.mark.parametrize("level", [0.025, 1e-5])
def test_ends_are_those_of_clopper_and_pearson(level):
    for hits, of in ((0, 10), (3, 10), (10, 10), (17, 4000)):
        low, high = share_ends(hits, of, level)
        exact = stats.binomtest(hits, of).proportion_ci(1 - 2 * level, method="exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), rel=1e-6, abs=1e-12)
