"""Figure 9: budgets for a state from the answers of others."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import figure_9
from deptriad.paper.data import EIGHT
from deptriad.paper.descent import by_ltm, descend
from deptriad.paper.figures import column, those
from deptriad.paper.statewise import PLANS, PROMISE
from paper_items import as_read_back, quick


@pytest.fixture(scope="module")
def plans(library):
    return quick(figure_9, library)


def test_the_states_own_budgets_are_by_the_exact_leakage(survey, plans):
    """As the paper has them, and not by the triad."""
    others = survey.others()[:3]
    own = [descend(survey.actual[s], by_ltm(survey.actual[s]), PROMISE, 50) for s in others]
    shown = column(those(plans.rows, plan="LTM, nominal"), "actual mean")
    assert shown == pytest.approx(np.mean(own, axis=0))


def test_plans_hold_what_they_promise_for_the_known_states(survey, plans):
    for name, guarantee, analysis in (
        ("triad, nominal", "pairwise", survey.analysis()),
        ("certified, nominal", "certified", survey.analysis()),
        ("certified, uncertainty-aware", "certified", survey.analysis(dt.Spread("std"))),
    ):
        budgets = dict(zip(EIGHT.names, figure_9.budgets_of(plans.rows, name), strict=True))
        totals = analysis.totals(budgets).values()
        assert max(getattr(total, guarantee) for total in totals) <= PROMISE + 1e-9


def test_uncertainty_costs_budget_and_breaks_fewer_promises(plans):
    for kind in ("triad", "certified"):
        nominal, aware = (f"{kind}, {each}" for each in ("nominal", "uncertainty-aware"))
        assert (
            figure_9.budgets_of(plans.rows, aware).sum()
            < figure_9.budgets_of(plans.rows, nominal).sum()
        )
        assert figure_9._about(plans.rows, aware, "broken") <= figure_9._about(
            plans.rows, nominal, "broken"
        )


def test_claims_of_figure_9_follow_its_rows(plans):
    alike = [{**row, "budget": 1.0, "actual mean": 1.0} for row in plans.rows]
    assert figure_9._close(alike).holds is True
    assert figure_9._smaller(alike).holds is True
    apart = [{**row, "budget": 2.0 if "aware" in row["plan"] else 1.0} for row in plans.rows]
    assert figure_9._smaller(apart).holds is False
    assert figure_9._envelope(apart).holds is False
    level = [{**row, "budget": 0.9, "actual mean": 1.0, "actual std": 0.1} for row in plans.rows]
    assert figure_9._envelope(level).holds is True
    far = [{**row, "budget": 0.5} for row in level]
    assert figure_9._envelope(far).holds is False  # below, but nowhere near the edge
    broken = [{**row, "broken": 9, "proved": 9} for row in plans.rows]
    assert figure_9._kept(broken).holds is False
    assert figure_9._proved(broken, quick=False).holds is False
    assert figure_9._speed([{**row, "seconds": 1.0} for row in plans.rows]).holds is False
    assert len(figure_9.draw(as_read_back(plans.rows)).axes) == 2
    assert {row["plan"] for row in plans.rows} == set(PLANS)
