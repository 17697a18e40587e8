"""Plans at a grid of promises, so that the page can move from one to the next without any computing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.data.coded_records import Coded, coded_frame
from deptriad.planning.calibrate import calibrate
from deptriad.planning.plan import Plan
from deptriad.utils.arrays import as_numbers
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.witnesses.each_target import witness_each

PROMISES = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
FEWER_PROMISES = (1.0, 3.0, 6.0)
"""For more than ``MANY`` attributes, whose plans take minutes."""

MANY = 25

SEARCH_AT_ALL = 500_000
"""Records times attributes up to which witnesses are looked for at every promise, and not only at the one asked for."""

LEVELS_AT_ALL = 1_000_000
"""Joint cells up to which bounds by what is assumed are worked out at every promise, not only at the one asked for."""


def promises_of(total: float, attributes: int) -> list[float]:
    """The grid, with the promise that was asked for."""
    asked = as_numbers(total, Parameter("total"))
    if asked.ndim or not 0.0 < asked < math.inf:
        raise InvalidValue(
            Parameter("total"), f" is {total!r}, expected one finite number above 0, such as 3"
        )
    return sorted({*(FEWER_PROMISES if attributes > MANY else PROMISES), float(asked)})


def searched(
    analysis: Analysis,
    total: float,
    records: Any,
    weight: str | None,
    users: int,
    rng: np.random.Generator | None,
    done: Callable[[], None],
) -> list[dict[str, Any]]:
    """For each promise its plan, splitting, and what is attained under the plan."""
    coded = None if records is None else coded_frame(records, analysis.schema, weight)[0]
    found = []
    for promise in promises_of(total, len(analysis.names)):
        plan = calibrate(analysis, promise, views="all", users=users)
        small = coded is not None and coded.codes.size <= SEARCH_AT_ALL
        attained = None
        if coded is not None and (small or promise == total):
            attained = _attained(analysis, coded, plan, rng)
        found.append(_promise(analysis, plan, promise, attained))
        if promise == total or _cells(analysis) <= LEVELS_AT_ALL:
            found[-1]["levels"] = _levels(analysis, plan)
        done()
    return found


def _promise(
    analysis: Analysis, plan: Plan, promise: float, attained: list[float] | None
) -> dict[str, Any]:
    names = analysis.names
    part = promise / len(names)
    split = analysis.totals(part)
    compared = {row.attribute: row for row in plan.compare()}
    totals = [plan.totals[name] for name in names]
    return {
        "total": promise,
        "budgets": [plan.budgets[name] for name in names],
        "mechanisms": [plan.mechanisms[name] for name in names],
        "attained": attained,
        "levels": None,
        **{key: [each[key] for each in totals] for key in ("paired", "pairwise", "certified")},
        "errors": [compared[n].error if n in compared else math.inf for n in names],
        "splitting": {
            "budget": part,
            **{
                key: [getattr(split[name], key) for name in names]
                for key in ("paired", "pairwise", "certified")
            },
            "errors": [compared[n].splitting_error if n in compared else math.inf for n in names],
        },
        "file": plan.to_json() + "\n",
    }


def _cells(analysis: Analysis) -> int:
    return math.prod(attribute.size for attribute in analysis.schema)


def _levels(analysis: Analysis, plan: Plan) -> dict[str, list[Any]]:
    """The bounds at the plan's budgets if all answers are reported by GRR: from pairs, and from their joint table."""
    totals = analysis.totals(plan.budgets, mechanisms="grr").values()
    return {
        "pairs": [each.certified for each in totals],
        "joint": [each.joint for each in totals],
        "reasons": sorted({each.joint_reason for each in totals if each.joint is None}),
    }


def _attained(
    analysis: Analysis, coded: Coded, plan: Plan, rng: np.random.Generator | None
) -> list[float]:
    """Own budget and what a witness finds, for each attribute; only of values that the tables have a row for."""
    found = witness_each(coded, plan.budgets, analysis, rng)
    return [float(plan.budgets[name]) + max(each.overall, 0.0) for name, each in found.items()]
