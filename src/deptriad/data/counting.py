"""Counting: frames to cells of tables, in batches of codes or by group-bys, and what is refused on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from deptriad.data.attribute import Attribute
from deptriad.data.batches import results, streams
from deptriad.data.column_types import Frame
from deptriad.data.encoding import ABSENT, UNSEEN, Encoder, refuse_codes
from deptriad.data.engines import Batch
from deptriad.data.schema import Schema
from deptriad.data.table_cover import pair_covering
from deptriad.data.table_layout import ALL, Layout
from deptriad.data.table_set import TableSet, spans_of, stacked
from deptriad.data.value_counts import count_values
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.progress import Progress

MOST_CELLS = 1 << 27
"""Cells of all tables of all groups together: 1 GiB of counts."""


def counted(
    frame: Frame,
    schema: Schema,
    weight: str | None,
    by: str | None,
    progress: Progress | None,
) -> tuple[tuple[str, ...], Integers, Floats | None]:
    """The names of the groups, in order; and for each of them the cells of all tables and the sums of weights."""
    sources = sources_of(frame, by)
    names = sources.values if sources else (ALL,)
    count = Counter(Layout(schema.sizes), len(names), sources is not None, weight is not None)
    _refuse_size(schema, count.layout.cells * count.sources)
    encode = Encoder(schema, sources, weight)
    work = results(frame, encode, count, progress)
    parts = work if streams(frame) else [_grouped(encode(frame), count, progress)]
    cells, weights, refused = count.nothing()
    for records, sums, bad in parts:
        if not np.isfinite(sums).all():
            raise ValueError(f"the weights in {weight!r} are too large to add up: scale them down")
        cells += records.reshape(cells.shape)
        weights += sums.reshape(weights.shape)
        refused += bad.reshape(refused.shape)
    refuse_codes(frame, schema, refused[:2])
    if refused[2, 0]:
        raise ValueError(
            f"the weight column {weight!r} has {refused[2, 0]:,} values that are missing, negative or infinite, "
            "expected numbers ≥ 0"
        )
    if refused[3, 0]:
        raise ValueError(
            f"{refused[3, 0]:,} values of {by!r} were not there when the groups were looked up: the data changes "
            "while it is read, as a query with random() does; make a copy first"
        )
    # in which sums of counts have them, too
    order = sorted(range(len(names)), key=names.__getitem__)
    return tuple(names[k] for k in order), cells[order], weights[order] if weight else None


def _refuse_size(schema: Schema, cells: int) -> None:
    if cells > MOST_CELLS:
        largest = max(schema, key=lambda attribute: attribute.size)
        raise InvalidValue(
            f"the tables would have {cells:,} cells, expected at most {MOST_CELLS:,}: {largest.name!r} has "
            f"{largest.size:,} values; declare fewer and set ",
            *(Parameter("unseen", "'other'"), ", or bin them"),
        )


def sources_of(frame: Frame, by: str | None) -> Attribute | None:
    """The values of the column that tells groups apart, as an attribute."""
    if by is None:
        return None
    column = next(count_values(frame, [by]))
    if column.trouble or not column.values:
        raise ValueError(
            f"column {by!r} cannot tell groups apart: {column.trouble or 'all its values are missing'}"
        )
    return Attribute(by, sorted(column.values), missing=column.policy)


# --- batch by batch -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counter:
    """The work of one process: batches of codes in; records, weights and refused values by attribute out."""

    layout: Layout
    sources: int
    by: bool
    weighted: bool

    def __call__(self, batches: Iterator[Batch]) -> list[NDArray[Any]]:
        """Count all batches."""
        from deptriad.data import _count_kernels

        number, pairs = len(self.layout.sizes), _count_kernels.Pairs(*self.layout.arrays)
        records, weights, refused = self.nothing()
        cover = TableSet(tuple(pair_covering(self.layout.sizes)), self.layout.sizes)
        cells = cover.nothing()
        for batch in batches:
            codes = stacked(batch[:number])
            source = np.ascontiguousarray(batch[number] if self.by else [], np.int64)
            weight = np.ascontiguousarray(batch[-1] if self.weighted else [], np.float64)
            if codes.min(initial=0) < 0:
                refused[:2] += [(codes[:number] == bad).sum(axis=1) for bad in (UNSEEN, ABSENT)]
            refused[2, 0] += (~((weight >= 0.0) & (weight < np.inf))).sum()
            refused[3, 0] += (source < 0).sum()
            if refused.any():
                continue  # nothing is counted that will not be used
            if not (self.by or self.weighted):
                cover.count(codes, cells)
                continue
            source = source if self.by else np.zeros(codes.shape[1], dtype=np.int64)
            _count_kernels.count_weighted(codes, pairs, source, weight, records, weights)
        self._lay_out(cover, cells, records[0])
        return [records.ravel(), weights.ravel(), refused.ravel()]

    def _lay_out(self, cover: TableSet, cells: Integers, records: Integers) -> None:
        """Add what was counted in larger tables to the table of each pair."""
        from deptriad.data import _joint_kernels

        held: dict[tuple[int, int], int] = {}
        for number, places in enumerate(cover.tables):
            for pair in combinations_with_replacement(places, 2):
                held.setdefault(pair, number)
        spans = np.empty((len(self.layout.pairs), 5), dtype=np.int64)
        tables = np.empty(len(self.layout.pairs), dtype=np.int64)
        for place, (i, j) in enumerate(self.layout.pairs):
            tables[place] = number = held[i, j]
            spans[place] = spans_of(
                cover.tables[number].index(i), cover.tables[number].index(j), cover.shapes[number]
            )
        _joint_kernels.add_pairs(cells, cover.starts[tables], spans, self.layout.starts, records)

    def nothing(self) -> tuple[Integers, Floats, Integers]:
        """No records and no weights; and no refused values: undeclared, missing, bad weights, unknown groups."""
        cells = self.sources, self.layout.cells
        refused = np.zeros((4, len(self.layout.sizes)), dtype=np.int64)
        return np.zeros(cells, np.int64), np.zeros(cells if self.weighted else (0, 0)), refused


# --- table by table -------------------------------------------------------------------------------------------


def _grouped(codes: Frame, count: Counter, progress: Progress | None) -> list[NDArray[Any]]:
    """What ``Counter`` returns, by one group-by for each table: for engines that cannot stream."""
    names = codes.collect_schema().names()
    layout, number = count.layout, len(count.layout.sizes)
    records, weights, refused = count.nothing()
    for done, ((i, j), start) in enumerate(zip(layout.pairs, layout.starts[:-1], strict=True), 1):
        keys = {names[i]: None, names[j]: None} | ({names[number]: None} if count.by else {})
        group = sums_by(codes, list(keys), names[-1] if count.weighted else None)
        first, second = group[names[i]], group[names[j]] if i != j else 0
        source = group[names[number]] if count.by else np.zeros(len(first), dtype=np.int64)
        if i == j:  # all of these come first
            refused[:2, i] = [group["records"][first == bad].sum() for bad in (UNSEEN, ABSENT)]
            refused[2, 0] = group["refused"].sum() if count.weighted else 0
            refused[3, 0] = group["records"][source < 0].sum()
        if refused.any():
            continue
        cell = start + first * (layout.sizes[j] if i != j else 1) + second
        np.add.at(records, (source, cell), group["records"])
        if count.weighted:
            np.add.at(weights, (source, cell), group["weights"])
        if progress:
            progress(done, len(layout.pairs))
    return [records.ravel(), weights.ravel(), refused.ravel()]


def sums_by(codes: Frame, keys: list[str], weight: str | None) -> dict[str, NDArray[Any]]:
    """Records, sums of weights and numbers of bad weights of every combination of codes."""
    sums = [nw.len().alias("records")]
    if weight:
        bad = (nw.col(weight) < 0.0) | (nw.col(weight) == float("inf"))
        sums += [nw.col(weight).sum().alias("sum"), nw.col("bad").sum().alias("refused")]
        codes = codes.with_columns(bad.cast(nw.Int64).alias("bad"))
    found = codes.group_by(*keys).agg(*sums).lazy().collect()
    columns = {name: found[name].to_numpy() for name in found.columns}
    whole = {name: columns[name].astype(np.int64) for name in columns if name != "sum"}
    return whole | ({"weights": columns["sum"].astype(np.float64)} if weight else {})
