"""What all commands share, run as a user runs it."""

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

pytest.importorskip("typer")
pytest.importorskip("statsmodels")
import deptriad as dt
from command_line import listing, one_line, strict_json
from deptriad.cli import demo_survey, main


def test_version(run):
    assert run("--version") == (0, f"deptriad {version('deptriad')}\n", "")


def test_no_arguments_shows_help(run):
    _, output, errors = run()
    assert "demo" in output + errors


def test_help_of_the_whole(run):
    code, output, _ = run("--help")
    assert code == 0
    assert "Example: deptriad demo" in output
    for option in ("--debug", "--version", "demo"):
        assert option in output


def test_debug_shows_the_error_itself(monkeypatch, tmp_path):
    def fail():
        raise ValueError("on purpose")

    monkeypatch.chdir(tmp_path)  # where no demo was made before
    monkeypatch.setattr(demo_survey, "survey", fail)
    with pytest.raises(ValueError, match="on purpose"):
        main(["--debug", "demo"])


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_command_line_packages_name_the_extra(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from deptriad.cli import main"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "pip install 'deptriad[cli]'" in ended.stderr
    assert "Traceback" not in ended.stderr


# Options that take one of a few words, and the words.
CHOICES = {
    ("schema", "survey.csv", "--out", "new.json", "--binning"): ("quantile", "width"),
    ("analyze", "survey.csv", "--thin"): ("keep", "merge", "drop"),
    ("calibrate", "survey.csv", "--total", "3", "--objective"): ("utility", "even", "paper"),
    ("calibrate", "survey.csv", "--total", "3", "--guarantee"): (
        *("certified", "paired", "pairwise"),
    ),
    ("calibrate", "survey.csv", "--total", "3", "--mechanism"): (
        *("auto", "grr", "oue", "sue", "olh"),
    ),
    ("estimate", "plan.json", "r.parquet", "sex", "--post"): ("raw", "clip", "norm_sub"),
}


@pytest.mark.parametrize("arguments", CHOICES, ids=lambda arguments: arguments[-1])
def test_choices_are_refused_at_once_and_listed(run, survey, tmp_path, arguments):
    before = listing(tmp_path)
    code, output, errors = run(*arguments, "best")
    assert (code, output) == (2, "")
    assert "best" in errors
    _, help, _ = run(arguments[0], "--help")
    for word in CHOICES[arguments]:
        assert word in errors
        assert word in help
    assert listing(tmp_path) == before


def test_what_is_written_is_also_json(run, plan, tmp_path):
    code, output, _ = run("schema", "survey.csv", "--out", "new.json", "--json")
    assert code == 0
    assert output == (tmp_path / "new.json").read_text()
    code, output, _ = run("calibrate", "survey.csv", "--total", "3", "--force", "--json")
    assert code == 0
    assert output == (tmp_path / "plan.json").read_text()
    code, output, _ = run("perturb", "plan.json", "survey.csv", "--json")
    assert code == 0
    digest = dt.Plan.load(tmp_path / "plan.json").digest
    assert strict_json(output) == {"reports": 600, "out": "reports.parquet", "plan": digest}


def test_a_mistake_of_ours_is_one_line_too(run, monkeypatch):
    def fail():
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(demo_survey, "survey", fail)
    code, _, errors = run("demo")
    assert code == 1
    assert "unexpected ZeroDivisionError: on purpose" in one_line(errors)
    assert "--debug" in one_line(errors)


def test_help_names_no_types_of_python(run):
    names = re.findall(r"^│ (\w+) ", run("--help")[1], flags=re.MULTILINE)
    assert {"schema", "analyze", "calibrate", "perturb", "estimate", "rivals"} <= set(names)
    for name in ("", *names):
        _, output, _ = run(*filter(None, [name]), "--help")
        assert "<bool>" not in output
        assert "<list" not in output
        assert f"Example: deptriad {name}" in output


def test_piped_progress_says_how_far_it_is_and_what_is_left(monkeypatch):
    from deptriad.cli import app

    clock = iter([0.0, 6.0, 12.0])
    monkeypatch.setattr(app, "monotonic", lambda: next(clock))
    lines = app.Lines("planning")
    lines(3, 12)
    assert lines.line == "planning: 3 of 12 after 6 s, about 18 s left"
    lines(1234, None)
    assert lines.line == "planning: 1,234 after 12 s"


def test_a_long_step_is_not_silence_where_errors_are_piped(capsys, monkeypatch):
    from deptriad.cli import app

    monkeypatch.setattr(app, "SECONDS", 0.01)
    said = ""
    with app.progress_bar("planning") as show:
        show(1, 12)
        while said.count("planning: 1 of 12 after") < 2:  # without another call
            said += capsys.readouterr().err
