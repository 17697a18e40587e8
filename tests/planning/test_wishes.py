"""What is wished for: limits are kept, and wishes that cannot be are refused (maths.md §8)."""

import itertools
import math
import re
from functools import partial

import numpy as np
import pytest

import deptriad as dt
from dependent import analysis_of, kept

pd = pytest.importorskip("pandas")

calibrate = partial(dt.calibrate, views="all")
"""Everybody is asked everything."""
OBJECTIVES = ("utility", "even", "paper")
GUARANTEES = ("certified", "paired", "pairwise")


def test_a_promise_for_each_attribute():
    analysis = analysis_of(4, (2, 3, 4), 0.5)
    total = {"x0": 0.5, "x1": 3.0, "x2": math.inf}
    for guarantee, objective in itertools.product(GUARANTEES, OBJECTIVES):
        plan = calibrate(analysis, total, objective, guarantee)
        assert kept(analysis, plan)
        assert plan.total == total
        assert min(plan.budgets.values()) >= 0.5 / 3 * (1 - 1e-12)


def test_a_public_attribute_that_tells_nothing_ends_at_a_large_budget():
    a, b = np.divmod(np.arange(400) % 4, 2)
    frame = pd.DataFrame({"a": a, "b": b})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    plan = calibrate(analysis, {"a": 1.0, "b": math.inf}, guarantee="pairwise")
    assert plan.budgets["b"] > 5.0
    plan = calibrate(analysis, {"a": 1.0, "b": math.inf}, guarantee="pairwise", upper={"b": 3.0})
    assert plan.budgets["b"] <= 3.0


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fixed_lower_and_upper(objective, guarantee):
    analysis = analysis_of(6, (2, 3, 4, 3), 0.4)
    plan = calibrate(
        analysis,
        3.0,
        objective,
        guarantee,
        fixed={"x0": 0.25},
        lower={"x1": 0.9},
        upper={"x2": 0.3},
    )
    assert kept(analysis, plan)
    assert plan.budgets["x0"] == 0.25
    assert plan.budgets["x1"] >= 0.9
    assert plan.budgets["x2"] <= 0.3
    assert plan.budgets["x3"] >= 0.75 * (1 - 1e-12)


def test_an_attribute_that_is_not_released():
    analysis = analysis_of(6, (2, 3, 4), 0.4)
    for guarantee in GUARANTEES:
        plan = calibrate(analysis, 3.0, guarantee=guarantee, fixed={"x1": 0})
        assert plan.budgets["x1"] == 0.0
        assert plan.mechanisms["x1"] == "none"
        assert plan.totals["x1"][guarantee] > 0.0  # the others still tell about it
        assert kept(analysis, plan)
    all_given = calibrate(analysis, 3.0, fixed={"x0": 0.5, "x1": 0, "x2": 0.5})
    assert all_given.budgets == {"x0": 0.5, "x1": 0.0, "x2": 0.5}


def test_a_lower_limit_may_go_below_splitting():
    analysis = analysis_of(6, (2, 3, 4), 0.9)
    plan = calibrate(analysis, 3.0, weights={"x0": 1e-3}, lower={"x0": 0.0})
    assert 0.0 < plan.budgets["x0"] < 1.0
    assert kept(analysis, plan)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_infeasible_wishes_say_what_would_work(guarantee):
    analysis = analysis_of(6, (2, 3, 4), 0.9)
    wish = {"lower": {"x1": 1.5}, "fixed": {"x2": 2.0}, "guarantee": guarantee}
    with pytest.raises(ValueError, match="no budgets keep the") as caught:
        calibrate(analysis, 2.0, **wish)
    text = str(caught.value)
    assert re.search(r"total of 'x[012]' at or below 2", text)
    works = float(re.search(r"smallest total that works is ([\d.]+)", text)[1])
    which = re.findall(r"'(x\d)'", text.split("smallest total")[1]) or list(analysis.names)
    plan = calibrate(analysis, {k: works if k in which else 2.0 for k in analysis.names}, **wish)
    assert kept(analysis, plan)
    with pytest.raises(ValueError, match="no budgets keep"):
        calibrate(
            analysis, {k: 0.995 * works if k in which else 2.0 for k in analysis.names}, **wish
        )


@pytest.mark.parametrize("wish", [{"fixed": {"x2": 2.0}}, {"lower": {"x2": 2.0}}])
def test_the_limit_that_binds_is_named_and_what_would_do(wish):
    analysis = analysis_of(6, (2, 3, 4), 0.9)
    with pytest.raises(ValueError, match="no budgets keep") as caught:
        calibrate(analysis, 1.0, **wish)
    (what,) = wish
    said = re.search(
        rf"that binds is {what}\['x2'\], 2, where ([\d.]+) would do", str(caught.value)
    )
    kept_by = float(said[1])
    assert kept(analysis, calibrate(analysis, 1.0, **{what: {"x2": kept_by}}))
    with pytest.raises(ValueError, match="no budgets keep"):
        calibrate(analysis, 1.0, **{what: {"x2": 1.01 * kept_by}})


def test_of_several_limits_the_largest_is_named():
    with pytest.raises(
        ValueError, match=r"no one limit is to blame, the largest is fixed\['x1'\], 3"
    ):
        calibrate(analysis_of(6, (2, 3, 4), 0.9), 1.0, fixed={"x0": 2.0, "x1": 3.0})


def test_a_lower_limit_above_its_own_promise():
    # more than 4.15, since splitting rises with the promise
    with pytest.raises(ValueError, match=r"'x0' at or below 1: .* make it 4\.15.*works is 5\."):
        calibrate(analysis_of(), 1.0, lower={"x0": 4.0})


@pytest.mark.parametrize(
    "wish, message",
    [
        ({"total": 0}, "total is 0, expected one number > 0"),
        ({"total": -1.0}, "expected one number > 0"),
        ({"total": math.nan}, "expected one number > 0"),
        ({"total": math.inf}, "every total is infinite"),
        ({"total": 1e-300}, "total is 1e-300, expected at least 1e-06"),
        ({"total": "3"}, "expected a number"),
        ({"total": {"x0": 1.0}}, "no entry for 'x1'"),
        ({"total": {"x0": 1, "x1": 1, "x2": 1, "x3": 1}}, "names no attribute 'x3'"),
        ({"objective": "best"}, "objective is 'best', expected one of utility, even, paper"),
        ({"guarantee": "sure"}, "guarantee is 'sure', expected one of joint, certified"),
        ({"fixed": {"y": 1.0}}, "fixed names no attribute 'y'"),
        ({"fixed": {"x0": math.inf}}, "expected one finite number"),
        ({"fixed": 1.0}, "expected a mapping"),
        ({"lower": {"x0": 2.0}, "upper": {"x0": 1.0}}, "expected lower ≤ upper"),
        ({"fixed": {"x0": 2.0}, "upper": {"x0": 1.0}}, "outside its own limits"),
        ({"upper": {"x0": 0.0}}, "not released"),
        ({"weights": {"x0": 0.0}}, "expected a number > 0"),
        ({"weights": {"x0": -1.0}}, "expected a number ≥ 0"),
        ({"mechanism": "rappor"}, "mechanism is 'rappor', expected one of auto, grr"),
        ({"mechanism": {"y": "grr"}}, "mechanism names no attribute 'y'"),
        ({"users": 0}, "users is 0"),
    ],
)
def test_errors_name_value_and_expectation(wish, message):
    total = wish.pop("total", 3.0)
    with pytest.raises(ValueError, match=message):
        calibrate(analysis_of(), total, **wish)


def test_needs_tables(tmp_path):
    analysis_of().save(tmp_path / "a.json")
    with pytest.raises(ValueError, match="analyze the prior again"):
        calibrate(dt.Analysis.load(tmp_path / "a.json"), 3.0)
    with pytest.raises(ValueError, match="expected an Analysis"):
        calibrate(np.eye(2), 3.0)
