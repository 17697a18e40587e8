"""Figure 5: estimators on sine tables."""

import json

import numpy as np
import pytest

from deptriad.paper import figure_5
from deptriad.paper.estimators import NAMES, estimates
from paper_items import as_read_back, quick


@pytest.fixture(scope="module")
def found():
    return quick(figure_5)


def test_estimates_of_the_published_table_are_the_published_ones(shared_dir):
    golden = json.loads((shared_dir / "golden" / "paper_triads.json").read_text())
    table = np.loadtxt(shared_dir / "golden" / "sin_10.csv", delimiter=",")
    budgets = [float(budget) for budget in golden["10:star"]]
    ours = estimates(table, budgets)
    assert ours["exact"] == pytest.approx(list(golden["10:star"].values()), abs=1e-6)
    assert ours["triad"] == pytest.approx(list(golden["10:0"]["leakage"].values()), abs=1e-6)


def test_our_table_of_ten_values_gives_nearly_the_published_leakages(found, shared_dir):
    golden = json.loads((shared_dir / "golden" / "paper_triads.json").read_text())
    (row,) = [
        r for r in found.rows if r["by"] == "size" and r["size"] == 10 and r["table"] == "law"
    ]
    assert row["triad"] == pytest.approx(golden["10:0"]["leakage"]["1"], rel=0.02)
    assert row["exact"] == pytest.approx(golden["10:star"]["1"], rel=0.02)


def test_calibrated_estimates_meet_the_exact_leakage_at_their_budget(found):
    for row in found.rows:
        for start in (0.5, 1.0):
            if row["epsilon"] == start:
                assert row[f"calibrated at {start:g}"] == pytest.approx(row["exact"], rel=1e-9)
    assert {name for name in NAMES if name in found.rows[0]} == set(NAMES)


def test_claims_look_at_the_rows(found):
    verdicts = {claim.paper: claim.holds for claim in found.claims}
    assert verdicts["the triad is an upper bound at every budget"] is True
    rows = [dict(row) for row in found.rows]
    rows[3]["triad"] = rows[3]["exact"] - 1e-6
    assert figure_5._bound(rows).holds is False
    for row in rows:
        row["uncalibrated"] = row["exact"] + 0.1
    assert figure_5._grows(rows, "drawn").holds is False
    for row in rows:
        row["triad"] = row["exact"] + 0.2
    assert figure_5._nearer(rows, "law").holds is False


def test_it_is_drawn_from_text(found):
    rows = as_read_back(found.rows)
    figure = figure_5.draw(rows)
    assert [len(axes.lines) for axes in figure.axes] == [len(NAMES)] * 4
