"""The command line among other programs: pipes, terminals, shells."""

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
SOURCE = Path(__file__).parents[2] / "src"
COMMAND = [sys.executable, "-c", "from deptriad.cli import main; main()"]


def environment(**settings):
    """This process's, without what tells programs how to print, and with some settings."""
    told = {"COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM", "GITHUB_ACTIONS", "PY_COLORS"}
    kept = {name: value for name, value in os.environ.items() if name not in told}
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    return kept | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"} | settings


def piped(*arguments, folder=None, **settings):
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=environment(**settings),
        cwd=folder,
    )


def on_terminal(*arguments, folder=None, **settings):
    """What a terminal of 80 columns is sent, output and errors together."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm-256color", COLUMNS="80", **settings),
        cwd=folder,
    )
    os.close(theirs)
    sent = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        sent += part
    os.close(ours)
    assert running.wait(60) == 0
    return sent.decode()


@pytest.fixture
def survey(tmp_path):
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    name = "a-column-with-a-name-that-is-longer-than-most-columns-are"
    rows = [f"{i % 2},{i % 3 % 2},{i % 5 % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join([f"{name},{name}-too,third", *rows]) + "\n")
    return name


def test_piped_tables_are_not_cut_and_have_no_colours(survey, tmp_path):
    done = piped("analyze", "survey.csv", "--totals", folder=tmp_path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(f"  {survey}")]
    assert sum(len(row) == 5 and row[-1] == "times" for row in rows) == 4  # each as a source, twice
    assert "…" not in done.stdout


def test_piped_tables_are_as_wide_as_asked(survey, tmp_path):
    done = piped("analyze", "survey.csv", folder=tmp_path, COLUMNS="60")
    assert max(map(len, done.stdout.splitlines())) <= 60


def test_progress_is_no_part_of_the_output(survey, tmp_path):
    done = piped("analyze", "survey.csv", "--totals", "--json", folder=tmp_path)
    assert done.stdout.startswith("{")
    assert "counting" not in done.stdout
    assert "\x1b" not in done.stderr  # a slow machine may say in lines how far it is
    assert "counting records" in on_terminal("analyze", "survey.csv", "--json", folder=tmp_path)


COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])(?:;\d+)*m")


def test_no_colour_is_respected(survey, tmp_path):
    commands = (["--help"], ["analyze", "survey.csv"])
    assert any(COLOUR.search(on_terminal(*each, folder=tmp_path)) for each in commands)
    for each in commands:
        assert not COLOUR.search(on_terminal(*each, folder=tmp_path, NO_COLOR="1"))


@pytest.mark.parametrize("wanted", [0, 1])
@pytest.mark.parametrize("arguments", [("rivals",), ("rivals", "--json"), ("--help",)])
def test_a_reader_who_has_enough_is_no_error(arguments, wanted):
    running = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    for _ in range(wanted):
        assert running.stdout.readline()
    running.stdout.close()
    errors = running.stderr.read()
    running.stderr.close()
    assert errors == b""
    assert running.wait(60) in (0, 1)


def completions(line, folder=None):
    """What bash is told for a line that ends where the cursor is."""
    words = line.split(" ")
    return piped(
        folder=folder,
        _DEPTRIAD_COMPLETE="complete_bash",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
    ).stdout.split()


def test_shells_complete_commands_options_and_choices():
    assert completions("deptriad ana") == ["analyze"]
    assert completions("deptriad analyze --un") == ["--uncertainty"]
    assert completions("deptriad analyze d.csv --thin m") == ["merge"]
    assert completions("deptriad estimate no-such-plan.json r.parquet s") == []


def test_shells_complete_the_attributes_of_a_plan(tmp_path):
    import deptriad as dt

    schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    numbers = dict.fromkeys(("own", "paired", "pairwise", "certified", "budgets"), 1.0)
    one = {"sex": 1.0}
    dt.Plan.asking_all(
        schema, one, {"sex": "grr"}, one, "certified", "even", {"sex": numbers}
    ).save(tmp_path / "plan.json")
    assert completions("deptriad estimate plan.json r.parquet s", tmp_path) == ["sex"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell):
    done = piped(_DEPTRIAD_COMPLETE=f"source_{shell}")
    assert done.returncode == 0
    assert "_DEPTRIAD_COMPLETE" in done.stdout
