"""A plan of views from its file to the estimates: reports, marks, both ways of estimating, simulation, attack."""

import json

import numpy as np
import pytest

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb_file

pd = pytest.importorskip("pandas")

TOTAL = 2.0
MANY = 40_000
OFF = 8.0
"""Standard errors that no estimate here is off by: some 70 numbers, each beyond with a chance of 1e-14."""


def people(count, seed):
    """Three dependent answers and one by itself."""
    chance = np.random.default_rng(seed)
    a = chance.integers(0, 3, count)
    b = np.where(chance.random(count) < 0.4, a, chance.integers(0, 3, count))
    c = np.where(chance.random(count) < 0.5, a > 0, chance.random(count) < 0.5).astype(int)
    view = chance.integers(0, 2, count)  # called like the column that says what was asked
    return pd.DataFrame({"a": a, "b": b, "c": c, "view": view})


SCHEMA = dt.Schema(
    [
        dt.Attribute(name, list(range(size)), missing="error")
        for name, size in {"a": 3, "b": 3, "c": 2, "view": 2}.items()
    ]
)


@pytest.fixture(scope="module")
def plan():
    prior = dt.Prior.from_data(people(4_000, 1), SCHEMA)
    return dt.calibrate(dt.analyze(prior), TOTAL, users=MANY)


def truth(frame, names):
    counts = np.zeros([SCHEMA[name].size for name in names])
    np.add.at(counts, tuple(frame[name] for name in names), 1)
    return counts / len(frame)


def within(found, true):
    return (abs(found.unbiased - true) <= OFF * found.standard_errors).all()


def test_the_plan_is_one_of_several_views_above_the_promise(plan):
    assert len(plan.views) > 1
    assert max(view.epsilon for view in plan.views) > TOTAL  # or dependence bought nothing
    assert max(numbers["joint"] for numbers in plan.totals.values()) <= TOTAL
    with pytest.raises(ValueError, match=r"see plan.views"):
        _ = plan.budgets


def test_who_wins_is_said_by_the_numbers(plan):
    found = plan.compare()
    strategies = {rival.strategy: rival for rival in found.rivals}
    assert set(strategies) == {
        "splitting",
        "one attribute",
        "one pair as one value",
        "one attribute with fakes",
        "best views without a prior",
        "everything at once",
    }
    pairs = [names for names in plan.marginals if len(names) == 2]
    for name, kept in (
        ("splitting", dt.Split(SCHEMA, TOTAL)),
        ("one pair as one value", dt.Sample(SCHEMA, TOTAL, k=2)),
    ):
        own = sum(1.0 / sum(v.share * v.precision(p, SCHEMA) for v in kept.views) for p in pairs)
        mine = sum(plan.expected(p) ** 2 * plan.users for p in pairs)
        assert strategies[name].two_way == pytest.approx(
            own / mine, rel=0.02
        )  # mechanisms may differ a little
    alone = dt.calibrate(SCHEMA, TOTAL, users=MANY)
    theirs, mine = (sum(some.expected(p) ** 2 for p in pairs) for some in (alone, plan))
    assert strategies["best views without a prior"].two_way == pytest.approx(theirs / mine)
    everything = dt.calibrate(
        dt.analyze(dt.Prior.from_data(people(4_000, 1), SCHEMA)), TOTAL, views="all"
    )
    assert plan.everything == pytest.approx(everything.budgets)
    assert found.best.two_way > 2.0
    assert found.verdict.startswith("Using how answers depend on each other pays")
    assert str(found.verdict) in repr(found)


def test_where_dependence_buys_nothing_it_is_said():
    chance = np.random.default_rng(3).integers(0, 3, 900)
    frame = pd.DataFrame({"a": chance, "b": chance})  # each answer settles the other
    schema = SCHEMA.only("a", "b")
    plan = dt.calibrate(dt.analyze(dt.Prior.from_data(frame, schema)), TOTAL)
    assert plan.compare().verdict.startswith("Dependence buys nothing here")
    # a plan for one-way tables is not the best one for pairs, and says so
    one = dt.calibrate(SCHEMA, TOTAL, marginals=[("a",), ("b",), ("a", "b")], weights=[50, 50, 1])
    assert "this plan is not the one for them" in one.compare().verdict


def test_estimates_of_reports_are_as_far_off_as_they_say(plan, rng, tmp_path):
    frame = people(MANY, 2)
    plan.save(tmp_path / "plan.json")
    read = dt.Plan.load(tmp_path / "plan.json")
    assert read == plan
    reports = read.perturb(frame, rng)
    assert list(reports.columns) == ["view_", *SCHEMA.names]
    asked = [reports["view_"] == number + 1 for number in range(len(plan.views))]
    for view, rows in zip(plan.views, asked, strict=True):
        empty = set(SCHEMA.names) - set(view.attributes)
        assert reports.loc[rows, list(view.attributes)].notna().all(axis=None)
        assert reports.loc[rows, sorted(empty)].isna().all(axis=None)
    every = plan.estimates(reports)
    assert tuple(every) == plan.marginals
    for names, found in every.items():
        assert within(found, truth(frame, names)), names
        assert found.frequencies.min() >= -1e-12
        alone = plan.estimate(reports, names)
        np.testing.assert_allclose(alone.unbiased, found.unbiased, atol=1e-12)
        # what is expected leaves out Σf² ≤ 1 of each person, and is a bound
        variance, most = float(np.sum(found.standard_errors**2)), plan.expected(names) ** 2
        assert 0.9 * (most - 1.0 / found.n) < variance < 1.05 * most


def test_simulated_reports_are_like_reports(plan, rng):
    frame = people(MANY, 3)
    simulated = dt.simulate((truth(frame, SCHEMA.names) * MANY).round(), plan, rng)
    for names in plan.marginals:
        assert within(plan.estimate(simulated, names), truth(frame, names)), names


def test_no_attack_proves_more_than_was_promised(plan, rng):
    """The audit's chance of a false alarm is a thousandth at most: none of it is used up where the promise has room."""
    found = dt.attack_all(people(4_000, 1), plan, ceiling=False, rng=rng)
    for name, each in found.items():
        # seen are at most the reports that the plan's own total is about, by the same records
        assert each.allowed <= plan.totals[name]["joint"] * (1 + 1e-9)
        assert each.audit.attained <= TOTAL
    own = dt.attack(people(4_000, 1), plan, "a", own=True, ceiling=False, rng=rng)
    assert own.allowed == pytest.approx(plan.totals["a"]["joint"], rel=1e-6)


def test_files_carry_the_mark_of_their_plan(plan, tmp_path):
    out = tmp_path / "reports.parquet"
    assert perturb_file(plan, people(500, 4), out) == 500
    assert estimate(plan, out, ["a", "b"]).n <= 500
    other = dt.calibrate(SCHEMA, TOTAL)
    with pytest.raises(ValueError, match="another plan"):
        estimate(other, out, ["a"])


def test_on_the_command_line(plan, tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    pytest.importorskip("duckdb")
    from deptriad.cli.app import app

    monkeypatch.chdir(tmp_path)
    SCHEMA.save("schema.json")
    people(4_000, 1).to_csv("survey.csv", index=False)
    start = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "2")
    for arguments in (
        (*start, "--marginal", "a,b", "--marginal", "c", "--plan", "few.json"),
        (*start, "--marginals", "2", "--users", str(MANY), "--plan", "plan.json"),
        ("perturb", "plan.json", "survey.csv", "--out", "reports.parquet"),
        ("estimate", "plan.json", "reports.parquet", "a", "b", "--json"),
    ):
        done = testing.CliRunner().invoke(app, list(arguments))
        assert done.exit_code == 0, done.output
    assert dt.Plan.load("plan.json") == plan
    assert dt.Plan.load("few.json").marginals == (("a", "b"), ("c",))
    rows = json.loads(done.stdout)["estimates"]
    assert len(rows) == 9
