"""Sources: the tables of all sources about one target, laid end to end for the compiled loops of totals."""

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


class Sources(NamedTuple):
    """All tables of one target, end to end; where sets are few also the sums over each of them."""

    rows: int  # target values
    width: int  # points that a source may have for a pair of them, at most
    lower: Floats  # entry [x, u] of source i is at starts[i] + x·columns[i] + u
    upper: Floats
    starts: Integers
    columns: Integers
    spare: Floats  # [source, row]; ∞ for a table, whose edges are the same
    surplus: Floats
    sets: Integers  # how many sets are looked at one by one; 0 where the hull of all of them is
    whole: Booleans  # whether these are all proper sets, in the order of their binary numbers
    top: Floats  # largest G(S), entry [x, S] of source i at set_starts[i] + x·sets[i] + S
    low: Floats  # smallest G(S)
    order: Integers  # the sets of each row by increasing low
    set_starts: Integers


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


def laid_out(tables: Sequence[Table], favoured: Sequence[Booleans | None] | None = None) -> Sources:
    """Tables of one target, each with two or more values of its source, end to end with the sums of their sets.

    ``favoured`` has for each table the sets that its source's mechanism can favour, None where that may be any.
    """
    from deptriad.totals._point_kernels import SLOPES

    rows = tables[0].shape[0]
    columns = np.array([table.shape[1] for table in tables])
    edges = [edges_of(table) for table in tables]
    unbounded = np.full(rows, np.inf)
    own = favoured or [None] * len(tables)
    chosen = [looked_at(*each) for each in zip(columns.tolist(), own, strict=True)]
    pairs = zip(tables, chosen, strict=True)
    sums = [_set_sums(table, sets) for table, sets in pairs if sets is not None]
    count = np.array([0 if sets is None else len(sets) for sets in chosen])
    none = np.zeros(0)
    widest = np.where(count > 0, count, columns + 1)
    return Sources(
        rows=rows,
        width=int(max(widest.max(), SLOPES + 2)),
        lower=np.concatenate([low.ravel() for low, _ in edges]),
        upper=np.concatenate([high.ravel() for _, high in edges]),
        starts=np.cumsum(rows * columns) - rows * columns,
        columns=columns,
        spare=np.array([x.spare if isinstance(x, Box) else unbounded for x in tables]),
        surplus=np.array([x.surplus if isinstance(x, Box) else unbounded for x in tables]),
        sets=count,
        whole=np.array([sets is not None and sets is not own[i] for i, sets in enumerate(chosen)]),
        top=np.concatenate([none, *(top.ravel() for top, _ in sums)]),
        low=np.concatenate([none, *(low.ravel() for _, low in sums)]),
        order=np.concatenate(
            [none.astype(np.int64), *(np.argsort(low, axis=1).ravel() for _, low in sums)]
        ),
        set_starts=np.cumsum(rows * count) - rows * count,
    )
