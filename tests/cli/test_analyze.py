"""deptriad analyze, run as a user runs it."""

import math
import re

import numpy as np
import pytest

pytest.importorskip("typer")
import deptriad as dt
from command_line import leaks_in, listing, shown, strict_json
from deptriad.utils.text import rounded_up


def test_analyze_shows_the_worst_leaks_first(run, survey, tmp_path):
    code, output, _ = run("analyze", "survey.csv", "--schema", "schema.json", "--epsilon", "0.7")
    assert code == 0
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    worst = analysis.top(10, epsilon=0.7)
    worst = worst[worst["leakage"] < 0.999 * 0.7]
    assert "1 of 6 ordered pairs are saturated" in output
    lines = shown(output, "Strongest pairs")
    assert [cells[:2] for cells in lines] == worst[["source", "target"]].to_numpy().tolist()
    for cells, leak in zip(lines, worst["leakage"], strict=True):
        assert 0 <= float(cells[-2]) - leak < 1e-3
        assert 0 <= float(cells[-1].removesuffix(" times")) - math.exp(leak) < 1e-3
    assert listing(tmp_path) == ["schema.json", "survey.csv"]


def test_analyze_shows_as_many_as_asked(run, survey):
    _, output, _ = run("analyze", "survey.csv", "--schema", "schema.json", "--top", "2")
    assert len(shown(output, "Strongest pairs")) == 2


def test_analyze_has_a_line_for_each_attribute_most_exposed_first(run, survey, tmp_path):
    _, output, _ = run("analyze", "survey.csv", "--schema", "schema.json")
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    matrix = np.asarray(analysis.leakage(1.0)) - np.eye(3) * 9
    lines = shown(output, "Most exposed first")
    assert [line[0] for line in lines] == [survey.names[i] for i in np.argsort(-matrix.max(axis=0))]
    for name, leakage, source, total, *_ in lines:
        place = survey.index(name)
        assert source == survey.names[int(matrix[:, place].argmax())]
        assert 0 <= float(leakage) - matrix[:, place].max() < 1e-3
        assert 0 <= float(total) - analysis.totals(1.0)[name].certified < 1e-3
    _, output, _ = run(
        *("analyze", "survey.csv", "--schema", "schema.json", "--quick"),
        *("--target", "sex", "--source", "pay"),
    )
    assert [line[0] for line in shown(output, "Most exposed first")] == ["sex"]
    assert [line[:2] for line in shown(output, "Strongest pairs")] == [["pay", "sex"]]


def test_analyze_fits_a_terminal_with_long_names(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"a question that goes on and on and on, number {i}" for i in range(4)]
    rows = [f"{i % 2},{i % 2},{i % 5 % 2},{i % 3}" for i in range(300)]
    header = ",".join(f'"{name}"' for name in names)
    (tmp_path / "survey.csv").write_text("\n".join([header, *rows]))
    code, output, _ = run("analyze", "survey.csv")
    assert code == 0
    assert max(map(len, output.splitlines())) <= 80
    assert "Tell each other everything" in output
    assert all(len(line) == 6 for line in shown(output, "Most exposed first"))


def test_names_that_differ_in_the_middle_stay_apart_in_80_columns(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"ever_diagnosed_with_{what}_by_a_doctor" for what in ("diabetes", "asthma", "gout")]
    rows = [f"{i % 2},{i % 3 % 2},{i % 5 % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join([",".join(names), *rows]))
    _, output, _ = run("analyze", "survey.csv")
    labels = {line[0] for line in shown(output, "Most exposed first")}
    assert labels == {"ever…diabetes…", "ever…asthma_b…", "ever…gout_by_…"}


def test_triads_of_long_names_fit_80_columns(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"ever_diagnosed_with_{what}_by_a_doctor" for what in ("diabetes", "asthma", "gout")]
    rows = [f"{i % 2},{i % 3 % 2},{i % 5 % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join([",".join(names), *rows]))
    for budgets in ([], ["--budget", f"{names[0]}=2"]):
        _, output, _ = run("analyze", "survey.csv", "--quick", "--triads", *budgets)
        _, _, table = output.rpartition("released")
        lines = [line.split() for line in table.splitlines()[2:8]]
        assert len({line[0] for line in lines}) == 3
        assert {len(line) for line in lines} == {7 + len(budgets) // 2}
        assert all(float(number) >= 0.0 for line in lines for number in line[-5:])


@pytest.mark.parametrize("how", ["--totals", "--witness"])
def test_totals_of_long_names_fit_80_columns(run, tmp_path, monkeypatch, how):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"ever_diagnosed_with_{what}_by_a_doctor" for what in ("diabetes", "asthma", "gout")]
    rows = [f"{i % 2},{i % 3 % 2},{i % 5 % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join([",".join(names), *rows]))
    budget = f"{names[0]}=2"
    code, output, _ = run("analyze", "survey.csv", "--quick", how, "--budget", budget)
    assert code == 0
    assert max(map(len, output.splitlines())) <= 80
    for heading in ("own ε", "estimate", "pairwise", "certified", "becomes"):
        assert heading in output
    lines = shown(output, "All releases together")
    assert len({line[0] for line in lines}) == 3
    assert {len(line) for line in lines} == {8}


def test_merged_values_are_named_by_attribute(run, tmp_path):
    rows = [f"{'abcde'[i % 101 % 5] if i % 101 < 5 else 'most'},{i % 2}" for i in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join(["town,sex", *rows]))
    _, output, _ = run("analyze", "survey.csv", "--quick", "--thin", "merge")
    assert "Thin values: town: a, b, c, d, e merged into (other)." in output


def test_what_rests_on_few_records_is_marked(run, survey):
    _, output, _ = run("analyze", "survey.csv", "--schema", "schema.json", "--min-records", "150")
    assert "* rests on an answer that fewer than 150 people gave (the rarest: 100)" in output
    assert any(line[1].endswith("*") for line in shown(output, "Most exposed first"))


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


def test_bounds_are_shown_by_what_is_assumed(run, survey, tmp_path):
    """Three bounds side by side, each rounded up, and what each takes for granted."""
    arguments = ("analyze", "survey.csv", "--schema", "schema.json", "--totals")
    code, output, _ = run(*arguments)
    assert code == 0
    table = output.partition("The bound, by what is assumed")[2]
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    free, grr = analysis.totals(1.0), analysis.totals(1.0, mechanisms="grr")
    each = [(free[name].certified, grr[name].certified, grr[name].joint) for name in analysis.names]
    for name, bounds in zip(analysis.names, each, strict=True):
        row = next(line.split() for line in table.splitlines() if line.split()[:1] == [name])
        assert row == [name, *(rounded_up(bound) for bound in bounds)]
        assert bounds[2] <= bounds[1] <= bounds[0]
    assert min(joint - pairs for _, pairs, joint in each) < -0.01
    assert min(pairs - free for free, pairs, _ in each) < -0.01
    for words in (
        "any mechanism, from pairs: ",
        "GRR, from pairs: ",
        "GRR, joint table: exact, if",
    ):
        assert words in table
    _, unsure, _ = run(*arguments, "--uncertainty", "absolute:0.02")
    assert "GRR, joint table: exact" not in unsure
    assert "The smaller of the two bounds for GRR holds" in unsure
    _, output, _ = run(*arguments, "--json")
    for name, total in grr.items():
        by_grr = {"certified": total.certified, "joint": total.joint}
        assert bracket(output, name)["grr"] == by_grr


def test_witness_and_certificate_are_about_the_same_people(run, tmp_path):
    """A value that was dropped is in neither."""
    pytest.importorskip("duckdb")
    rows = [f"{a},{b},{a ^ b}" for a in (0, 1) for b in (0, 1)] * 200 + ["0,0,7"] * 3
    (tmp_path / "coins.csv").write_text("\n".join(["first,second,differ", *rows]) + "\n")
    code, output, _ = run("analyze", "coins.csv", "--witness", "--thin", "drop", "--json")
    assert code == 0
    for each in strict_json(output)["totals"]:
        assert each["witness"] <= each["certified"]


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
    code, output, _ = run(*common, *given, "--triads")
    assert all(cells[1] == f"{budgets[cells[0]]:g}" for cells in shown(output, "α"))
    assert "released with ε = 0 but for job with 0.5, pay with 2." in output


def test_a_witness_can_be_found_again(run, survey):
    common = ("analyze", "survey.csv", "--schema", "schema.json", "--witness", "--json", "--seed")
    first, second = (run(*common, "5")[1] for _ in range(2))
    assert first == second
    code, _, errors = run("analyze", "survey.csv", "--seed", "5")
    assert code == 2
    assert "--witness" in errors


def test_a_witness_is_put_into_words(run, xor):
    _, output, _ = run("analyze", "coins.csv", "--witness")
    assert "can raise the odds" in " ".join(output.partition("All releases")[2].split())
