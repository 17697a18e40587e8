"""The file of a plan: what is written into it, and how that is read again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from deptriad.data.schema import Schema
from deptriad.totals.totals import NUMBERS
from deptriad.utils import files
from deptriad.utils.text import closest

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

FORMAT, VERSION = "deptriad plan", 1

AS_THEY_ARE = ("guarantee", "objective", "uncertainty", "users", "facts")
"""Fields of a plan that stand in its file as they are."""

KEYS = ("format", "version", *AS_THEY_ARE, "attributes", "schema", "digest")
ROW = ("name", "budget", "mechanism", "promise", "totals")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a file, its format and version checked."""
    return files.read_json(path, FORMAT, VERSION)


def content_of(plan: Plan) -> dict[str, Any]:
    """Everything in the file but its digest."""
    content = {"format": FORMAT, "version": VERSION}
    content |= {name: getattr(plan, name) for name in AS_THEY_ARE}
    attributes = [
        {
            "name": name,
            "budget": float(plan.budgets[name]),
            "mechanism": plan.mechanisms[name],
            "promise": files.spelt(float(plan.total[name])),
            "totals": {key: float(plan.totals[name][key]) for key in NUMBERS},
        }
        for name in plan.names
    ]
    return content | {"attributes": attributes, "schema": plan.schema._content()}


def fields_of(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of the plan in a file; what they hold is for the plan itself to check.

    Raises
    ------
    ValueError, KeyError
        If the content has other keys than those of a plan, or if its budgets are not one for each attribute.
    """
    _only(content, KEYS, "the plan")
    schema = Schema._from_content(content["schema"], "its schema")
    rows = content["attributes"]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("its attributes are no list of objects")
    for row in rows:
        _only(row, ROW, f"attribute {row.get('name')!r}")
    names = [row["name"] for row in rows]
    if unknown := [name for name in names if name not in schema.names]:
        raise ValueError(
            f"it has a budget for {unknown[0]!r}, which its schema does not have: "
            f"{closest(unknown[0], schema.names)}"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has two budgets for {twice!r}, expected one")
    return {name: content[name] for name in AS_THEY_ARE} | {
        "schema": schema,
        "budgets": {row["name"]: row["budget"] for row in rows},
        "mechanisms": {row["name"]: row["mechanism"] for row in rows},
        "total": {row["name"]: files.unspelt(row["promise"]) for row in rows},
        "totals": {row["name"]: row["totals"] for row in rows},
    }


def _only(content: dict[str, Any], allowed: tuple[str, ...], what: str) -> None:
    if unknown := [key for key in content if key not in allowed]:
        raise ValueError(f"{what} has the key {unknown[0]!r}, expected only {', '.join(allowed)}")
