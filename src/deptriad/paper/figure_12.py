"""Figure 12: how far off leakages are that a state's neighbours foretell, without uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deptriad.paper import figures
from deptriad.paper.estimation import EPSILON, NOTE, SURE, points, scatter, summary
from deptriad.paper.item import OURS, Claim, Item, Outcome, Row, Work
from deptriad.paper.states import DATA, Survey
from deptriad.rivals import ltm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("triad", "LTM")


def run(work: Work) -> Outcome:
    """Both methods on the mean of the known states, against each other state."""
    survey = Survey.of(work)
    analysis = survey.analysis()
    tables = [analysis.table(*pair) for pair in analysis.pairs]
    estimated = {
        "triad": np.asarray(analysis.numbers.leakage(EPSILON)),
        "LTM": np.array([float(np.asarray(ltm.measure(t.table, EPSILON))) for t in tables]),  # type: ignore[union-attr]
    }
    others = survey.others()
    rows: list[Row] = []
    for method, each in estimated.items():
        rows += points(survey, each, others, method=method)
    return Outcome(rows, [_considerable(rows), _alike(rows)], DATA, [NOTE])


def _considerable(rows: Sequence[Row]) -> Claim:
    found = {each: summary(figures.those(rows, method=each)) for each in METHODS}
    holds = all(each["share"] > 0.1 for each in found.values())
    return Claim(
        "without uncertainty both the triad and LTM underestimate a considerable number of attributes",
        "; ".join(
            f"{name}: {each['share']:.0%} of {len(rows) // 2} points, {each['under']:.4f} in the mean"
            for name, each in found.items()
        )
        + " (considerable: more than a tenth)",
        holds,
        "" if holds else "fewer than a tenth",
    )


def _alike(rows: Sequence[Row]) -> Claim:
    own = [figures.those(rows, method=each) for each in METHODS]
    further = figures.column(own[0], "under") > figures.column(own[1], "under") + SURE
    triad, exact = (summary(each) for each in own)
    holds = not further.any()
    return Claim(
        f"{OURS}the triad bounds the leakage of the known table, so it is never further below the truth than LTM",
        f"further below at {int(further.sum())} of {further.size} points; "
        f"mean underestimation {triad['under']:.4f} against {exact['under']:.4f}, overestimation {triad['over']:.4f} "
        f"against {exact['over']:.4f}",
        holds,
        "" if holds else "the triad underestimates more somewhere",
    )


def draw(rows: Sequence[Row]) -> Figure:
    """A panel for each method."""
    figure = figures.sheet(2, 1, (4.0, 3.6))
    for axes, method, colour, mark in zip(
        figures.panels(figure, 2, sharex=True, sharey=True),
        METHODS,
        (figures.CYCLE[0], figures.CYCLE[4]),
        "os",
        strict=True,
    ):
        scatter(axes, figures.those(rows, method=method), colour, mark, method)
        figures.name_panel(axes, "ab"[METHODS.index(method)], f"{method}, no uncertainty")
    figure.axes[0].set_ylabel("overestimation / ε")
    return figure


WORDS = (
    "Overestimation against underestimation of leakages in held-out states, for the triad and for LTM: "
    "points lie along both axes, with means of 0.028 below and 0.026 above for the triad, and 0.038 and "
    "0.018 for LTM"
)

ITEM = Item(
    "figure-12",
    "Over- and underestimation without uncertainty",
    run,
    draw,
    needs=("acs",),
    words=WORDS,
)
