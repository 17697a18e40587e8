"""The benchmarks: what they import is there, and their history has a line for each run, with goals that are judged."""

import ast
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_is_there(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("deptriad"):
            if "tabtransformer" in node.module:
                pytest.importorskip("torch")
            for alias in node.names:
                assert pkgutil.resolve_name(f"{node.module}.{alias.name}") is not None


@pytest.fixture
def history(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, "_history", raising=False)
    import _history

    return _history


def test_figures_are_flat_and_short(history):
    nested = {"a": {"b": 1.234567, "c": 3}, "d": "cpu"}
    assert dict(history.flattened(nested)) == {"a / b": 1.235, "a / c": 3, "d": "cpu"}


def test_a_run_adds_a_line_and_says_what_is_worse_than_its_goal(history, tmp_path, capsys):
    history.HISTORY = tmp_path / "history.jsonl"
    goals = {"slow": history.at_most(1.0), "gain": history.at_least(10), "absent": None}
    for gain in (9.0, 11.0):
        history.add("some", {"slow": 1.5, "gain": gain}, goals)
    assert capsys.readouterr().out.count("the goal is at least 10") == 1
    first, last = map(json.loads, history.HISTORY.read_text().splitlines())
    assert first["figures"] == {"slow": 1.5, "gain": 9.0}
    assert set(last) == {"benchmark", "commit", "date", "machine", "figures", "goals"}
    assert set(last["machine"]) == {"cpu", "cores", "system", "python", "load"}
    history.main()
    said = capsys.readouterr().out
    assert "1 of 2 goals are met" in said
    assert "slow is 1.5, the goal is at most 1" in said


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells it there")
def test_the_memory_of_a_process_is_not_that_of_its_parent():
    code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); from _history import peak_mib; print(peak_mib())"
    held = bytearray(300 << 20)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 5.0 < float(done.stdout) < 100.0 < len(held) / 2**20


def test_every_line_of_the_history_is_a_run_of_a_benchmark_that_is_there(history):
    for line in map(json.loads, history.HISTORY.read_text(encoding="utf-8").splitlines()):
        assert (FOLDER / f"{line['benchmark'].partition(' ')[0].strip(',')}.py").is_file()
        assert set(line["goals"]) <= set(line["figures"])
        assert history.missed(line) is not None
