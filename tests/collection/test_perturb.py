"""Strategies and perturbing: the frame's kind is kept, refused values stay out, files hold reports, chance is right."""

import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb, perturb_file
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Separate, Split, as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.mechanisms import GRR, OLH, Channel, Staircase, mechanisms
from luck import unless_unlucky

SCHEMA = dt.Schema(
    [
        dt.Attribute("sex", ["f", "m"], missing="error"),
        dt.Attribute("rooms", [1, 2, 3]),
        dt.Attribute("age", edges=[0, 18, 65, math.inf], missing="error"),
    ]
)
CHANNEL = Channel([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])


def records(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    rooms = rng.choice([1.0, 2.0, 3.0, np.nan], n)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "rooms": rooms,
            "age": rng.uniform(0, 90, n),
        }
    )


@dataclass
class PlanLike:
    schema: dt.Schema
    budgets: dict
    mechanisms: dict


def every_strategy():
    mixed = {"sex": CHANNEL, "rooms": OLH(4, 2.0), "age": Staircase(3, 1.0)}
    return [
        Split(SCHEMA, 3.0),
        *(Split(SCHEMA, 3.0, key) for key in mechanisms),
        Separate(SCHEMA, mixed),
        Sample(SCHEMA, 2.0),
        Sample(SCHEMA, 2.0, "oue", k=2),
        Sample(SCHEMA, 1.0, "grr", k=3),
        SampleWithFakes(SCHEMA, 1.0),
        SampleWithFakes(SCHEMA, 1.0, "oue"),
    ]


def some_attributes(strategy):
    return (
        ["rooms"]
        if isinstance(strategy, SampleWithFakes)
        else ["rooms", "sex"][: getattr(strategy, "k", 2)]
    )


STRATEGIES = pytest.mark.parametrize("strategy", every_strategy(), ids=lambda s: repr(s)[-60:])


# ------------------------------------------------------------------------------------------ frames


@STRATEGIES
def test_frames_of_all_kinds_come_back_as_they_are_and_say_the_same(strategy):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = records()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    found = []
    for data in (frame, pl.from_arrow(table), table):
        reports = perturb(strategy, data, np.random.default_rng(5))
        assert type(reports) is type(data)
        assert len(reports) == len(frame)
        found.append(estimate(strategy, reports, some_attributes(strategy), "raw"))
    for other in found[1:]:
        np.testing.assert_array_equal(other.frequencies, found[0].frequencies)


@STRATEGIES
def test_reports_survive_csv_and_parquet(strategy, tmp_path):
    pytest.importorskip("duckdb")
    reports = perturb(strategy, records(), np.random.default_rng(5))
    names = some_attributes(strategy)
    truth = estimate(strategy, reports, names, "raw").frequencies
    reports.to_parquet(tmp_path / "r.parquet")
    reports.to_csv(tmp_path / "r.csv", index=False)
    for data in (
        tmp_path / "r.parquet",
        tmp_path / "r.csv",
        pd.read_csv(tmp_path / "r.csv", keep_default_na=False),
        pd.read_parquet(tmp_path / "r.parquet"),
    ):
        found = estimate(strategy, data, names, "raw", seeded=True)
        np.testing.assert_array_equal(found.frequencies, truth)


def test_columns_of_reports():
    frame = records(50)
    reports = perturb(Split(SCHEMA, 3.0, "grr"), frame)
    assert list(reports.columns) == ["view", "sex", "rooms", "age"]
    assert set(reports["rooms"]) <= {"1", "2", "3", "(missing)"}
    one = perturb(Sample(SCHEMA, 3.0, "grr"), frame)
    assert list(one.columns) == ["view", "sex", "rooms", "age"]
    assert set(one["view"]) <= {1, 2, 3}
    asked = np.column_stack([one["view"] == number for number in (1, 2, 3)])
    np.testing.assert_array_equal(one[["sex", "rooms", "age"]].notna(), asked)


def test_joint_reports_are_labels_or_text_in_the_first_column():
    frame = records(50)
    named = perturb(Sample(SCHEMA, 3.0, "grr", k=2), frame)
    np.testing.assert_array_equal(named["rooms"].notna(), named["view"] != 2)
    hashed = perturb(Sample(SCHEMA, 3.0, "olh", k=2), frame)
    assert hashed["sex"].dropna().str.fullmatch("x[0-9a-f]{20}").all()
    np.testing.assert_array_equal(hashed["rooms"].notna(), hashed["view"] == 3)
    assert hashed["age"].isna().all()


def test_an_attribute_may_be_called_view():
    schema = dt.Schema(
        [dt.Attribute(name, ["x", "y"], missing="error") for name in ("view", "view_", "b")]
    )
    frame = pd.DataFrame(dict.fromkeys(schema.names, ["x", "y"] * 500))
    sample = Sample(schema, 3.0, k=2)
    reports = perturb(sample, frame, np.random.default_rng(1))
    assert list(reports.columns) == ["view__", "view", "view_", "b"]
    assert estimate(sample, reports, ["view_", "view"]).frequencies.shape == (2, 2)


def test_whole_numbers_that_a_csv_reader_takes_for_numbers(tmp_path):
    schema = dt.Schema([dt.Attribute("rooms", [1, 2, 3], missing="error")])
    split = Split(schema, 1.0, "grr")
    reports = perturb(split, pd.DataFrame({"rooms": [1, 2, 3] * 100}), np.random.default_rng(1))
    reports.to_csv(tmp_path / "r.csv", index=False)
    again = pd.read_csv(tmp_path / "r.csv")
    assert again["rooms"].dtype.kind == "i"
    one, two = (estimate(split, each, "rooms").frequencies for each in (reports, again))
    np.testing.assert_array_equal(one, two)


@STRATEGIES
def test_the_same_seed_gives_the_same_reports_and_none_gives_others(strategy):
    frame = records(500)
    one, two = (perturb(strategy, frame, np.random.default_rng(3)) for _ in range(2))
    assert one.equals(two)
    assert not perturb(strategy, frame).equals(perturb(strategy, frame))


# ------------------------------------------------------------------------------------- what is refused


@STRATEGIES
@pytest.mark.parametrize(
    "column, value, said",
    [("sex", "x", "undeclared"), ("sex", None, "missing"), ("age", -1.0, "outside its edges")],
)
def test_values_outside_the_schema_are_refused(strategy, column, value, said, tmp_path):
    frame = records(100)
    frame.loc[60, column] = value
    with pytest.raises(ValueError, match=said):
        perturb(strategy, frame)
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=said):
        perturb_file(strategy, tmp_path / "d.parquet", tmp_path / "out.parquet")
    assert os.listdir(tmp_path) == ["d.parquet"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_column_that_is_not_there_is_named(kind, tmp_path):
    frame, place = records(20).drop(columns="sex"), tmp_path / f"d.{kind}"
    getattr(frame, f"to_{kind}")(place, index=False)
    for data in (frame, place):
        with pytest.raises(ValueError, match="there is no column 'sex': there are"):
            perturb_file(Split(SCHEMA, 1.0), data, tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="there is no column 'sex': there are"):
        perturb(Split(SCHEMA, 1.0), frame)
    assert os.listdir(tmp_path) == [f"d.{kind}"]


@pytest.mark.parametrize(
    "strategy", [Split(SCHEMA, 1.0), Sample(SCHEMA, 1.0), SampleWithFakes(SCHEMA, 1.0)]
)
def test_a_code_that_is_none_is_never_reported(strategy):
    codes = np.zeros((2000, 3), dtype=np.int16)
    codes[:, 0] = -1
    with pytest.raises(ValueError, match="expected 0"):
        strategy.report(codes)


def test_reports_of_another_plan_are_refused():
    frame = records(100)
    with pytest.raises(ValueError, match="the frame holds reports of another plan"):
        estimate(Split(SCHEMA, 1.0, "oue"), perturb(Split(SCHEMA, 1.0, "grr"), frame), "rooms")

    def perturb_unmarked(strategy):
        reports = perturb(strategy, frame)
        reports.attrs.clear()
        return reports

    with pytest.raises(ValueError, match=r"holds text|expected a report of|undeclared"):
        estimate(Split(SCHEMA, 1.0, "grr"), perturb_unmarked(Split(SCHEMA, 1.0, "oue")), "rooms")
    with pytest.raises(ValueError, match="expected a report of OUE"):
        estimate(Split(SCHEMA, 1.0, "oue"), perturb_unmarked(Split(SCHEMA, 1.0, "grr")), "rooms")
    with pytest.raises(ValueError, match="expected a report of OLH"):
        estimate(Split(SCHEMA, 1.0, "olh"), perturb_unmarked(Split(SCHEMA, 1.0, "oue")), "rooms")
    broken = perturb_unmarked(Split(SCHEMA, 1.0, "oue"))
    broken.loc[3, "rooms"] = "xzz"
    with pytest.raises(ValueError, match="xzz"):
        estimate(Split(SCHEMA, 1.0, "oue"), broken, "rooms")
    with pytest.raises(ValueError, match="no column"):
        estimate(Split(SCHEMA, 1.0), frame[["id"]], "rooms")


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: Split(SCHEMA, 0.0), "at 0 reports say nothing"),
        (lambda: Split(SCHEMA, math.inf), "finite number above 0"),
        (lambda: Split(SCHEMA, 1.0, "best").questions, "expected 'auto' or one of grr"),
        (lambda: Sample(SCHEMA, 1.0, k=4), "k is 4, expected at most the 3"),
        (lambda: SampleWithFakes(SCHEMA, 1.0, "staircase"), "reports support values"),
        (lambda: Separate(SCHEMA, {"sex": GRR(3, 1.0)}), "for 3 values, expected 2"),
        (lambda: Separate(SCHEMA, {}), "no attribute has a mechanism"),
        (lambda: as_strategy(3), "strategy is a int"),
        (
            lambda: Split(dt.Schema([dt.Attribute("one", [1], missing="error")]), 1.0).questions,
            "'one' has one value",
        ),
    ],
)
def test_wrong_strategies_say_what_is_wrong(make, said):
    with pytest.raises(ValueError, match=said):
        make()


# ------------------------------------------------------------------------------------------ budgets


def test_a_plan_is_a_strategy():
    plan = PlanLike(
        SCHEMA,
        {"sex": 1.0, "rooms": 2.0, "age": 0.0},
        {"sex": "grr", "rooms": "olh", "age": "none"},
    )
    strategy = as_strategy(plan)
    assert isinstance(strategy, Strategy)
    assert [each.mechanism for each in strategy.questions] == [GRR(2, 1.0), OLH(4, 2.0)]
    assert strategy.epsilon == 3.0
    reports = perturb(plan, records(), np.random.default_rng(1))
    assert list(reports.columns) == ["view", "sex", "rooms"]
    assert estimate(plan, reports, ["rooms", "sex"]).frequencies.shape == (4, 2)
    with pytest.raises(ValueError, match="its budget is 0"):
        estimate(plan, reports, "age")


def test_budgets_of_the_strategies():
    assert Split(SCHEMA, 3.0).questions[1].mechanism.epsilon == 1.0
    assert math.isclose(Split(SCHEMA, 3.0).epsilon, 3.0)
    assert [each.mechanism.epsilon for each in Sample(SCHEMA, 3.0, k=2).questions] == [3.0] * 3
    assert [each.mechanism.size for each in Sample(SCHEMA, 3.0, k=2).questions] == [8, 6, 12]
    fakes = SampleWithFakes(SCHEMA, 1.0)
    assert math.isclose(fakes.epsilon, math.log(3 * (math.e - 1) + 1))
    assert math.isclose(SampleWithFakes(SCHEMA, 800.0).epsilon, 800.0 + math.log(3))


def record_ratio(schema, strategy):
    """Largest ratio of the probabilities of a combination of reports under two records, by enumeration."""
    d = len(schema)
    tables = [question.mechanism.matrix() for question in strategy.questions]

    def chance(reports, record):
        terms = [
            tables[j][record[j], reports[j]]
            * math.prod(1 / schema.sizes[i] for i in range(d) if i != j)
            for j in range(d)
        ]
        return sum(terms) / d

    every = list(product(*map(range, schema.sizes)))
    whole, one = 0.0, 0.0
    for reports in every:
        for first, second in product(every, every):
            ratio = chance(reports, first) / chance(reports, second)
            whole = max(whole, ratio)
            if sum(a != b for a, b in zip(first, second, strict=True)) == 1:
                one = max(one, ratio)
    return math.log(whole), math.log(one)


def test_what_fakes_promise_and_what_they_do_not():
    """ε of RS+FD holds for one attribute of equals; a whole record, or a large attribute among small ones, has ε'."""
    equal = dt.Schema([dt.Attribute(name, ["n", "y"], missing="error") for name in "abc"])
    strategy = SampleWithFakes(equal, 1.0, "grr")
    whole, one = record_ratio(equal, strategy)
    assert math.isclose(one, 1.0, rel_tol=1e-6)
    assert math.isclose(whole, strategy.epsilon, rel_tol=1e-6)
    uneven = dt.Schema(
        [
            dt.Attribute("a", list(range(12)), missing="error"),
            dt.Attribute("b", [0, 1], missing="error"),
        ]
    )
    strategy = SampleWithFakes(uneven, 1.0, "grr")
    whole, one = record_ratio(uneven, strategy)
    assert 1.05 < one <= whole <= strategy.epsilon * (1 + 1e-9)


# --------------------------------------------------------------------------------------------- chance


def test_views_are_drawn_evenly_and_independently_of_the_records(rng):
    frame = records(20_000)
    sample = Sample(SCHEMA, 1.0, k=2)

    def check():
        reports = perturb(sample, frame, rng)
        table = pd.crosstab(reports["view"], frame["sex"].to_numpy())
        assert stats.chisquare(table.sum(axis=1)).pvalue > 1e-3
        assert stats.chi2_contingency(table).pvalue > 1e-3

    unless_unlucky(check, 0.01)


def test_reports_have_the_probabilities_of_their_mechanism(rng):
    frame = records(30_000)
    matrix = GRR(2, 1.0).matrix()

    def check():
        reports = perturb(Split(SCHEMA, 3.0, "grr"), frame, rng)
        for code, value in enumerate(["f", "m"]):
            some = reports["sex"][frame["sex"].to_numpy() == value].value_counts().sort_index()
            assert stats.chisquare(some, matrix[code] * some.sum()).pvalue > 1e-3

    unless_unlucky(check, 0.01)


def test_columns_of_a_record_are_perturbed_independently(rng):
    frame = pd.DataFrame({"sex": ["f"] * 30_000, "rooms": [1] * 30_000, "age": [5.0] * 30_000})

    def check():
        reports = perturb(Split(SCHEMA, 1.5, "grr"), frame, rng)
        for one, two in (("sex", "rooms"), ("rooms", "age"), ("sex", "age")):
            assert stats.chi2_contingency(pd.crosstab(reports[one], reports[two])).pvalue > 1e-3

    unless_unlucky(check, 0.01)


# ---------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("rest", range(4))
def test_files_are_perturbed_batch_by_batch(rest, tmp_path, monkeypatch, rng):
    """By some strategy of every fourth. Eight standard errors: about 1e-15 a cell."""
    pytest.importorskip("duckdb")
    from deptriad.data import batches

    monkeypatch.setattr(batches, "BATCH", 1000)
    strategy = rng.permutation(np.array(every_strategy()[rest::4], dtype=object))[0]
    frame = records(3500)
    frame.to_csv(tmp_path / "d.csv", index=False)
    seen = []
    out = tmp_path / "r.parquet"
    done = perturb_file(strategy, tmp_path / "d.csv", out, rng, lambda n, _: seen.append(n))
    assert done == seen[-1] == 3500
    assert len(seen) > 1
    assert len(pd.read_parquet(out)) == 3500
    names = some_attributes(strategy)
    found = estimate(strategy, out, names, "raw", seeded=True)
    codes = SCHEMA.encode(frame)[:, [SCHEMA.index(name) for name in names]]
    truth = np.zeros(found.frequencies.shape)
    np.add.at(truth, tuple(codes.T), 1 / 3500)
    assert (np.abs(found.frequencies - truth) < 8 * found.standard_errors).all()


def test_an_empty_file_gives_an_empty_one(tmp_path):
    pytest.importorskip("duckdb")
    records(5).head(0).astype({"sex": str}).to_parquet(tmp_path / "d.parquet")
    assert perturb_file(Split(SCHEMA, 1.0), tmp_path / "d.parquet", tmp_path / "r.parquet") == 0
    assert len(pd.read_parquet(tmp_path / "r.parquet")) == 0


def test_only_parquet_is_written(tmp_path):
    with pytest.raises(ValueError, match="expected the name of a"):
        perturb_file(Split(SCHEMA, 1.0), records(5), tmp_path / "r.csv")


KILLED = """
import sys, time
import deptriad as dt
from deptriad.collection.perturb import perturb_file
from deptriad.collection.split import Split
from deptriad.data import batches
batches.BATCH = 1000
schema = dt.Schema([dt.Attribute("a", [0, 1], missing="error")])
def slow(done, _):
    print(done, flush=True)
    time.sleep(0.2)
perturb_file(Split(schema, 1.0), sys.argv[1], sys.argv[2], progress=slow)
"""


def test_killed_half_way_it_leaves_no_half_file(tmp_path):
    pytest.importorskip("duckdb")
    pd.DataFrame({"a": np.arange(100_000) % 2}).to_parquet(tmp_path / "d.parquet")
    out = tmp_path / "r.parquet"
    out.write_bytes(b"what was there before")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "d.parquet"), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline().strip() == b"1000"
        time.sleep(0.3)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert out.read_bytes() == b"what was there before"


# ------------------------------------------------------------------- what must not leave, or be needed


def test_the_index_of_a_frame_is_not_passed_on():
    schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    frame = pd.DataFrame({"sex": ["f", "m", "m"]}).set_index("sex", drop=False)
    assert perturb(Split(schema, 0.1), frame).index.tolist() == [0, 1, 2]


def test_what_is_not_released_is_not_looked_at(tmp_path):
    schema = dt.Schema(
        [
            dt.Attribute("n", [1, 2, 3], missing="error"),
            dt.Attribute("sex", ["f", "m"], missing="error"),
        ]
    )
    strategy = Separate(schema, {"sex": GRR(2, 50.0)})
    for frame in (
        pd.DataFrame({"sex": ["f", "m"]}),
        pd.DataFrame({"sex": ["f", "m"], "n": [9, None]}),
    ):
        reports = perturb(strategy, frame)
        assert list(reports.columns) == ["view", "sex"]
        assert reports["sex"].tolist() == ["f", "m"]
        assert perturb_file(strategy, frame, tmp_path / "r.parquet") == 2


def test_no_records_with_any_mechanism(tmp_path):
    schema = dt.Schema([dt.Attribute("a", range(100), missing="error")])
    empty = pd.DataFrame({"a": pd.Series([], dtype="int64")})
    for mechanism in ("grr", "olh", "oue"):
        assert len(perturb(Split(schema, 1.0, mechanism), empty)) == 0
        assert perturb_file(Split(schema, 1.0, mechanism), empty, tmp_path / "r.parquet") == 0


def test_the_data_is_never_replaced_by_its_reports(tmp_path):
    schema = dt.Schema([dt.Attribute("a", ["x", "y"], missing="error")])
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(tmp_path / "d.parquet")
    before = (tmp_path / "d.parquet").read_bytes()
    with pytest.raises(ValueError, match="the data itself"):
        perturb_file(Split(schema, 1.0), tmp_path / "d.parquet", tmp_path / "d.parquet")
    assert (tmp_path / "d.parquet").read_bytes() == before


@pytest.mark.parametrize("total", [0.1, 0.3, 0.5, 0.7, 1.0, 3.0])
def test_the_parts_of_a_split_never_add_up_to_more(total):
    for number in range(2, 40):
        schema = dt.Schema(
            [dt.Attribute(f"a{i}", ["x", "y"], missing="error") for i in range(number)]
        )
        parts = [question.mechanism.epsilon for question in Split(schema, total, "grr").questions]
        assert sum(map(Fraction, parts)) <= Fraction(total)


def test_an_attribute_of_one_value_is_not_released():
    frame = pd.DataFrame({"k": ["only"] * 80, "b": [0, 1] * 40, "c": [0, 0, 1, 1] * 20})
    schema = dt.Schema(
        [
            dt.Attribute("k", ["only"], missing="error"),
            dt.Attribute("b", [0, 1], missing="error"),
            dt.Attribute("c", [0, 1], missing="error"),
        ]
    )
    plan = dt.calibrate(dt.analyze(dt.Prior.from_data(frame, schema)), 2.0)
    assert all("k" not in view.attributes for view in plan.views)
    assert list(plan.perturb(frame).columns) == ["view", "b", "c"]
    assert plan.estimate(plan.perturb(frame), "b").frequencies.shape == (2,)
    with pytest.raises(ValueError, match="'k' has one value"):
        Split(schema, 1.0)


def test_a_file_of_reports_is_read_by_its_own_strategy_only(tmp_path):
    own, other = Split(SCHEMA, 1.0, "grr"), Split(SCHEMA, 2.0, "grr")
    path = tmp_path / "r.parquet"
    perturb_file(own, records(50), path)
    name = SCHEMA.names[0]
    assert estimate(own, path, name).n == 50
    for reports in (path, str(tmp_path / "*.parquet")):
        with pytest.raises(ValueError, match="reports of another plan"):
            estimate(other, reports, name)
    with pytest.raises(ValueError, match="reports of another plan"):
        dt.Prior.from_reports(path, other)
    with pytest.raises(ValueError, match="the frame holds reports of another plan"):
        estimate(other, pd.read_parquet(path), name)
    pd.read_parquet(path).to_csv(tmp_path / "r.csv", index=False)  # which has no place for a mark
    found = estimate(other, tmp_path / "r.csv", name)
    assert found.n == 50
    assert "not checked is whether they are of this plan, nor whether they were" in found.note


def test_a_broken_file_of_reports_is_named(tmp_path):
    path = tmp_path / "r.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(ValueError, match=r"r\.parquet"):
        estimate(Split(SCHEMA, 1.0), path, SCHEMA.names[0])
