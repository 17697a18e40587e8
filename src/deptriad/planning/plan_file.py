"""The file of a plan: what is written into it, and how that is read again.

A plan that asks everybody everything is a file of version 1, as it always was: its digest stays what it is. Version 2
has views.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from deptriad.collection.view import View
from deptriad.data.schema import Schema
from deptriad.planning.plan_checks import NUMBERS, number
from deptriad.utils import files
from deptriad.utils.text import closest

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

P = TypeVar("P", bound="Plan")

FORMAT, VERSIONS = "deptriad plan", (1, 2)

AS_THEY_ARE = ("guarantee", "objective", "uncertainty", "users", "facts")
"""Fields of a plan that stand in its file as they are."""

KEYS = ("format", "version", *AS_THEY_ARE, "attributes", "schema", "digest")
ROW = ("name", "budget", "mechanism", "promise", "totals")

OF_VIEWS = ("views", "marginals", "weights", "optimality", "everything")
"""Keys that version 2 has as well, the last if it is known; its attributes have no budget or mechanism."""

UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""What a file that is no plan may raise."""

VIEW_ROW = ("attributes", "budgets", "mechanisms", "joint", "share")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a file, its format and version checked."""
    return files.read_json(path, FORMAT, VERSIONS)


def content_of(plan: Plan) -> dict[str, Any]:
    """Everything in the file but its digest."""
    old = plan.asks_all and all(set(numbers) == set(NUMBERS) for numbers in plan.totals.values())
    content: dict[str, Any] = {"format": FORMAT, "version": 1 if old else 2}
    content |= {name: getattr(plan, name) for name in AS_THEY_ARE}
    attributes = [
        {
            "name": name,
            **({"budget": plan.budgets[name], "mechanism": plan.mechanisms[name]} if old else {}),
            "promise": files.spelt(float(plan.total[name])),
            "totals": {
                key: float(plan.totals[name][key])
                for key in (NUMBERS if old else plan.totals[name])
            },
        }
        for name in plan.names
    ]
    content |= {"attributes": attributes, "schema": plan.schema._content()}
    return content if old else content | _views_content(plan)


def _views_content(plan: Plan) -> dict[str, Any]:
    """What version 2 has as well."""
    everything = {} if plan.everything is None else {"everything": plan.everything}
    return everything | {
        "views": [
            {
                "attributes": list(view.attributes),
                "budgets": [float(each) for each in view.budgets.values()],
                "mechanisms": list(view.mechanisms.values()),
                "joint": view.joint,
                "share": float(view.share),
            }
            for view in plan.views
        ],
        "marginals": [list(marginal) for marginal in plan.marginals],
        "weights": [float(weight) for weight in plan.weights],
        "optimality": float(plan.optimality),
    }


def plan_of(content: dict[str, Any], kind: type[P]) -> P:
    """The plan in a file; what its fields hold is for the plan itself to check.

    Raises
    ------
    ValueError, KeyError
        If the content has other keys than those of a plan, or if its entries are not one for each attribute.
    """
    old = content["version"] == 1
    _only(content, KEYS if old else (*KEYS, *OF_VIEWS), "the plan")
    schema = Schema._from_content(content["schema"], "its schema")
    allowed = ROW if old else tuple(key for key in ROW if key not in ("budget", "mechanism"))
    rows = _rows(content["attributes"], allowed, schema)
    fields = {name: content[name] for name in AS_THEY_ARE}
    for key, what in (("total", "promise"), ("totals", "totals")):
        fields[key] = {row["name"]: files.unspelt(row[what]) for row in rows}
    if old:
        budgets, ways = (
            {row["name"]: row[what] for row in rows} for what in ("budget", "mechanism")
        )
        return kind.asking_all(schema, budgets, ways, **fields)
    views = content["views"]
    if not isinstance(views, list) or not all(isinstance(view, dict) for view in views):
        raise ValueError("its views are no list of objects")
    return kind(
        schema,
        tuple(_view(view) for view in views),
        marginals=content["marginals"],
        weights=content["weights"],
        optimality=content["optimality"],
        everything=content.get("everything"),
        **fields,
    )


def _rows(rows: Any, allowed: tuple[str, ...], schema: Schema) -> list[dict[str, Any]]:
    """The entries of all attributes."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("its attributes are no list of objects")
    for row in rows:
        _only(row, allowed, f"attribute {row.get('name')!r}")
    names = [row["name"] for row in rows]
    if unknown := [name for name in names if name not in schema.names]:
        raise ValueError(
            f"it has a budget for {unknown[0]!r}, which its schema does not have: "
            f"{closest(unknown[0], schema.names)}"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has two budgets for {twice!r}, expected one")
    return rows


def _view(row: dict[str, Any]) -> View:
    _only(row, VIEW_ROW, "a view")
    names, budgets, ways = row["attributes"], row["budgets"], row["mechanisms"]
    for each in (names, budgets, ways):
        if not isinstance(each, list) or len(each) != len(names):
            raise ValueError(
                f"a view has {each!r}, expected a list with an entry for each attribute"
            )
    for budget in budgets:
        number(budget, f"a budget of a view of {names}")
    return View(
        tuple(names),
        dict(zip(names, budgets, strict=True)),
        dict(zip(names, ways, strict=True)),
        row["joint"],
        row["share"],
    )


def _only(content: dict[str, Any], allowed: tuple[str, ...], what: str) -> None:
    if unknown := [key for key in content if key not in allowed]:
        raise ValueError(f"{what} has the key {unknown[0]!r}, expected only {', '.join(allowed)}")
