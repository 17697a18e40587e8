"""The command line, run as a user runs it."""

import csv
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

pytest.importorskip("typer")
pytest.importorskip("statsmodels")
from deptriad import demo
from deptriad.cli import main


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in an empty folder; give its exit code, output and error output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code or 0, *capsys.readouterr()

    return run


def shown(output):
    """The cells of the printed table, line by line."""
    after_rule = re.split(r"─ *\n", output, maxsplit=1)[1]
    lines = re.split(r"\n *\n", after_rule, maxsplit=1)[0].splitlines()
    return [re.split(r" {2,}", line.strip()) for line in lines]


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


def test_help_of_demo(run):
    code, output, _ = run("demo", "--help")
    assert code == 0
    assert "Example: deptriad demo" in output
    for option in ("--epsilon", "--top", "--out", "sampling error"):
        assert option in output


def test_demo_shows_every_pair_and_writes_them(run, tmp_path):
    code, output, errors = run("demo")
    assert (code, errors) == (0, "")
    assert "6,366 women" in output
    assert "may move the odds about" in output
    assert "demo/fair-triads.csv" in output.splitlines()[-1]
    assert len(shown(output)) == 72
    with (tmp_path / "demo" / "fair-triads.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 72


def test_demo_shows_bounds_rounded_up(run, tmp_path):
    _, output, _ = run("demo", "--epsilon", "0.7", "--out", "mine.csv")
    with (tmp_path / "mine.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    for cells, row in zip(shown(output), written, strict=True):
        assert cells[:2] == [row["source"], row["target"]]
        for cell, name in zip(cells[2:], ("alpha", "beta", "phi", "delta", "leakage"), strict=True):
            assert (
                0 <= float(cell.replace("∞", "inf")) - float(row[name]) < 1e-3 or row[name] == "inf"
            )


def test_demo_top_shows_fewer_and_writes_all(run, tmp_path):
    _, output, _ = run("demo", "--top", "5", "--out", "mine.csv")
    assert len(shown(output)) == 5
    assert len((tmp_path / "mine.csv").read_text().splitlines()) == 73


@pytest.mark.parametrize("epsilon", ["0", "1e-12", "100", "inf"])
def test_demo_with_extreme_budgets(run, epsilon):
    code, output, errors = run("demo", "--epsilon", epsilon)
    assert (code, errors) == (0, "")
    assert "nan" not in output.lower()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("demo", "--epsilon", "much"), "--epsilon"),
        (("demo", "--top", "-1"), "--top"),
        (("demo", "--out", "."), "--out"),
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


def test_unwritable_place_is_one_line(run, tmp_path):
    (tmp_path / "file").touch()
    code, _, errors = run("demo", "--out", "file/triads.csv")
    assert code == 1
    assert errors.startswith("deptriad: ")
    assert errors.count("\n") == 1
    assert "cannot write file/triads.csv" in errors
    assert "--out" in errors


def test_debug_shows_the_error_itself(monkeypatch):
    def fail():
        raise ValueError("on purpose")

    monkeypatch.setattr(demo, "survey", fail)
    with pytest.raises(ValueError, match="on purpose"):
        main(["--debug", "demo"])


def test_missing_data_package_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    code, _, errors = run("demo")
    assert code == 1
    assert "pip install 'deptriad[demo]'" in errors


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_command_line_packages_name_the_extra(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from deptriad.cli import main"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "pip install 'deptriad[cli]'" in ended.stderr
    assert "Traceback" not in ended.stderr
