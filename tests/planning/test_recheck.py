"""Promises looked at again by reports.

Of two million people shares are estimated with a standard error of 0.002 or less; what is compared here differs by ten
of these or more, which a normal error passes with a chance of 1e-23.
"""

import numpy as np
import pytest

import deptriad as dt
from deptriad.collection.view import View
from deptriad.planning.recheck import Recheck, Rechecked

SCHEMA = dt.Schema([dt.Attribute(name, [0, 1], missing="error") for name in ("a", "b", "c")])


def people(chance_of_same, count):
    """Counts of three answers; b is a with some chance, c is by itself."""
    same = chance_of_same * count / 4
    other = (1.0 - chance_of_same) * count / 4
    return np.round([[[same] * 2, [other] * 2], [[other] * 2, [same] * 2]]).astype(int)


def planned(counts, **how):
    """A plan of a and b as one value, above the promise by what a and b of these people tell."""
    table = counts.sum(axis=2)[0] / counts.sum(axis=2)[0].sum()
    epsilon = float(np.log1p(np.expm1(2.0) / table.max()))
    others = [("a", "c"), ("b", "c")]
    views = (
        View.of_one_value(("a", "b"), epsilon, "grr", 0.5),
        *(View.of_one_value(names, 2.0, "grr", 0.25) for names in others),
    )
    totals = {name: {"certified": 2.0} for name in SCHEMA.names}
    promise = dict.fromkeys(SCHEMA.names, 2.0)
    return dt.Plan(SCHEMA, views, promise, "certified", "utility", totals, **how)


def test_a_promise_that_drifted_is_seen(rng):
    """The plan is for people of whom 60 % say the same; the totals of those of whom 90 % do are 2.37 for a and b."""
    plan = planned(people(0.6, 1000))
    reports = dt.simulate(people(0.9, 2_000_000), plan, rng)
    found = plan.recheck(reports)
    assert found.holds is False
    assert [found[name].holds for name in ("a", "b")] == [False, False]
    truth = np.log1p(np.expm1(plan.views[0].epsilon) * 0.9)
    for name in ("a", "b"):
        assert found[name].likely == pytest.approx(truth, abs=0.02)
        assert found[name].most > found[name].likely
    assert "ABOVE" in repr(found)


def test_a_promise_with_room_is_kept_for_sure(rng):
    plan = planned(people(0.7, 1000))
    found = plan.recheck(dt.simulate(people(0.55, 2_000_000), plan, rng))
    assert found.holds is True
    assert all(each.likely <= each.most <= each.promise for each in found.values())
    assert found.columns()["holds"] == [True] * 3


def test_the_next_plan_gains_by_what_reports_teach(rng):
    counts = people(0.6, 4_000_000)
    first = dt.calibrate(SCHEMA, 2.0)
    found = first.recheck(dt.simulate(counts, first, rng))
    following = dt.calibrate(found.sure, 2.0)
    assert following.guarantee == "certified"
    assert max(view.epsilon for view in following.views) > 2.0
    assert following.expected(("a", "b")) < 0.98 * first.expected(("a", "b"))
    bolder = dt.calibrate(found.likely, 2.0)
    assert bolder.expected(("a", "b")) < following.expected(("a", "b"))


def test_what_holds_by_the_estimate_only_is_called_so():
    rows = [Rechecked("a", 2.0, 1.9, 2.4), Rechecked("b", 2.0, 1.5, 1.9)]
    found = Recheck(rows, 0.95, None, None)
    assert found["a"].holds is None
    assert found.holds is None
    assert "not with certainty 0.95" in repr(found)
    assert "by the estimate" in found._repr_html_()


def test_pairs_that_were_never_asked_teach_nothing(rng):
    plan = dt.calibrate(SCHEMA, 2.0, views=1, marginals=1)
    with pytest.raises(ValueError, match="never truly reported by one person"):
        plan.recheck(dt.simulate(people(0.6, 1000), plan, rng))
