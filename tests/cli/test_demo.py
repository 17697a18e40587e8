"""deptriad demo, run as a user runs it."""

import csv
import sys

import pytest

pytest.importorskip("typer")
pytest.importorskip("statsmodels")
from command_line import shown


def test_help_of_demo(run):
    code, output, _ = run("demo", "--help")
    assert code == 0
    assert "Example: deptriad demo" in output
    for option in ("--epsilon", "--top", "--out", "--csv", "--total", "sampling error"):
        assert option in output


def test_demo_shows_the_worst_pairs_and_writes_all_and_the_page(run, one_plan, tmp_path):
    code, output, errors = run("demo")
    assert (code, errors) == (0, "")
    assert "6,366 women" in output
    start = output.splitlines()
    assert "moves odds at most 20.09 times" in start[2]
    assert any(line.startswith("each person is asked one of") for line in start)
    assert "variance" in output.partition("may move the odds")[0]  # what dependence buys
    assert "may move the odds about" in output
    assert "demo/fair-triads.csv" in output
    assert "demo/report.html" in output.splitlines()[-1]
    assert len(shown(output)) == 5
    with (tmp_path / "demo" / "fair-triads.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 72
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "6,366" in page


def test_demo_shows_bounds_rounded_up(run, one_plan, tmp_path):
    _, output, _ = run("demo", "--epsilon", "0.7", "--csv", "mine.csv", "--top", "72")
    with (tmp_path / "mine.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    for cells, row in zip(shown(output), written, strict=True):
        assert cells[:2] == [row["source"], row["target"]]
        for cell, name in zip(cells[2:], ("alpha", "beta", "phi", "delta", "leakage"), strict=True):
            assert (
                0 <= float(cell.replace("∞", "inf")) - float(row[name]) < 1e-3 or row[name] == "inf"
            )


def test_demo_top_shows_fewer_and_writes_all(run, one_plan, tmp_path):
    _, output, _ = run("demo", "--top", "3", "--csv", "mine.csv")
    assert len(shown(output)) == 3
    assert len((tmp_path / "mine.csv").read_text().splitlines()) == 73


@pytest.mark.parametrize("epsilon", ["0", "1e-12", "100", "inf"])
def test_demo_with_extreme_budgets(run, one_plan, epsilon):
    code, output, errors = run("demo", "--epsilon", epsilon)
    assert (code, errors) == (0, "")
    assert "nan" not in output.lower()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("demo", "--epsilon", "much"), "--epsilon"),
        (("demo", "--top", "-1"), "--top"),
        (("demo", "--out", "."), "--out"),
        (("demo", "--csv", "."), "--csv"),
        (("nothing",), "nothing"),
    ],
)
def test_wrong_usage_is_explained(run, arguments, named):
    code, _, errors = run(*arguments)
    assert code == 2
    assert named in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("epsilon", ["-1", "nan"])
def test_bad_value_is_one_line(run, epsilon):
    code, output, errors = run("demo", "--epsilon", epsilon)
    assert (code, output) == (1, "")
    assert errors.startswith("deptriad: ")
    assert errors.count("\n") == 1
    assert epsilon in errors


def test_unwritable_place_is_one_line(run, one_plan, tmp_path):
    (tmp_path / "file").touch()
    for option in ("--csv", "--out"):
        code, _, errors = run("demo", option, "file/here")
        assert code == 1
        assert errors.startswith("deptriad: ")
        assert errors.count("\n") == 1
        assert "cannot write file/here" in errors
        assert option in errors


def test_missing_data_package_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    code, _, errors = run("demo")
    assert code == 1
    assert "pip install 'deptriad[demo]'" in errors
