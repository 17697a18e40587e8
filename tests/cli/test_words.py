"""Messages of the library name options, or the fields of a file."""

import pytest

pytest.importorskip("typer")
from command_line import one_line, records
from deptriad.cli.words import option
from deptriad.utils.errors import Parameter


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


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        (Parameter("by", ""), "--by"),
        (Parameter("min_records"), "--min-records"),
        (Parameter("thin", "'drop'"), "--thin drop"),
        (Parameter("own", "True"), "--own"),
        (Parameter("total"), "--total"),
        (Parameter("total", key="age"), "--total-of age"),
        (Parameter("total", key=""), "--total-of"),
        (Parameter("weights", key="age"), "--weights age"),
        (Parameter("fixed", "0", key="age"), "--fixed age=0"),
        (Parameter("unseen", "'other'"), '"unseen": "other"'),
        (Parameter("Spread"), "spread"),
    ],
)
def test_every_parameter_has_an_option_or_a_place_in_a_file(parameter, said):
    assert option(parameter) == said
