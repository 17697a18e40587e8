"""examples/web_survey: its five commands do what its page says."""

import json
import re
import shlex
import shutil
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import collector
import deptriad as dt

pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")

EXAMPLE = Path(__file__).parents[2] / "examples" / "web_survey"


def commands():
    """All commands of the page, as arguments."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    return [
        shlex.split(line) for line in re.findall(r"^\$ deptriad (.+)$", text, flags=re.MULTILINE)
    ]


@pytest.fixture
def ran(capsys, monkeypatch, tmp_path):
    """Runs a command in a copy of the example; gives its output."""
    from deptriad.cli import main

    shutil.copytree(EXAMPLE, tmp_path / "web_survey")
    monkeypatch.chdir(tmp_path / "web_survey")

    def ran(arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert not ended.value.code
        return capsys.readouterr().out

    return ran


def test_from_a_pilot_to_a_running_survey_in_five_commands(ran, tmp_path):
    folder = tmp_path / "web_survey"
    *before, collect, estimate = commands()
    assert [each[0] for each in (*before, collect)] == [
        "schema",
        "calibrate",
        "client",
        "invite",
        "collect",
    ]
    for each in before:
        ran(each)
    plan = dt.Plan.load(folder / "plan.json")
    invitations = (folder / "invitations.txt").read_text().split()
    options = dict(zip(collect[2::2], collect[3::2], strict=True))
    more = ("--page", str(folder / options["--page"]))
    store = str(folder / options["--store"])
    sent = collector.messages(plan, 30, np.random.default_rng(1))
    with collector.running(folder / collect[1], store, *more) as (port, _):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            page = answer.read().decode("utf-8")
        assert (
            collector.post(port, sent[0]).status,
            *(
                collector.post(port, each, f"X-Invitation: {own}\r\n").status
                for each, own in zip(sent, invitations, strict=False)
            ),
        ) == (403, *[200] * 30)
    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    assert f"<title>{words['title']}</title>" in page
    found = json.loads(ran([*estimate, "--json"]))
    assert found["attributes"] == ["exhausted", "leaving"]
    assert 0 < found["reports"] <= 30
