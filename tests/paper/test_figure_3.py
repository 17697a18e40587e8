"""Figure 3: two tables with the same extremes."""

import numpy as np
import pytest

from deptriad.paper import figure_3, toy
from paper_items import quick


def test_figure_3_exact_leakage_is_the_best_of_all_sets():
    sets = (np.arange(32)[:, None] >> np.arange(5)) & 1
    for row in quick(figure_3).rows:
        mass = toy.SCENARIOS[row["scenario"]] @ sets.T
        likelihood = 1 + np.expm1(row["epsilon"]) * mass
        best = np.log(
            np.maximum(likelihood[0] / likelihood[1], likelihood[1] / likelihood[0]).max()
        )
        assert row["exact"] == pytest.approx(best, abs=1e-12)


def test_figure_3_claims_look_at_the_rows():
    rows = [dict(row) for row in quick(figure_3).rows]
    assert all(claim.holds for claim in quick(figure_3).claims)
    rows[5]["triad"] = rows[5]["exact"] - 0.01
    assert figure_3._bounded(rows).holds is False
    rows[5]["triad"] = rows[5]["uncalibrated"] + 0.01
    assert figure_3._tighter(rows).holds is False
