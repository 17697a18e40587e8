"""Figure 6: squared errors on five datasets."""

from deptriad.paper import figure_6
from deptriad.paper.figures import column
from paper_items import as_read_back, quick


def test_figure_6_claims_follow_its_rows(library):
    outcome = quick(figure_6, library)
    for limit, most in ((0.025, 10.0), (0.003, 1.0)):
        low = [{**row, "nmse triad": 0.9 * limit} for row in outcome.rows]
        assert figure_6._below(low, limit, most).holds is True
        high = [{**row, "nmse triad": 1.1 * limit} for row in outcome.rows]
        assert figure_6._below(high, limit, most).holds is False
    beyond = [{**row, "nmse triad": float(row["epsilon"] > 1.0)} for row in outcome.rows]
    assert figure_6._below(beyond, 0.003, 1.0).holds is True
    wide = [{**row, "nmse triad": float(row["binning"] == "equal width")} for row in outcome.rows]
    assert figure_6._looser(wide).count("equal width") == 4
    assert column(outcome.rows, "nmse 8 knots").max() < 1e-4
    assert len(figure_6.draw(as_read_back(outcome.rows)).axes) == 2
