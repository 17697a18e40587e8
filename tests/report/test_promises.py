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
    plan = dt.calibrate(analysis, 2.5)
    asked = held["promises"][held["asked"]]
    assert asked["budgets"] == list(plan.budgets.values())
    assert asked["file"] == plan.to_json() + "\n"


def test_many_attributes_get_fewer_promises():
    assert promises.promises_of(2.0, 100) == sorted({*promises.FEWER_PROMISES, 2.0})


@pytest.mark.parametrize("total", [0.0, -1.0, math.inf, math.nan, "3", [1.0, 2.0]])
def test_a_total_that_cannot_be_is_refused(total):
    with pytest.raises(ValueError, match="total is"):
        promises.promises_of(total, 4)
