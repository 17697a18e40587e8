"""deptriad spent, run as a user runs it."""

import pytest

pytest.importorskip("typer")
import deptriad as dt
from command_line import one_line, shown, strict_json


@pytest.fixture
def two_plans(run, xor):
    """The two coins, each asked by a plan of its own."""
    for name in ("first", "second"):
        code, _, errors = run(
            *("calibrate", "coins.csv", "--total", "2", "--views", "all", "--plan", f"{name}.json"),
            *(f"--fixed={other}=0" for other in ("first", "second", "differ") if other != name),
        )
        assert code == 0, errors
    return "first.json", "second.json"


def test_two_plans_tell_more_than_their_totals(run, two_plans, tmp_path):
    code, output, _ = run("spent", *two_plans, "--data", "coins.csv", "--json")
    assert code == 0
    found = strict_json(output)
    plans = [dt.Plan.load(tmp_path / name) for name in two_plans]
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "coins.csv", plans[0].schema))
    spent = plans[0].spent(plans, analysis)
    by_name = {row["attribute"]: row for row in found["attributes"]}
    assert {name: row["told"] for name, row in by_name.items()} == {
        name: told.most for name, told in spent.items()
    }
    assert by_name["differ"]["told"] > 1.0  # where each plan tells nothing
    assert found["left"] == spent.left
    code, output, _ = run("spent", *two_plans, "--data", "coins.csv", "--asked", "differ=3")
    assert code == 0
    for word in ("differ", "joint", "sum of ε", "BROKEN", "about first, second, differ"):
        assert word in output


def test_what_was_told_about_long_names_fits_80_columns(run, tmp_path, monkeypatch):
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"ever_diagnosed_with_{what}_by_a_doctor" for what in ("diabetes", "asthma", "gout")]
    rows = [f"{i % 2},{i % 3 % 2},{i % 5 % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join([",".join(names), *rows]))
    assert run("calibrate", "survey.csv", "--total", "2", "--views", "all")[0] == 0
    code, output, _ = run("spent", "plan.json", "plan.json")
    assert code == 0
    assert max(map(len, output.splitlines())) <= 80
    lines = shown(output)
    assert len({line[0] for line in lines}) == 3
    assert {line[1] for line in lines} == {"plan's own"}


def test_without_data_all_is_added(run, two_plans):
    found = strict_json(run("spent", *two_plans, "--asked", "first=0.5", "--json")[1])
    plans_own = {row["attribute"]: row["by"] for row in found["attributes"]}
    assert plans_own["differ"] == "plan's own"
    assert all(row["told"] <= row["plain"] for row in found["attributes"])


def test_what_may_be_asked_next(run, two_plans, tmp_path):
    arguments = (
        "spent",
        two_plans[0],
        "--data",
        "coins.csv",
        "--next",
        "second",
        "--next",
        "differ",
    )
    found = strict_json(run(*arguments, "--json")[1])
    plan = dt.Plan.load(tmp_path / two_plans[0])
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "coins.csv", plan.schema))
    spent = plan.spent([plan], analysis)
    assert found["next"] == {name: spent.largest(name) for name in ("second", "differ")}
    assert found["left"] == 0.0
    assert "may be asked by itself with ε of" in run(*arguments)[1]
    code, _, errors = run("spent", two_plans[0], "--next", "frist")
    assert code == 1
    assert "deptriad: there is no attribute 'frist': did you mean 'first'" in one_line(errors)


def test_help_and_what_is_refused(run, two_plans):
    code, output, _ = run("spent", "--help")
    assert code == 0
    assert "Example: deptriad spent" in output
    code, _, errors = run("spent", "none.json")
    assert code == 1
    assert "none.json" in one_line(errors)
    code, _, errors = run("spent", *two_plans, "--asked", "first")
    assert code == 2
