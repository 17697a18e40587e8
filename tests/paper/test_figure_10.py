"""Figure 10 and the margins for a single source."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import figure_10, naive_margins
from deptriad.paper.data import Library
from deptriad.paper.figures import column, those
from deptriad.paper.item import Work


@pytest.fixture(scope="module")
def library(shared_dir):
    return Library(shared_dir / "data")


def as_read_back(rows):
    return [{key: str(cell) for key, cell in row.items()} for row in rows]


def test_figure_10_plans_beat_splitting_and_claims_follow(library):
    outcome = figure_10.run(Work("figure-10", library, quick=True))
    for k in figure_10.WAYS:
        split = figure_10.distances(outcome.rows, "split", k)
        for plan in figure_10.PLANS:
            assert (figure_10.distances(outcome.rows, plan, k) < split).all()
    poor = [
        {**row, "mean": 0.5 if row["strategy"] == "random view" else 0.1} for row in outcome.rows
    ]
    assert figure_10._two_way(poor).holds is False
    assert figure_10._higher(poor, 3).holds is True
    assert figure_10._worse(poor).holds is False  # all others are alike
    good = [
        {**row, "mean": 0.1 if row["strategy"] == "random view" else 0.5} for row in outcome.rows
    ]
    assert figure_10._higher(good, 3).holds is False
    assert len(figure_10.draw(as_read_back(outcome.rows)).axes) == 3


def test_scores_by_hand():
    found = naive_margins.scores(np.array([0.5, 0.2, 0.3]), np.array([0.4, 0.5, 0.3]))
    assert found["under"] == pytest.approx(0.1)
    assert found["over"] == pytest.approx(0.1 / 3)
    assert found["covered"] == pytest.approx(2 / 3)


def test_wider_margins_cover_more_and_claims_follow(library):
    outcome = naive_margins.run(Work("naive-margins", library, quick=True))
    for case in naive_margins.TITLES:
        chosen = those(outcome.rows, case=case, relaxation="paper")
        if chosen:
            assert (np.diff(column(chosen, "over")) >= -1e-12).all()
            assert (np.diff(column(chosen, "under")) <= 1e-12).all()
    assert naive_margins._tighter(outcome.rows).holds is True
    wide = [{**row, "under": 1.0 - row["margin"], "over": 0.0} for row in outcome.rows]
    assert naive_margins._advised(wide).holds is False
    bare = [{**row, "covered": 0.1} for row in outcome.rows]
    assert naive_margins._covered(bare).holds is False
    assert len(naive_margins.draw(as_read_back(outcome.rows)).axes) == 2


def test_no_margin_is_the_triad_itself(library):
    work = Work("naive-margins", library, quick=True)
    known, actual = naive_margins._faces(work)
    pair = naive_margins._shared(known, actual)[3]
    box = dt.Relative(0.0).box(known.table(*pair))
    plain = dt.triad(known.table(*pair)).leakage(1.0)
    for relaxation in naive_margins.RELAXATIONS:
        assert naive_margins._estimated([box], relaxation)[0] == pytest.approx(plain)
