"""Figures 9, 12 and 13: the survey from state to state."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import figure_9, figure_12, figure_13
from deptriad.paper.data import EIGHT, Library
from deptriad.paper.descent import by_ltm, by_triads, descend
from deptriad.paper.estimation import EPSILON
from deptriad.paper.figures import column, those
from deptriad.paper.item import Work
from deptriad.paper.states import Survey
from deptriad.paper.statewise import PLANS, PROMISE


@pytest.fixture(scope="module")
def library(shared_dir):
    return Library(shared_dir / "data")


@pytest.fixture(scope="module")
def survey(library):
    return Survey.of(Work("figure-9", library, quick=True))


def as_read_back(rows):
    return [{key: str(cell) for key, cell in row.items()} for row in rows]


def test_five_states_are_known_and_nine_are_not(library):
    survey = Survey.of(Work("figure-9", library))
    assert sorted(survey.known) == [15, 16, 31, 35, 54]
    assert len(survey.others()) == 9
    assert not set(survey.known) & set(survey.others())


def test_descent_keeps_the_promise_and_never_goes_below_splitting(survey):
    analysis = survey.analysis()
    by_triad, exact = (
        descend(analysis, leak(analysis), PROMISE, 60) for leak in (by_triads, by_ltm)
    )
    for budgets, tables in ((by_triad, False), (exact, True)):
        assert (budgets >= PROMISE / 8).all()
        each = dict(zip(EIGHT.names, budgets.tolist(), strict=True))
        matrix = np.asarray(analysis.leakage(each, exact=tables))
        assert matrix.sum(axis=0).max() <= PROMISE + 1e-9
    assert by_triad.sum() <= exact.sum() + 1e-6  # the triad is the looser bound


@pytest.fixture(scope="module")
def plans(library):
    return figure_9.run(Work("figure-9", library, quick=True))


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


def test_figure_12_points_by_hand(library, survey):
    outcome = figure_12.run(Work("figure-12", library, quick=True))
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


def test_figure_13_wider_boxes_underestimate_less(library):
    outcome = figure_13.run(Work("figure-13", library, quick=True))
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
