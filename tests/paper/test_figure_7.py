"""Figure 7: what α and β alone say."""

import numpy as np
import pytest

from deptriad.paper import figure_7
from deptriad.paper.figures import column, those
from paper_items import as_read_back, quick


def test_figure_7_leaves_out_what_has_no_logarithm(library):
    outcome = quick(figure_7, library)
    pairs = those(outcome.rows, kind="pair")
    beta = column(pairs, "beta")
    assert (beta[np.isfinite(beta) & (beta > 0.0)] > 1e-9).all()  # no β that is rounding alone
    assert all(claim.holds is not False for claim in outcome.claims[:2])
    swapped = [
        {**row, "with alpha": row["with beta"], "with beta": row["with alpha"]}
        for row in outcome.rows
    ]
    assert figure_7._dominant(swapped).holds is False
    turned = [{**row, "with alpha": -float(row["with beta"] or 0.0)} for row in outcome.rows]
    back = [{**row, "with beta": -float(row["with alpha"] or 0.0)} for row in outcome.rows]
    assert figure_7._ends(turned)[2].holds is figure_7._ends(outcome.rows)[0].holds
    assert figure_7._ends(back)[0].holds is figure_7._ends(outcome.rows)[2].holds
    falling = [{**row, "with alpha": -float(row["epsilon"])} for row in outcome.rows]
    assert figure_7._ends(falling)[2].holds is False
    assert "not in this order, and" in figure_7._ends(falling)[2].why
    none = [{**row, "beta": 1.0} for row in outcome.rows]
    assert figure_7._excluded(none) == []
    above = [{**row, "leakage": 1.5 if row["kind"] == "pair" else ""} for row in outcome.rows]
    assert figure_7._capped(above).holds is False
    assert len(figure_7.draw(as_read_back(outcome.rows)).axes) == 2


def test_correlation_of_logarithms(rng):
    one = rng.random(50)
    found = figure_7.correlation(np.append(one, [0.0, np.inf]), np.append(3.0 * one**2, [1.0, 1.0]))
    assert found == pytest.approx(1.0)
