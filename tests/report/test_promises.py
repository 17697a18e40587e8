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
    for each in held["promises"]:
        assert max(each["certified"]) <= each["total"]
        assert len(each["attained"]) == len(analysis.names)
        assert (np.array(each["attained"]) <= np.array(each["certified"]) + 1e-9).all()
        part = each["splitting"]["budget"]
        assert part == each["total"] / len(analysis.names)
        split = analysis.totals(part)
        assert each["splitting"]["certified"] == [total.certified for total in split.values()]
    plan = dt.calibrate(analysis, 2.5, views="all")
    asked = held["promises"][held["asked"]]
    assert asked["budgets"] == list(plan.budgets.values())
    assert asked["file"] == plan.to_json() + "\n"


def test_bounds_by_what_is_assumed_are_those_of_totals(held, analysis):
    for each in held["promises"]:
        budgets = dict(zip(analysis.names, each["budgets"], strict=True))
        grr = analysis.totals(budgets, mechanisms="grr").values()
        assert each["levels"]["pairs"] == [total.certified for total in grr]
        assert each["levels"]["joint"] == [total.joint for total in grr]
        assert (None in each["levels"]["joint"]) == bool(each["levels"]["reasons"])


def test_of_large_joint_tables_only_the_promise_asked_for_has_them(analysis, monkeypatch):
    monkeypatch.setattr(promises, "PROMISES", (1.0, 2.0))
    monkeypatch.setattr(promises, "LEVELS_AT_ALL", 1)
    found = promises.searched(analysis, 2.0, None, None, 1000, None, lambda: None)
    assert [each["levels"] is None for each in found] == [True, False]


def test_many_attributes_get_fewer_promises():
    assert promises.promises_of(2.0, 100) == sorted({*promises.FEWER_PROMISES, 2.0})


@pytest.mark.parametrize("total", [0.0, -1.0, math.inf, math.nan, "3", [1.0, 2.0]])
def test_a_total_that_cannot_be_is_refused(total):
    with pytest.raises(ValueError, match="total is"):
        promises.promises_of(total, 4)
