"""Attacks reach what can be known and no more, never see whom they guess, and run on everything."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import deptriad as dt
from deptriad.attacks.result import AttackResults
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Separate, Split
from deptriad.mechanisms import GRR, OLH, OUE, Channel, Staircase, mechanisms
from luck import unless_unlucky
from worlds import best_accuracy, dependent, draw, frame_of, schema_of

SIZES = [3, 3, 2, 2]
SCHEMA = schema_of(SIZES)
NAMES = SCHEMA.names


def world(n, rng, strength=0.8):
    return frame_of(draw(dependent(SIZES, rng, strength), n, rng), SCHEMA)


# --- what can be known --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_bayes_reaches_the_best_accuracy_there_is(epsilon, rng):
    joint = dependent(SIZES, rng, 0.8)
    by = {name: GRR(size, epsilon) for name, size in zip(NAMES[1:], SIZES[1:], strict=True)}
    frame = frame_of(draw(joint, 30_000, rng), SCHEMA)
    found = dt.attack(frame, Separate(SCHEMA, by), "a", ceiling=False, level=0.9999, rng=rng)
    low, high = found.score.accuracy_interval
    assert low - 0.005 <= best_accuracy(joint, list(by.values())) <= high + 0.005


def test_who_learns_does_not_beat_bayes(rng):
    pytest.importorskip("sklearn")
    joint = dependent(SIZES, rng, 0.8)
    by = {name: GRR(size, 1.5) for name, size in zip(NAMES[1:], SIZES[1:], strict=True)}
    frame = frame_of(draw(joint, 12_000, rng), SCHEMA)
    found = dt.attack(
        frame, Separate(SCHEMA, by), "a", "boosting", ceiling=False, level=0.9999, rng=rng
    )
    best = best_accuracy(joint, list(by.values()))
    assert found.score.accuracy_interval[0] <= best
    assert found.score.accuracy_interval[1] >= best - 0.05  # and it does learn


@pytest.mark.parametrize("attacker", ["bayes", "boosting"])
def test_without_a_budget_nothing_is_learnt(attacker, rng):
    if attacker == "boosting":
        pytest.importorskip("sklearn")
    strategy = Split(SCHEMA, 4e-3, "grr")
    found = dt.attack(world(4000, rng), strategy, "a", attacker, ceiling=False, rng=rng)
    assert found.accuracy <= found.majority.accuracy_interval[1] + 0.02
    assert found.macro_f1 <= found.baseline.macro_f1_interval[1] + 0.02
    assert found.allowed <= 4e-3
    assert found.allowed_odds <= 1.0041


def test_a_rare_value_is_guessed_by_the_balanced_guess_alone(rng):
    rare = rng.random(6000) < 0.03
    codes = np.column_stack([rare, np.where(rng.random(6000) < 0.1, ~rare, rare)]).astype(int)
    schema = schema_of([2, 2])
    strategy = Separate(schema, {"b": GRR(2, 1.5)})
    found = dt.attack(frame_of(codes, schema), strategy, "a", ceiling=False, rng=rng)
    assert found.macro_f1 == pytest.approx(found.majority.macro_f1, abs=1e-12)
    assert found.balanced.macro_f1 < found.balanced.accuracy < found.accuracy
    # by hand: "rare" is said of those whose report says so
    p = float(GRR(2, 1.5).probabilities[0])
    said = 0.9 * p + 0.1 * (1 - p), 0.1 * p + 0.9 * (1 - p)
    assert found.balanced.accuracy == pytest.approx(0.03 * said[0] + 0.97 * (1 - said[1]), abs=0.05)


@pytest.mark.parametrize("attacker", ["bayes", "boosting"])
def test_with_a_huge_budget_the_ceiling_is_reached(attacker, rng):
    if attacker == "boosting":
        pytest.importorskip("sklearn")
    strategy = Split(SCHEMA, 120.0, "grr")

    def check():
        found = dt.attack(world(4000, rng), strategy, "a", attacker, rng=rng)
        assert found.accuracy == pytest.approx(found.ceiling.accuracy, abs=0.01)
        assert found.accuracy > found.majority.accuracy + 0.1

    # boosting learns twice, by chance not quite the same: where two values are nearly as likely it may guess otherwise
    unless_unlucky(check, 0.02)


@pytest.mark.parametrize("attacker", ["bayes", "boosting"])
def test_the_targets_own_report_at_a_huge_budget_is_the_truth(attacker, rng):
    if attacker == "boosting":
        pytest.importorskip("sklearn")
    strategy = Split(SCHEMA, 120.0, "grr")
    found = dt.attack(world(2000, rng), strategy, "a", attacker, own=True, rng=rng)
    assert found.accuracy > 0.999
    assert found.ceiling.accuracy < 0.999  # which never has the target itself


def test_own_reports_help_and_are_allowed_more(rng):
    frame, strategy = world(6000, rng), Split(SCHEMA, 6.0, "grr")
    less, more = (
        dt.attack(frame, strategy, "a", own=own, ceiling=False, rng=np.random.default_rng(1))
        for own in (False, True)
    )
    assert more.accuracy > less.accuracy
    assert more.allowed > less.allowed + 1.0


# --- whom it sees -------------------------------------------------------------------------------------------------


class Memory:
    """Remembers every record it learnt from, and guesses value 0 of all others."""

    name = "memory"

    def fit(self, tokens, target, size, rng, progress=None):
        self.size = size
        codes = tokens.supports[0].argmax(axis=1)
        self.known = dict(zip(codes.tolist(), target.tolist(), strict=True))
        return self

    def log_posterior(self, tokens):
        codes = tokens.supports[0].argmax(axis=1)
        guess = np.array([self.known.get(code, 0) for code in codes.tolist()])
        return np.log(
            np.where(np.arange(self.size) == guess[:, None], 0.98, 0.02 / (self.size - 1))
        )


def test_it_never_learns_from_those_it_guesses(rng):
    n = 1000
    schema = schema_of([2, n])
    codes = np.column_stack([rng.integers(0, 2, n), rng.permutation(n)])  # everybody has a number
    strategy = Separate(schema, {"b": GRR(n, 40.0)})
    found = dt.attack(frame_of(codes, schema), strategy, "a", Memory(), ceiling=False, rng=rng)
    assert found.attacker == "memory"
    assert found.accuracy == pytest.approx(0.5, abs=0.12)
    assert found.train + found.evaluation == n


def test_the_training_share_is_that_which_was_asked_for(rng):
    found = dt.attack(world(1000, rng), Split(SCHEMA, 2.0), "a", train=0.2, sample=500, rng=rng)
    assert (found.train, found.evaluation) == (100, 400)


# --- everything runs ----------------------------------------------------------------------------------------------


def strategies():
    mixed = {"a": OLH(3, 1.0), "b": Staircase(3, 1.0), "c": Channel([[0.7, 0.3], [0.2, 0.8]])}
    return [
        *(Split(SCHEMA, 4.0, key) for key in mechanisms),
        Separate(SCHEMA, mixed),
        Sample(SCHEMA, 2.0),
        Sample(SCHEMA, 2.0, "oue", k=2),
        SampleWithFakes(SCHEMA, 2.0),
        SampleWithFakes(SCHEMA, 2.0, "oue"),
    ]


@pytest.mark.parametrize(
    "strategy", strategies(), ids=lambda s: f"{type(s).__name__} {getattr(s, 'mechanism', '')}"
)
@pytest.mark.parametrize("attacker", ["bayes", "boosting"])
def test_every_strategy_can_be_attacked(strategy, attacker, rng):
    if attacker == "boosting":
        pytest.importorskip("sklearn")
    targets, own = NAMES if attacker == "bayes" else ["a"], rng.random() < 0.5
    found = dt.attack_all(world(400, rng), strategy, targets, attacker, own, rng=rng)
    assert found.holds
    assert list(found) == list(targets)
    for each in found.values():
        assert 0.0 <= each.score.macro_f1_interval[0] <= each.macro_f1 + 1e-9
        assert each.macro_f1 <= each.score.macro_f1_interval[1] + 1e-9 <= 1.0 + 1e-9
        assert each.baseline.macro_f1 >= each.majority.macro_f1
        assert each.allowed <= strategy.epsilon + 1e-9


def test_a_plan_is_attacked_and_what_is_not_collected_can_be_a_target(rng):
    frame = world(3000, rng)
    prior = dt.Prior.from_data(frame, SCHEMA, min_records=0)
    plan = dt.calibrate(dt.analyze(prior), total=4.0, fixed={"a": 0.0, "d": 0.0}, views="all")
    found = dt.attack(frame.drop(columns="d"), plan, "a", rng=rng)
    assert 0.0 < found.allowed <= plan.totals["a"]["certified"]
    assert found.accuracy > found.majority.accuracy
    given = dt.attack(frame, plan, "a", analysis=dt.analyze(prior), ceiling=False, rng=rng)
    assert given.allowed == pytest.approx(found.allowed, rel=1e-9)
    boxes = dt.analyze(prior, dt.Relative(0.0))  # whose joint tables are not looked at
    given = dt.attack(frame, plan, "a", analysis=boxes, ceiling=False, rng=rng)
    assert given.allowed == pytest.approx(plan.totals["a"]["certified"], rel=1e-6)
    assert "analysis" in given.why
    assert given.ceiling is None


def test_the_same_seed_gives_the_same_result(rng):
    frame, strategy = world(500, rng), Split(SCHEMA, 3.0)
    one, two, other = (
        dt.attack(frame, strategy, "a", rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other
    assert dt.attack(frame, strategy, "a").macro_f1 >= 0.0  # without a seed it runs, too


def test_a_target_is_attacked_alike_alone_and_among_others(rng):
    frame, strategy = world(500, rng), Split(SCHEMA, 3.0)
    alone = dt.attack(frame, strategy, "b", rng=np.random.default_rng(1))
    among = dt.attack_all(frame, strategy, rng=np.random.default_rng(1))["b"]
    assert alone.score == among.score
    assert alone.ceiling == among.ceiling


def test_other_kinds_of_frames_and_files(rng, tmp_path):
    polars = pytest.importorskip("polars")
    frame, strategy = world(400, rng), Split(SCHEMA, 3.0)
    frame.to_parquet(tmp_path / "records.parquet")
    results = [
        dt.attack(records, strategy, "a", rng=np.random.default_rng(1))
        for records in (frame, polars.from_pandas(frame), str(tmp_path / "records.parquet"))
    ]
    assert results[0] == results[1] == results[2]
    assert isinstance(results[0].to_frame(), pd.DataFrame)
    assert isinstance(results[1].to_frame(), polars.DataFrame)


# --- what comes out -----------------------------------------------------------------------------------------------


def test_results_print_and_turn_into_frames_and_json(rng, monkeypatch):
    monkeypatch.setenv("LINES", "24")
    found = dt.attack_all(world(600, rng), Split(SCHEMA, 3.0), rng=rng)
    one = found["a"]
    assert isinstance(one, dt.AttackResult)
    for said in ("Attack on a by bayes", "majority", "ceiling", "odds may rise", "audit: holds"):
        assert said in repr(one)
    assert list(one.to_frame()["guess"]) == [
        "attack",
        "balanced",
        "majority",
        "proportional",
        "ceiling",
    ]
    table = found.to_frame()
    assert list(table["target"]) == list(NAMES)
    assert table["macro_f1"].tolist() == [each.macro_f1 for each in found.values()]
    assert found.aia == pytest.approx(table["macro_f1"].mean())
    assert found.baseline.macro_f1 == pytest.approx(table["baseline_macro_f1"].mean())
    assert found.ceiling.macro_f1 == pytest.approx(table["ceiling_macro_f1"].mean())
    facts = json.loads(json.dumps(found.facts(), allow_nan=False))
    assert facts["aia"]["macro_f1"] == found.aia
    assert [each["target"] for each in facts["targets"]] == list(NAMES)
    assert "mean (AIA)" in repr(found)
    many = repr(AttackResults(replace(found["a"], target=f"t{place}") for place in range(29)))
    assert "t7" in many
    assert "t28" not in many
    assert re.search(r"and \d+ more: to_frame\(\) has all of them\nmean \(AIA\)", many)
    with pytest.raises(KeyError, match="no attack on 'z'"):
        found["z"]
    with pytest.raises(ValueError, match="no results"):
        AttackResults([])


def test_progress_goes_up_to_the_end(rng):
    seen = []
    dt.attack_all(
        world(200, rng),
        Split(SCHEMA, 3.0),
        ["a", "b"],
        rng=rng,
        progress=lambda done, total: seen.append((done, total)),
    )
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {400}
    assert seen[-1] == (400, 400)


def test_an_unlimited_promise_prints(rng):
    sure = Channel([[1.0, 0.0], [0.5, 0.5]])
    strategy = Separate(SCHEMA, {"c": sure, "d": OUE(2, 1.0)})
    found = dt.attack_all(world(300, rng), strategy, ["a"], rng=rng)
    assert "without limit" in repr(found["a"])
    assert "∞" in repr(found)
    json.dumps(found.facts(), allow_nan=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"target": "z"}, "z"),
        ({"target": "a", "attacker": "magic"}, "bayes, boosting, tabtransformer"),
        ({"target": "a", "attacker": object()}, "fit"),
        ({"target": "a", "train": 1.0}, "train is 1.0"),
        ({"target": "a", "level": 95}, "level is 95"),
        ({"target": "a", "sample": 1}, "sample is 1"),
        ({"target": "a", "train": "half"}, "train is 'half'"),
        ({"target": "a", "level": None}, "level is None"),
        ({"target": "a", "attacker": Memory}, "expected one of bayes"),
    ],
)
def test_what_cannot_be_is_refused(arguments, said, rng):
    with pytest.raises(ValueError, match=said):
        dt.attack(world(50, rng), Split(SCHEMA, 3.0), rng=rng, **arguments)


@pytest.mark.parametrize("wrong", [1, np.random.RandomState(1)])
def test_a_seed_is_no_generator(wrong, rng):
    with pytest.raises(TypeError, match=r"expected numpy.random.default_rng\(seed\)"):
        dt.attack(world(50, rng), Split(SCHEMA, 3.0), "a", rng=wrong)


def test_targets_and_records_must_be_there(rng):
    frame, strategy = world(50, rng), Split(SCHEMA, 3.0)
    with pytest.raises(ValueError, match="expected a list"):
        dt.attack_all(frame, strategy, "a")
    with pytest.raises(ValueError, match="targets is empty"):
        dt.attack_all(frame, strategy, [])
    with pytest.raises(ValueError, match="1 records"):
        dt.attack(frame[:1], strategy, "a")
    with pytest.raises(ValueError, match=r"undeclared.*: a plan stands as it is"):
        dt.attack(frame.assign(a="?"), dt.calibrate(SCHEMA, 1.0), "a")
    for all_about_a in (Separate(SCHEMA, {"a": GRR(3, 1.0)}), Sample(SCHEMA, 1.0, k=4)):
        with pytest.raises(ValueError, match="every question is about 'a' itself"):
            dt.attack(frame, all_about_a, "a", own=False)
    assert dt.attack(frame, Sample(SCHEMA, 1.0, k=4), "a", rng=rng).own
    alone = dt.attack(frame, Separate(SCHEMA, {"a": GRR(3, 1.0)}), "a", own=True)
    assert alone.ceiling is None
    assert alone.allowed == 1.0


def test_by_default_targets_are_those_about_which_something_is_seen(rng):
    frame, only = world(50, rng), Separate(SCHEMA, {"a": GRR(3, 1.0)})
    assert list(dt.attack_all(frame, only, rng=rng)) == ["b", "c", "d"]
    assert list(dt.attack_all(frame, only, own=True, rng=rng)) == list(NAMES)
    with pytest.raises(ValueError, match="every question is about 'a' itself"):
        dt.attack_all(frame, only, ["b", "a"], rng=rng)


def test_an_attacker_whose_fit_gives_itself_is_audited_as_it_was_scored(rng):
    """The ceiling trains it anew on other tokens, of which the audit must not know."""

    class Itself(Memory):
        def fit(self, tokens, target, size, rng, progress=None):
            self.names = tokens.names
            return super().fit(tokens, target, size, rng, progress)

        def log_posterior(self, tokens):
            assert tokens.names == self.names
            return super().log_posterior(tokens)

    found = dt.attack(world(60, rng), Split(SCHEMA, 3.0), "a", Itself(), own=True, rng=rng)
    assert found.ceiling is not None


def test_an_attacker_that_answers_in_another_shape_is_told_so(rng):
    class Odd(Memory):
        def log_posterior(self, tokens):
            return np.zeros((len(tokens), 7))

    with pytest.raises(ValueError, match=r"shape \(25, 7\), expected \(25, 3\)"):
        dt.attack(world(50, rng), Split(SCHEMA, 3.0), "a", Odd(), rng=rng)


def test_without_the_extra_it_says_what_to_install(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(ImportError, match=r"needs scikit-learn: pip install 'deptriad\[attack\]'"):
        dt.attack(world(50, rng), Split(SCHEMA, 3.0), "a", "boosting", rng=rng)


def test_a_value_that_only_some_records_have(rng):
    frame = world(300, rng)
    frame.loc[frame["a"] == "a2", "a"] = "a0"
    frame.loc[0, "a"] = "a2"  # one record: in one of the parts only
    for attacker in ("bayes", "boosting"):
        if attacker == "boosting":
            pytest.importorskip("sklearn")
        found = dt.attack(frame, Split(SCHEMA, 6.0), "a", attacker, rng=rng)
        assert np.isfinite(found.macro_f1)
    frame["a"] = "a1"  # and one that all have
    for attacker in ("bayes", "boosting"):
        found = dt.attack(frame, Split(SCHEMA, 6.0), "a", attacker, rng=rng)
        assert found.accuracy == 1.0
        assert found.audit.pair is None


def test_real_records(shared_dir, rng):
    frame = pd.read_parquet(shared_dir / "data" / "nursery.parquet")
    schema = dt.Schema.infer(frame)
    first, *_, last = frame.columns  # the class depends on the others, which do not on each other
    found = dt.attack_all(frame, Split(schema, 18.0), [first, last], sample=6000, rng=rng)
    assert found.holds
    assert found[last].accuracy > found[last].majority.accuracy + 0.05
    assert found[first].accuracy < found[last].accuracy
