"""What the page holds, and what it does not."""

import re

import numpy as np
import pytest

import deptriad as dt
from deptriad import report
from deptriad.report.content import _digits, content


def test_control_signs_are_written_out(held):
    assert held["names"][2] == "abc\\u202edef\\x1b[31m"


def test_of_a_path_only_the_name_is_shown(html, held):
    assert held["file"] == "<img src=x onerror=hacked>.csv"
    assert "somebody-s-folder" not in html


def test_triads_are_the_analysis_to_the_last_bit(held, analysis):
    for name in ("alpha", "phi", "delta"):
        assert held["triads"][name] == getattr(analysis.numbers, name).tolist()
    assert [float(value) for value in held["triads"]["beta"]] == analysis.numbers.beta.tolist()


def test_curves_bound_the_exact_leakage_closely(held, analysis):
    budgets = np.array([0.01, 0.3, 1.0, 3.0, 10.0])
    for pair, lines in zip(analysis.pairs, held["curves"], strict=True):
        gap, lower = np.array(lines).T
        curve = np.log1p(gap[:, None] / (1 / np.expm1(budgets) + lower[:, None])).max(axis=0)
        exact = analysis.profile(*pair).leakage(budgets)
        assert (curve >= exact * (1 - 1e-12)).all()
        np.testing.assert_allclose(curve, exact, rtol=3e-5, atol=1e-9)


def test_digits_are_rounded_outward(rng):
    for number in [0.0, 1.0, 1e-300, 0.999999999, *(10 ** rng.uniform(-12, 0, 200))]:
        assert number <= _digits(number, up=True) <= number * (1 + 2e-5)
        assert number * (1 - 2e-5) <= _digits(number, up=False) <= number


def test_explanations_are_those_of_where(held, analysis):
    for pair, entries in zip(analysis.pairs, held["explained"], strict=True):
        for epsilon, more, less, values in entries:
            found = analysis.where(*pair, epsilon)
            about = analysis.schema[pair[1]].values
            assert (about[more], about[less]) == found.pair_labels
            assert tuple(values) == found.values


def test_a_loaded_analysis_has_no_tables_to_plan_with(analysis, tmp_path):
    analysis.save(tmp_path / "analysis.json")
    with pytest.raises(ValueError, match="analyze the prior again"):
        report.page(dt.Analysis.load(tmp_path / "analysis.json"))


KEYS = {
    *(
        "made",
        "file",
        "records",
        "threshold",
        "names",
        "heads",
        "schema",
        "triads",
        "curves",
        "explained",
    ),
    *(
        "promises",
        "asked",
        "unplanned",
        "users",
        "certainty",
        "caveats",
        "changes",
        "files",
        "scale",
    ),
}


def test_no_records_and_no_small_counts(held, html, analysis):
    assert set(held) == KEYS
    (thin,) = analysis.prior.thin
    assert thin.records == 7
    assert held["changes"] == ["fourth = rare: fewer than 10 records, kept"]
    assert not re.search(r"\b7 records", html)
    # nowhere a list as long as the data, or a table of counts
    assert max(map(len, lists_in(held))) < 50


def lists_in(value):
    if isinstance(value, list):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inside:
        yield from lists_in(each)


def test_a_column_that_is_no_attribute_is_not_in_it(records):
    secret = records.assign(secret=[f"person-{i}" for i in range(len(records))])
    schema = dt.Schema.infer(records)
    with pytest.warns(UserWarning, match="fewer than 20"):
        analysis = dt.analyze(dt.Prior.from_data(secret, schema))
    assert "person-" not in report.page(analysis, 1.0, promises=(), records=secret)


def test_the_threshold_is_stated_and_can_be_moved(analysis):
    made, _ = content(analysis, 1.0, promises=(), min_count=1000)
    assert made["threshold"] == 1000
    assert made["records"] == "fewer than 1,000"


def test_what_it_rests_on_is_said(records):
    with pytest.warns(UserWarning, match="no schema was given"):
        prior = dt.Prior.from_data(records)
    with pytest.warns(UserWarning, match="no guarantee"):
        chosen = dt.analyze(prior, dt.Confidence(0.9))
    made, plans = content(chosen, 1.0, promises=())
    assert list(plans) == [1.0]
    assert made["certainty"]["guarantees"].startswith("No guarantee")
    assert any("chosen by looking at the data itself" in each for each in made["caveats"])
    assert made["promises"][0]["once"]["attained"] is None


def test_a_prior_from_reports_has_a_page_without_a_number_of_records():
    schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    split = dt.Split(schema, total=4.0)
    reports = dt.simulate([[400, 100], [50, 450]], split, np.random.default_rng(1))
    analysis = dt.analyze(dt.Prior.from_reports(reports, split), dt.Confidence(0.9))
    made, _ = content(analysis, 1.0, promises=())
    assert made["records"] is None
    assert any("perturbed reports" in each for each in made["caveats"])


def test_progress_reaches_its_end(analysis):
    steps = []
    content(analysis, 1.0, promises=(2.0,), progress=lambda *step: steps.append(step))
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1]


def test_the_file_is_written_whole_with_its_folders(analysis, tmp_path):
    out = tmp_path / "new" / "report.html"
    plans = report.write(analysis, out, 1.0, promises=(2.0,))
    assert {promise: plan.total["fourth"] for promise, plan in plans.items()} == {
        1.0: 1.0,
        2.0: 2.0,
    }
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]
