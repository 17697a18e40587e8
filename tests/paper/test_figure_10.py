"""Figure 10: distances of k-way marginals."""

from deptriad.paper import figure_10
from paper_items import as_read_back, quick


def test_figure_10_plans_beat_splitting_and_claims_follow(library):
    outcome = quick(figure_10, library)
    for k in figure_10.WAYS:
        split = figure_10.distances(outcome.rows, "split", k)
        for plan in (*figure_10.PLANS, figure_10.BEST_PLAN):
            assert (figure_10.distances(outcome.rows, plan, k) < split).all()
    poor = [
        {**row, "mean": 0.5 if row["strategy"] == "random view" else 0.1} for row in outcome.rows
    ]
    assert figure_10._two_way(poor).holds is False
    assert figure_10._higher(poor, 3).holds is True
    assert figure_10._worse(poor).holds is False  # all others are alike
    assert figure_10._best(poor).holds is True
    good = [
        {**row, "mean": 0.1 if row["strategy"] == "random view" else 0.5} for row in outcome.rows
    ]
    assert figure_10._higher(good, 3).holds is False
    assert figure_10._best(good).holds is False
    shown = figure_10.table(as_read_back(outcome.rows))
    assert len(shown) == len(figure_10.WAYS) * len(figure_10.COMPARED)
    best = figure_10.distances(outcome.rows, figure_10.BEST_PLAN, 4)
    assert list(shown[-1].values()) == ["4", figure_10.BEST_PLAN, *(f"{each:.4f}" for each in best)]
    assert len(figure_10.draw(as_read_back(outcome.rows)).axes) == 3
