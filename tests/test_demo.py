"""The demo's survey, tables, rows and file."""

import csv
import math
import os
import sys

import numpy as np
import pytest

import deptriad as dt

pytest.importorskip("statsmodels")
from deptriad import demo


@pytest.fixture(scope="module")
def answers():
    return demo.survey()


@pytest.fixture(scope="module")
def tables(answers):
    return demo.tables(answers)


@pytest.fixture(scope="module")
def rows(tables):
    return demo.rows(tables)


def test_survey_has_nine_answers_of_6366_women(answers):
    assert [answer.name for answer in answers] == list(demo.NAMES.values())
    for answer in answers:
        assert answer.codes.shape == (6366,)
        assert set(answer.codes.tolist()) == set(range(len(answer.values)))
        assert 3 <= len(answer.values) <= 7


def test_affairs_are_three_groups(answers):
    affairs = answers[-1]
    assert affairs.values == ("none", "up to 1", "over 1")
    assert np.bincount(affairs.codes).tolist() == [4313, 934, 1119]


def test_tables_are_the_samples_own_frequencies(answers, tables):
    assert len(tables) == 72
    assert len({(table.source, table.target) for table in tables}) == 72
    by_name = {answer.name: answer for answer in answers}
    for table in tables:
        source, target = by_name[table.source], by_name[table.target]
        assert table.shape == (len(target.values), len(source.values))
        assert (table.target_values, table.source_values) == (target.values, source.values)
    table = next(t for t in tables if (t.source, t.target) == ("age", "affairs"))
    none = by_name["affairs"].codes == 0
    youngest = by_name["age"].codes == 0
    assert table.table[0, 0] == pytest.approx((none & youngest).sum() / none.sum(), rel=1e-12)


def test_rows_say_what_the_library_says(tables, rows):
    assert len(rows) == 72
    assert [row.leakage for row in rows] == sorted((row.leakage for row in rows), reverse=True)
    by_pair = {(table.source, table.target): table for table in tables}
    for row in rows:
        table = by_pair[row.source, row.target]
        triad = dt.triad(table)
        assert (row.alpha, row.phi, row.delta) == pytest.approx(
            (triad.alpha, triad.phi, triad.delta), rel=1e-12
        )
        assert row.epsilon == 1.0
        assert dt.leakage(table, 1.0) <= row.leakage * (1 + 1e-13)  # both are rounded up
        assert row.leakage <= 1.0
        assert all(type(number) is float for number in (row.alpha, row.beta, row.leakage))


def test_age_and_years_married_tell_most_about_each_other(rows):
    assert {rows[0].source, rows[0].target} == {"age", "years married"}


def test_epsilon_zero_leaks_nothing(tables):
    assert all(row.leakage == 0.0 for row in demo.rows(tables, 0.0))


def test_written_file_reads_back(rows, tmp_path):
    path = tmp_path / "new" / "folder" / "triads.csv"
    demo.write(rows, path)
    with path.open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert len(read) == 72
    for row, line in zip(rows, read, strict=True):
        assert (row.source, row.target) == (line["source"], line["target"])
        for name in ("alpha", "beta", "phi", "delta", "epsilon", "leakage"):
            assert float(line[name]) == getattr(row, name)
            assert not math.isnan(float(line[name]))


def test_failed_write_leaves_the_old_file(rows, tmp_path, monkeypatch):
    path = tmp_path / "triads.csv"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        demo.write(rows, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_without_statsmodels_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'deptriad\[demo\]'"):
        demo.survey()
