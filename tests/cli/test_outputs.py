"""One rule for what every command writes: never over an input, over another file only by --force."""

import signal
import subprocess
import sys
import time

import pytest

COMMANDS = {
    "schema": ("schema", "survey.csv", "--out"),
    "analyze": ("analyze", "survey.csv", "--schema", "schema.json", "--save"),
    "calibrate": ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3", "--plan"),
    "perturb": ("perturb", "plan.json", "survey.csv", "--out"),
    "attack": ("attack", "plan.json", "survey.csv", "--targets", "sex", "--out"),
    "report": ("report", "survey.csv", "--schema", "schema.json", "--out"),
    "counts": ("counts", "survey.csv", "--schema", "schema.json", "--save"),
    "invite": ("invite", "plan.json", "--count", "3", "--out"),
    "demo": ("demo", "--out"),
    "demo's pairs": ("demo", "--csv"),
    "paper": ("paper", "table-2", "--quick", "--page"),
}


def inputs(command):
    """The files that a command reads."""
    return [word for word in COMMANDS[command] if word.endswith((".csv", ".json"))]


@pytest.fixture
def folder(tmp_path, plan):
    """A survey, its schema and a plan."""
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_there_needs_force_and_an_input_is_never_replaced(command, folder, run):
    out = {"perturb": "old.parquet", "counts": "old.npz"}.get(command, "old.json")
    (folder / out).write_text("precious")
    code, _, errors = run(*COMMANDS[command], out)
    assert code == 1
    assert "--force" in errors
    assert (folder / out).read_text() == "precious"
    for given in inputs(command):
        before = (folder / given).read_bytes()
        for place in (given, f"./{given}"):
            code, _, errors = run(*COMMANDS[command], place, "--force")
            assert code == 1
            assert "input" in errors or "expected a name that ends in" in errors
            assert (folder / given).read_bytes() == before


def test_a_store_of_reports_is_not_replaced_by_invitations(folder, run):
    assert (
        run("invite", "plan.json", "--count", "2", "--store", "store.db", "--out", "one.txt")[0]
        == 0
    )
    before = (folder / "store.db").read_bytes()
    words = ("invite", "plan.json", "--count", "2", "--store", "store.db", "--out", "store.db")
    code, _, errors = run(*words, "--force")
    assert code == 1
    assert "which is an input" in errors
    assert (folder / "store.db").read_bytes() == before


@pytest.mark.slow
def test_force_replaces(folder, run):
    (folder / "new.json").write_text("old")
    assert run(*COMMANDS["analyze"], "new.json", "--force")[0] == 0
    assert (folder / "new.json").read_text() != "old"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
def test_an_ended_run_leaves_no_half_file(folder, how):
    """Only SIGKILL leaves anything; the next run removes it."""
    rows = (folder / "survey.csv").read_text().splitlines()
    (folder / "big.csv").write_text("\n".join([rows[0]] + rows[1:] * 800) + "\n")
    (folder / "reports.parquet").write_text("old")
    command = [sys.executable, "-c", "from deptriad.cli import main; main()"]
    command += ["perturb", "plan.json", "--force"]
    before = {path.name for path in folder.iterdir()}
    process = subprocess.Popen([*command, "big.csv"], cwd=folder, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(folder.glob(".deptriad-*/partial*")):
        time.sleep(0.005)
    process.send_signal(getattr(signal, how))
    process.wait()
    left = {path.name for path in folder.iterdir()} - before
    if how == "SIGKILL":
        assert all(name.startswith(".deptriad-") for name in left)
        assert (folder / "reports.parquet").read_text() == "old"
        again = subprocess.run([*command, "survey.csv"], cwd=folder, capture_output=True)
        assert again.returncode == 0
        left = {path.name for path in folder.iterdir()} - before
    assert left == set()
