"""The command line, run as a user runs it."""

import csv
import json
import math
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

pytest.importorskip("typer")
pytest.importorskip("statsmodels")
import deptriad as dt
from deptriad.cli import demo_survey, main
from deptriad.cli.data import by_name


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in an empty folder; give its exit code, output and error output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code or 0, *capsys.readouterr()

    return run


def shown(output):
    """The cells of the printed table, line by line."""
    after_rule = re.split(r"─ *\n", output, maxsplit=1)[1]
    lines = re.split(r"\n *\n", after_rule, maxsplit=1)[0].splitlines()
    return [re.split(r" {2,}", line.strip()) for line in lines]


def test_version(run):
    assert run("--version") == (0, f"deptriad {version('deptriad')}\n", "")


def test_no_arguments_shows_help(run):
    _, output, errors = run()
    assert "demo" in output + errors


def test_help_of_the_whole(run):
    code, output, _ = run("--help")
    assert code == 0
    assert "Example: deptriad demo" in output
    for option in ("--debug", "--version", "demo"):
        assert option in output


@pytest.fixture
def one_plan(monkeypatch):
    """A page with one plan only: the others take seconds."""
    from deptriad.report import promises

    monkeypatch.setattr(promises, "PROMISES", ())


def test_help_of_demo(run):
    code, output, _ = run("demo", "--help")
    assert code == 0
    assert "Example: deptriad demo" in output
    for option in ("--epsilon", "--top", "--out", "--csv", "--total", "sampling error"):
        assert option in output


def test_demo_shows_the_worst_pairs_and_writes_all_and_the_page(run, one_plan, tmp_path):
    code, output, errors = run("demo")
    assert (code, errors) == (0, "")
    assert "6,366 women" in output
    assert "may move the odds about" in output
    assert "demo/fair-triads.csv" in output
    assert "demo/report.html" in output.splitlines()[-1]
    assert len(shown(output)) == 5
    with (tmp_path / "demo" / "fair-triads.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 72
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "6,366" in page


def test_demo_shows_bounds_rounded_up(run, one_plan, tmp_path):
    _, output, _ = run("demo", "--epsilon", "0.7", "--csv", "mine.csv", "--top", "72")
    with (tmp_path / "mine.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    for cells, row in zip(shown(output), written, strict=True):
        assert cells[:2] == [row["source"], row["target"]]
        for cell, name in zip(cells[2:], ("alpha", "beta", "phi", "delta", "leakage"), strict=True):
            assert (
                0 <= float(cell.replace("∞", "inf")) - float(row[name]) < 1e-3 or row[name] == "inf"
            )


def test_demo_top_shows_fewer_and_writes_all(run, one_plan, tmp_path):
    _, output, _ = run("demo", "--top", "3", "--csv", "mine.csv")
    assert len(shown(output)) == 3
    assert len((tmp_path / "mine.csv").read_text().splitlines()) == 73


@pytest.mark.parametrize("epsilon", ["0", "1e-12", "100", "inf"])
def test_demo_with_extreme_budgets(run, one_plan, epsilon):
    code, output, errors = run("demo", "--epsilon", epsilon)
    assert (code, errors) == (0, "")
    assert "nan" not in output.lower()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("demo", "--epsilon", "much"), "--epsilon"),
        (("demo", "--top", "-1"), "--top"),
        (("demo", "--out", "."), "--out"),
        (("demo", "--csv", "."), "--csv"),
        (("nothing",), "nothing"),
    ],
)
def test_wrong_usage_is_explained(run, arguments, named):
    code, _, errors = run(*arguments)
    assert code == 2
    assert named in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("epsilon", ["-1", "nan"])
def test_bad_value_is_one_line(run, epsilon):
    code, output, errors = run("demo", "--epsilon", epsilon)
    assert (code, output) == (1, "")
    assert errors.startswith("deptriad: ")
    assert errors.count("\n") == 1
    assert epsilon in errors


def test_unwritable_place_is_one_line(run, one_plan, tmp_path):
    (tmp_path / "file").touch()
    for option in ("--csv", "--out"):
        code, _, errors = run("demo", option, "file/here")
        assert code == 1
        assert errors.startswith("deptriad: ")
        assert errors.count("\n") == 1
        assert "cannot write file/here" in errors
        assert option in errors


def test_debug_shows_the_error_itself(monkeypatch):
    def fail():
        raise ValueError("on purpose")

    monkeypatch.setattr(demo_survey, "survey", fail)
    with pytest.raises(ValueError, match="on purpose"):
        main(["--debug", "demo"])


def test_missing_data_package_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    code, _, errors = run("demo")
    assert code == 1
    assert "pip install 'deptriad[demo]'" in errors


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_command_line_packages_name_the_extra(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from deptriad.cli import main"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "pip install 'deptriad[cli]'" in ended.stderr
    assert "Traceback" not in ended.stderr


# ------------------------------------------------------------------------------- schema and analyze


def records():
    """Records of four columns that depend on each other, in no order, with weights."""
    rows = ["sex,job,pay,state,w"]
    for i in range(600):
        sex = "fm"[i % 2]
        job = "cook" if i % 3 else ("nurse" if sex == "f" else "smith")
        rows.append(f"{sex},{job},{i * 37 % 101},{'TX' if i % 5 < 2 else 'CA'},{1 + i % 4}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def survey(tmp_path):
    """A CSV file of records, with a schema beside it, in the folder of ``run``."""
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    (tmp_path / "survey.csv").write_text(records())
    schema = dt.Schema(
        [
            dt.Attribute("sex", categories=["f", "m"], missing="error"),
            dt.Attribute("job", categories=["cook", "nurse", "smith"], missing="error"),
            dt.Attribute("pay", edges=[0, 30, 60, 101], missing="error"),
        ]
    )
    schema.save(tmp_path / "schema.json")
    return schema


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def strict_json(text):
    return json.loads(text, parse_constant=pytest.fail)


def one_line(errors):
    """The last line of the errors: what went wrong; before it there may only be warnings."""
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("deptriad: ")
    return errors.splitlines()[-1]


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


def test_analyze_shows_the_worst_leaks_first(run, survey, tmp_path):
    code, output, _ = run("analyze", "survey.csv", "--schema", "schema.json", "--epsilon", "0.7")
    assert code == 0
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    worst = analysis.top(10, epsilon=0.7)
    lines = shown(output)
    assert [cells[:2] for cells in lines] == worst[["source", "target"]].to_numpy().tolist()
    for cells, leak in zip(lines, worst["leakage"], strict=True):
        assert 0 <= float(cells[-2]) - leak < 1e-3
        assert 0 <= float(cells[-1].removesuffix(" times")) - math.exp(leak) < 1e-3
    assert listing(tmp_path) == ["schema.json", "survey.csv"]


def test_analyze_shows_as_many_as_asked(run, survey):
    _, output, _ = run("analyze", "survey.csv", "--schema", "schema.json", "--top", "2")
    assert len(shown(output)) == 2


def leaks_in(value):
    """All (source, target, leakage) of a JSON value, wherever they are."""
    if isinstance(value, dict) and {"source", "target", "leakage"} <= set(value):
        yield value["source"], value["target"], value["leakage"]
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaks_in(part)


@pytest.mark.parametrize(
    ("arguments", "options", "uncertainty"),
    [
        ((), {}, None),
        (("--weight", "w"), {"weight": "w"}, None),
        (("--by", "state"), {"by": "state"}, None),
        (
            ("--query", "SELECT * FROM data WHERE w > 1"),
            {"query": "SELECT * FROM data WHERE w > 1"},
            None,
        ),
        (("--uncertainty", "relative:0.1"), {}, dt.Relative(0.1)),
        (("--uncertainty", "absolute:0.01"), {}, dt.Absolute(0.01)),
        (("--uncertainty", "confidence:0.9"), {}, dt.Confidence(0.9)),
        (("--uncertainty", "spread:range", "--by", "state"), {"by": "state"}, dt.Spread("range")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_analyze_in_json_and_saved_is_what_the_library_says(
    run, survey, tmp_path, arguments, options, uncertainty
):
    code, output, _ = run(
        *("analyze", "survey.csv", "--schema", "schema.json", "--json", "--epsilon", "0.5"),
        *(*arguments, "--save", "mine.json"),
    )
    assert code == 0
    prior = dt.Prior.from_data(tmp_path / "survey.csv", survey, **options)
    analysis = dt.analyze(prior, uncertainty)
    worst = analysis.top(10, epsilon=0.5)
    assert list(leaks_in(strict_json(output))) == list(worst.itertuples(index=False, name=None))
    saved = dt.Analysis.load(tmp_path / "mine.json")
    for name in ("source", "target", "alpha", "beta", "phi", "delta"):
        assert saved.triads[name].tolist() == analysis.triads[name].tolist()
    assert listing(tmp_path) == ["mine.json", "schema.json", "survey.csv"]


def test_analyze_reads_parquet_and_saves_parquet(run, survey, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.read_csv(tmp_path / "survey.csv").to_parquet(tmp_path / "survey.parquet")
    common = ("--schema", "schema.json", "--json")
    from_csv = run("analyze", "survey.csv", *common, "--save", "a.parquet")
    from_parquet = run("analyze", "survey.parquet", *common, "--save", "b.parquet")
    assert from_csv[:2] == from_parquet[:2]
    one, two = (dt.Analysis.load(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    pd.testing.assert_frame_equal(one.triads, two.triads, check_exact=True)


def test_analyze_without_a_schema_says_so(run, survey):
    code, output, errors = run("analyze", "survey.csv", "--json")
    assert code == 0
    assert "public" in errors
    assert {source for source, *_ in leaks_in(strict_json(output))} <= {
        *("sex", "job", "pay", "state", "w")
    }


def test_analyze_passes_on_what_to_do_with_thin_values(run, survey, tmp_path):
    common = ("analyze", "survey.csv", "--schema", "schema.json")
    code, _, errors = run(*common, "--min-records", "150")
    assert code == 0
    assert "smith" in errors
    run(*common, "--min-records", "150", "--thin", "drop", "--save", "dropped.json")
    prior = dt.Prior.from_data(tmp_path / "survey.csv", survey, min_records=150, thin="drop")
    saved = dt.Analysis.load(tmp_path / "dropped.json")
    assert saved.triads["phi"].tolist() == dt.analyze(prior).triads["phi"].tolist()


def test_hostile_names_are_shown_as_text(run, tmp_path):
    pytest.importorskip("duckdb")
    names = ["[bold]x[/]", "\x1b[31mred", "<b>y</b>"]
    rows = [f"{i % 2},{i % 3},{i % 5 % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join([",".join(names), *rows]))
    code, output, errors = run("analyze", "survey.csv")
    assert code == 0
    assert "\x1b" not in output + errors
    assert "[bold]x[/]" in output
    assert r"\x1b[31mred" in output
    code, output, _ = run("analyze", "survey.csv", "--json")
    assert {source for source, *_ in leaks_in(strict_json(output))} == set(names)


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


def assert_refused(run, folder, files, arguments, said):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    before = listing(folder)
    code, output, errors = run(*arguments)
    assert (code, output) == (1, "")
    assert re.search(said, one_line(errors))
    assert listing(folder) == before


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
    ("place", "said"),
    [("file/mine.json", "file"), ("mine.txt", r"mine\.txt"), ("folder.json", "folder")],
)
def test_a_place_that_cannot_be_written_is_one_line(run, survey, tmp_path, place, said):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").touch()
    before = listing(tmp_path)
    code, _, errors = run("analyze", "survey.csv", "--schema", "schema.json", "--save", place)
    assert code in (1, 2)
    assert re.search(said, errors)
    assert "Traceback" not in errors
    assert listing(tmp_path) == before


def test_what_was_saved_before_survives_a_failure(run, survey, tmp_path):
    (tmp_path / "odd.csv").write_text("sex,job,pay\nx,cook,1\n")
    for name in ("mine.json", "mine.parquet"):
        (tmp_path / name).write_text("precious")
        run("analyze", "odd.csv", "--schema", "schema.json", "--save", name)
        assert (tmp_path / name).read_text() == "precious"


# ---------------------------------------------------------------------------- totals and witnesses


@pytest.fixture
def xor(tmp_path):
    """Two fair coins and whether they differ, each record many times over."""
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    rows = [f"{a},{b},{a ^ b}" for a in (0, 1) for b in (0, 1)] * 100
    (tmp_path / "coins.csv").write_text("\n".join(["first,second,differ", *rows]) + "\n")


def bracket(output, target):
    return next(each for each in strict_json(output)["totals"] if each["target"] == target)


def test_totals_are_those_of_the_library(run, survey, tmp_path):
    arguments = ("analyze", "survey.csv", "--schema", "schema.json", "--totals", "--json")
    code, output, _ = run(*arguments, "--epsilon", "0.3")
    assert code == 0
    prior = dt.Prior.from_data(tmp_path / "survey.csv", survey)
    for name, total in dt.analyze(prior).totals(0.3).items():
        shown = bracket(output, name)
        assert shown["witness"] is None
        for number in ("own", "paired", "pairwise", "certified", "budgets"):
            assert shown[number] == getattr(total, number)


def test_witness_shows_that_the_sum_is_no_bound(run, xor):
    code, output, _ = run("analyze", "coins.csv", "--witness", "--json")
    assert code == 0
    shown = bracket(output, "differ")
    assert shown["pairwise"] == pytest.approx(1, abs=1e-12)
    assert shown["witness"] == pytest.approx(1.4338, abs=1e-4)
    assert shown["witness"] <= shown["certified"] <= shown["budgets"] == 3


def test_totals_are_explained_and_the_paper_is_warned_of(run, xor):
    _, output, _ = run("analyze", "coins.csv", "--witness")
    for word in ("attained", "paired, pairwise: estimates", "certified: no joint", "Warning"):
        assert word in output
    assert "differ" in output.partition("Warning")[2]
    _, output, _ = run("analyze", "coins.csv", "--totals")
    assert "attained" not in output
    assert "Warning" not in output


def test_witness_and_certificate_are_about_the_same_people(run, tmp_path):
    """A value that was dropped is in neither."""
    pytest.importorskip("duckdb")
    rows = [f"{a},{b},{a ^ b}" for a in (0, 1) for b in (0, 1)] * 200 + ["0,0,7"] * 3
    (tmp_path / "coins.csv").write_text("\n".join(["first,second,differ", *rows]) + "\n")
    code, output, _ = run("analyze", "coins.csv", "--witness", "--thin", "drop", "--json")
    assert code == 0
    for each in strict_json(output)["totals"]:
        assert each["witness"] <= each["certified"]


# ------------------------------------------------------------------------------------------ calibrate


def test_help_of_calibrate(run):
    code, output, _ = run("calibrate", "--help")
    assert code == 0
    assert "Example: deptriad calibrate" in output
    for option in ("--total", "--plan", "--objective", "--guarantee", "--uncertainty", "--by"):
        assert option in output


def test_calibrate_writes_a_plan_that_keeps_the_promise(run, survey, tmp_path):
    arguments = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3")
    code, output, _ = run(*arguments, "--plan", "mine.json")
    assert code == 0
    for word in ("certified", "splitting", "mine.json"):
        assert word in output
    plan = dt.Plan.load(tmp_path / "mine.json")
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    assert all(each.certified <= 3 for each in analysis.totals(plan.budgets).values())
    assert listing(tmp_path) == ["mine.json", "schema.json", "survey.csv"]


def test_calibrate_takes_promises_and_budgets_by_name(run, survey, tmp_path):
    code, output, _ = run(
        *("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3", "--json"),
        *("--total-of", "sex=2", "--fixed", "pay=0.5", "--guarantee", "pairwise"),
        *("--objective", "even", "--plan", "mine.json"),
    )
    assert code == 0
    plan = dt.Plan.load(tmp_path / "mine.json")
    assert strict_json(output)["digest"] == plan.digest
    assert plan.budgets["pay"] == 0.5
    assert plan.total == {"sex": 2, "job": 3, "pay": 3}
    assert plan.totals["sex"]["pairwise"] <= 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--total", "0"), "total"),
        (("--total", "-1"), "--total is -1"),
        (
            ("--total", "3", "--fixed", "pya=1"),
            "--fixed names no attribute 'pya': did you mean 'pay'?",
        ),
        (("--total", "3", "--total-of", "pya=1"), "--total-of names no attribute 'pya'"),
        (("--total", "3", "--importance", "pya=1"), "--importance names no attribute 'pya'"),
        (("--total", "3", "--total-of", "pay=0"), "--total-of pay is 0.0, expected one number > 0"),
        (("--total", "3", "--lower", "pay=-1"), "--lower pay is -1.0"),
        (("--total", "3", "--lower", "pay=2", "--upper", "pay=1"), "--upper pay is 1"),
        (("--total", "3", "--upper", "pay=0"), "say --fixed pay=0"),
        (("--total", "3", "--plan", "none/plan.json"), "there is no folder none"),
        (("--total", "0.3", "--fixed", "sex=1"), "the smallest total that works is"),
    ],
)
def test_wishes_that_cannot_be_are_refused_and_leave_no_plan(run, survey, tmp_path, wrong, said):
    code, _, errors = run("calibrate", "survey.csv", "--schema", "schema.json", *wrong)
    assert code == 1
    assert said in one_line(errors)
    assert listing(tmp_path) == ["schema.json", "survey.csv"]


# ------------------------------------------------------------------------------ perturb and estimate


@pytest.fixture
def plan(run, survey):
    arguments = ("survey.csv", "--schema", "schema.json", "--total", "9", "--plan", "plan.json")
    assert run("calibrate", *arguments)[0] == 0


def test_reports_of_a_plan_estimate_what_was_said(run, plan, tmp_path):
    code, output, _ = run("perturb", "plan.json", "survey.csv", "--out", "r.parquet", "--seed", "1")
    assert code == 0
    assert "600 reports are in r.parquet" in output
    code, output, _ = run("estimate", "plan.json", "r.parquet", "sex", "job", "--json")
    assert code == 0
    found = strict_json(output)
    assert found["attributes"] == ["sex", "job"]
    assert len(found["estimates"]) == 6
    assert sum(each["share"] for each in found["estimates"]) == pytest.approx(1)
    cooks = [row for row in found["estimates"] if row["values"] == {"sex": "f", "job": "cook"}]
    assert cooks[0]["from"] - 0.05 <= 1 / 3 <= cooks[0]["to"] + 0.05
    code, output, _ = run("estimate", "plan.json", "r.parquet", "sex", "--post", "raw")
    assert code == 0
    assert "standard error" in output


def test_reports_are_secure_unless_a_seed_is_given(run, plan, tmp_path):
    pd = pytest.importorskip("pandas")
    for name, seed in (("a", ("--seed", "1")), ("b", ("--seed", "1")), ("c", ()), ("d", ())):
        assert run("perturb", "plan.json", "survey.csv", "--out", f"{name}.parquet", *seed)[0] == 0
    a, b, c, d = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in "abcd")
    assert a.equals(b)
    assert not c.equals(d)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("perturb", "none.json", "survey.csv"), "none.json"),
        (("perturb", "schema.json", "survey.csv"), "deptriad plan"),
        (("perturb", "plan.json", "none.csv"), "none.csv"),
        (("perturb", "plan.json", "odd.csv"), "astronaut"),
        (("perturb", "plan.json", "survey.csv", "--out", "r.csv"), "parquet"),
        (("estimate", "plan.json", "survey.csv", "sxe"), "sex"),
        (("estimate", "plan.json", "survey.csv", "sex", "--level", "2"), "--level is 2.0"),
        (("perturb", "plan.json", "survey.csv", "--out", "none/r.parquet"), "no folder none"),
    ],
)
def test_what_cannot_be_collected_is_refused(run, plan, tmp_path, arguments, said):
    (tmp_path / "odd.csv").write_text(records() + "f,astronaut,3,TX,1\n")
    before = listing(tmp_path)
    code, _, errors = run(*arguments)
    assert code == 1
    assert said in one_line(errors)
    assert listing(tmp_path) == before


# Options that take one of a few words, and the words.
CHOICES = {
    ("schema", "survey.csv", "--out", "new.json", "--binning"): ("quantile", "width"),
    ("analyze", "survey.csv", "--thin"): ("keep", "merge", "drop"),
    ("calibrate", "survey.csv", "--total", "3", "--objective"): ("utility", "even", "paper"),
    ("calibrate", "survey.csv", "--total", "3", "--guarantee"): (
        *("certified", "paired", "pairwise"),
    ),
    ("calibrate", "survey.csv", "--total", "3", "--mechanism"): (
        *("auto", "grr", "oue", "sue", "olh"),
    ),
    ("estimate", "plan.json", "r.parquet", "sex", "--post"): ("raw", "clip", "norm_sub"),
}


@pytest.mark.parametrize("arguments", CHOICES, ids=lambda arguments: arguments[-1])
def test_choices_are_refused_at_once_and_listed(run, survey, tmp_path, arguments):
    before = listing(tmp_path)
    code, output, errors = run(*arguments, "best")
    assert (code, output) == (2, "")
    assert "best" in errors
    _, help, _ = run(arguments[0], "--help")
    for word in CHOICES[arguments]:
        assert word in errors
        assert word in help
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


def test_analyze_takes_budgets_by_name(run, survey, tmp_path):
    common = ("analyze", "survey.csv", "--schema", "schema.json", "--totals")
    given = ("--epsilon", "0.5", "--budget", "sex=0", "--budget", "pay=2")
    code, output, _ = run(*common, *given, "--json")
    assert code == 0
    budgets = {"sex": 0.0, "job": 0.5, "pay": 2.0}
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    worst = analysis.top(10, epsilon=budgets)
    content = strict_json(output)
    assert content["budgets"] == budgets
    assert list(leaks_in(content)) == list(worst.itertuples(index=False, name=None))
    for name, total in analysis.totals(budgets).items():
        assert bracket(output, name)["certified"] == total.certified
        assert bracket(output, name)["odds_at_most"] >= math.exp(total.certified)
    code, output, _ = run(*common, *given)
    assert all(cells[1] == f"{budgets[cells[0]]:g}" for cells in shown(output))
    assert "the ε of what is released" in " ".join(output.split())


def test_a_witness_can_be_found_again(run, survey):
    common = ("analyze", "survey.csv", "--schema", "schema.json", "--witness", "--json", "--seed")
    first, second = (run(*common, "5")[1] for _ in range(2))
    assert first == second
    code, _, errors = run("analyze", "survey.csv", "--seed", "5")
    assert code == 2
    assert "--witness" in errors


def test_calibrate_takes_limits_importance_and_mechanism(run, survey, tmp_path):
    code, *_ = run(
        *("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3"),
        *("--lower", "sex=0.2", "--upper", "pay=0.9", "--importance", "job=5"),
        *("--mechanism", "oue", "--plan", "mine.json"),
    )
    assert code == 0
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    limits = {"lower": {"sex": 0.2}, "upper": {"pay": 0.9}, "weights": {"job": 5.0}}
    wanted = dt.calibrate(analysis, 3.0, mechanism="oue", **limits)
    assert dt.Plan.load(tmp_path / "mine.json").digest == wanted.digest


def test_the_promise_is_said_in_words(run, survey):
    start = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3", "--force")
    _, output, _ = run(*start)
    assert "about any attribute at most 20.09 times (e^3)" in output
    _, output, _ = run(*start, "--total-of", "sex=1", "--total-of", "pay=inf")
    assert "about sex at most 2.719 times (e^1)" in output
    assert "about job at most 20.09 times (e^3)" in output
    assert "about pay" not in output
    _, output, _ = run(*start, "--guarantee", "pairwise")
    assert "by this estimate at most 20.09 times" in output


def test_a_plan_in_use_is_not_replaced_unasked(run, plan, tmp_path):
    before = (tmp_path / "plan.json").read_text()
    start = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "2")
    code, _, errors = run(*start)
    assert code == 1
    assert "--force" in one_line(errors)
    assert (tmp_path / "plan.json").read_text() == before
    assert run(*start, "--force")[0] == 0
    assert (tmp_path / "plan.json").read_text() != before


def test_what_is_written_is_also_json(run, plan, tmp_path):
    code, output, _ = run("schema", "survey.csv", "--out", "new.json", "--json")
    assert code == 0
    assert output == (tmp_path / "new.json").read_text()
    code, output, _ = run("calibrate", "survey.csv", "--total", "3", "--force", "--json")
    assert code == 0
    assert output == (tmp_path / "plan.json").read_text()
    code, output, _ = run("perturb", "plan.json", "survey.csv", "--json")
    assert code == 0
    digest = dt.Plan.load(tmp_path / "plan.json").digest
    assert strict_json(output) == {"reports": 600, "out": "reports.parquet", "plan": digest}


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


def test_a_mistake_of_ours_is_one_line_too(run, monkeypatch):
    def fail():
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(demo_survey, "survey", fail)
    code, _, errors = run("demo")
    assert code == 1
    assert "unexpected ZeroDivisionError: on purpose" in one_line(errors)
    assert "--debug" in one_line(errors)


def test_help_names_no_types_of_python(run):
    names = re.findall(r"^│ (\w+) ", run("--help")[1], flags=re.MULTILINE)
    assert {"schema", "analyze", "calibrate", "perturb", "estimate", "rivals"} <= set(names)
    for name in ("", *names):
        _, output, _ = run(*filter(None, [name]), "--help")
        assert "<bool>" not in output
        assert "<list" not in output
        assert f"Example: deptriad {name}" in output


def test_a_schema_that_was_edited_is_not_replaced_unasked(run, survey, tmp_path):
    before = (tmp_path / "schema.json").read_text()
    code, _, errors = run("schema", "survey.csv")
    assert code == 1
    assert "--force" in one_line(errors)
    assert (tmp_path / "schema.json").read_text() == before
    assert run("schema", "survey.csv", "--force")[0] == 0
    assert (tmp_path / "schema.json").read_text() != before


def test_a_witness_is_put_into_words(run, xor):
    _, output, _ = run("analyze", "coins.csv", "--witness")
    assert "can raise the odds" in " ".join(output.partition("All releases")[2].split())


# --- the page -------------------------------------------------------------------------------------------------------


def test_report_writes_one_page(run, one_plan, survey, tmp_path):
    given = ("--schema", "schema.json", "--total", "2", "--out", "new/page.html")
    code, output, _ = run("report", "survey.csv", *given)
    assert code == 0
    assert "new/page.html" in output
    page = (tmp_path / "new" / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '"file":"survey.csv"' in page
    assert str(tmp_path) not in page
    assert '"total":2.0' in page
    assert '"attained":[' in page


def test_report_of_several_sources_has_no_witness(run, one_plan, survey, tmp_path):
    given = ("--schema", "schema.json", "--by", "state", "--uncertainty", "spread:std")
    code, _, _ = run("report", "survey.csv", *given)
    assert code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '"attained":null' in page


@pytest.mark.parametrize("total", ["0", "-1", "inf", "nan"])
def test_report_refuses_a_promise_that_cannot_be(run, survey, tmp_path, total):
    code, _, errors = run("report", "no-such-file.csv", "--total", total)
    assert code == 1
    assert f"--total is {total}" in errors
    assert not (tmp_path / "report.html").exists()
