"""Messages of the library name options, or the fields of a file."""

import pytest

pytest.importorskip("typer")
from command_line import one_line, records


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--uncertainty", "spread:std"), "pass --by and the column"),
        (("--weight", "w", "--uncertainty", "confidence:0.9"), "or spread with --by"),
        (("--by", "state", "--uncertainty", "confidence:0.9"), "without --by"),
        (("--by", "state", "--weight", "state"), "both --by and --weight"),
    ],
)
def test_messages_name_options(run, survey, arguments, said):
    code, _, errors = run("analyze", "survey.csv", "--schema", "schema.json", *arguments)
    assert code == 1
    assert said in one_line(errors)


def test_messages_about_a_schema_are_spelt_as_its_file(run, survey, tmp_path):
    (tmp_path / "odd.csv").write_text(records() + "x,cook,3,TX,1\n")
    _, _, errors = run("analyze", "odd.csv", "--schema", "schema.json")
    assert 'set "unseen": "other" there' in one_line(errors)
    (tmp_path / "gap.csv").write_text(records() + ",cook,3,TX,1\n")
    _, _, errors = run("analyze", "gap.csv", "--schema", "schema.json")
    assert 'set "missing": "category" there' in one_line(errors)


def test_notes_name_options(run, survey):
    _, _, errors = run("analyze", "survey.csv", "--min-records", "150")
    assert "merge or drop them with --thin" in errors
    assert "pass --schema and a file" in errors
