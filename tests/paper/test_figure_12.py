"""Figure 12: over- and underestimation without uncertainty."""

import pytest

import deptriad as dt
from deptriad.paper import figure_12
from deptriad.paper.estimation import EPSILON
from paper_items import as_read_back, quick


def test_figure_12_points_by_hand(library, survey):
    outcome = quick(figure_12, library)
    row = outcome.rows[17]
    known = survey.prior().table(row["source"], row["target"])
    actual = dt.leakage(survey.own(row["state"]).table(row["source"], row["target"]), EPSILON)
    gap = dt.triad(known).leakage(EPSILON) - actual
    assert row["over"] - row["under"] == pytest.approx(gap)
    assert row["over"] == 0.0 or row["under"] == 0.0
    none = [{**row, "under": 0.0} for row in outcome.rows]
    assert figure_12._considerable(none).holds is False
    assert figure_12._alike(outcome.rows).holds is True
    first = {**outcome.rows[0], "under": 1.0}  # one point is enough, whatever the mean
    assert figure_12._alike([first, *outcome.rows[1:]]).holds is False
    assert len(figure_12.draw(as_read_back(outcome.rows)).axes) == 2
