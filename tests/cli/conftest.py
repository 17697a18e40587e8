"""The command line in a folder of its own, and surveys to run it on."""

import math

import pytest

import deptriad as dt
from command_line import records


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in an empty folder; give its exit code, output and error output."""
    from deptriad.cli import app, main

    monkeypatch.setattr(app, "SECONDS", math.inf)  # on a slow machine progress would be told
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def one_plan(monkeypatch):
    """A page with one plan only, which takes seconds, and is made once for all tests that ask for the same."""
    from deptriad.report import promises

    def once(make, analysis, *what):
        key = (what, analysis.uncertainty, analysis.numbers.phi.tobytes())
        if key not in MADE:
            MADE[key] = make()
        return MADE[key]

    def plan(analysis, total, **how):
        return once(lambda: calibrate(analysis, total, **how), analysis, total, how["users"])

    def everything(analysis, budgets, coded, *how):
        what = (*budgets.items(), coded is None, how[-1])
        return once(lambda: about(analysis, budgets, coded, *how), analysis, *what)

    calibrate, about = promises.calibrate, promises._everything
    monkeypatch.setattr(promises, "PROMISES", ())
    monkeypatch.setattr(promises, "calibrate", plan)
    monkeypatch.setattr(promises, "_everything", everything)


MADE = {}
"""What takes long to make, for all tests of a process."""


@pytest.fixture
def survey(tmp_path):
    """A CSV file of records, with a schema beside it, in the folder of ``run``."""
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    (tmp_path / "survey.csv").write_text(records())
    schema = dt.Schema(
        [
            dt.Attribute("sex", categories=["f", "m"], missing="error"),
            dt.Attribute("job", categories=["cook", "nurse", "smith"], missing="error"),
            dt.Attribute("pay", edges=[0, 30, 60, 101], missing="error"),
        ]
    )
    schema.save(tmp_path / "schema.json")
    return schema


@pytest.fixture
def xor(tmp_path):
    """Two fair coins and whether they differ, each record many times over."""
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    rows = [f"{a},{b},{a ^ b}" for a in (0, 1) for b in (0, 1)] * 100
    (tmp_path / "coins.csv").write_text("\n".join(["first,second,differ", *rows]) + "\n")


@pytest.fixture
def plan(run, survey, tmp_path):
    """A plan for that survey, beside it: made by the command for the first who asks, and then copied."""
    given = ("survey.csv", "--schema", "schema.json", "--total", "3", "--plan", "plan.json")
    if "plan" not in MADE:
        assert run("calibrate", *given)[0] == 0
        MADE["plan"] = (tmp_path / "plan.json").read_bytes()
    (tmp_path / "plan.json").write_bytes(MADE["plan"])
