"""A short form of ``make faults``: ended runs, bad inputs, full disks; and that it would notice what is wrong."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
if sys.platform == "win32":
    pytest.skip("signals and limits of POSIX", allow_module_level=True)

import bad_inputs

SPEC = importlib.util.spec_from_file_location("faults", Path(__file__).with_name("faults.py"))
faults = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(faults)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_lost_and_no_mistake_ends_in_a_traceback(capsys):
    """The same trials every time; `make faults` looks for new ones."""
    found = faults.run(1, kills=2, inputs=40, places=1, only=["schema"])
    assert found == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "content, errors, said",
    [
        (b'{"half": ', "", "half a file"),
        (None, "", "lost"),
        (b"old", "Traceback (most recent call last)", "Traceback"),
        (b"old", "", None),
        (b'{"new": 1}', "", None),
    ],
)
def test_what_is_wrong_is_noticed(tmp_path, content, errors, said):
    path = tmp_path / "out.json"
    if content is not None:
        path.write_bytes(content)
    found = faults.complaint_of(path, b"old", errors)
    assert said in found if said else found is None


def test_a_traceback_and_a_wordless_end_are_noticed(tmp_path):
    def ends(error):
        def main(arguments):
            raise error

        return bad_inputs.complaint(main, bad_inputs.Case("schema", "any", ("schema",), tmp_path))

    assert "KeyError" in ends(KeyError("a"))
    assert "without a word" in ends(SystemExit(1))
    assert ends(SystemExit(0)) is None
