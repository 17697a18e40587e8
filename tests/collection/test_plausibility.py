"""Reports that cannot be reports of a plan are refused; honest ones, with a chance below 1e-9, never."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb, perturb_file
from deptriad.collection.plausibility import ALARM, doubt
from deptriad.collection.score_sums import Signs, Tally, Told, add_told
from deptriad.collection.split import Separate, Split
from deptriad.mechanisms import GRR, OUE, SUE, Channel, SubsetSelection, mechanisms


def question(mechanism):
    values = list(range(mechanism.size))
    schema = dt.Schema([dt.Attribute("a", values, missing="error")])
    return Separate(schema, {"a": mechanism}).questions[0]


def said(mechanism, reports, signs=True):
    """What speaks against reports of a mechanism."""
    own = [Tally((0,), (mechanism,)), *([Signs((0,), (mechanism,))] if signs else [])]
    add_told(own, {0: Told(np.ones(len(reports), dtype=bool), reports)}, len(reports))
    return doubt(own, [question(mechanism)])


def test_the_chance_of_a_false_alarm_is_below_what_is_stated():
    """Exactly, for GRR of two values: the numbers that are refused, under all true answers."""
    assert ALARM < 1e-9
    n, mechanism = 300, GRR(2, 1.0)
    p, q = map(float, mechanism.probabilities)
    refused = []
    for number in range(n + 1):
        if said(mechanism, np.repeat([0, 1], [number, n - number]), signs=False):
            refused.append(number)
    assert refused
    number = np.arange(n + 1)
    for true in range(0, n + 1, 50):  # so many have the first value
        law = np.convolve(
            binom.pmf(number[: true + 1], true, p), binom.pmf(number[: n - true + 1], n - true, q)
        )
        assert law[refused].sum() < ALARM
    assert (
        law[min(number[number > n / 2][np.isin(number[number > n / 2], refused)]) :].sum() < ALARM
    )


@pytest.mark.parametrize("size, epsilon", [(2, 0.5), (3, 2.0), (12, 1.0), (40, 4.0)])
@pytest.mark.parametrize("name", mechanisms)
def test_honest_reports_are_never_refused(name, size, epsilon, rng):
    """All with the same value, and all mixed: a false alarm has a chance below 1e-9 each."""
    mechanism = mechanisms[name](size, epsilon)
    for n in (1, 30, 3000):
        for codes in (np.zeros(n, dtype=int), rng.integers(0, size, n)):
            assert said(mechanism, mechanism.perturb(codes, rng)) == ""


def test_two_questions_together_are_looked_at(rng):
    """Answers that exclude each other, each plausible by itself."""
    schema = dt.Schema([dt.Attribute(name, ["n", "y"], missing="error") for name in "ab"])
    split = Split(schema, 2.0, "grr")
    answers = rng.choice(["n", "y"], 5000)
    raw = pd.DataFrame({"a": answers, "b": np.where(answers == "n", "y", "n")})
    assert "not checked" in estimate(split, raw, "a").note
    with pytest.raises(ValueError, match="no reports of 'a' & 'b' by GRR and GRR"):
        estimate(split, raw, ["a", "b"])
    with pytest.raises(ValueError, match="no reports of 'a' & 'b'"):
        dt.Prior.from_reports(raw, split)


@pytest.mark.parametrize("kind", [SUE, OUE])
def test_bits_that_were_never_perturbed_are_refused(kind, rng):
    """One bit in each report: plausible value by value where there are two, but not as a number of bits."""
    mechanism = kind(2, 1.0)
    reports = (1 << rng.integers(0, 2, 500))[:, None].astype(np.uint8)
    assert "look like one another" in said(mechanism, reports)
    assert kind is OUE or said(mechanism, reports, signs=False) == ""


def test_other_signs_of_no_reports(rng):
    subset = SubsetSelection(10, 1.0)
    reports = subset.perturb(rng.integers(0, 10, 100), rng)
    reports[3] = [255, 0]
    assert "99 of 100 look like one another, expected about 100" in said(subset, reports)
    olh = mechanisms["olh"](5, 1.0)
    reports = olh.perturb(rng.integers(0, 5, 200), rng)
    reports[:, 0] = 7
    assert "by OLH" in said(olh, reports)
    channel = Channel([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
    assert "by Channel" in said(channel, np.zeros(300, dtype=int))


# --- marks -----------------------------------------------------------------------------------------------------

SCHEMA = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
PEOPLE = pd.DataFrame({"sex": ["f", "m"] * 300})
SPLIT = Split(SCHEMA, 1.0, "grr")


def test_records_in_a_parquet_file_are_refused(tmp_path):
    pytest.importorskip("duckdb")
    PEOPLE.to_parquet(tmp_path / "raw.parquet")
    with pytest.raises(ValueError, match=r"raw\.parquet carries no mark .* unmarked=True"):
        estimate(SPLIT, tmp_path / "raw.parquet", "sex")
    found = estimate(SPLIT, tmp_path / "raw.parquet", "sex", unmarked=True)
    assert "carry no mark: not checked" in found.note
    PEOPLE.assign(sex="f").to_parquet(tmp_path / "raw.parquet")
    with pytest.raises(ValueError, match="0 of 600 say 'm', expected 161 to 439"):
        estimate(SPLIT, tmp_path / "raw.parquet", "sex", unmarked=True)


@pytest.mark.parametrize("attributes", ["[1]", "3", '"deptriad strategy"', "{", "{}"])
def test_attributes_that_others_wrote_are_no_mark(tmp_path, attributes):
    pytest.importorskip("duckdb")
    pa, pq = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    table = pa.Table.from_pandas(PEOPLE).replace_schema_metadata({"PANDAS_ATTRS": attributes})
    pq.write_table(table, tmp_path / "raw.parquet")
    with pytest.raises(ValueError, match="carries no mark"):
        estimate(SPLIT, tmp_path / "raw.parquet", "sex")


@pytest.mark.parametrize("engine", ["pandas", "pyarrow", "polars"])
def test_files_and_frames_say_whether_a_seed_was_used(engine, tmp_path, rng):
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    path, table = tmp_path / "r.parquet", pa.Table.from_pandas(PEOPLE)
    perturb_file(SPLIT, PEOPLE, path)
    assert estimate(SPLIT, path, "sex").note == ""
    perturb_file(SPLIT, PEOPLE, path, rng)
    with pytest.raises(ValueError, match=r"perturbed with a seed.*seeded=True"):
        estimate(SPLIT, path, "sex")
    assert "with a seed" in estimate(SPLIT, path, "sex", seeded=True).note
    frame = {
        "pandas": lambda: PEOPLE,
        "pyarrow": lambda: table,
        "polars": lambda: pytest.importorskip("polars").from_arrow(table),
    }[engine]()
    marked = engine != "polars"  # it has no place for a mark
    for chance in (None, rng):
        found = estimate(SPLIT, perturb(SPLIT, frame, chance), "sex")
        assert ("seed" in found.note) == (marked and chance is not None)
        assert ("not checked" in found.note) == (not marked)


def test_what_pandas_writes_keeps_the_mark(tmp_path, rng):
    pytest.importorskip("duckdb")
    perturb(SPLIT, PEOPLE).to_parquet(tmp_path / "r.parquet")
    assert estimate(SPLIT, tmp_path / "r.parquet", "sex").note == ""
    perturb(SPLIT, PEOPLE, rng).to_parquet(tmp_path / "r.parquet")
    with pytest.raises(ValueError, match="with a seed"):
        estimate(SPLIT, tmp_path / "r.parquet", "sex")
    with pytest.raises(ValueError, match="reports of another plan"):
        estimate(Split(SCHEMA, 2.0), pd.read_parquet(tmp_path / "r.parquet"), "sex")
