"""Sources: the tables of all sources about one target, with sums over their sets where these are few."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deptriad.tables.table import Box
from deptriad.totals.shared_target import FEW, Table
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.rounding import ENTRY, ROUNDOFF

MOST_SETS = 1 << FEW
"""Sets of a mechanism's own up to which each is looked at; beyond, any set may be favoured."""


class Sets(NamedTuple):
    """Sums over the sets of a source that are looked at one by one: a row for each target value, a column for each."""

    top: Floats  # largest G(S)
    low: Floats  # smallest G(S)
    order: Integers  # the sets of each row by increasing low
    whole: bool  # whether these are all proper sets, in the order of their binary numbers


class Source(NamedTuple):
    """The table of one source as the compiled loops take it."""

    table: Table
    sets: Sets | None  # None where the hull of all of them is looked at


def edges_of(table: Table) -> tuple[Floats, Floats]:
    """Lower and upper edges of a box; those of a table are the same."""
    return (table.lower, table.upper) if isinstance(table, Box) else (table.table, table.table)


@lru_cache(maxsize=FEW)
def proper_sets(size: int) -> Booleans:
    """All sets of so many values (rows) but the empty and the full one: set S is row S − 1, its complement −S."""
    return ((np.arange(1, (1 << size) - 1)[:, None] >> np.arange(size)) & 1).astype(bool)


def looked_at(columns: int, favoured: Booleans | None) -> Booleans | None:
    """The sets that are looked at one by one: those a mechanism favours, or all of few values; None for the hull."""
    if favoured is not None and len(favoured) <= MOST_SETS:
        return favoured
    return proper_sets(columns) if columns <= FEW else None


def _set_sums(table: Table, sets: Booleans) -> tuple[Floats, Floats]:
    """Largest and smallest G(S) of sets in every row: min(Up(S), 1 − Lo(Sᶜ)) and its mirror, rounded outward."""
    # relative error granted to a sum of so many entries: their own and that of adding them
    slack = ENTRY + (2 * table.shape[1] + 8) * ROUNDOFF
    members = sets.astype(np.float64).T
    lower, upper = edges_of(table)
    above, below = upper @ members, lower @ members
    most, least = above, below
    if isinstance(table, Box):
        most = np.minimum(above, below + table.spare[:, None])
        least = np.maximum(below, above * (1.0 - slack) - table.surplus[:, None])
    return np.minimum(most * (1.0 + slack), 1.0), least * (1.0 - slack)


def laid_out(
    tables: Sequence[Table], favoured: Sequence[Booleans | None] | None = None
) -> list[Source]:
    """Tables of one target, each with two or more values of its source, with the sums of their sets.

    ``favoured`` has for each table the sets that its source's mechanism can favour, None where that may be any.
    """
    found = []
    for table, own in zip(tables, favoured or [None] * len(tables), strict=True):
        chosen = looked_at(table.shape[1], own)
        if chosen is None:
            found.append(Source(table, None))
            continue
        top, low = _set_sums(table, chosen)
        order = np.argsort(low, axis=1)
        found.append(Source(table, Sets(top, low, order, chosen is not own)))
    return found
