"""The plans of the page."""

import math

import numpy as np
import pytest

import deptriad as dt
from deptriad.report import promises


def test_plans_keep_their_promises_and_are_what_calibrate_says(held, analysis):
    totals = [each["total"] for each in held["promises"]]
    assert totals == sorted({*promises.PROMISES, 2.5})
    assert totals[held["asked"]] == 2.5
    assert held["unplanned"] == ""
    for each in held["promises"]:
        assert max(each["totals"]) <= each["total"]
        assert sum(view["share"] for view in each["views"]) == pytest.approx(1.0)
        once = each["once"]
        assert max(once["certified"]) <= each["total"]
        assert len(once["attained"]) == len(analysis.names)
        assert (np.array(once["attained"]) <= np.array(once["certified"]) + 1e-9).all()
    plan = dt.calibrate(analysis, 2.5)
    asked = held["promises"][held["asked"]]
    for shown, view in zip(asked["views"], plan.views, strict=True):
        assert tuple(held["files"]["names"][place] for place in shown["asked"]) == view.attributes
        assert shown["share"] == view.share
        assert {*shown["budgets"]} == {*view.budgets.values()}
        assert {*shown["mechanisms"]} == {*view.mechanisms.values()}
        assert len(shown["budgets"]) == (1 if view.joint else len(view.attributes))
    assert asked["errors"] == [plan.expected(name) for name in plan.names]
    assert asked["verdict"] == plan.compare().verdict
    assert asked["once"]["budgets"] == list(plan.everything.values())
    assert asked["file"] == plan.to_json() + "\n"


def test_bounds_by_what_is_assumed_are_those_of_totals(held, analysis):
    for each in held["promises"]:
        once = each["once"]
        budgets = dict(zip(analysis.names, once["budgets"], strict=True))
        grr = analysis.totals(budgets, mechanisms="grr").values()
        assert once["levels"]["pairs"] == [total.certified for total in grr]
        assert once["levels"]["joint"] == [total.joint for total in grr]
        assert (None in once["levels"]["joint"]) == bool(once["levels"]["reasons"])


def test_of_large_joint_tables_only_the_promise_asked_for_has_them(analysis, monkeypatch):
    monkeypatch.setattr(promises, "LEVELS_AT_ALL", 1)
    plans = promises.planned(analysis, 2.0, [1.0])
    found = promises.described(analysis, plans, 2.0, None, None, lambda: None)
    assert [each["once"]["levels"] is None for each in found] == [True, False]


class Clock:
    """A clock on which every plan takes as long as is said."""

    def __init__(self, monkeypatch, takes):
        self.now, self.made = 0.0, []
        monkeypatch.setattr(promises.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(promises, "calibrate", lambda _, total, **how: self.plan(total, takes))

    def plan(self, total, takes):
        self.now += takes
        self.made.append(total)
        return total


@pytest.mark.parametrize(("seconds", "count"), [(0, 1), (19, 1), (20, 2), (45, 4), (1e9, 8)])
def test_as_many_promises_are_planned_for_as_fit_the_time(analysis, monkeypatch, seconds, count):
    clock = Clock(monkeypatch, takes=10.0)
    steps = []
    found = promises.planned(
        analysis, 2.5, seconds=seconds, progress=lambda *step: steps.append(step)
    )
    assert clock.made == [2.5, *promises.PROMISES][:count]
    assert list(found) == sorted(clock.made)
    assert steps[-1][0] == steps[-1][1]


def test_promises_that_are_listed_are_all_planned_for(analysis, monkeypatch):
    clock = Clock(monkeypatch, takes=10.0)
    assert list(promises.planned(analysis, 3.0, [6.0, 1.0, 3.0], seconds=0.0)) == [1.0, 3.0, 6.0]
    assert clock.made == [3.0, 6.0, 1.0]


@pytest.mark.parametrize("total", [0.0, -1.0, math.inf, math.nan, "3", [1.0, 2.0]])
def test_a_promise_that_cannot_be_is_refused(total):
    with pytest.raises(ValueError, match="total is"):
        promises.asked_for(total)
    with pytest.raises(ValueError, match="promises is"):
        promises.asked_for(3.0, [total])


@pytest.mark.parametrize("seconds", [-1.0, math.nan, "long"])
def test_a_time_that_cannot_be_is_refused(analysis, seconds):
    with pytest.raises(ValueError, match="seconds is"):
        promises.planned(analysis, 3.0, seconds=seconds)
