"""What must hold of a plan: its views are whole, and its totals keep its promise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from deptriad.collection.view import View
from deptriad.data.schema import Schema
from deptriad.mechanisms import mechanisms
from deptriad.utils.by_name import by_name
from deptriad.utils.errors import refuse_other, refuse_unknown
from deptriad.utils.rounding import sum_up

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

NUMBERS = ("own", "paired", "pairwise", "certified", "budgets")
"""The totals of each attribute in a plan that asks everybody everything."""


def everything(schema: Schema, budgets: Mapping[str, Any], ways: Mapping[str, Any]) -> View:
    """The view that asks everybody for all attributes with a budget, each by itself."""
    if not isinstance(schema, Schema):
        raise ValueError(f"schema is a {type(schema).__name__}, expected a Schema")
    names = schema.names
    each = by_name(budgets, names, "budgets", lambda value, _: value)
    kinds = by_name(ways, names, "mechanisms", lambda value, _: value)
    asked: dict[str, tuple[float, str]] = {}
    for name, value, mechanism in zip(names, each, kinds, strict=True):
        budget = number(value, f"the budget of {name!r}", math.inf)
        refuse_other(mechanism, (*mechanisms, "none"), f"the mechanism of {name!r}")
        if (mechanism == "none") != (budget == 0.0):
            raise ValueError(
                f"{name!r} has a budget of {budget:g} and the mechanism {mechanism!r}, expected 'none' exactly where "
                "the budget is 0"
            )
        if budget > 0.0:
            asked[name] = budget, mechanism
    if not asked:
        raise ValueError("no attribute has a budget, expected one above 0")
    return View(
        tuple(asked),
        {name: budget for name, (budget, _) in asked.items()},
        {name: mechanism for name, (_, mechanism) in asked.items()},
    )


def refuse_views(plan: Plan) -> None:
    """Views of the schema's attributes whose shares sum to 1."""
    views = tuple(plan.views)
    if not views or not all(isinstance(view, View) for view in views):
        raise ValueError("the views of a plan are not View objects, expected at least one")
    object.__setattr__(plan, "views", views)
    for view in views:
        refuse_unknown(view.attributes, plan.schema.names, "a view")
    shares = math.fsum(view.share for view in views)
    if abs(shares - 1.0) > 1e-9:
        raise ValueError(f"the shares of all views sum to {shares!r}, expected 1")
    object.__setattr__(plan, "marginals", tuple(map(tuple, plan.marginals)))
    object.__setattr__(plan, "weights", tuple(plan.weights))
    for marginal in plan.marginals:
        refuse_unknown(marginal, plan.schema.names, "a marginal")
    if len(plan.weights) != len(plan.marginals):
        raise ValueError(
            f"there are {len(plan.weights)} weights and {len(plan.marginals)} marginals, expected as many"
        )
    for weight in plan.weights:
        number(weight, "a weight", math.inf)
    if plan.everything is not None:
        given = by_name(plan.everything, plan.schema.names, "everything", lambda value, _: value)
        for name, budget in zip(plan.schema.names, given, strict=True):
            number(budget, f"the budget of {name!r} in everything", math.inf)
    if not number(plan.optimality, "optimality", math.inf) >= 1.0:
        raise ValueError(f"optimality is {plan.optimality!r}, expected a number of at least 1")


def refuse_totals(plan: Plan, name: str) -> None:
    """Of one attribute the totals are whole, agree with the views, and keep the promise."""
    promise = number(plan.total[name], f"the total promised for {name!r}")
    numbers = plan.totals[name]
    expected: set[str] = {plan.guarantee}
    if plan.asks_all and isinstance(numbers, dict) and set(numbers) != expected:
        expected = set(NUMBERS)
    if not isinstance(numbers, dict) or set(numbers) != expected:
        shown = NUMBERS if plan.asks_all else (plan.guarantee,)
        raise ValueError(f"the totals of {name!r} are {numbers!r}, expected {', '.join(shown)}")
    for key, value in numbers.items():
        number(value, f"the {key} total of {name!r}", math.inf)
    if expected == set(NUMBERS):
        _refuse_disorder(plan, name, numbers)
    kept = float(numbers[plan.guarantee])
    apart = (view for view in plan.views if name in view.attributes and not view.joint)
    own = max((view.budgets[name] for view in apart), default=0.0)
    if not own <= kept * (1.0 + 1e-12):
        raise ValueError(
            f"the {plan.guarantee} total of {name!r} is {kept!r}, below its own budget {own!r} in a view"
        )
    if not kept <= promise:
        raise ValueError(
            f"the budgets break the promise: the {plan.guarantee} total of {name!r} is {kept!r}, promised is at "
            f"most {promise!r}; calibrate again"
        )


def _refuse_disorder(plan: Plan, name: str, numbers: dict[str, float]) -> None:
    """Own ≤ paired ≤ pairwise ≤ the sum of all budgets, own ≤ certified ≤ that sum, and it is that sum."""
    if numbers["own"] != plan.budgets[name]:
        raise ValueError(
            f"the own total of {name!r} is {numbers['own']!r}, expected its budget {plan.budgets[name]!r}"
        )
    everything = sum_up(float(plan.budgets[other]) for other in plan.schema.names)
    estimates, bounds = (
        ("own", "paired", "pairwise", "budgets"),
        ("own", "certified", "budgets"),
    )
    for low, high in (*pairwise(estimates), *pairwise(bounds)):
        if not numbers[low] <= numbers[high] * (1.0 + 1e-12):
            raise ValueError(
                f"the totals of {name!r} cannot be: {low} is {numbers[low]!r}, above {high}, {numbers[high]!r}"
            )
    if abs(numbers["budgets"] - everything) > 1e-9 * everything:
        raise ValueError(
            f"the totals of {name!r} say that all budgets sum to {numbers['budgets']!r}, but they sum to "
            f"{everything!r}"
        )


def number(value: object, what: str, below: float | None = None) -> float:
    """A number ≥ 0, and finite if it must be below ∞."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if not right or not float(value) >= 0.0 or (below is not None and not float(value) < below):  # type: ignore[arg-type]
        kind = "a number ≥ 0" if below is None else "a finite number ≥ 0"
        raise ValueError(f"{what} is {value!r}, expected {kind}")
    return float(value)  # type: ignore[arg-type]
