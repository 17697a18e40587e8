import json
import socket
import stat
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the collector is not installed: pip install '.[collect]'")

import collector
from command_line import one_line
from deptriad.clients.store import Store, Submission
from deptriad.clients.wire import Wire


@pytest.fixture
def plan(tmp_path):
    made = collector.survey("grr")
    made.save(tmp_path / "plan.json")
    return made


def test_invitations_are_written_and_reports_of_the_store_are_estimated(run, plan, tmp_path):
    code, output, _ = run("invite", "plan.json", "--count", "3", "--store", "reports.db")
    assert (code, output) == (0, "3 invitations are in invitations.txt\n")
    written = tmp_path / "invitations.txt"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    invitations = written.read_text().split()
    store, wire = Store.opened(tmp_path / "reports.db", plan), Wire.of(plan)
    reports = [wire.read(each) for each in collector.messages(plan, 4, np.random.default_rng(1))]
    sent = [
        Submission([each], own) for each, own in zip(reports, [*invitations, "no"], strict=True)
    ]
    assert store.add(sent) == ["stored"] * 3 + ["uninvited"]
    store.close()
    code, output, _ = run("estimate", "plan.json", "sqlite:///reports.db", "sex", "--json")
    assert code == 0
    assert json.loads(output)["reports"] == 3
    assert run("invite", "plan.json", "--count", "3")[0] == 1  # the list that is there stays
    assert written.read_text().split() == invitations


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_invitations_that_cannot_be_written_are_not_made(run, plan, tmp_path):
    code, _, errors = run("invite", "plan.json", "--count", "3", "--out", "/dev/full")
    assert (code, "No space left" in errors) == (1, True)
    store, (sent,) = Store.opened(tmp_path / "reports.db", plan), Wire.of(plan).sent([[0, 0, 0]])
    assert store.add([Submission([Wire.of(plan).read(sent)])]) == ["stored"]  # it is open to all
    store.close()


def test_a_page_of_another_plan_is_refused(run, plan, tmp_path):
    other = collector.survey("olh")
    other.save(tmp_path / "other.json")
    assert run("client", "other.json", "--out", "survey")[0] == 0
    code, _, errors = run("collect", "plan.json", "--page", "survey")
    assert code == 1
    assert "written for another plan: run `deptriad client` with this one" in one_line(errors)


def test_invitations_never_replace_their_store_named_by_its_url(run, plan, tmp_path):
    Store.opened(tmp_path / "reports.db", plan).close()
    given = ("--store", "sqlite:///reports.db", "--out", "reports.db", "--force")
    code, _, errors = run("invite", "plan.json", "--count", "3", *given)
    assert (code, "which is an input" in one_line(errors)) == (1, True)
    Store.opened(tmp_path / "reports.db", plan).close()


def test_a_port_that_is_taken_is_named(run, plan):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, errors = run("collect", "plan.json", "--port", str(port))
    assert code == 1
    assert f"--port {port}, where nobody can listen (Address already in use)" in one_line(errors)


@pytest.mark.parametrize(
    "options, said",
    [
        (
            ("--host", "203.0.113.1"),
            "--host is 203.0.113.1 and --port 8000, where nobody can listen",
        ),
        (("--store", "absent/r.db"), "there is no folder absent"),
        (("--store", "http://x"), "expected the path of a SQLite file"),
        (("--page", "."), "has no survey.html"),
        (("--origin", "here"), "the origin is 'here'"),
    ],
)
def test_a_mistake_ends_in_a_line(run, plan, options, said):
    code, output, errors = run("collect", "plan.json", *options)
    assert (code, output) == (1, "")
    assert said in one_line(errors)
