"""deptriad counts, run as a user runs it."""

import pytest

pytest.importorskip("typer")
import deptriad as dt
from command_line import one_line


def test_later_commands_work_from_counts_alone(run, survey, tmp_path):
    code, output, _ = run("counts", "survey.csv", "--schema", "schema.json", "--save", "c.npz")
    assert code == 0
    assert "600 records, 3 attributes; all pairs, and" in output
    wanted = run("analyze", "survey.csv", "--schema", "schema.json", "--json")
    (tmp_path / "survey.csv").unlink()
    assert run("analyze", "c.npz", "--json")[1] == wanted[1]
    assert run("calibrate", "c.npz", "--sure", "0.8", "--plan", "mine.json")[0] == 0
    assert dt.Plan.load(tmp_path / "mine.json").guarantee == "joint"


def test_few_records_are_warned_of(run, survey, tmp_path):
    lines = (tmp_path / "survey.csv").read_text().splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:30]) + "\n")
    code, output, _ = run("counts", "few.csv", "--schema", "schema.json")
    assert code == 0
    assert "fewer than ten records: they may point to a person" in " ".join(output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("counts", "survey.csv", "--save", "c.csv"), "ends in .npz"),
        (("analyze", "c.npz", "--schema", "schema.json"), "--schema is for records"),
        (("analyze", "c.npz", "--witness"), "--witness looks at records"),
        (("analyze", "absent.npz"), "no file absent.npz"),
    ],
)
def test_what_does_not_go_with_counts_is_said(run, survey, arguments, said):
    assert run("counts", "survey.csv", "--schema", "schema.json", "--save", "c.npz")[0] == 0
    code, _, errors = run(*arguments)
    assert code == 1
    assert said in one_line(errors)
