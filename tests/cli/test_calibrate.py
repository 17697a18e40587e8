"""deptriad calibrate, run as a user runs it."""

import pytest

pytest.importorskip("typer")
import deptriad as dt
from command_line import listing, one_line, strict_json


def test_help_of_calibrate(run):
    code, output, _ = run("calibrate", "--help")
    assert code == 0
    assert "Example: deptriad calibrate" in output
    for option in ("--total", "--plan", "--objective", "--guarantee", "--uncertainty", "--by"):
        assert option in output


def test_calibrate_writes_a_plan_that_keeps_the_promise(run, survey, tmp_path):
    arguments = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3")
    code, output, _ = run(*arguments, "--views", "all", "--plan", "mine.json")
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
        *("--objective", "even", "--views", "all", "--plan", "mine.json"),
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
        ((), "there is no promise: give --total, such as 3, or --sure, such as 0.9"),
        (("--total", "3", "--sure", "0.9"), "--total and --sure are both given"),
        (("--sure", "0.5"), "--sure is 0.5 and --before is 0.5, expected before < sure"),
        (("--sure", "1"), "--sure is 1.0, expected a number between 0 and 1"),
        (("--total", "0"), "total"),
        (("--total", "-1"), "--total is -1"),
        (
            ("--total", "3", "--fixed", "pya=1"),
            "--fixed names no attribute 'pya': did you mean 'pay'?",
        ),
        (("--total", "3", "--total-of", "pya=1"), "--total-of names no attribute 'pya'"),
        (("--total", "3", "--marginal", "sex,pya"), "--marginal names no attribute 'pya'"),
        (("--total", "3", "--together", "sex,pya"), "--together names no attribute 'pya'"),
        (("--total", "3", "--weights", "pya=1"), "--weights names no attribute 'pya'"),
        (("--total", "3", "--total-of", "pay=0"), "--total-of pay is 0.0, expected one number > 0"),
        (("--total", "3", "--views", "all", "--lower", "pay=-1"), "--lower pay is -1.0"),
        (
            ("--total", "3", "--views", "all", "--lower", "pay=2", "--upper", "pay=1"),
            "--upper pay is 1",
        ),
        (("--total", "3", "--views", "all", "--upper", "pay=0"), "say --fixed pay=0"),
        (("--total", "3", "--plan", "none/plan.json"), "there is no folder none"),
        (
            ("--total", "0.3", "--views", "all", "--fixed", "sex=1"),
            "the smallest total that works is",
        ),
    ],
)
def test_wishes_that_cannot_be_are_refused_and_leave_no_plan(run, survey, tmp_path, wrong, said):
    code, _, errors = run("calibrate", "survey.csv", "--schema", "schema.json", *wrong)
    assert code == 1
    assert said in one_line(errors)
    assert listing(tmp_path) == ["schema.json", "survey.csv"]


def test_calibrate_takes_limits_importance_and_mechanism(run, survey, tmp_path):
    code, *_ = run(
        *("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3"),
        *("--lower", "sex=0.2", "--upper", "pay=0.9", "--weights", "job=5"),
        *("--views", "all", "--mechanism", "oue", "--plan", "mine.json"),
    )
    assert code == 0
    analysis = dt.analyze(dt.Prior.from_data(tmp_path / "survey.csv", survey))
    limits = {"lower": {"sex": 0.2}, "upper": {"pay": 0.9}, "weights": {"job": 5.0}}
    wanted = dt.calibrate(analysis, 3.0, views="all", mechanism="oue", **limits)
    assert dt.Plan.load(tmp_path / "mine.json").digest == wanted.digest


def test_the_promise_is_said_in_words(run, survey):
    start = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3", "--force")
    _, output, _ = run(*start)
    assert "about any attribute moves odds at most 20.09 times (e^3):\nnobody who was" in output
    assert "becomes surer than 95.3 %" in output
    _, output, _ = run(*start, "--total-of", "sex=1", "--total-of", "pay=inf")
    assert "about sex moves odds at most 2.719 times (e^1)" in output
    assert "about job moves odds at most 20.09 times (e^3)" in output
    assert "about pay" not in output
    _, output, _ = run(*start, "--views", "all", "--guarantee", "pairwise")
    assert "by this estimate at most 20.09 times" in output


def test_a_promise_in_words_is_a_total(run, survey, tmp_path):
    start = ("calibrate", "survey.csv", "--schema", "schema.json", "--force")
    code, output, _ = run(*start, "--sure", "0.9")
    assert code == 0
    assert set(dt.Plan.load(tmp_path / "plan.json").total.values()) == {dt.promise(sure=0.9)}
    assert "at most 9.000 times (e^2.19723):\nnobody who was" in output
    assert run(*start, "--sure", "0.9", "--before", "0.2")[0] == 0
    promised = dt.promise(sure=0.9, before=0.2)
    assert set(dt.Plan.load(tmp_path / "plan.json").total.values()) == {promised}
    assert run(*start, "--total", "3", "--before", "0.2")[0] == 2


def test_a_plan_in_use_is_not_replaced_unasked(run, plan, tmp_path):
    before = (tmp_path / "plan.json").read_text()
    start = ("calibrate", "survey.csv", "--schema", "schema.json", "--total", "2")
    code, _, errors = run(*start)
    assert code == 1
    assert "--force" in one_line(errors)
    assert (tmp_path / "plan.json").read_text() == before
    assert run(*start, "--force")[0] == 0
    assert (tmp_path / "plan.json").read_text() != before


def test_calibrate_says_which_values_it_merged(run, survey):
    given = ("survey.csv", "--schema", "schema.json", "--views", "all", "--total", "3")
    code, output, _ = run("calibrate", *given, "--min-records", "150", "--thin", "merge")
    assert code == 0
    assert "Thin values: job: nurse, smith merged into (other)." in output
