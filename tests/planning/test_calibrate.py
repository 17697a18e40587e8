"""calibrate(): every promise is kept to the last bit, splitting is the floor, and little is lost."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import deptriad as dt
from dependent import analysis_of, kept
from deptriad.mechanisms import expected_error
from deptriad.planning.wishes import true_totals

pd = pytest.importorskip("pandas")

calibrate = partial(dt.calibrate, views="all")
"""Everybody is asked everything."""
OBJECTIVES = ("utility", "even", "paper")
GUARANTEES = ("certified", "paired", "pairwise")

# --- the promise ------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 5), min_size=2, max_size=4),
    dependence=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    total=st.sampled_from([0.1, 1.0, 3.0, 7.0]),
    uncertainty=st.sampled_from([None, dt.Relative(0.2), dt.Confidence(0.9)]),
    objective=st.sampled_from(OBJECTIVES),
    guarantee=st.sampled_from(GUARANTEES),
)
@example(  # the hull over all pairs has more than twice the points of a pair's
    seed=1_000_000,
    sizes=[2, 4],
    dependence=0.0,
    total=0.1,
    uncertainty=dt.Confidence(0.9),
    objective="utility",
    guarantee="certified",
)
def test_every_promise_is_kept_to_the_last_bit(
    seed, sizes, dependence, total, uncertainty, objective, guarantee
):
    analysis = analysis_of(seed, tuple(sizes), dependence, uncertainty)
    plan = calibrate(analysis, total, objective, guarantee)
    assert kept(analysis, plan)
    splitting = total / len(sizes)
    assert min(plan.budgets.values()) >= splitting * (1 - 1e-12)
    assert max(plan.budgets.values()) <= total


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_something_is_gained_where_attributes_are_not_copies(objective, guarantee):
    analysis = analysis_of(3, (2, 3, 4), 0.4)
    plan = calibrate(analysis, 3.0, objective, guarantee)
    assert sum(plan.budgets.values()) > 3.3
    tight = max(getattr(each, guarantee) for each in analysis.totals(plan.budgets).values())
    assert 3.0 * (1 - 1e-6) < tight <= 3.0  # nothing is left over


def test_copies_get_splitting():
    values = np.arange(600) % 3
    frame = pd.DataFrame({"a": values, "b": values, "c": values})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    plan = calibrate(analysis, 1.0)
    assert kept(analysis, plan)
    assert all(v == pytest.approx(1 / 3, rel=1e-6) for v in plan.budgets.values())
    assert all(v >= 1 / 3 - 1e-15 for v in plan.budgets.values())


def test_independent_attributes_get_all_of_it_under_an_estimate():
    a, b = np.divmod(np.arange(400) % 4, 2)
    frame = pd.DataFrame({"a": a, "b": b})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    for (
        guarantee
    ) in GUARANTEES:  # two attributes: one source each, whose exact leakage is certified
        plan = calibrate(analysis, 2.0, guarantee=guarantee)
        assert list(plan.budgets.values()) == pytest.approx([2.0, 2.0], rel=1e-6)


def test_values_that_say_nothing():
    frame = pd.DataFrame({"one": ["x"] * 300, "a": [0, 1, 1] * 100, "b": [0, 1, 0] * 100})
    schema = dt.Schema(
        [
            dt.Attribute("one", ["x"], missing="error"),
            dt.Attribute("a", [0, 1], missing="error"),
            dt.Attribute("b", [0, 1], missing="error"),
        ]
    )
    analysis = dt.analyze(dt.Prior.from_data(frame, schema))
    for guarantee, objective in itertools.product(GUARANTEES, OBJECTIVES):
        assert kept(analysis, calibrate(analysis, 2.0, objective, guarantee))


def test_wide_boxes_and_many_values():
    analysis = analysis_of(
        5, (13, 14, 2), 0.5, dt.Relative(0.3)
    )  # beyond 12 values: hulls of boxes
    for guarantee in GUARANTEES:
        plan = calibrate(analysis, 2.0, guarantee=guarantee)
        assert kept(analysis, plan)
        tight = max(getattr(each, guarantee) for each in analysis.totals(plan.budgets).values())
        assert tight > 1.99


@pytest.mark.parametrize("total", [1e-7, 701.0, 1e308])
def test_promises_without_a_sense_are_refused(total):
    with pytest.raises(ValueError, match=r"expected at (least 1e-06|most 700)"):
        calibrate(analysis_of(2, (2, 3), 0.7), total)


@pytest.mark.parametrize("total", [1e-6, 50.0])
def test_tiny_and_huge_promises(total):
    analysis = analysis_of(2, (2, 3, 3), 0.7)
    for guarantee in GUARANTEES:
        plan = calibrate(analysis, total, guarantee=guarantee)
        assert kept(analysis, plan)
        assert min(plan.budgets.values()) >= total / 3 * (1 - 1e-12)


def test_the_same_budgets_every_time():
    analysis = analysis_of(8, (3, 3, 4, 2), 0.5)
    assert calibrate(analysis, 2.0) == calibrate(analysis, 2.0)


def test_progress_is_told():
    seen = []
    calibrate(analysis_of(), 3.0, progress=lambda done, of: seen.append((done, of)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert {of for _, of in seen} == {None}


# --- how good it is -----------------------------------------------------------------------------------------------


def largest_last(analysis, guarantee, head, splitting, total):
    """The largest budget of the last attribute for given others, by a search for where the true totals reach it."""

    def over(last):
        found = true_totals(analysis, np.array([*head, last]))
        return max(getattr(each, guarantee) for each in found) - total

    if over(splitting) > 0.0:
        return None
    if over(total) <= 0.0:
        return total
    near = (total - splitting) / 2**16
    found = brentq(over, splitting, total, xtol=near)
    return next(last for last in (found, found - 2 * near, splitting) if over(last) <= 0.0)


def loss_of(analysis, objective, guarantee, epsilon, total):
    if objective == "even":
        return -float(np.min(epsilon))
    if objective == "paper":
        found = true_totals(analysis, epsilon)
        return sum((getattr(each, guarantee) - total) ** 2 for each in found)
    sizes = analysis.schema.sizes
    return expected_error.Utility(sizes, ["auto"] * len(sizes), np.ones(len(sizes))).exact(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("sizes", [(5, 5), (2, 20), (3, 4, 2)])
def test_as_good_as_a_dense_grid(sizes, guarantee):
    total, points = 2.0, 60 if len(sizes) == 2 else 14
    analysis = analysis_of(11, sizes, 0.5)
    splitting = total / len(sizes)
    axis = np.geomspace(splitting, total, points)
    best = dict.fromkeys(OBJECTIVES, np.inf)
    for head in itertools.product(axis, repeat=len(sizes) - 1):
        last = largest_last(analysis, guarantee, head, splitting, total)
        if last is not None:
            epsilon = np.array([*head, last])
            for objective in OBJECTIVES:
                loss = loss_of(analysis, objective, guarantee, epsilon, total)
                best[objective] = min(best[objective], loss)
    for objective in OBJECTIVES:
        plan = calibrate(analysis, total, objective, guarantee)
        ours = loss_of(analysis, objective, guarantee, np.array(list(plan.budgets.values())), total)
        assert ours <= best[objective] + 1e-3 * abs(best[objective]) + 1e-9


def test_even_is_even_and_weights_bend_it():
    analysis = analysis_of(12, (3, 3, 3), 0.5)
    even = list(calibrate(analysis, 3.0, "even").budgets.values())
    assert max(even) == pytest.approx(min(even))
    bent = calibrate(analysis, 3.0, "even", weights={"x0": 1.3}).budgets
    assert bent["x0"] == pytest.approx(1.3 * bent["x1"])


def test_weights_draw_budget():
    analysis = analysis_of(12, (3, 3, 3), 0.6)
    plain = calibrate(analysis, 3.0).budgets
    drawn = calibrate(analysis, 3.0, weights={"x2": 30.0}).budgets
    assert drawn["x2"] > plain["x2"]


def test_mechanisms_are_the_better_ones_at_the_budget():
    analysis = analysis_of(13, (2, 25, 3), 0.4)
    plan = calibrate(analysis, 1.0)
    assert plan.mechanisms["x0"] == "grr"
    assert plan.mechanisms["x1"] == "olh"
    given = calibrate(analysis, 1.0, mechanism={"x0": "sue"})
    assert given.mechanisms["x0"] == "sue"
    assert set(calibrate(analysis, 1.0, mechanism="oue").mechanisms.values()) == {"oue"}
