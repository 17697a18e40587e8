"""Odometer: what a history told, beside the likelihood of every outcome of all its reports."""

import dataclasses
import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import deptriad as dt
import history_oracle
import oracle
from deptriad.collection.view import View
from deptriad.planning import odometer, together

pd = pytest.importorskip("pandas")

NAMES = ("a", "b", "c")
PUBLIC = math.inf


def frame_of(counts):
    rows = [place for place in np.ndindex(counts.shape) for _ in range(int(counts[place]))]
    return pd.DataFrame(rows, columns=list(NAMES[: counts.ndim]))


def analysis_of(counts, uncertainty=None):
    schema = dt.Schema(
        [
            dt.Attribute(n, list(range(s)), missing="error")
            for n, s in zip(NAMES, counts.shape, strict=False)
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dt.analyze(dt.Prior.from_data(frame_of(counts), schema, min_records=0), uncertainty)


def world_of(counts):
    """The same answers at all times."""
    return [
        (
            int(counts[place]),
            {(name, None): value for name, value in zip(NAMES, place, strict=False)},
        )
        for place in np.ndindex(counts.shape)
        if counts[place]
    ]


def plan_of(analysis, total=3.0):
    return dt.calibrate(analysis.schema, total=total)


def grr(*names, epsilon, joint=False):
    return View(names, dict.fromkeys(names, epsilon), dict.fromkeys(names, "grr"), joint)


XOR = np.zeros((2, 2, 2), dtype=int)
for one, two in itertools.product((0, 1), repeat=2):
    XOR[one, two, one ^ two] = 25


@pytest.fixture(scope="module")
def coins():
    return analysis_of(XOR)


# --- one time -------------------------------------------------------------------------------------------------------


def test_two_collections_tell_what_neither_does(coins):
    """0 + 0, and 0.434 together, exactly ln cosh 1."""
    plan = plan_of(coins)
    first, second = {"a": 1.0}, grr("b", epsilon=1.0)
    assert plan.spent([first], coins)["c"].most == plan.spent([second], coins)["c"].most == 0.0
    both = plan.spent([first, second], coins)
    truth = history_oracle.told(
        world_of(XOR), ("c", None), [([("a", None)], 1.0), ([("b", None)], 1.0)]
    )
    assert oracle.is_bound(both["c"].most, truth)
    assert both["c"].most == pytest.approx(math.log(math.cosh(1.0)), abs=1e-12)
    assert both["c"].by == "joint"
    assert both["a"].most == pytest.approx(1.0 + 0.0, abs=1e-12)
    assert both.kept
    assert both.left == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("margin", [None, 1e-9])
def test_an_attribute_may_be_called_as_two_others_together_are(margin):
    """One report of a coin, and one of two others as one value, are no two reports of one source."""
    rows = [(*bits, sum(bits) % 2) for bits in itertools.product((0, 1), repeat=3)] * 20
    frame = pd.DataFrame(rows, columns=["a", "b", "a & b", "differ"])
    prior = dt.Prior.from_data(frame, dt.Schema.infer(frame))
    analysis = dt.analyze(prior, None if margin is None else dt.Relative(margin))
    history = [{"a & b": 1.0}, View.of_one_value(("a", "b"), 1.0, "olh")]
    told = plan_of(analysis).spent(history, analysis)["differ"].most
    assert told >= math.log(math.cosh(1.0))


def drawn_counts(rng):
    """Some cells are empty; no value is."""
    counts = rng.integers(0, 6, rng.integers(2, 4, 3))
    for axis, size in enumerate(counts.shape):
        for value in range(size):
            counts[tuple(value if other == axis else 0 for other in range(3))] += 1
    return counts


def drawn_views(rng, most=3):
    """Some GRR reports, of one attribute or of two as one value; the same attribute may come again."""
    views = []
    for _ in range(int(rng.integers(1, most + 1))):
        some = rng.choice(NAMES, int(rng.integers(1, 3)), replace=False).tolist()
        views.append(grr(*some, epsilon=float(rng.uniform(0.1, 2.5)), joint=True))
    return views


def test_every_outcome_of_a_history_of_grr(rng):
    """Exact, also where an attribute is asked again, or as part of a joint value."""
    counts = drawn_counts(rng)
    analysis, views = analysis_of(counts), drawn_views(rng)
    spent = plan_of(analysis).spent(views, analysis)
    reports = [([(n, None) for n in view.attributes], view.epsilon) for view in views]
    for name in NAMES:
        truth = history_oracle.told(world_of(counts), (name, None), reports)
        assert oracle.is_bound(spent[name].most, truth)
        assert oracle.is_close(spent[name].most, truth, 1e-9)
        assert spent[name].most <= spent[name].plain


def test_any_mechanism_may_favour_any_set(rng):
    """Plain releases; two of one attribute are one of both budgets, which no two reports exceed."""
    counts = rng.integers(0, 6, (2, 3, 2)) + 1
    analysis = analysis_of(counts)
    budgets = rng.uniform(0.1, 2.0, 3)
    history = [{"b": budgets[0]}, {"a": budgets[1]}, {"b": budgets[2]}]
    spent = plan_of(analysis).spent(history, analysis)
    reports = [([(name, None)], each[name]) for each in history for name in each]
    merged = [([("b", None)], budgets[0] + budgets[2]), ([("a", None)], budgets[1])]
    for name in NAMES:
        assert oracle.is_bound(
            spent[name].most,
            history_oracle.told(world_of(counts), (name, None), reports, sets=True),
        )
        most = history_oracle.told(world_of(counts), (name, None), merged, sets=True)
        assert oracle.is_bound(spent[name].most, most)
        assert oracle.is_close(spent[name].most, most, 1e-9)


def test_pairs_alone_are_certified_and_boxes_hold_the_table(rng, monkeypatch):
    counts, views = rng.integers(1, 9, (2, 3, 2)), drawn_views(rng)
    certain, boxed = analysis_of(counts), analysis_of(counts, dt.Relative(0.1))
    plan = plan_of(certain)
    reports = [([(n, None) for n in view.attributes], view.epsilon) for view in views]
    truths = {n: history_oracle.told(world_of(counts), (n, None), reports) for n in NAMES}
    exact, unsure = plan.spent(views, certain), plan.spent(views, boxed)
    confident = plan.spent(views, analysis_of(counts, dt.Confidence(0.95)))
    monkeypatch.setattr(together, "MOST_CELLS", 0)
    pairs = plan.spent(views, certain)
    for name in NAMES:
        assert {exact[name].by, pairs[name].by} <= {"joint", "certified", "sum of ε"}
        for spent in (unsure, confident, pairs):
            assert oracle.is_bound(spent[name].most, truths[name])
            assert (
                exact[name].most <= spent[name].most * (1 + 1e-9) <= spent[name].plain * (1 + 1e-9)
            )


def test_no_order_and_no_report_less(rng):
    counts, views = drawn_counts(rng), drawn_views(rng)
    analysis = analysis_of(counts)
    plan = plan_of(analysis)
    every, turned = plan.spent(views, analysis), plan.spent(views[::-1], analysis)
    fewer = plan.spent(views[1:], analysis)
    for name in NAMES:
        assert every[name].most == pytest.approx(turned[name].most, abs=1e-12)
        assert fewer[name].most <= every[name].most + 1e-12
        # leaving a report out takes its ε at most
        assert every[name].most <= fewer[name].most + views[0].epsilon + 1e-12


# --- views that are drawn ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dependent():
    chance = np.random.default_rng(5)
    counts = chance.integers(1, 30, (2, 3, 2))
    counts[0, 0] += 80
    counts[1, 2] += 80
    analysis = analysis_of(counts)
    return analysis, dt.calibrate(analysis, total=1.5, marginals=1)


def test_a_plan_tells_at_most_what_it_promised(dependent):
    analysis, plan = dependent
    spent = plan.spent([plan], analysis)
    assert spent.kept
    for name in NAMES:
        assert spent[name].most == pytest.approx(plan.totals[name][plan.guarantee], abs=1e-9)
    assert plan.spent([], analysis).left == 1.5


def test_a_view_that_is_not_known_may_be_each(dependent):
    analysis, _ = dependent
    shares = (grr("a", epsilon=1.0), grr("b", "c", epsilon=1.3, joint=True))
    views = tuple(dataclasses.replace(view, share=0.5) for view in shares)
    plan = dataclasses.replace(
        plan_of(analysis), views=views, totals={n: {"certified": 1.4} for n in NAMES}
    )
    history = [dt.Asked(plan), dt.Asked(plan)]
    spent = plan.spent(history, analysis)
    each = [
        plan.spent([dt.Asked(plan, view=one), dt.Asked(plan, view=two)], analysis)
        for one, two in itertools.product((1, 2), repeat=2)
    ]
    for name in NAMES:
        assert spent[name].most == max(some[name].most for some in each)


def test_too_many_views_to_combine_are_counted_in_full(dependent, monkeypatch):
    analysis, plan = dependent
    history = [plan, plan, {"a": 0.2}]
    all_of_them = plan.spent(history, analysis)
    monkeypatch.setattr(odometer, "MOST_LOOKED_AT", 1)
    few = plan.spent(history, analysis)
    monkeypatch.setattr(odometer, "MOST_WORLDS", 1)
    one = plan.spent(history, analysis)
    for name in NAMES:
        assert all_of_them[name].most <= few[name].most <= one[name].most <= one[name].plain


def test_without_tables_one_plan_counts_as_its_file_says(dependent):
    analysis, plan = dependent
    spent = plan.spent([plan, {"a": 0.25, "z": 0.5}])
    for name in NAMES:
        own = plan.totals[name][plan.guarantee] + 0.75
        assert spent[name].most == pytest.approx(min(own, spent[name].plain), abs=1e-12)
    # what no table knows is counted in full with tables, too
    alone = plan.spent([plan], analysis)
    for name in NAMES:
        more = plan.spent([plan, {"z": 0.5}], analysis)[name].most
        assert more == pytest.approx(alone[name].most + 0.5, abs=1e-9)
    assert spent.broken
    assert spent.left == 0.0


def test_what_is_left_may_be_asked_of_anything(rng):
    counts, views = drawn_counts(rng), drawn_views(rng, most=2)
    analysis = analysis_of(counts)
    plan = plan_of(analysis, total=4.0)
    left = plan.spent(views, analysis).left
    if left:
        more = grr(str(rng.choice(NAMES)), epsilon=left)
        reports = [([(n, None) for n in view.attributes], view.epsilon) for view in (*views, more)]
        for name in NAMES:
            truth = history_oracle.told(world_of(counts), (name, None), reports)
            assert oracle.is_bound(4.0, truth)


def test_the_largest_budget_of_one_more_answer(rng):
    """It keeps every promise, a larger one does not, and it is no less than what may be asked of anything."""
    counts, views = drawn_counts(rng), drawn_views(rng, most=1)
    analysis = analysis_of(counts)
    spent = plan_of(analysis, total=3.0).spent(views, analysis)
    for mechanism in ("any", "grr"):
        name = str(rng.choice(NAMES))
        most = spent.largest(name, mechanism)
        assert spent.left <= most <= 3.0
        more = [dt.Asked(grr(name, epsilon=epsilon)) for epsilon in (most, most * 1.01) if epsilon]
        if most > spent.left:
            assert spent.after(more[0]).kept
        if mechanism == "grr" and most < 3.0:
            assert not spent.after(more[-1]).kept


def test_an_answer_that_tells_nothing_may_be_asked_when_all_else_is_used_up():
    counts = np.einsum("ab,c->abc", np.array([[8, 1], [1, 8]]), np.array([1, 2, 3]))
    analysis = analysis_of(counts)
    spent = plan_of(analysis, total=1.0).spent([{"a": 1.0}], analysis)
    assert spent.left == 0.0
    assert spent.largest("c") == 1.0
    assert spent.largest("b") < 0.1


# --- over time --------------------------------------------------------------------------------------------------------


def moving_world(rng, times=3):
    """a stays; b moves, given a, as a stationary chain that is the same backwards: paths, and counts of (a, b)."""
    pairs = rng.integers(1, 9, (2, 3, 3))
    pairs += pairs.transpose(0, 2, 1)
    world = []
    for a in range(2):
        rows = pairs[a].sum(axis=1)
        for path in itertools.product(range(3), repeat=times):
            weight = Fraction(int(rows[path[0]]))
            for before, after in itertools.pairwise(path):
                weight *= Fraction(int(pairs[a, before, after]), int(rows[before]))
            answers = {("a", t): a for t in range(times)} | {
                ("b", t): b for t, b in enumerate(path)
            }
            world.append((weight, answers))
    return world, pairs.sum(axis=2)


def test_answers_that_change_and_answers_that_stay(rng):
    world, counts = moving_world(rng)
    analysis = analysis_of(counts)
    budgets = rng.uniform(0.1, 1.5, 4)
    asked = [
        dt.Asked(grr("b", epsilon=budgets[0]), time=0),
        dt.Asked(grr("a", "b", epsilon=budgets[1], joint=True), time=1),
        dt.Asked(grr("b", epsilon=budgets[2]), time=2),
        dt.Asked(grr("a", epsilon=budgets[3]), time=2),
    ][: int(rng.integers(2, 5))]
    spent = plan_of(analysis).spent(asked, analysis, chains={"b": None})
    reports = [
        ([(n, each.time) for n in each.what.attributes], each.what.epsilon) for each in asked
    ]
    truths = [history_oracle.told(world, ("b", time), reports) for time in range(3)]
    assert oracle.is_bound(spent["a"].most, history_oracle.told(world, ("a", 0), reports))
    assert all(oracle.is_bound(spent["b"].most, truth) for truth in truths)
    assert spent["b"].most <= spent["b"].plain
    assert "changing: b" in repr(spent)


def anew_world(rng, times=3):
    """a moves as a chain; b is drawn anew each time, given a."""
    pairs = rng.integers(1, 9, (2, 2))
    pairs += pairs.T + 6 * np.eye(2, dtype=int)
    rows = pairs.sum(axis=1)
    chances = [
        oracle.normalised([[Fraction(int(n)) for n in rng.integers(1, 9, 2)]])[0] for _ in range(2)
    ]
    world = []
    for path in itertools.product(range(2), repeat=times):
        weight = Fraction(int(rows[path[0]]))
        for before, after in itertools.pairwise(path):
            weight *= Fraction(int(pairs[before, after]), int(rows[before]))
        for others in itertools.product(range(2), repeat=times):
            chance = weight
            for a, b in zip(path, others, strict=True):
                chance *= chances[a][b]
            answers = {("a", t): a for t, a in enumerate(path)} | {
                ("b", t): b for t, b in enumerate(others)
            }
            world.append((chance, answers))
    together = np.array([[rows[a] * chances[a][b] for b in range(2)] for a in range(2)])
    scale = math.lcm(*(each.denominator for each in together.ravel()))
    counts = np.array([int(each * scale) for each in together.ravel()]).reshape(2, 2)
    return world, counts, (pairs / rows[:, None]).tolist()


def test_a_chain_bounds_what_is_told_of_its_answer_and_anew_what_all_else_tells(rng):
    world, counts, forward = anew_world(rng)
    analysis, chain = analysis_of(counts), dt.Chain(forward, "stationary")
    budgets = rng.uniform(0.1, 1.5, 5)
    asked = [dt.Asked(grr("a", epsilon=budgets[time]), time=time) for time in (0, 1, 2)]
    asked += [dt.Asked(grr("b", epsilon=budgets[time + 2]), time=time) for time in (1, 2)]
    plan, moving = plan_of(analysis), {"a": chain, "b": None}
    spent = plan.spent(asked, analysis, chains=moving)
    anew = plan.spent(asked, analysis, chains=moving, anew="a")
    reports = [
        ([(n, each.time) for n in each.what.attributes], each.what.epsilon) for each in asked
    ]
    for time in range(3):
        truth = history_oracle.told(world, ("a", time), reports)
        assert oracle.is_bound(spent["a"].most, truth)
        assert oracle.is_bound(anew["a"].most, truth)
    assert anew["a"].most <= spent["a"].most <= spent["a"].plain
    own = plan.spent(asked[:3], analysis, chains=moving)
    assert own["a"].most <= chain.totals(budgets[:3]).total.max() * (1 + 1e-12)
    # what is added to the chain is no more than ε of all else
    assert spent["a"].most <= own["a"].most + budgets[3] + budgets[4] + 1e-9


def test_answers_between_and_after_what_was_asked(rng):
    world, counts, forward = anew_world(rng, times=4)
    analysis, chain = analysis_of(counts), dt.Chain(forward, "stationary")
    asked = [dt.Asked(grr("a", epsilon=rng.uniform(0.1, 2.0)), time=time) for time in (0, 2)]
    spent = plan_of(analysis).spent(asked, analysis, chains={"a": chain, "b": None})
    reports = [([("a", each.time)], each.what.epsilon) for each in asked]
    for name, time in itertools.product("ab", range(4)):
        assert oracle.is_bound(spent[name].most, history_oracle.told(world, (name, time), reports))


def test_anew_would_be_wrong_of_what_stays(dependent):
    analysis, plan = dependent
    moving = {"a": dt.Chain([[0.5, 0.5], [0.5, 0.5]])}
    asked = [dt.Asked({"b": 1.0}, time) for time in (1, 2)]
    with pytest.raises(ValueError, match="'b' is not in chains, so that it stays the same"):
        plan.spent(asked, analysis, chains=moving, anew="a")
    with pytest.raises(ValueError, match="has no Chain in chains"):
        plan.spent(asked, analysis, chains=moving, anew="b")


def test_a_plan_says_nothing_about_answers_of_other_times(dependent):
    """Tomorrow's answer may be today's answer to another question."""
    analysis, plan = dependent
    spent = plan.spent([plan], chains={"b": None})
    assert spent["b"].most == spent["b"].plain
    assert spent["a"].by == "plan's own"
    known = plan.spent([plan], analysis, chains={"b": None, "c": None})
    assert known["b"].time is None
    assert "other" in repr(known)


def test_the_same_answer_for_ever_stays_below_its_limit(dependent):
    analysis, plan = dependent
    chain = dt.Chain([[0.6, 0.4], [0.4, 0.6]], "stationary")
    asked = [dt.Asked({"a": 0.3}, time) for time in range(40)]
    spent = plan.spent(asked, analysis, chains={"a": chain})
    assert spent["a"].by == "chain"
    assert spent["a"].most <= chain.limit_total(0.3) < spent["a"].plain / 5
    assert spent["a"].time is not None


# --- how it looks, and what is refused --------------------------------------------------------------------------------


def test_it_prints_as_a_table_and_is_a_frame(coins):
    plan = plan_of(coins, total={"a": 0.5, "b": 3.0, "c": PUBLIC})
    spent = plan.spent([{"a": 1.0}, grr("b", epsilon=1.0)], coins)
    assert repr(spent).splitlines() == [
        "what 2 collections told of one person at most, in nats",
        "attribute   told  50 % sure becomes     by  sum of ε  promise   left",
        "a          1.000             73.2 %  joint     2.000      0.5  0.000",
        "b          1.000             73.2 %  joint     2.000        3  2.000",
        "c          0.434             60.7 %  joint     2.000      inf    inf",
        "",
        "joint: exact for the mechanisms used and the joint table of all that is seen together; all else in full",
        "the tables are taken as they are",
        "answers stay the same from one collection to the next",
        "BROKEN: more may have been told than was promised about a",
    ]
    assert spent.broken == ["a"]
    assert spent.to_frame()["told"].tolist() == [each.most for each in spent.values()]
    assert "<table" in spent._repr_html_()
    with pytest.raises(KeyError, match="there is no attribute 'd'"):
        spent["d"]
    with pytest.raises(ValueError, match="there is no attribute 'd'"):
        spent.largest("d")


def test_a_promise_that_is_used_up_is_not_shown_as_broken():
    """Rounded up, both are what was promised; nothing more may be asked, and it says so."""
    plan = dt.calibrate(
        dt.Schema([dt.Attribute("a", [0, 1], missing="error")]), total=dt.promise(sure=0.95)
    )
    used, more = plan.spent([plan]), plan.spent([plan, {"a": 1e-6}])
    assert used.kept
    assert repr(used).splitlines()[2].split() == (
        ["a", "2.94444", "95", "%", "sum", "of", "ε", "2.94444", "2.94444", "0.000"]
    )
    assert "nothing is left of what was promised about a: ask only" in repr(used)
    assert repr(more).splitlines()[2].split()[1] == "2.945"
    assert "BROKEN" in repr(more)


def refusals(plan):
    return [
        (lambda: plan.spent({"a": 1.0}), "expected a list of what was asked"),
        (lambda: plan.spent([3]), "what was asked is a int, expected a Plan, a View"),
        (lambda: plan.spent([{}]), "empty mapping"),
        (lambda: plan.spent([{"a": -1.0}]), "the budget of 'a' is -1"),
        (
            lambda: dt.Asked(plan, view=99),
            "view is 99, expected the number of a view of the plan, 1 to",
        ),
        (lambda: dt.Asked({"a": 1.0}, view=1), "no plan was asked"),
        (lambda: dt.Asked({"a": 1.0}, time=0.5), "time is 0.5, expected a whole number"),
        (lambda: plan.spent([plan], chains={"z": None}), "chains names no attribute 'z'"),
        (lambda: plan.spent([plan], chains={"a": 3}), "expected a Chain, or None"),
        (
            lambda: plan.spent([plan], chains={"b": dt.Chain([[0.5, 0.5], [0.5, 0.5]])}),
            "chains\\['b'\\] is a chain of 2 values, expected the 3 of 'b'",
        ),
        (
            lambda: plan.spent(
                [plan],
                chains={"a": dt.Chain(dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="b"))},
            ),
            "chains\\['a'\\] is a chain of 'b', expected one of 'a'",
        ),
        (lambda: plan.spent([plan], 3), "analysis is a int, expected an Analysis"),
    ]


@pytest.mark.parametrize("number", range(12))
def test_what_is_no_history_is_refused(dependent, number):
    call, message = refusals(dependent[1])[number]
    with pytest.raises(ValueError, match=message):
        call()


def test_an_analysis_must_be_of_the_same_attributes(dependent, coins, tmp_path):
    analysis, plan = dependent
    with pytest.raises(
        ValueError, match="does not have the plan's attribute 'b' with its 3 values"
    ):
        plan.spent([plan], coins)
    analysis.save(tmp_path / "analysis.json")
    with pytest.raises(ValueError, match="loaded from a file"):
        plan.spent([plan], dt.Analysis.load(tmp_path / "analysis.json"))


def test_times_too_far_apart_for_a_chain_are_refused(dependent):
    _, plan = dependent
    asked = [dt.Asked({"a": 1.0}, 0), dt.Asked({"a": 1.0}, 20261118)]
    with pytest.raises(ValueError, match="number the collections"):
        plan.spent(asked, chains={"a": dt.Chain([[0.5, 0.5], [0.5, 0.5]])})


def test_entries_print_what_was_asked(dependent):
    _, plan = dependent
    assert repr(dt.Asked(plan, 2, view=1)).startswith("Asked(view 1 of a plan of ")
    assert (
        repr(dt.Asked(grr("a", "b", epsilon=0.5, joint=True))) == "Asked(a & b at ε = 0.5, time 1)"
    )
