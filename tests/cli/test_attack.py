"""deptriad attack, run as a user runs it."""

import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("duckdb")
import deptriad as dt
from deptriad.cli import main
from deptriad.mechanisms import GRR
from worlds import dependent, draw, frame_of, schema_of

SCHEMA = schema_of([2, 3, 2])


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in a folder with a plan and records; give its exit code, output and error output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(1)
    frame = frame_of(draw(dependent([2, 3, 2], rng, 0.97), 4000, rng), SCHEMA)
    frame.to_csv("survey.csv", index=False)
    prior = dt.Prior.from_data(frame, SCHEMA, min_records=0)
    dt.calibrate(dt.analyze(prior), total=0.6).save("plan.json")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(("attack", "plan.json", "survey.csv", *arguments))
        return ended.value.code or 0, *capsys.readouterr()

    return run


def test_the_table(run):
    code, output, errors = run("--seed", "1")
    assert (code, errors) == (0, "")
    for said in (
        "target",
        "accuracy",
        "commonest",
        "macro-F1",
        "balanced",
        "baseline",
        "ceiling",
        "allowed",
        "audit",
    ):
        assert said in output
    lines = [line.split() for line in output.splitlines() if line.strip()]
    start = next(place for place, line in enumerate(lines) if line[0] == "a")
    assert [line[0] for line in lines[start : start + 4]] == ["a", "b", "c", "mean"]
    assert [line[-1] for line in lines[start : start + 3]] == ["holds"] * 3
    assert lines[start + 4][:2] == ["In", "words:"]
    assert run("--seed", "1")[1] == output
    assert run("--seed", "2")[1] != output


def test_json_and_a_file_of_it(run, tmp_path):
    options = "--targets c --targets a --own --sample 400 --json --out r.json"
    code, output, _ = run(*options.split())
    assert code == 0
    found = json.loads(output)
    assert found == json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert found["strategy"] == "plan"
    assert [each["target"] for each in found["targets"]] == ["c", "a"]
    assert all(each["own"] and each["train"] == 200 for each in found["targets"])


def test_splitting_is_attacked_instead(run):
    found = {
        name: json.loads(run("--json", "--own", "--seed", "1", *options)[1])
        for name, options in (("plan", ()), ("splitting", ("--split",)))
    }
    for name, each in found.items():
        assert each["strategy"] == name
    plan, splitting = (each["targets"][0]["allowed"] for each in found.values())
    assert splitting < plan <= 0.6  # splitting wastes some of the promise


def test_an_attacker_that_learns(run):
    pytest.importorskip("sklearn")
    code, output, _ = run("--attacker", "boosting", "--targets", "a", "--json")
    assert code == 0
    assert json.loads(output)["targets"][0]["attacker"] == "boosting"


def test_a_broken_promise_ends_in_an_exit_code_of_its_own(run, monkeypatch):
    honest = GRR._report

    def loud(self, codes, words):
        return honest(GRR(self.size, 12.0 * self.epsilon), codes, words)

    monkeypatch.setattr(GRR, "_report", loud)
    code, output, errors = run("--seed", "1")
    assert code == 3
    assert "BROKEN" in output
    assert "AUDIT FAILED" in output
    assert "an audit failed" in errors
    code, output, _ = run("--seed", "1", "--json")
    assert code == 3
    assert json.loads(output)["holds"] is False


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--targets", "z"), 1, "'z'"),
        (("--attacker", "magic"), 2, "magic"),
        (("--out", "nowhere/r.json"), 1, "nowhere"),
        (("--sample", "1"), 2, "--sample"),
    ],
)
def test_mistakes_are_told(run, arguments, code, said):
    found, output, errors = run(*arguments)
    assert found == code
    assert said in errors
    assert output == ""


def test_what_only_its_own_report_tells_about_is_named_by_the_option(run):
    prior = dt.Prior.from_data("survey.csv", SCHEMA, min_records=0)
    dt.calibrate(dt.analyze(prior), total=0.6, marginals=1, fixed={"b": 0.0, "c": 0.0}).save(
        "plan.json"
    )
    code, _, errors = run("--targets", "a")
    assert code == 1
    assert "every question is about 'a' itself" in errors
    assert "attack it with --own" in errors
    assert run("--targets", "a", "--own")[0] == 0
    assert [each["target"] for each in json.loads(run("--json")[1])["targets"]] == ["b", "c"]


def test_help_has_an_example(run):
    code, output, _ = run("--help")
    assert code == 0
    assert "Example: deptriad attack plan.json" in output
    for option in ("--attacker", "--targets", "--own", "--split", "--sample", "--seed", "--out"):
        assert option in output


def test_odds_allowed_above_the_promise_are_explained(run):
    import pandas as pd

    assert "above the plan's promise" not in run("--seed", "1", "--own")[1]
    frame = pd.read_csv("survey.csv", dtype=str)
    for name in "bc":  # each answer tells all
        values = dict(zip(SCHEMA["a"].values, SCHEMA[name].values, strict=False))
        frame[name] = frame["a"].map(values)
    frame.to_csv("survey.csv", index=False)
    said = " ".join(run("--seed", "1", "--own")[1].split())
    assert "Odds allowed are above the plan's promise about" in said
    assert "are others than those that the plan was made from" in said
