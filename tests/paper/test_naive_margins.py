"""Margins for a single source of knowledge."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import naive_margins
from deptriad.paper.figures import column, those
from deptriad.paper.item import Work
from paper_items import as_read_back, quick


def test_scores_by_hand():
    found = naive_margins.scores(np.array([0.5, 0.2, 0.3]), np.array([0.4, 0.5, 0.3]))
    assert found["under"] == pytest.approx(0.1)
    assert found["over"] == pytest.approx(0.1 / 3)
    assert found["covered"] == pytest.approx(2 / 3)


def test_wider_margins_cover_more_and_claims_follow(library):
    outcome = quick(naive_margins, library)
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
