"""Plans for the survey that goes from state to state, and what becomes of each in the states that were not asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

import deptriad as dt
from deptriad.paper.data import EIGHT
from deptriad.paper.descent import by_ltm, by_triads, descend
from deptriad.paper.states import broken_by_witness

if TYPE_CHECKING:
    from deptriad.paper.item import Row
    from deptriad.paper.states import Survey

PROMISE = 3.0
PLANS = {
    "LTM, nominal": "pairwise",
    "triad, nominal": "pairwise",
    "triad, uncertainty-aware": "pairwise",
    "certified, nominal": "certified",
    "certified, uncertainty-aware": "certified",
}
"""Each plan and the totals that it holds at the promise: the paper's sum, or the bound."""


def plans_of(survey: Survey, steps: int) -> dict[str, Any]:
    """Budgets of each plan, and how long its calibration took once the analysis was there."""
    nominal, aware = survey.analysis(), survey.analysis(dt.Spread("std"))
    robust = _paper_triads(aware)
    ways: dict[str, Callable[[], Any]] = {
        "LTM, nominal": lambda: descend(nominal, by_ltm(nominal), PROMISE, steps),
        "triad, nominal": lambda: descend(nominal, by_triads(nominal), PROMISE, steps),
        "triad, uncertainty-aware": lambda: descend(robust, by_triads(robust), PROMISE, steps),
        "certified, nominal": lambda: list(
            dt.calibrate(nominal, PROMISE, views="all").budgets.values()
        ),
        "certified, uncertainty-aware": lambda: list(
            dt.calibrate(aware, PROMISE, views="all").budgets.values()
        ),
    }
    found = {}
    for name, way in ways.items():
        start = process_time()
        budgets = [float(each) for each in way()]
        found[name] = {"budgets": budgets, "seconds": process_time() - start}
    return found


def _paper_triads(analysis: dt.Analysis) -> dt.Analysis:
    """The same analysis with the triads of the paper's linear program."""
    each = [dt.triad(analysis.tables[pair], relaxation="paper") for pair in analysis.pairs]
    numbers = {name: [getattr(one, name) for one in each] for name in ("alpha", "phi", "delta")}
    return replace(
        analysis,
        numbers=dt.Triad(alpha=numbers["alpha"], phi=numbers["phi"], delta=numbers["delta"]),
    )


def fate_of(
    survey: Survey, state: int, plans: dict[str, Any], steps: int, witnesses: bool = True
) -> dict[str, Any]:
    """What a state would have chosen for itself, and whether each plan keeps its promise there."""
    own = survey.actual[state]
    found: dict[str, Any] = {
        "pairwise": descend(own, by_ltm(own), PROMISE, steps).tolist(),  # by CPL*, as the paper
        "certified": list(dt.calibrate(own, PROMISE, views="all").budgets.values()),
    }
    for name, guarantee in PLANS.items():
        budgets = dict(zip(EIGHT.names, plans[name]["budgets"], strict=True))
        totals = [float(getattr(total, guarantee)) for total in own.totals(budgets).values()]
        whole, half = False, False
        if witnesses:
            whole, half = broken_by_witness(survey.records(state), budgets, PROMISE, state)
        found[name] = {"largest": max(totals), "whole": whole, "half": half}
    return found


def rows_of(plans: dict[str, Any], fates: Sequence[dict[str, Any]]) -> list[Row]:
    """A row for each plan and attribute; what a plan came to stands in all of its rows."""
    rows: list[Row] = []
    for name, guarantee in PLANS.items():
        fate = [each[name] for each in fates]
        about = {
            "plan": name,
            "guarantee": guarantee,
            "states": len(fates),
            "broken": sum(each["largest"] > PROMISE + 1e-9 for each in fate),
            "proved": sum(each["whole"] for each in fate),
            "proved held out": sum(each["half"] for each in fate),
            "largest total": max(each["largest"] for each in fate),
            "seconds": plans[name]["seconds"],
        }
        chosen = np.array([each[guarantee] for each in fates])
        for place, attribute in enumerate(EIGHT.names):
            own = chosen[:, place]
            rows.append(
                {"attribute": attribute, "budget": plans[name]["budgets"][place]}
                | {"actual mean": float(own.mean()), "actual std": float(own.std(ddof=1))}
                | about
            )
    return rows
