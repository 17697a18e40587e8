"""deptriad report, run as a user runs it."""

import pytest

pytest.importorskip("typer")


def test_report_writes_one_page(run, one_plan, survey, tmp_path):
    given = ("--schema", "schema.json", "--total", "2", "--out", "new/page.html")
    code, output, _ = run("report", "survey.csv", *given)
    assert code == 0
    assert "new/page.html" in output
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
