"""The demo's survey, its analysis and its file."""

import csv
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import deptriad as dt
from deptriad.cli import demo_survey
from deptriad.utils.text import rounded_up

pd = pytest.importorskip("pandas")
pytest.importorskip("statsmodels")

NAMES = [
    *("marriage rating", "age", "years married", "children", "religiosity"),
    *("education", "occupation", "husband's job", "affairs"),
]


@pytest.fixture(scope="module")
def survey():
    return demo_survey.survey()


@pytest.fixture(scope="module")
def prior(survey):
    return dt.Prior.from_data(survey, demo_survey.SCHEMA)


@pytest.fixture(scope="module")
def analysis(prior):
    return dt.analyze(prior)


@pytest.fixture(scope="module")
def leaks(analysis):
    return analysis.worst(72, 1.0)


def crosstab(survey, source, target):
    """Frequencies of the answers as pandas counts them."""
    return pd.crosstab(survey[target], survey[source], normalize="index").to_numpy()


def test_survey_has_nine_answers_of_6366_women(survey):
    assert list(survey.columns) == list(demo_survey.SCHEMA.names) == NAMES
    codes = demo_survey.SCHEMA.encode(survey)
    assert codes.shape == (6366, 9)
    for attribute, column in zip(demo_survey.SCHEMA, codes.T, strict=True):
        assert set(column.tolist()) == set(range(attribute.size))
        assert 3 <= attribute.size <= 7


def test_answers_are_as_asked(survey):
    from statsmodels.datasets import fair

    asked = fair.load_pandas().data
    for column, (name, values) in demo_survey.ANSWERS.items():
        if name != "affairs":
            assert survey[name].tolist() == asked[column].tolist()
            assert values == sorted(set(asked[column]))


def test_affairs_are_three_groups(survey, prior):
    from statsmodels.datasets import fair

    assert demo_survey.SCHEMA["affairs"].values == ("none", "up to 1", "over 1")
    assert prior.counts.single("affairs").tolist() == [4313, 934, 1119]
    measure = fair.load_pandas().data["affairs"].to_numpy()
    groups = np.add(measure > 0, measure > 1, dtype=np.int64)
    assert demo_survey.SCHEMA.only("affairs").encode(survey)[:, 0].tolist() == groups.tolist()


def test_tables_are_the_samples_own_frequencies(survey, prior, analysis):
    assert len(set(analysis.pairs)) == 72
    assert prior.thin == ()
    for source, target in analysis.pairs:
        table = prior.table(source, target)
        assert (table.source, table.target) == (source, target)
        assert table.source_values == demo_survey.SCHEMA[source].values
        assert table.target_values == demo_survey.SCHEMA[target].values
        np.testing.assert_allclose(table.table, crosstab(survey, source, target), rtol=1e-12)


def test_leaks_say_what_the_library_says_of_each_table(survey, leaks):
    assert len(leaks) == 72
    assert [leak.leakage for leak in leaks] == sorted(
        (leak.leakage for leak in leaks), reverse=True
    )
    for leak in leaks:
        table = crosstab(survey, leak.source, leak.target)
        triad = dt.triad(table)
        assert (leak.triad.alpha, leak.triad.phi, leak.triad.delta) == pytest.approx(
            (triad.alpha, triad.phi, triad.delta), rel=1e-12
        )
        assert dt.leakage(table, 1.0) <= leak.leakage * (1 + 1e-13)  # both are rounded up
        assert leak.leakage <= 1.0
        numbers = (leak.triad.alpha, leak.triad.beta, leak.leakage)
        assert all(type(number) is float for number in numbers)


def test_age_and_years_married_tell_most_about_each_other(leaks):
    assert {leaks[0].source, leaks[0].target} == {"age", "years married"}


def test_epsilon_zero_leaks_nothing(analysis):
    assert all(leak.leakage == 0.0 for leak in analysis.worst(72, 0.0))


def test_written_file_reads_back(analysis, tmp_path):
    path = tmp_path / "new" / "folder" / "triads.csv"
    leaks = analysis.worst(72, 0.7)
    demo_survey.write(leaks, 0.7, path)
    with path.open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert len(read) == 72
    for leak, line in zip(leaks, read, strict=True):
        assert list(line) == [
            *("source", "target", "alpha", "beta", "phi", "delta", "epsilon", "leakage")
        ]
        assert (leak.source, leak.target) == (line["source"], line["target"])
        assert (float(line["epsilon"]), float(line["leakage"])) == (0.7, leak.leakage)
        for name in ("alpha", "beta", "phi", "delta"):
            assert float(line[name]) == getattr(leak.triad, name)
            assert not math.isnan(float(line[name]))


def test_failed_write_leaves_the_old_file(leaks, tmp_path, monkeypatch):
    path = tmp_path / "triads.csv"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        demo_survey.write(leaks, 1.0, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_without_statsmodels_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'deptriad\[demo\]'"):
        demo_survey.survey()


def test_the_page_about_totals_has_the_bounds_of_the_survey(analysis, prior):
    """The row of affairs in its table of three bounds; the joint one from the table of all nine answers."""
    page = Path(__file__).parents[2] / "docs" / "totals.md"
    cells = next(
        line for line in page.read_text(encoding="utf-8").splitlines() if "| affairs |" in line
    )
    budgets = dict.fromkeys(NAMES, 0.3)
    free, grr = (analysis.total("affairs", budgets, way).certified for way in (None, "grr"))
    told = dt.joint_leakage(prior.joint(NAMES).given("affairs"), [0.3] * 8)
    bounds = [rounded_up(bound) for bound in (free, grr, 0.3 + told)]
    assert cells == "| affairs | " + " | ".join(bounds) + " |"
