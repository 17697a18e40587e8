"""Plan: its file, its checks, its comparison with splitting and sampling, and what a witness says about it."""

import dataclasses
import hashlib
import json
import math
import re
import warnings
from functools import partial

import numpy as np
import pytest

import deptriad as dt
from deptriad.mechanisms import expected_error
from deptriad.planning.plan import Plan

pd = pytest.importorskip("pandas")

calibrate = partial(dt.calibrate, views="all")
"""Everybody is asked everything."""

HOSTILE = ["<script>alert(1)</script>", "\x1b[31mred\nline", '__import__("os")', "ünï'\""]


def records(rows=3000, seed=3):
    chance = np.random.default_rng(seed)
    a = chance.integers(0, 3, rows)
    b = (a + (chance.random(rows) < 0.4)) % 3
    c = np.where(chance.random(rows) < 0.5, a % 2, chance.integers(0, 2, rows))
    return pd.DataFrame({"a": a, "b": b, "c": c})


SCHEMA = dt.Schema(
    [
        dt.Attribute("a", [0, 1, 2], missing="error"),
        dt.Attribute("b", [0, 1, 2], missing="error"),
        dt.Attribute("c", [0, 1], missing="error"),
    ]
)


def analysis_of(uncertainty=None):
    return dt.analyze(dt.Prior.from_data(records(), SCHEMA), uncertainty)


@pytest.fixture(scope="module")
def plan():
    return calibrate(
        analysis_of(dt.Confidence(0.95)), {"a": 1.0, "b": 2.0, "c": math.inf}, users=5000
    )


def signed(content):
    """The content of a plan's file with the digest that it should have."""
    content = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(content, sort_keys=True)
    return content | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def content_of(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    return json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))


def load(content, tmp_path):
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return Plan.load(path)


# --- the file -------------------------------------------------------------------------------------------------------


def test_round_trip(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again == plan
    assert again.digest == plan.digest
    assert again.budgets == plan.budgets
    assert again.total["c"] == math.inf
    assert again.uncertainty.startswith("confidence:0.95/")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_a_person_can_read_it_and_it_holds_no_counts(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    text = (tmp_path / "plan.json").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if '"budget"' in line]
    assert len(rows) == 3
    assert '"format": "deptriad plan"' in text
    assert set(json.loads(text)["facts"]) == set(analysis_of().facts)
    assert "3000" not in text


def test_the_digest_is_that_of_everything_else(plan, tmp_path):
    content = content_of(plan, tmp_path)
    assert signed(content)["digest"] == content["digest"] == plan.digest
    assert len(plan.digest) == 64


def test_any_change_is_noticed(plan, tmp_path):
    content = content_of(plan, tmp_path)
    content["users"] += 1
    with pytest.raises(ValueError, match=r"changed\.json.*changed after it was saved"):
        load(content, tmp_path)


def change(path, value):
    def apply(content):
        place = content
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return apply


def drop(*path):
    def apply(content):
        place = content
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return apply


@pytest.mark.parametrize(
    "change, message",
    [
        (change(["version"], 3), 'has "version": 3, expected 1 or 2'),
        (change(["format"], "deptriad schema"), 'expected "deptriad plan"'),
        (change(["more"], 1), "the plan has the key 'more'"),
        (change(["attributes", 0, "more"], 1), "attribute 'a' has the key 'more'"),
        (
            change(["attributes", 0, "name"], "z"),
            "a budget for 'z', which its schema does not have",
        ),
        (change(["attributes", 0, "name"], "b"), "two budgets for 'b'"),
        (change(["attributes", 0, "name"], ["a"]), "not a plan to rely on"),
        (change(["attributes", 0, "mechanism"], "rappor"), "the mechanism of 'a' is 'rappor'"),
        (change(["attributes", 0, "mechanism"], "none"), "'none' exactly where the budget is 0"),
        (change(["attributes", 0, "budget"], -1.0), "the budget of 'a' is -1.0"),
        (change(["attributes", 0, "budget"], "1"), "the budget of 'a' is '1'"),
        (change(["attributes", 0, "budget"], True), "the budget of 'a' is True"),
        (change(["attributes", 0, "budget"], 10**400), "not a plan to rely on: int too large"),
        (change(["attributes", 0, "budget"], 0.5), "own total of 'a'"),
        (
            change(["attributes", 0, "promise"], 0.5),
            "break the promise: the certified total of 'a'",
        ),
        (change(["attributes", 0, "promise"], None), "the total promised for 'a' is None"),
        (change(["attributes", 0, "totals", "certified"], 0.01), "above certified"),
        (change(["attributes", 0, "totals", "certified"], 9.0), "certified is 9.0, above budgets"),
        (change(["attributes", 0, "totals", "budgets"], 9.0), "all budgets sum to 9.0"),
        (change(["attributes", 0, "totals"], {}), "the totals of 'a' are {}"),
        (change(["attributes"], {}), "no list of objects"),
        (change(["attributes", 0], 3), "no list of objects"),
        (change(["guarantee"], "sure"), "guarantee is 'sure'"),
        (change(["objective"], 3), "objective is 3"),
        (change(["users"], 0), "users is 0"),
        (change(["uncertainty"], "guess:1"), "uncertainty is 'guess:1'"),
        (change(["uncertainty"], 3), "uncertainty is 3"),
        (change(["facts"], []), "facts is"),
        (change(["schema", "attributes", 0, "name"], "z"), "which its schema does not have"),
        (change(["schema"], 3), "not a plan to rely on"),
        (drop("attributes", 0), "no entry for 'a'"),
        (drop("attributes", 0, "budget"), "it lacks 'budget'"),
        (drop("schema"), "it lacks 'schema'"),
        (drop("digest"), "it lacks 'digest'"),
    ],
)
def test_a_file_is_checked_even_if_its_digest_is_right(plan, tmp_path, change, message):
    content = content_of(plan, tmp_path)
    change(content)
    if "digest" in content:
        content = signed(content)
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace("{}", r"\{\}")):
        load(content, tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "3", "{", '{"format": 1}', "\udcff"])
def test_other_files_are_refused(text, tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=r"plan\.json"):
        Plan.load(path)


def test_deep_nesting_is_refused(plan, tmp_path):
    content = content_of(plan, tmp_path)
    text = json.dumps(content)
    deep = text.replace('"facts": {', '"facts": {"x": ' + "[" * 5000 + "]" * 5000 + ", ", 1)
    (tmp_path / "deep.json").write_text(deep)
    with pytest.raises((ValueError, RecursionError)):
        Plan.load(tmp_path / "deep.json")


def test_hostile_labels_stay_text(tmp_path):
    chance = np.random.default_rng(0)
    first, second, third, fourth = HOSTILE
    frame = pd.DataFrame(
        {
            first: chance.choice([second, third], 400),
            second: chance.choice([fourth, first], 400),
        }
    )
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    plan = calibrate(analysis, 2.0)
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan
    for text in (
        repr(plan),
        repr(plan.compare()),
        repr(plan.check(frame, np.random.default_rng(0))),
    ):
        assert "\x1b" not in text
        assert not any(line.startswith("line") for line in text.splitlines())


def test_plans_are_checked_when_made(plan):
    with pytest.raises(ValueError, match="break the promise"):
        dataclasses.replace(plan, total=dict.fromkeys("abc", 0.01))
    with pytest.raises(ValueError, match="no entry for 'b'"):
        Plan.asking_all(SCHEMA, {"a": plan.budgets["a"]}, plan.mechanisms)
    with pytest.raises(ValueError, match="names no attribute 'd'"):
        Plan.asking_all(SCHEMA, plan.budgets | {"d": 1.0}, plan.mechanisms)
    with pytest.raises(ValueError, match="expected a Schema"):
        dataclasses.replace(plan, schema=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.users = 3


# --- what it says --------------------------------------------------------------------------------------------------


def test_estimates_are_called_estimates():
    analysis = analysis_of()
    for guarantee in ("paired", "pairwise"):
        assert "ESTIMATE" in repr(calibrate(analysis, 2.0, guarantee=guarantee))
    assert "ESTIMATE" not in repr(calibrate(analysis, 2.0))


def test_a_plan_prints_every_attribute(plan):
    lines = repr(plan).splitlines()
    assert lines[0] == "Plan for 3 attributes and 5,000 users, chosen for utility"
    assert [line.split()[0] for line in lines[-3:]] == ["a", "b", "c"]
    assert lines[-1].split()[-3:-1] == ["inf", "68.9"]


def test_compare_says_what_the_formulas_say(plan):
    def m(epsilon, size, mechanism=None):
        return expected_error.moment(
            mechanism or expected_error.choose("auto", epsilon, size), epsilon, size
        )

    compared = plan.compare()
    row, sizes = compared["a"], {"a": 3, "b": 3, "c": 2}
    own = {k: m(plan.budgets[k], sizes[k], plan.mechanisms[k]) for k in "abc"}
    assert (row.splitting_budget, row.sampling_budget) == (1 / 3, 1.0)
    assert row.error == pytest.approx(math.sqrt(own["a"] / 5000))
    assert row.splitting_error == pytest.approx(math.sqrt(m(1 / 3, 3) / 5000))
    assert row.sampling_error == pytest.approx(math.sqrt(m(1.0, 3) / (5000 / 3)))
    pairs = own["a"] * (own["b"] + own["c"]) / 2
    assert row.pair_error == pytest.approx(math.sqrt(pairs / 5000))
    split = m(1 / 3, 3) * (m(1 / 3, 3) + m(1 / 3, 2)) / 2
    assert row.splitting_pair_error == pytest.approx(math.sqrt(split / 5000))
    sampled = (m(1.0, 9) + m(1.0, 6)) / 2
    assert row.sampling_pair_error == pytest.approx(math.sqrt(sampled / (5000 / 3)))
    assert row.gain == row.splitting_error / row.error >= 1.0
    assert row.sampling_gain == row.sampling_error / row.error
    assert row.pair_gain == row.splitting_pair_error / row.pair_error
    frame = compared.to_frame()
    assert frame["gain"].tolist() == [each.gain for each in compared]
    assert len(compared) == 3
    assert "upper bounds" in repr(compared)
    with pytest.raises(KeyError, match="no attribute 'd'"):
        compared["d"]


def test_compare_with_an_attribute_that_is_not_released():
    plan = calibrate(analysis_of(), 2.0, fixed={"b": 0})
    compared = plan.compare()
    assert [row.attribute for row in compared] == ["a", "c"]
    assert compared["a"].splitting_budget == 1.0  # of two, not of three
    assert min(plan.budgets[name] for name in "ac") >= 1.0 - 1e-9
    assert "inf" not in repr(compared)


def test_check_finds_a_broken_promise():
    frame = pd.DataFrame(
        {"a": [0, 0, 1, 1] * 200, "b": [0, 1, 0, 1] * 200, "c": [0, 1, 1, 0] * 200}
    )
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    rng = np.random.default_rng(1)
    estimate = calibrate(analysis, 1.0, guarantee="pairwise").check(frame, rng)
    assert estimate.broken == ["a", "b", "c"]  # c = a xor b: no pair of them tells anything
    assert "BROKEN" in repr(estimate)
    sound = calibrate(analysis, 1.0).check(frame, rng)
    assert sound.broken == []
    assert list(sound) == ["a", "b", "c"]
    assert len(sound) == 3
    row = sound["c"]
    assert row.total == row.own + row.witness <= row.promise == 1.0
    assert sound.to_frame()["broken"].tolist() == [False] * 3
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrate(analysis, 1.0).check(frame, rng, progress=lambda *done: seen.append(done))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(ValueError, match=r"has \d+ views: take plan.recheck"):
        dt.calibrate(analysis, 1.0).check(frame, rng)


def test_a_plan_names_who_is_most_exposed_and_never_prints_more_than_was_promised():
    for promise in (dt.promise(sure=0.8), 2.2, 0.1):
        plan = dt.calibrate(analysis_of(), promise)
        said = re.search(
            r"most is told about (.+), the largest total is ([\d.]+)$", repr(plan), re.M
        )
        assert float(said[2]) < promise + 1e-5
        worst = max(plan.totals, key=lambda name: plan.totals[name][plan.guarantee])
        assert said[1] == "all attributes" or worst in said[1]


def test_what_is_printed_fits_the_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    chance = np.random.default_rng(3)
    names = [f"a question that goes on and on and on, number {i:02}" for i in range(12)]
    frame = pd.DataFrame({name: chance.integers(0, 3, 600) for name in names})
    schema = dt.Schema.infer(frame)
    analysis = dt.analyze(dt.Prior.from_data(frame, schema, min_records=0))
    everything = calibrate(analysis, 2.0)
    for found in (dt.calibrate(schema, 2.0), everything):
        prose, lines = 7, repr(found).splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines[prose:])) <= 80
        rest = re.search(r"([\d.]+)%  for the other (\d+) views", lines[-1])
        shown = [line for line in lines[prose:] if re.match(r" *[\d.]+%  +[\d.]+  ", line)]
        if rest is not None:
            assert len(shown) + int(rest[2]) == len(found.views)
            known = sum(float(line.split("%")[0]) for line in shown) + float(rest[1])
            assert known == pytest.approx(100.0, abs=0.3)
        compared = repr(found.compare()).splitlines()
        table = compared[compared.index("") + 1 :]
        assert max(map(len, table)) <= 80
        assert len(compared) <= 26


def test_a_budget_is_never_printed_above_a_promise_that_it_keeps():
    promise = dt.promise(sure=0.95)  # 2.944438…, 2.945 in three digits
    plan = dt.calibrate(analysis_of().schema, promise)
    text = repr(plan)
    assert "2.945" not in text
    assert "2.94444" in text
