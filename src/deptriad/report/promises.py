"""Plans for some promises, so that the page can move from one to the next without any computing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.collection.view import View
from deptriad.data.coded_records import Coded
from deptriad.planning.calibrate import calibrate
from deptriad.planning.plan import Plan
from deptriad.planning.plan_words import PROMISES as WORTH
from deptriad.utils.arrays import as_numbers
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.progress import Progress
from deptriad.witnesses.each_target import witness_each

PROMISES = (1.0, 6.0, 3.0, 2.0, 0.5, 4.0, 8.0)
"""Planned for one after the other, as long as there is time."""

SECONDS = 60.0
"""How long plans may take if nothing else is said: another is begun only if one as slow as the slowest would fit."""

SEARCH_AT_ALL = 500_000
"""Records times attributes up to which witnesses are looked for at every promise, and not only at the one asked for."""

LEVELS_AT_ALL = 1_000_000
"""Joint cells up to which bounds by what is assumed are worked out at every promise, not only at the one asked for."""


def asked_for(total: float, promises: Sequence[float] | None = None) -> list[float]:
    """All promises that are to be planned for, the one that the page opens with first."""
    others = PROMISES if promises is None else tuple(promises)
    return list(
        dict.fromkeys([_promise(total, "total"), *(_promise(each, "promises") for each in others)])
    )


def _promise(given: float, parameter: str) -> float:
    number = as_numbers(given, Parameter(parameter))
    if number.ndim or not 0.0 < number < math.inf:
        expected = (
            "one finite number above 0, such as 3"
            if parameter == "total"
            else "finite numbers above 0"
        )
        raise InvalidValue(Parameter(parameter), f" is {given!r}, expected {expected}")
    return float(number)


def planned(
    analysis: Analysis,
    total: float,
    promises: Sequence[float] | None = None,
    seconds: float = SECONDS,
    users: int = 100_000,
    progress: Progress | None = None,
) -> dict[float, Plan]:
    """Plans by promise, in ascending order: for all that are given, or for as many as fit the time; see ``page``."""
    limit = as_numbers(seconds, Parameter("seconds"))
    if limit.ndim or not limit >= 0.0:
        raise InvalidValue(
            Parameter("seconds"), f" is {seconds!r}, expected a number of at least 0"
        )
    wanted = asked_for(total, promises)
    found: dict[float, Plan] = {}
    start, slowest = time.monotonic(), 0.0
    for place, promise in enumerate(wanted):
        begun = time.monotonic()
        if promises is None and found and begun - start + slowest > limit:
            break
        # whether there will be time for another is not known yet
        count = place + 1 if promises is None else len(wanted)
        watch = None if progress is None else _within(progress, place, count)
        found[promise] = calibrate(analysis, promise, users=users, progress=watch)
        slowest = max(slowest, time.monotonic() - begun)
    if progress:
        progress(STEPS * len(found), STEPS * len(found))
    return dict(sorted(found.items()))


STEPS = 100
"""Steps of progress in one plan."""


def _within(progress: Progress, place: int, count: int) -> Progress:
    """Progress of one plan among others."""

    def watch(done: int, of: int | None) -> None:
        part = min(done / of, 1.0) if of else 0.0
        progress(int(STEPS * (place + part)), STEPS * count)

    return watch


def described(
    analysis: Analysis,
    plans: Mapping[float, Plan],
    total: float,
    coded: Coded | None,
    rng: np.random.Generator | None,
    done: Callable[[], None],
) -> list[dict[str, Any]]:
    """Each plan in plain data, and what the same promise allows if everybody is asked everything."""
    found = []
    for promise, plan in plans.items():
        opens = promise == total
        small = coded is not None and coded.codes.size <= SEARCH_AT_ALL
        found.append(_plan(analysis, plan, promise))
        if plan.everything is not None:
            searched = coded if opens or small else None
            found[-1]["once"] = _everything(
                analysis, plan.everything, searched, rng, opens or _cells(analysis) <= LEVELS_AT_ALL
            )
        done()
    return found


def _plan(analysis: Analysis, plan: Plan, promise: float) -> dict[str, Any]:
    names = analysis.names
    compared = plan.compare()
    return {
        "total": promise,
        "views": [_view(view, names) for view in plan.views],
        "totals": [plan.totals[name][plan.guarantee] for name in names],
        "worth": f"No {plan.guarantee} total is above the promise: {WORTH[plan.guarantee]}.",
        "errors": [plan.expected(name) for name in names],
        "rivals": [list(rival) for rival in compared.rivals],
        "best": list(compared.best),
        "verdict": compared.verdict,
        "once": None,
        "file": plan.to_json() + "\n",
    }


def _view(view: View, names: Sequence[str]) -> dict[str, Any]:
    """What one person is asked, as places in the schema, with the budget and mechanism of each report."""
    reports = view.attributes[:1] if view.joint else view.attributes
    return {
        "asked": [names.index(name) for name in view.attributes],
        "joint": view.joint,
        "share": view.share,
        "budgets": [float(view.budgets[name]) for name in reports],
        "mechanisms": [view.mechanisms[name] for name in reports],
    }


def _everything(
    analysis: Analysis,
    budgets: Mapping[str, float],
    coded: Coded | None,
    rng: np.random.Generator | None,
    with_levels: bool,
) -> dict[str, Any]:
    """What all reports together give away if everybody is asked everything, with certified budgets."""
    totals = analysis.totals(budgets).values()
    return {
        "budgets": [float(budgets[name]) for name in analysis.names],
        "attained": None if coded is None else _attained(analysis, coded, budgets, rng),
        **{
            key: [getattr(each, key) for each in totals]
            for key in ("paired", "pairwise", "certified")
        },
        "levels": _levels(analysis, budgets) if with_levels else None,
    }


def _cells(analysis: Analysis) -> int:
    return math.prod(attribute.size for attribute in analysis.schema)


def _levels(analysis: Analysis, budgets: Mapping[str, float]) -> dict[str, list[Any]]:
    """The bounds at these budgets if all answers are reported by GRR: from pairs, and from their joint table."""
    totals = analysis.totals(budgets, mechanisms="grr").values()
    return {
        "pairs": [each.certified for each in totals],
        "joint": [each.joint for each in totals],
        "reasons": sorted({each.joint_reason for each in totals if each.joint is None}),
    }


def _attained(
    analysis: Analysis,
    coded: Coded,
    budgets: Mapping[str, float],
    rng: np.random.Generator | None,
) -> list[float]:
    """Own budget and what a witness finds, for each attribute; only of values that the tables have a row for."""
    found = witness_each(coded, budgets, analysis, rng)
    return [float(budgets[name]) + max(each.overall, 0.0) for name, each in found.items()]
