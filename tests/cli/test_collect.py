"""deptriad perturb and estimate, run as a user runs them."""

import pytest

import deptriad as dt

pytest.importorskip("typer")
from command_line import listing, one_line, records, strict_json


def test_reports_of_a_plan_estimate_what_was_said(run, plan, tmp_path):
    code, output, _ = run("perturb", "plan.json", "survey.csv", "--out", "r.parquet", "--seed", "1")
    assert code == 0
    assert "600 reports are in r.parquet" in output
    code, _, errors = run("estimate", "plan.json", "r.parquet", "sex", "job", "--json")
    assert code == 1
    assert "was perturbed with a seed" in one_line(errors)
    assert "--seeded" in one_line(errors)
    arguments = ("estimate", "plan.json", "r.parquet", "sex", "job", "--json", "--seeded")
    code, output, _ = run(*arguments)
    assert code == 0
    found = strict_json(output)
    assert found["attributes"] == ["sex", "job"]
    assert len(found["estimates"]) == 6
    assert sum(each["share"] for each in found["estimates"]) == pytest.approx(1)
    cooks = [row for row in found["estimates"] if row["values"] == {"sex": "f", "job": "cook"}]
    assert cooks[0]["from"] - 0.05 <= 1 / 3 <= cooks[0]["to"] + 0.05
    assert "with a seed" in found["note"]
    code, output, _ = run("estimate", "plan.json", "r.parquet", "sex", "--post", "raw", "--seeded")
    assert code == 0
    assert "standard error" in output


def test_reports_can_be_weighted_by_a_column_beside_them(run, plan, tmp_path):
    pd = pytest.importorskip("pandas")
    run("perturb", "plan.json", "survey.csv", "--out", "r.parquet")
    reports = pd.read_parquet(tmp_path / "r.parquet")
    reports.assign(w=[1.0 + i % 4 for i in range(len(reports))]).to_csv(
        tmp_path / "r.csv", index=False
    )
    _, output, _ = run("estimate", "plan.json", "r.csv", "sex", "--json", "--weight", "w")
    found = strict_json(output)
    held = pd.read_csv(tmp_path / "r.csv", dtype=str).astype({"w": float})
    expected = dt.Plan.load(tmp_path / "plan.json").estimate(held, "sex", weight="w")
    assert [row["share"] for row in found["estimates"]] == pytest.approx(expected.frequencies)
    code, _, errors = run("estimate", "plan.json", "r.csv", "sex", "--weight", "age")
    assert code == 1
    assert "'age'" in one_line(errors)


def test_records_in_place_of_reports_are_refused_or_it_is_said_what_was_not_checked(
    run, plan, tmp_path
):
    pd = pytest.importorskip("pandas")
    labels = dict(enumerate(dt.Plan.load(tmp_path / "plan.json").schema["pay"].values))
    raw = pd.read_csv(tmp_path / "survey.csv")
    raw["pay"] = (raw["pay"] // 30).clip(upper=2).map(labels)  # records as reports are spelt
    raw.to_parquet(tmp_path / "raw.parquet")
    raw.to_csv(tmp_path / "raw.csv", index=False)
    code, _, errors = run("estimate", "plan.json", "raw.parquet", "sex")
    assert code == 1
    assert "raw.parquet carries no mark" in one_line(errors)
    assert "--unmarked" in one_line(errors)
    code, output, _ = run(
        "estimate", "plan.json", "raw.parquet", "sex", "--unmarked", "--implausible"
    )
    assert code == 0
    assert "Note: " in output
    code, output, _ = run("estimate", "plan.json", "raw.csv", "sex", "--implausible", "--json")
    assert code == 0
    assert strict_json(output)["note"]


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
