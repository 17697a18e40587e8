"""The paper's tables and figures, one file for each; ``items()`` finds them in the paper's order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deptriad.utils.text import closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deptriad.paper.item import Item

NAMES = (
    "table-1",
    "table-2",
    "table-3",
    "table-4",
    "table-5",
    "figure-2",
    "figure-3",
    "figure-4",
    "figure-5",
    "figure-6",
    "figure-7",
    "figure-8",
    "figure-9",
    "figure-10",
    "figure-11",
    "figure-12",
    "figure-13",
    "naive-margins",
    "corrections",
)
"""Tables and figures in the order of the paper, an experiment that it tells in words only, and where it errs."""


def items(names: Sequence[str] = ("all",)) -> list[Item]:
    """Items by name; "all" are all of them."""
    wanted = NAMES if "all" in names else tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in NAMES:
            raise ValueError(f"the paper has no item {name!r}: {closest(name, NAMES)}")
    return [_item(name) for name in wanted]


def _item(name: str) -> Item:
    found: Item = import_module(f"deptriad.paper.{name.replace('-', '_')}").ITEM
    return found
