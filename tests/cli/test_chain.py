"""deptriad chain, run as a user runs it."""

import numpy as np
import pytest

pytest.importorskip("typer")
import deptriad as dt
from command_line import one_line, strict_json

COLUMNS = ("--person", "id", "--time", "month", "--value", "job")


@pytest.fixture
def panel(tmp_path):
    """Sixty persons in each of twelve months; a third changes work each month."""
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    rows = [
        f"{who},{when},{'ab'[(who + (when + who % 3) // 3) % 2]}"
        for who in range(60)
        for when in range(12)
    ]
    (tmp_path / "panel.csv").write_text("\n".join(["id,month,job", *rows]) + "\n")
    return tmp_path / "panel.csv"


def test_help_of_chain(run):
    code, output, _ = run("chain", "--help")
    assert code == 0
    for word in (
        "Example: deptriad chain",
        "--person",
        "--time",
        "--value",
        "--total",
        "--start",
        "--level",
    ):
        assert word in output


def test_chain_shows_budgets_for_so_many_releases_and_for_ever(run, panel):
    code, output, _ = run("chain", "panel.csv", *COLUMNS, "--total", "3")
    assert code == 0
    for word in ("for ever", "added up", "20.09 times", "assumed stationary", "--level"):
        assert word in output


def test_chain_says_the_promise_as_it_was_asked(run, panel, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, output, _ = run("chain", "panel.csv", *COLUMNS, "--sure", "0.6", "--before", "0.3")
    assert code == 0
    assert "nobody who was 30 % sure of an answer becomes surer than 60 %" in output
    assert max(map(len, output.splitlines())) <= 80


def test_chain_in_json_is_what_the_library_says(run, panel):
    code, output, _ = run(
        "chain", "panel.csv", *COLUMNS, "--total", "3", "--start", "unknown", "--json"
    )
    assert code == 0
    found = strict_json(output)
    chain = dt.Chain.from_sequences(panel, person="id", time="month", value="job", initial=None)
    by_count = {row["releases"]: row for row in found["budgets"]}
    assert by_count["inf"]["epsilon"] == chain.calibrate(3.0)
    assert by_count[12]["epsilon"] == chain.calibrate(3.0, 12)
    assert all(row["total"] <= 3.0 for row in found["budgets"])
    assert found["assumed"] == "unknown start, known table"


def test_chain_certifies_at_a_level(run, panel):
    plain, sure = (
        strict_json(run("chain", "panel.csv", *COLUMNS, "--total", "3", "--json", *more)[1])[
            "budgets"
        ]
        for more in ((), ("--level", "0.95"))
    )
    assert all(one["epsilon"] >= two["epsilon"] for one, two in zip(plain, sure, strict=True))
    assert np.isclose(plain[0]["epsilon"], 3.0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--total", "0"), "--total is 0, expected a finite number > 0"),
        (("--total", "3", "--level", "95"), "expected a number between 0 and 1"),
        (("--total", "3", "--person", "who"), "there is no column 'who'"),
    ],
)
def test_a_mistake_ends_in_one_line(run, panel, arguments, message):
    code, output, errors = run("chain", "panel.csv", *COLUMNS, *arguments)
    assert code == 1
    assert not output
    assert message in one_line(errors)
