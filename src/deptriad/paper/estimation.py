"""Leakages of a state as the prior's states estimate them, and how far off they are: figures 12 and 13."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import deptriad as dt
from deptriad.metrics import normalized_overestimation, normalized_underestimation
from deptriad.paper import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deptriad.paper.item import Row
    from deptriad.paper.states import Survey
    from deptriad.utils.arrays import Floats

EPSILON = 1.0
"""The paper does not say at which budget."""

SURE = 1e-9
"""Smaller differences are rounding."""

NOTE = (
    "The paper says neither at which budget nor what exactly a point is: here ε = 1, and a point for each held-out "
    "state and ordered pair of attributes."
)


def truths(survey: Survey, states: Sequence[int]) -> Floats:
    """Leakages by the states' own tables: a row for each state, a column for each ordered pair."""
    found = [survey.actual[state] for state in states]
    return np.array([dt.leakages(list(each.tables.values()), EPSILON) for each in found])


def points(
    survey: Survey, estimated: Floats, states: Sequence[int], **about: Any
) -> list[dict[str, Any]]:
    """A row for each state and pair: how far an estimate is off."""
    actual = truths(survey, states)
    pairs = survey.actual[states[0]].pairs
    rows = []
    for state, own in zip(states, actual, strict=True):
        under = np.asarray(normalized_underestimation(estimated, own, EPSILON))
        over = np.asarray(normalized_overestimation(estimated, own, EPSILON))
        rows += [
            {**about, "state": state, "source": source, "target": target}
            | {"under": float(low), "over": float(high)}
            for (source, target), low, high in zip(pairs, under, over, strict=True)
        ]
    return rows


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """Means, and the share of points that lie below the truth."""
    under, over = figures.column(rows, "under"), figures.column(rows, "over")
    return {
        "under": float(under.mean()),
        "over": float(over.mean()),
        "share": float((under > SURE).mean()),
    }


def scatter(axes: Axes, rows: Sequence[Row], colour: str, mark: str, label: str) -> None:
    """Overestimation against underestimation, with a cross at their means."""
    under, over = figures.column(rows, "under"), figures.column(rows, "over")
    axes.plot(under, over, mark, color=colour, ms=3, alpha=0.4, ls="none", label=label)
    axes.plot(
        [under.mean()], [over.mean()], "X", color=figures.CYCLE[1], ms=9, mec="white", zorder=5
    )
    axes.annotate(
        f"mean {under.mean():.3f}, {over.mean():.3f}",
        (0.97, 0.95),
        xycoords="axes fraction",
        ha="right",
        fontsize=8,
        color=figures.INK,
    )
    axes.set(xlabel="underestimation / ε")
