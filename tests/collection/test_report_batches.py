"""Reports are summed batch by batch, from every engine, and no digit depends on how they were cut."""

import numpy as np
import pandas as pd
import pytest

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Separate, Split
from deptriad.data import batches
from deptriad.mechanisms import GRR, OLH, OUE, HadamardResponse, SubsetSelection

SCHEMA = dt.Schema(
    [
        dt.Attribute("a", ["x", "y"], missing="error"),
        dt.Attribute("b", [1, 2, 3], missing="error"),
        dt.Attribute("c", ["k", "l", "m", "n"], missing="error"),
    ]
)
MIXED = {"a": GRR(2, 1.0), "b": OLH(3, 2.0), "c": OUE(4, 1.0)}
OTHERS = {"a": HadamardResponse(2, 1.0), "b": SubsetSelection(3, 2.0), "c": GRR(4, 1.0)}
CASES = {
    "labels": (Split(SCHEMA, 6.0, "grr"), ["c", "a", "b"]),
    "mixed": (Separate(SCHEMA, MIXED), ["a", "c", "b"]),
    "others": (Separate(SCHEMA, OTHERS), ["b", "a", "c"]),
    "views": (Sample(SCHEMA, 3.0, "olh", k=2), ["c", "a"]),
    "part of views": (Sample(SCHEMA, 3.0, "grr", k=2), ["a"]),
    "fakes": (SampleWithFakes(SCHEMA, 2.0), ["c"]),
}


def frame_of(rng, n=1000):
    values = {each.name: rng.choice(each.categories, n) for each in SCHEMA}
    return pd.DataFrame(values)


def numbers(strategy, reports, names):
    found = estimate(strategy, reports, names, "raw", seeded=True)
    return found.unbiased, found.standard_errors, np.array(found.n)


@pytest.mark.parametrize("case", CASES)
def test_batches_change_no_digit(case, tmp_path, monkeypatch, rng):
    pytest.importorskip("duckdb")
    strategy, names = CASES[case]
    reports = perturb(strategy, frame_of(rng, 100), rng)
    reports.to_csv(tmp_path / "r.csv", index=False)
    reports.to_parquet(tmp_path / "r.parquet")
    whole = numbers(strategy, reports, names)
    monkeypatch.setattr(batches, "BATCH", 7)
    for data in (reports, tmp_path / "r.csv", tmp_path / "r.parquet", reports.sample(frac=1.0)):
        for one, two in zip(numbers(strategy, data, names), whole, strict=True):
            np.testing.assert_array_equal(one, two)


def test_parts_of_views_without_numbers_differ_by_rounding_only(monkeypatch, rng):
    """Squares of sums of scores are floats: a sum of 1,000 has the rounding of 1,000 additions, 1e-13 at most."""
    strategy = Sample(SCHEMA, 3.0, "olh", k=2)
    reports = perturb(strategy, frame_of(rng), rng)
    whole = numbers(strategy, reports, ["b"])
    monkeypatch.setattr(batches, "BATCH", 7)
    for one, two in zip(numbers(strategy, reports, ["b"]), whole, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-12)


def lazily(reports, engine):
    module = pytest.importorskip(engine)
    if engine == "polars":
        return module.from_pandas(reports.astype(str)).lazy()
    if engine == "duckdb":
        return module.from_arrow(
            pytest.importorskip("pyarrow").Table.from_pandas(reports.astype(str))
        )
    return pytest.importorskip("dask.dataframe").from_pandas(reports.astype(str), npartitions=3)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_engines_sum_where_the_reports_are(engine, rng):
    strategy, names = CASES["mixed"]
    reports = perturb(strategy, frame_of(rng), rng)
    lazy = lazily(reports, engine)
    for one, two in zip(
        numbers(strategy, lazy, names), numbers(strategy, reports, names), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    reports["b"] = reports["b"].where(reports.index != 7, "xzz")
    with pytest.raises(ValueError, match="'xzz', expected a report of OLH"):
        numbers(strategy, lazily(reports, engine), names)


def test_all_that_is_wrong_with_labels_is_counted(monkeypatch, rng):
    strategy = Split(SCHEMA, 3.0, "grr")
    reports = perturb(strategy, frame_of(rng), rng).astype(str)
    reports.loc[[3, 500, 900], "a"] = "z"
    monkeypatch.setattr(batches, "BATCH", 100)
    with pytest.raises(ValueError, match="column 'a' has 3 undeclared values, such as 'z'"):
        estimate(strategy, reports, ["b", "a"])


def test_priors_are_learnt_in_batches(monkeypatch, rng):
    for strategy in (CASES["mixed"][0], CASES["views"][0]):
        reports = perturb(strategy, frame_of(rng), rng)
        one = dt.Prior.from_reports(reports, strategy)
        with monkeypatch.context() as cut:
            cut.setattr(batches, "BATCH", 50)
            two = dt.Prior.from_reports(reports, strategy)
        for pair, sums in one.pairs.items():
            for first, second in zip(sums, two.pairs[pair], strict=True):
                np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)
