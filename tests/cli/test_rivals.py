"""deptriad rivals, run as a user runs it."""

import json

import pytest

from deptriad.rivals import measures


@pytest.fixture
def run(capsys, monkeypatch):
    pytest.importorskip("typer")
    from deptriad.cli import main

    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["rivals", *arguments])
        assert not ended.value.code
        return capsys.readouterr().out

    return run


def test_command_lists_every_measure(run):
    output = run()
    first = [line.split()[0] for line in output.splitlines() if line.strip()]
    assert [word for word in first if word in measures] == [*measures, *measures]
    assert {"O(ab)", "O(1)", "mechanisms", "uncertainty", "yes"} <= set(output.split())


def test_command_for_machines(run):
    assert json.loads(run("--json")) == [rival.facts for rival in measures.values()]


def test_command_help(run):
    output = run("--help")
    assert "--json" in output
    assert "Example: deptriad rivals" in output
