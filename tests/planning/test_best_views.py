"""Plans of views: every promise is kept by an independent check, and no known strategy is better."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deptriad as dt
from deptriad.collection.view import View
from deptriad.data import joint_counting
from deptriad.planning import known_views, pricing, told
from deptriad.planning.best_views import reference_cost
from deptriad.planning.calibrate import calibrate
from deptriad.planning.guard import Guard
from deptriad.planning.shares import optimal_shares
from deptriad.planning.told import Tables
from deptriad.planning.view_budgets import ViewBudgets
from deptriad.planning.workload import Workload
from plain_totals import plain_totals, worst_totals

pd = pytest.importorskip("pandas")

ROUNDING = 1e-12
"""Relative rounding of the plain check, which does not round outward."""


def survey(seed, sizes, dependence, rows=800):
    """Records whose attributes follow the first one, each with some chance; every value occurs."""
    chance = np.random.default_rng(seed)
    first = chance.integers(0, 64, rows)
    codes = np.stack(
        [
            np.where(chance.random(rows) < dependence, first % size, chance.integers(0, size, rows))
            for size in sizes
        ],
        axis=1,
    )
    codes[: max(sizes)] = np.arange(max(sizes))[:, None] % np.array(sizes)
    names = [chr(ord("a") + place) for place in range(len(sizes))]
    schema = dt.Schema(
        [
            dt.Attribute(name, [str(code) for code in range(size)], missing="error")
            for name, size in zip(names, sizes, strict=True)
        ]
    )
    return pd.DataFrame(codes.astype(str), columns=names), schema, codes


def analysed(frame, schema, uncertainty=None):
    return dt.analyze(dt.Prior.from_data(frame, schema, min_records=1), uncertainty)


def totals_of(view, schema, codes):
    places = [schema.index(name) for name in view.attributes]
    budgets = list(view.budgets.values())
    return plain_totals(codes, schema.sizes, places, budgets, view.joint)


def mean_variance(views, workload, epsilon):
    """The objective: variances over those of the best known strategies."""
    precision = sum(view.share * workload.precision(view) for view in views)
    return float(np.sum(reference_cost(workload, epsilon) / precision))


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 4), min_size=2, max_size=4),
    dependence=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    total=st.sampled_from([0.3, 1.0, 3.0, 6.0]),
    order=st.integers(1, 3),
)
def test_promises_are_kept_and_no_known_strategy_is_better(seed, sizes, dependence, total, order):
    frame, schema, codes = survey(seed, sizes, dependence)
    plan = calibrate(analysed(frame, schema), total, marginals=order)
    for view in plan.views:
        if set(view.mechanisms.values()) == {"grr"}:
            assert (totals_of(view, schema, codes) <= total * (1 + ROUNDING)).all(), view
        else:
            assert view.epsilon <= total
    worst = max(numbers["joint"] for numbers in plan.totals.values())
    assert worst <= total
    assert math.fsum(view.share for view in plan.views) == pytest.approx(1.0, abs=1e-12)
    assert 1.0 <= plan.optimality <= 1.01
    workload = Workload.checked(schema, order)
    own = mean_variance(plan.views, workload, total)
    cost = reference_cost(workload, total)
    for strategy, variance in known_views.strategies(workload, total).items():
        assert own <= 1.01 * float(np.sum(cost * variance)), strategy


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 4), min_size=2, max_size=5),
    total=st.sampled_from([0.3, 1.0, 3.0, 6.0]),
    order=st.integers(1, 3),
)
def test_no_mixture_of_joint_values_is_better(seed, sizes, total, order):
    """Any attributes as one value, also more of them than a marginal has, need no prior within the promise."""
    frame, schema, _ = survey(seed, sizes, 0.5)
    workload = Workload.checked(schema, order)
    every = [
        view
        for size in range(1, len(sizes) + 1)
        for names in combinations(schema.names, size)
        for view in known_views.one_value(workload, names, total)
    ]
    rows = np.array([workload.precision(view) for view in every])
    best = optimal_shares(rows, reference_cost(workload, total))
    for known in (schema, analysed(frame, schema)):
        plan = calibrate(known, total, marginals=order)
        assert mean_variance(plan.views, workload, total) <= 1.01 * best.objective


@pytest.mark.parametrize("order", [1, 2])
def test_a_prior_is_never_a_loss(order):
    """Of eight attributes nearly all are asked together at such a promise, which few of them are not worth."""
    frame, schema, _ = survey(3, [2, 2, 2, 8, 2, 2, 2, 2], 0.2)
    workload = Workload.checked(schema, order)
    known, unknown = (
        calibrate(given, 8.0, marginals=order) for given in (analysed(frame, schema), schema)
    )
    own, other = (mean_variance(plan.views, workload, 8.0) for plan in (known, unknown))
    assert own <= 1.01 * other


@pytest.mark.parametrize(
    ("limits", "nearly"),
    [({"KEPT_CELLS": 1}, 5e-3), ({"MOST_GROWN": 6, "LEAST_WIDTH": 6, "WIDTH": 0}, 0.03)],
    ids=["tables are counted again", "few sets of very many"],
)
def test_what_keeps_large_searches_small_costs_little(limits, nearly, monkeypatch):
    frame, schema, _ = survey(4, [4, 2, 4, 3, 4, 3, 5], 0.3)
    workload = Workload.checked(schema, 2)
    plans = [calibrate(analysed(frame, schema), 2.0)]
    for name, value in limits.items():
        monkeypatch.setattr(pricing, name, value)
    plans.append(calibrate(analysed(frame, schema), 2.0))
    own, limited = (mean_variance(plan.views, workload, 2.0) for plan in plans)
    assert limited == pytest.approx(own, rel=nearly)
    assert all(len(plan.views) > 10 for plan in plans)


def test_answers_to_more_questions_than_a_marginal_has_are_worth_it():
    """Three bits as one value of 8 at a promise of 6: hardly any noise, and all pairs from everybody."""
    _, schema, _ = survey(0, [2, 2, 2], 0.0)
    plan = calibrate(schema, 6.0, marginals=[("a", "b"), ("a", "c"), ("b", "c")])
    assert [view.attributes for view in plan.views] == [("a", "b", "c")]


@pytest.mark.parametrize("uncertainty", [dt.Confidence(0.9), dt.Relative(0.1)])
def test_under_uncertainty_the_tables_themselves_keep_the_promise_with_room(uncertainty):
    frame, schema, codes = survey(5, [2, 3, 3], 0.5)
    sure = calibrate(analysed(frame, schema), 2.0)
    unsure = calibrate(analysed(frame, schema, uncertainty), 2.0)
    for view in unsure.views:
        if set(view.mechanisms.values()) == {"grr"} and view.epsilon > 2.0:
            assert (totals_of(view, schema, codes) < 2.0).all()
    workload = Workload.checked(schema, 2)
    assert mean_variance(sure.views, workload, 2.0) <= mean_variance(unsure.views, workload, 2.0)
    assert mean_variance(unsure.views, workload, 2.0) <= 1.01


def test_a_level_of_confidence_holds_for_pairs_and_joint_tables_together():
    """One joint table has more cells here than all tables of pairs."""
    frame, schema, _ = survey(8, [7, 7, 7], 0.6, rows=4000)
    analysis = analysed(frame, schema, dt.Confidence(0.9))
    prior, promises = analysis.prior, np.full(3, 2.0)
    every = prior.cells + (3 * 7 + 3 * 49 + 343) * 21
    shared = dt.Confidence(0.9, cells=every)
    guard = Guard(schema, promises, analysis, Tables(prior))
    told = guard.totals(View.of_one_value(("a", "b"), 2.5, "grr"))[2]
    box = prior.joint(["c", "a", "b"]).box(shared, "c")
    assert told == dt.joint_leakage(box, 2.5, joint_report=True)
    told = guard.totals(View(("a",), {"a": 2.5}, {"a": "oue"}))[1]
    assert told == dt.leakage(prior.box("a", "b", shared), 2.5)
    view = View(("a", "b"), {"a": 1.5, "b": 1.0}, {"a": "oue", "b": "olh"})
    expected = dt.analyze(prior, shared).total("c", view.budgets).certified
    assert guard.totals(view)[2] == expected
    calibrate(analysis, 2.0)


@pytest.mark.parametrize("uncertainty", [None, dt.Relative(0.1)])
@pytest.mark.parametrize("by", [None, "place"])
def test_the_order_of_attributes_in_a_view_says_nothing(uncertainty, by):
    frame, schema, _ = survey(9, [3, 3, 2], 0.6)
    frame["place"] = np.arange(len(frame)) % 2
    prior = dt.Prior.from_data(frame if by else frame.drop(columns="place"), schema, by=by)
    analysis = dt.analyze(prior, uncertainty)
    guard = Guard(schema, np.full(3, 0.1), analysis, Tables(prior))
    budgets, ways = {"a": 0.3, "b": 2.0, "c": 1.0}, dict.fromkeys("abc", "grr")
    there, back = (guard.totals(View(tuple(names), budgets, ways)) for names in ("abc", "cba"))
    assert (there == back).all()


def test_certified_plans_keep_certified_totals():
    frame, schema, _ = survey(6, [2, 2, 3], 0.2)
    analysis = analysed(frame, schema)
    plan = calibrate(analysis, 2.0, guarantee="certified", marginals=1)
    assert any(not view.joint and len(view.attributes) > 1 for view in plan.views)
    for view in plan.views:
        if view.epsilon > 2.0 and not view.joint:
            totals = [analysis.total(name, view.budgets).certified for name in schema.names]
            assert max(totals) <= 2.0


@settings(max_examples=6)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 3), min_size=2, max_size=3),
    dependence=st.sampled_from([0.05, 0.2, 0.5]),
    total=st.sampled_from([0.5, 2.0]),
    order=st.integers(1, 2),
)
def test_certified_plans_hold_for_every_joint_table(seed, sizes, dependence, total, order):
    """By linear programs over all joint tables with the same tables of pairs, which are right to 1e-7 or so."""
    frame, schema, codes = survey(seed, sizes, dependence)
    promise = {name: total * (1.0 + place) for place, name in enumerate(schema.names)}
    plan = calibrate(analysed(frame, schema), promise, guarantee="certified", marginals=order)
    limits = np.array(list(promise.values()))
    for view in plan.views:
        if view.epsilon > total:
            places = [schema.index(name) for name in view.attributes]
            budgets = list(view.budgets.values())
            told = worst_totals(codes, schema.sizes, places, budgets, view.joint)
            assert (told <= limits * (1 + 1e-6)).all(), view


def test_unequal_promises_are_kept_and_used():
    frame, schema, codes = survey(7, [2, 3, 2], 0.3)
    promise = {"a": 0.5, "b": 2.0, "c": 3.0}
    plan = calibrate(analysed(frame, schema), promise)
    limits = np.array([promise[name] for name in schema.names])
    for view in plan.views:
        if set(view.mechanisms.values()) == {"grr"}:
            assert (totals_of(view, schema, codes) <= limits * (1 + ROUNDING)).all()
        else:
            assert view.epsilon <= 0.5
    assert max(view.epsilon for view in plan.views) > 0.5


def test_without_a_prior_no_view_tells_more_than_the_smallest_promise():
    _, schema, _ = survey(8, [2, 3, 5], 0.0)
    plan = calibrate(schema, {"a": 0.5, "b": 2.0, "c": 3.0})
    assert all(view.epsilon <= 0.5 for view in plan.views)
    assert plan.guarantee == "certified"
    assert math.isfinite(plan.expected(("a", "c")))


def test_a_person_is_asked_what_is_allowed():
    frame, schema, _ = survey(9, [2, 2, 3, 2], 0.3)
    analysis = analysed(frame, schema)
    assert max(len(view.attributes) for view in calibrate(analysis, 3.0, views=2).views) <= 2
    plan = calibrate(analysis, 3.0, together=[("a", "c")])
    assert all(len({"a", "c"} & set(view.attributes)) != 1 for view in plan.views)
    plan = calibrate(analysis, 3.0, fixed={"b": 0.0})
    assert all("b" not in view.attributes for view in plan.views)
    assert plan.expected("b") == math.inf
    assert plan.totals["b"]["joint"] <= 3.0


def test_what_must_be_asked_together_is_in_every_marginal_of_it():
    """A set of three of five attributes, at most four at once: no view of up to two could ask any of them."""
    frame, schema, _ = survey(9, [2, 2, 3, 2, 2], 0.3)
    for known in (schema, analysed(frame, schema)):
        plan = calibrate(known, 1.0, marginals=1, views=4, together=[("a", "b"), ("b", "e")])
        asked = [{"a", "b", "e"} & set(view.attributes) for view in plan.views]
        assert all(len(some) in (0, 3) for some in asked)
        assert all(math.isfinite(plan.expected(name)) for name in schema.names)


def test_without_a_prior_nobody_can_be_asked_everything():
    _, schema, _ = survey(8, [2, 3], 0.0)
    with pytest.raises(ValueError, match="views is 'all', but without a prior that is splitting"):
        calibrate(schema, 1.0, views="all")


def test_the_same_plan_comes_out_again():
    frame, schema, _ = survey(10, [2, 3, 3], 0.4)
    plans = [calibrate(analysed(frame, schema), 2.0) for _ in range(2)]
    assert plans[0] == plans[1]


def test_marginals_that_matter_more_have_less_error():
    frame, schema, _ = survey(11, [2, 3, 3], 0.4)
    analysis = analysed(frame, schema)
    wanted = [("a",), ("b", "c")]
    one, other = (
        calibrate(analysis, 2.0, marginals=wanted, weights=weights)
        for weights in ([1.0, 100.0], [100.0, 1.0])
    )
    assert one.expected(("b", "c")) <= other.expected(("b", "c"))
    assert one.expected("a") >= other.expected("a")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"objective": "even"}, "objective is 'even'"),
        ({"lower": {"a": 0.1}}, "lower is"),
        ({"mechanism": "olh"}, "mechanism is 'olh'"),
        ({"fixed": {"a": 1.0}}, r"fixed\['a'\] is 1"),
        ({"guarantee": "paired"}, "guarantee is 'paired', an estimate"),
        ({"views": 1}, "a marginal has 2 attributes"),
        ({"views": "some"}, "views is 'some'"),
        ({"marginals": [("a", "z")]}, "names no attribute 'z'"),
        ({"marginals": []}, "empty"),
        ({"marginals": 0}, "marginals is 0"),
        ({"together": [("a",)]}, "two or more"),
        ({"weights": [1.0]}, "1 numbers for 3 marginals"),
        ({"views": "all", "marginals": 1}, "marginals is given for plans of views"),
        ({"views": "all", "guarantee": "joint"}, "guarantee is 'joint', which is worked out for"),
        ({"views": 1, "marginals": 1, "together": [("a", "b")]}, r"must be asked \['a', 'b'\]"),
    ],
)
def test_wishes_are_refused_with_a_reason(given, said):
    frame, schema, _ = survey(12, [2, 2], 0.3)
    with pytest.raises(ValueError, match=said):
        calibrate(analysed(frame, schema), 2.0, **given)


# --- inside a view -----------------------------------------------------------------------------------------------


def test_tables_that_are_counted_in_one_pass_are_those_of_records_in_memory(monkeypatch):
    frame, schema, codes = survey(13, [2, 3, 4], 0.4)
    prior = dt.Prior.from_data(frame, schema, min_records=1)
    quick = Tables(prior)
    monkeypatch.setattr(joint_counting, "MOST_KEPT", 0)
    passes = []
    count = dt.Prior.joints
    monkeypatch.setattr(
        dt.Prior, "joints", lambda self, tables: passes.append(1) or count(self, tables)
    )
    slow = Tables(dt.Prior.from_data(frame, schema, min_records=1))
    for places in ([0], [1, 2], [0, 1, 2]):
        one, other = quick.told(places), slow.told(places)
        np.testing.assert_allclose(one.table, other.table, atol=1e-15)
        budgets = np.linspace(0.5, 2.0, len(places))
        truth = plain_totals(codes, schema.sizes, places, budgets, joint=False)
        np.testing.assert_allclose(one.totals(budgets)[0], truth, rtol=1e-12)
    assert len(passes) == 1


def test_what_was_not_counted_in_one_pass_is_certified_from_pairs(monkeypatch):
    frame, schema, codes = survey(14, [2, 3, 2, 3], 0.3)
    monkeypatch.setattr(joint_counting, "MOST_KEPT", 0)
    monkeypatch.setattr(told, "IN_ONE_PASS", 100)
    analysis = analysed(frame, schema)
    tables = Tables(analysis.prior)
    assert tables.known([0])
    assert not tables.known([1, 3])
    guard = Guard(schema, np.full(4, 2.0), analysis, tables)
    view = View(("b", "d"), {"b": 1.5, "d": 1.5}, {"b": "grr", "d": "grr"})
    certified = [analysis.total(name, view.budgets).certified for name in schema.names]
    assert guard.totals(view).tolist() == np.minimum(certified, view.epsilon).tolist()
    plan = calibrate(analysis, 2.0, views="best")
    for each in plan.views:
        assert each.epsilon <= 2.0 or (totals_of(each, schema, codes) <= 2.0 * (1 + ROUNDING)).all()


@pytest.mark.parametrize("kept", [True, False], ids=["in memory", "counted in one pass"])
def test_a_promise_holds_where_all_records_have_one_value(kept, monkeypatch):
    """Whoever has the other value is like all records in all else, so that its own report is all that is told of it."""
    frame, schema, codes = survey(17, [2, 3, 2], 0.5)
    frame["a"] = "1"
    codes[:, 0] = 1
    if not kept:
        monkeypatch.setattr(joint_counting, "MOST_KEPT", 0)
    analysis = analysed(frame, schema)
    view = View.of_one_value(("a", "b"), 3.0, "grr")
    most = np.bincount(codes[:, 1]).max() / len(codes)
    told = Guard(schema, np.full(3, 2.0), analysis, Tables(analysis.prior)).totals(view)
    assert told[0] == pytest.approx(np.log1p(np.expm1(3.0) * most), rel=1e-12)
    other = np.delete(codes, 0, axis=1)
    outside = plain_totals(other, [3, 2], [0], [3.0], joint=True)
    np.testing.assert_allclose(told[1:], [3.0, outside[1]], rtol=1e-12)
    plan = calibrate(analysis, 2.0)
    assert plan.totals["a"]["joint"] <= 2.0
    assert max(view.budgets.get("a", 0.0) for view in plan.views) > 0.0


def test_views_whose_joint_table_is_too_large_are_certified_from_pairs():
    """All of 15 attributes of four values: a table of a billion cells, and of each target."""
    frame, schema, _ = survey(16, [4] * 15, 0.1, rows=300)
    analysis = analysed(frame, schema)
    guard = Guard(schema, np.full(15, 3.0), analysis, Tables(analysis.prior))
    budgets, ways = dict.fromkeys(schema.names, 0.25), dict.fromkeys(schema.names, "grr")
    found = guard.totals(View(schema.names, budgets, ways))
    assert found[0] == min(analysis.total("a", budgets).certified, 15 * 0.25)


def test_wide_boxes_leave_views_that_need_no_prior():
    frame, schema, _ = survey(15, [2, 3, 3], 0.5, rows=10)
    unsure = calibrate(analysed(frame, schema, dt.Confidence(0.99)), 2.0, views="best")
    nothing = calibrate(schema, 2.0)
    assert all(view.epsilon <= 2.0 * 1.001 for view in unsure.views)
    workload = Workload.checked(schema, 2)
    assert mean_variance(unsure.views, workload, 2.0) <= (
        1.003 * mean_variance(nothing.views, workload, 2.0)
    )


def test_budgets_by_price_gain_more_than_even_ones(rng):
    frame, schema, _ = survey(int(rng.integers(1 << 30)), [2, 3, 2, 4], 0.5)
    workload = Workload.checked(schema, 2)
    promises = np.full(4, 2.0)
    every = Tables(dt.Prior.from_data(frame, schema, min_records=1)).told([0, 1, 2, 3])
    search = ViewBudgets(every, promises, promises)
    worth = workload.worth(schema.names, rng.random(len(workload.marginals)))
    found = search.best(worth)
    assert (every.totals(found)[0] <= promises * (1 + 1e-5)).all()

    def gained(budgets):
        own = dict(zip(schema.names, budgets.tolist(), strict=True))
        view = View(schema.names, own, dict.fromkeys(schema.names, "grr"))
        return workload.precision(view) @ prices_of(workload, worth)

    assert gained(found) >= gained(search.even) * (1 - 1e-3)


def prices_of(workload, worth):
    """The prices of all marginals again, from those of sets as binary numbers."""
    names = workload.schema.names
    price = np.zeros(len(workload.marginals))
    for places, marginal in workload.inside(names):
        price[marginal] = worth[sum(1 << (len(names) - 1 - place) for place in places)]
    return price
