"""Figure 13: over- and underestimation by kind of uncertainty."""

import pytest

from deptriad.paper import figure_13
from deptriad.paper.figures import column, those
from paper_items import as_read_back, quick


def test_figure_13_wider_boxes_underestimate_less(library):
    outcome = quick(figure_13, library)
    for relaxation in ("paper", "tight"):
        under = {
            spread: figure_13._sets(outcome.rows, spread, "under", relaxation)
            for spread in figure_13.SPREADS
        }
        assert (under["range"] <= under["std"] + 1e-12).all()  # range ≥ std, entry by entry
    means = [
        column(those(outcome.rows, kind="point", spread="std", relaxation="paper"), "under").mean(),
        figure_13._sets(outcome.rows, "std", "under")[0],
    ]
    assert means[0] == pytest.approx(means[1])
    flipped = [
        {**row, "under": 1.0 if row["spread"] in ("range", "std") else 0.0} for row in outcome.rows
    ]
    assert figure_13._less(flipped).holds is False
    verdicts = []
    for wide in ({"range": ("over", "under")}, {"range": ("over",), "std": ("under",)}, {}):
        rows = [
            {**row, **dict.fromkeys(wide.get(row["spread"], ()), 1.0 + row["set"])}
            for row in ({**row, "over": 1.0, "under": 1.0} for row in outcome.rows)
        ]
        verdicts.append(figure_13._stable(rows).holds)
    assert verdicts == [True, None, False]
    assert len(figure_13.draw(as_read_back(outcome.rows)).axes) == 4
