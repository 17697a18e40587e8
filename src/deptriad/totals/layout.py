"""Sources: the tables of all sources about one target, laid end to end for the compiled loops of totals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptriad.tables.table import Box
from deptriad.totals.shared_target import FEW, Table
from deptriad.utils.arrays import Floats, Integers


class Sources(NamedTuple):
    """All tables of one target, end to end; those of few values also as sums over every set of values."""

    rows: int  # target values
    width: int  # points that a source may have for a pair of them, at most
    lower: Floats  # entry [x, u] of source i is at starts[i] + x·columns[i] + u
    upper: Floats
    starts: Integers
    columns: Integers
    spare: Floats  # [source, row]; ∞ for a table, whose edges are the same
    surplus: Floats
    top: Floats  # largest G(S), entry [x, S] of source i at set_starts[i] + x·2^columns[i] + S
    low: Floats  # smallest G(S)
    order: Integers  # the sets of each row by increasing low
    set_starts: Integers


def edges_of(table: Table) -> tuple[Floats, Floats]:
    """Lower and upper edges of a box; those of a table are the same."""
    return (table.lower, table.upper) if isinstance(table, Box) else (table.table, table.table)


def laid_out(tables: list[Table]) -> Sources:
    """Tables of one target, each with two or more values of its source, end to end with the sums of their sets."""
    from deptriad.totals import _point_kernels

    rows = tables[0].shape[0]
    columns = np.array([table.shape[1] for table in tables])
    edges = [edges_of(table) for table in tables]
    unbounded = np.full(rows, np.inf)
    spare = np.array([x.spare if isinstance(x, Box) else unbounded for x in tables])
    surplus = np.array([x.surplus if isinstance(x, Box) else unbounded for x in tables])
    few = columns <= FEW
    sets = np.where(few, rows << np.minimum(columns, FEW), 0)
    set_starts = np.cumsum(sets) - sets
    top, low = np.zeros(sets.sum()), np.zeros(sets.sum())
    order = np.zeros(sets.sum(), dtype=np.int64)
    for i in np.flatnonzero(few):
        shape = rows, 1 << int(columns[i])
        place = slice(set_starts[i], set_starts[i] + sets[i])
        views = (array[place].reshape(shape) for array in (top, low, order))
        _point_kernels.sum_sets(*edges[i], spare[i], surplus[i], *views)
    widest = np.where(few, 1 << np.minimum(columns, FEW), columns + 1)
    return Sources(
        rows=rows,
        width=int(max(widest.max(), _point_kernels.SLOPES + 2)),
        lower=np.concatenate([low_edge.ravel() for low_edge, _ in edges]),
        upper=np.concatenate([high_edge.ravel() for _, high_edge in edges]),
        starts=np.cumsum(rows * columns) - rows * columns,
        columns=columns,
        spare=spare,
        surplus=surplus,
        top=top,
        low=low,
        order=order,
        set_starts=set_starts,
    )
