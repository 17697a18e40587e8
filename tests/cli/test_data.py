"""deptriad schema, and how commands read data."""

import math
import re

import pytest

pytest.importorskip("typer")
import deptriad as dt
from command_line import assert_refused, listing, one_line
from deptriad.cli.data import by_name


@pytest.mark.parametrize("command", ["schema", "analyze"])
def test_help_of_the_commands_on_data(run, command):
    code, output, _ = run(command, "--help")
    assert code == 0
    assert f"Example: deptriad {command}" in output
    options = {
        "schema": ["--out", "--bins", "--binning", "--max-categories", "--query", "public"],
        "analyze": [
            *("--schema", "--by", "--weight", "--query", "--uncertainty", "--epsilon", "--top"),
            *("--min-records", "--thin", "--json", "--save"),
        ],
    }
    for option in options[command]:
        assert option in output


def test_schema_writes_what_infer_proposes(run, survey, tmp_path):
    code, output, _ = run("schema", "survey.csv", "--out", "mine.json")
    assert code == 0
    assert "mine.json" in output
    written = dt.Schema.load(tmp_path / "mine.json")
    assert written == dt.Schema.infer(tmp_path / "survey.csv")
    assert tuple(written.names) == ("sex", "job", "pay", "state", "w")
    assert listing(tmp_path) == ["mine.json", "schema.json", "survey.csv"]


def test_schema_passes_its_options_on(run, survey, tmp_path):
    arguments = ["--bins", "4", "--binning", "width", "--max-categories", "2", "--out", "mine.json"]
    code, *_ = run("schema", "survey.csv", *arguments, "--query", "SELECT job, pay FROM data")
    assert code == 0
    written = dt.Schema.load(tmp_path / "mine.json")
    assert written["job"].values == ("cook", "(other)")
    assert written["pay"].edges[1:-1] == pytest.approx((25, 50, 75))
    assert tuple(written.names) == ("job", "pay")


# What is wrong with it: files by name with their content, the arguments, and what the message says.
WRONG = {
    "no such file": ({}, ("none.csv",), "none.csv"),
    "an empty file": ({"empty.csv": b""}, ("empty.csv",), "empty.csv"),
    "a header only": ({"header.csv": b"sex,job,pay\n"}, ("header.csv",), "header.csv"),
    "a damaged Parquet file": ({"cut.parquet": b"PAR1\0\0"}, ("cut.parquet",), "cut.parquet"),
    "another kind of file": ({"survey.xlsx": b"PK"}, ("survey.xlsx",), "survey.xlsx"),
    "a column twice": ({"twice.csv": b"sex,sex\nf,f\nm,m\n"}, ("twice.csv",), "sex"),
    "only constant columns": ({"same.csv": b"always\n1\n1\n"}, ("same.csv",), "always"),
    "a query of no column": ({}, ("survey.csv", "--query", "SELECT nix FROM data"), "nix"),
    "a query that is no SQL": ({}, ("survey.csv", "--query", "SELEC"), "SELEC"),
}


WRONG_FOR_ANALYZE = {
    "a missing column": ({"other.csv": b"sex,jobs,pay\nf,cook,1\n"}, ("other.csv",), "'job'"),
    "an unseen category": ({"odd.csv": b"sex,job,pay\nx,cook,1\n"}, ("odd.csv",), "'sex'"),
    "text for bins": ({"text.csv": b"sex,job,pay\nf,cook,much\n"}, ("text.csv",), r"\bpay\b"),
    "an unknown source": ({}, ("survey.csv", "--by", "stat"), "stat"),
    "an unknown weight": ({}, ("survey.csv", "--weight", "ww"), "ww"),
    "a weight of text": ({}, ("survey.csv", "--weight", "state"), "state"),
    "a negative budget": ({}, ("survey.csv", "--epsilon", "-1"), "-1"),
    "budgets that no float adds up": (
        {},
        ("survey.csv", "--epsilon", "1e308"),
        "the budgets sum to",
    ),
    "spread of one source": ({}, ("survey.csv", "--uncertainty", "spread:std"), "--by|by="),
    "confidence with weights": (
        {},
        ("survey.csv", "--weight", "w", "--uncertainty", "confidence:0.95"),
        "weight",
    ),
    "confidence of two": ({}, ("survey.csv", "--uncertainty", "confidence:2"), "2"),
    "relative of nothing": ({}, ("survey.csv", "--uncertainty", "relative:"), "relative"),
    "relative alone": ({}, ("survey.csv", "--uncertainty", "relative"), "relative"),
    "relative of text": ({}, ("survey.csv", "--uncertainty", "relative:much"), "much"),
    "an unknown spread": ({}, ("survey.csv", "--uncertainty", "spread:sigma"), "sigma"),
    "an unknown uncertainty": ({}, ("survey.csv", "--uncertainty", "bayes:1"), "bayes"),
    "no such schema": ({}, ("survey.csv", "--schema", "none.json"), "none.json"),
    "no schema at all": ({"no.json": b"{"}, ("survey.csv", "--schema", "no.json"), "JSON"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_schema_ends_a_mistake_in_one_line_and_leaves_nothing(run, survey, tmp_path, wrong):
    files, arguments, said = WRONG[wrong]
    assert_refused(run, tmp_path, files, ("schema", *arguments, "--out", "mine.json"), said)


@pytest.mark.parametrize("wrong", [*WRONG, *WRONG_FOR_ANALYZE])
def test_analyze_ends_a_mistake_in_one_line_and_leaves_nothing(run, survey, tmp_path, wrong):
    files, arguments, said = (WRONG | WRONG_FOR_ANALYZE)[wrong]
    schema = () if wrong in WRONG or "--schema" in arguments else ("--schema", "schema.json")
    for save in ("mine.json", "mine.parquet"):
        assert_refused(run, tmp_path, files, ("analyze", *arguments, *schema, "--save", save), said)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("schema",), "DATA"),
        (("analyze",), "DATA"),
        (("schema", "survey.csv", "--out", "new.json", "--binning", "sturges"), "binning"),
        (("schema", "survey.csv", "--bins", "0"), "bins"),
        (("analyze", "survey.csv", "--thin", "ignore"), "thin"),
        (("analyze", "survey.csv", "--top", "-1"), "top"),
        (("analyze", "survey.csv", "--min-records", "-1"), "min.records"),
        (("analyze", "survey.csv", "--epsilon", "much"), "epsilon"),
        (("counts", "survey.csv", "--cells", "9" * 400), "400 digits, expected a whole"),
    ],
)
def test_wrong_usage_of_the_commands_on_data_is_explained(run, survey, tmp_path, arguments, named):
    before = listing(tmp_path)
    code, _, errors = run(*arguments)
    assert code in (1, 2)
    assert re.search(named, errors)
    assert "Traceback" not in errors
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    "given", [("pay",), ("=2",), ("pay=",), ("pay=much",), ("pay=nan",), ("pay=1", "pay=2")]
)
@pytest.mark.parametrize("option", ["--fixed", "--budget"])
def test_numbers_by_name_are_read_before_anything_else(run, option, given):
    start = ("analyze",) if option == "--budget" else ("calibrate", "--total", "3")
    repeated = [part for each in given for part in (option, each)]
    code, _, errors = run(*start, "no-such-file.csv", *repeated)
    assert code == 2
    assert option in errors
    assert "no-such-file" not in errors


def test_a_name_may_have_an_equals_sign():
    assert by_name(["a=b=2", "c=inf"], "--fixed") == {"a=b": 2.0, "c": math.inf}


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        (("calibrate", "--total", "0"), "--total is 0"),
        (("calibrate", "--total", "3", "--fixed", "pya=1"), "did you mean 'pay'"),
        (("calibrate", "--total", "3", "--plan", "none/plan.json"), "no folder"),
        (("analyze", "--epsilon", "-1"), "--epsilon is -1"),
        (("analyze", "--epsilon", "1e309"), "--epsilon is inf, expected one finite number"),
        (("analyze", "--budget", "pay=-1"), "--budget pay is -1"),
        (("analyze", "--budget", "pya=1"), "--budget names no attribute 'pya': did you mean 'pay'"),
        (("analyze", "--save", "none/a.json"), "no folder"),
        (("analyze", "--uncertainty", "relative:much"), "--uncertainty relative:much"),
    ],
)
def test_mistakes_are_found_before_the_data_is_counted(run, survey, monkeypatch, command, wrong):
    def count(*_, **__):
        raise AssertionError("the data was counted first")

    monkeypatch.setattr(dt.Prior, "from_data", count)
    code, _, errors = run(command[0], "survey.csv", "--schema", "schema.json", *command[1:])
    assert code == 1
    assert wrong in one_line(errors)


def test_names_are_those_of_the_file_without_a_schema(run, survey):
    code, _, errors = run("analyze", "survey.csv", "--by", "state", "--budget", "state=1")
    assert code == 1
    assert "--budget names no attribute 'state'" in one_line(errors)


def test_a_schema_that_was_edited_is_not_replaced_unasked(run, survey, tmp_path):
    before = (tmp_path / "schema.json").read_text()
    code, _, errors = run("schema", "survey.csv")
    assert code == 1
    assert "--force" in one_line(errors)
    assert (tmp_path / "schema.json").read_text() == before
    assert run("schema", "survey.csv", "--force")[0] == 0
    assert (tmp_path / "schema.json").read_text() != before


def test_schema_takes_columns_bins_edges_and_says_whether_data_is_public(run, survey, tmp_path):
    code, output, _ = run(
        *("schema", "survey.csv", "--out", "mine.json", "--columns", "sex,pay", "--public"),
        *("--edges", "pay=0,50,inf", "--bins", "5"),
    )
    assert code == 0
    assert "Nobody said" not in output
    schema = dt.Schema.load(tmp_path / "mine.json")
    assert schema.names == ("sex", "pay")
    assert schema["pay"].edges == (0.0, 50.0, math.inf)
    assert str(schema.origin) == "inferred from survey.csv, 600 records, public: yes"
    assert schema["sex"].counts == {"f": 300, "m": 300}
    for more, public in (("--no-counts", None), ("--private", False)):
        assert run("schema", "survey.csv", "--out", "mine.json", "--force", more)[0] == 0
        schema = dt.Schema.load(tmp_path / "mine.json")
        assert all(attribute.counts is None for attribute in schema)
        assert schema.origin.public is public


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        (("--bins", "x=5"), 1, "--bins names no attribute 'x'"),
        (("--bins", "pay=one"), 2, "'one' of 'pay' is not a whole number"),
        (("--bins", "4", "--bins", "5"), 2, "twice"),
        (("--edges", "pay=0,much"), 2, "not numbers between commas"),
        (("--edges", "pay=0,5,inf", "--bins", "pay=5"), 1, "both given"),
        (("--edges", "pay=10,20"), 1, "but its numbers from"),
        (("--edges", "sex=10,20"), 1, "column 'sex' holds text"),
        (("--columns", "sexx"), 1, "did you mean 'sex'?"),
    ],
)
def test_schema_refuses_what_does_not_fit(run, survey, tmp_path, wrong, code, said):
    ended, _, errors = run("schema", "survey.csv", "--out", "mine.json", *wrong)
    assert ended == code
    assert said in " ".join(errors.split())
    assert not (tmp_path / "mine.json").exists()
