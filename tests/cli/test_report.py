"""deptriad report, run as a user runs it."""

import pytest

pytest.importorskip("typer")


def test_report_writes_one_page(run, one_plan, survey, tmp_path):
    given = ("--schema", "schema.json", "--total", "2", "--out", "new/page.html")
    code, output, _ = run("report", "survey.csv", *given)
    assert code == 0
    lines = output.splitlines()
    assert lines[0].startswith(
        "promised: what is told about any attribute moves odds at most 7.390"
    )
    assert "each person is asked" in output
    assert "variance" in output or "buys nothing" in output
    assert lines[-1] == "The page is in new/page.html, with plans for these promises: 2"
    page = (tmp_path / "new" / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '"file":"survey.csv"' in page
    assert str(tmp_path) not in page
    assert '"total":2.0' in page
    assert '"attained":[' in page


def test_report_of_several_sources_has_no_witness(run, one_plan, survey, tmp_path):
    given = ("--schema", "schema.json", "--by", "state", "--uncertainty", "spread:std")
    code, _, _ = run("report", "survey.csv", *given)
    assert code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '"attained":null' in page


@pytest.mark.parametrize("total", ["0", "-1", "inf", "nan"])
def test_report_refuses_a_promise_that_cannot_be(run, survey, tmp_path, total):
    code, _, errors = run("report", "no-such-file.csv", "--total", total)
    assert code == 1
    assert f"--total is {total}" in errors
    assert not (tmp_path / "report.html").exists()


def test_report_plans_for_the_promises_that_are_listed(run, survey, tmp_path):
    given = ("--schema", "schema.json", "--promises", "1, 6", "--seconds", "0")
    code, output, _ = run("report", "survey.csv", *given)
    assert code == 0
    assert output.strip().endswith("promises: 1, 3, 6")


def test_report_says_which_promises_did_not_fit_the_time(run, survey, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, output, _ = run("report", "survey.csv", "--schema", "schema.json", "--seconds", "0")
    assert code == 0
    assert "promises: 3\nOthers did not fit 0 seconds: --promises 1,6 plans for these" in output
    assert max(map(len, output.splitlines())) <= 80
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "0.5, 1, 2, 4, 6, 8, did not fit 0 seconds" in page


@pytest.mark.parametrize("given", ["", "1,", "3,-1", "1;2", "inf"])
def test_report_refuses_promises_that_cannot_be(run, survey, given):
    code, _, errors = run("report", "no-such-file.csv", "--promises", given)
    assert code == 1
    assert f"--promises is '{given}', expected numbers above 0" in errors


def test_report_refuses_a_time_that_cannot_be(run, survey):
    code, _, errors = run("report", "no-such-file.csv", "--seconds", "-1")
    assert code == 1
    assert "--seconds is -1" in errors
