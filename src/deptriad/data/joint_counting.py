"""Counting further tables of records that were counted before: of any attributes, many of them in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.data.attribute import Attribute
from deptriad.data.batches import coded, results, streams
from deptriad.data.column_types import Frame
from deptriad.data.counting import MOST_CELLS, sources_of, sums_by
from deptriad.data.counts import Counts
from deptriad.data.encoding import Encoder
from deptriad.data.engines import Batch, engine_of
from deptriad.data.joint_counts import USUAL_CELLS, JointCounts, kept_sets
from deptriad.data.readers import opened_once
from deptriad.data.schema import Schema
from deptriad.data.table_cover import covering
from deptriad.data.table_set import TableSet, read_off, stacked
from deptriad.utils.arrays import Floats, as_whole
from deptriad.utils.progress import Progress

MOST_KEPT = 1 << 27
"""Bytes of codes that are kept in memory, so that many questions take one reading."""


@dataclass(frozen=True, eq=False)
class Records:
    """Where records are that have been counted, to count further tables of them.

    Where a local engine has them and their codes take at most ``MOST_KEPT`` bytes, they are read once more for the
    first tables, and kept as codes in memory. Otherwise each call is one pass over the data, where it lives.
    """

    frame: Frame
    counts: Counts
    weight: str | None = None

    def knows(self, names: Sequence[str]) -> bool:
        """Whether a table can be counted: any can, as far as there is room."""
        return True

    def joints(self, wanted: Sequence[Sequence[str]]) -> list[NDArray[Any]]:
        """Counts of each list of attributes: an axis for the groups, and one for each attribute in the order given.

        Raises
        ------
        ValueError
            For unknown or repeated names, far too many cells, and data that is no longer what was counted.
        """
        if not wanted:
            return []
        schema = self.counts.schema
        asked = [[schema.index(name) for name in names] for names in wanted]
        for names, places in zip(wanted, asked, strict=True):
            if not places or len(set(places)) < len(places):
                raise ValueError(f"a joint table of {list(names)}, expected different attributes")
        self._refuse_size(asked)
        used = sorted({place for places in asked for place in places})
        if self._by:  # the group is one more attribute, and the first axis of every table
            used = [*used, len(schema)]
        axes = [[used.index(place) for place in places] for places in asked]
        axes = [[len(used) - 1, *places] for places in axes] if self._by else axes
        sizes = [(*schema.sizes, len(self.counts.sources))[place] for place in used]
        found = self._counted(used, axes, sizes)
        tables = found if self._by else [table[None] for table in found]
        if self._by:
            order = [self._by.values.index(source) for source in self.counts.sources]
            tables = [table[order] for table in tables]
        self._refuse_changed(wanted, tables)
        return tables

    def _refuse_size(self, asked: list[list[int]]) -> None:
        sizes, names = self.counts.schema.sizes, self.counts.schema.names
        cells = [prod(sizes[place] for place in places) for places in asked]
        if sum(cells) * len(self.counts.sources) > MOST_CELLS:
            largest = asked[int(np.argmax(cells))]
            raise ValueError(
                f"the joint tables would have {sum(cells) * len(self.counts.sources):,} cells, expected at most "
                f"{MOST_CELLS:,}: that of {', '.join(names[place] for place in largest)} has {max(cells):,}; ask for "
                "fewer attributes or tables at a time"
            )

    @cached_property
    def _by(self) -> Attribute | None:
        sources = sources_of(self.frame, self.counts.by)
        if sources and sorted(sources.values) != list(self.counts.sources):
            raise _changed()
        return sources

    def _counted(
        self, used: list[int], axes: list[list[int]], sizes: list[int]
    ) -> list[NDArray[Any]]:
        """The tables, whose axes are given as places among the used attributes."""
        schema, weighted = self.counts.schema, self.weight is not None
        names = [schema.names[place] for place in used if place < len(schema)]
        encode = Encoder(schema.only(*names), self._by, self.weight)
        if not streams(self.frame):
            return [_grouped(encode(self.frame), places, sizes, weighted) for places in axes]
        cover, within = covering(axes, sizes)
        count = JointCounter(TableSet(tuple(cover), tuple(sizes)), weighted)
        cells = count.tables.nothing(weighted)
        if self._keeps:
            codes, weight = self._codes
            strange = count.add(codes[used], weight, cells)
        else:
            strange = False
            for more, odd in results(self.frame, encode, count):
                cells += more
                strange |= bool(odd.any())
        if strange:
            raise _changed()
        tables = count.tables.apart(cells)
        return [
            read_off(tables[place], cover[place], places)
            for place, places in zip(within, axes, strict=True)
        ]

    @property
    def kept(self) -> tuple[NDArray[Any], Floats] | None:
        """The codes of all records, attribute by attribute, and their weights (1 each without), if they are kept here.

        None where they are not to be had in little room, or come from several groups.
        """
        if not self._keeps or self._by:
            return None
        codes, weight = self._codes
        if codes.min(initial=0) < 0 or weight.min(initial=0.0) < 0.0:
            raise _changed()
        return codes, weight if self.weight else np.ones(codes.shape[1])

    @property
    def _keeps(self) -> bool:
        """Whether the codes of all records are to be had here, in little room."""
        engine = engine_of(self.frame.to_native())
        bytes_each = len(self.counts.schema) * (1 if max(self.counts.schema.sizes) <= 127 else 2)
        bytes_each += 4 * (self.counts.by is not None) + 8 * (self.weight is not None)
        here = streams(self.frame) and not (engine.on_parts or engine.on_codes)
        return here and self.counts.records * bytes_each <= MOST_KEPT

    @cached_property
    def _codes(self) -> tuple[NDArray[Any], Floats]:
        """The codes of all records, attribute by attribute, then those of the groups; and the weights."""
        schema = self.counts.schema
        number = len(schema) + (self._by is not None)
        parts = list(coded(self.frame, Encoder(schema, self._by, self.weight)))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        if not columns:
            raise _changed()
        weight = columns[-1] if self.weight else np.zeros(0)
        return stacked(columns[:number])[:-1], np.asarray(weight, dtype=np.float64)

    def _refuse_changed(
        self, wanted: Sequence[Sequence[str]], tables: Sequence[NDArray[Any]]
    ) -> None:
        """Each attribute's own counts must be what they were."""
        seen = set()
        for names, table in zip(wanted, tables, strict=True):
            for axis, name in enumerate(names, 1):
                if name in seen:
                    continue
                seen.add(name)
                others = tuple(other for other in range(1, table.ndim) if other != axis)
                single, before = table.sum(axis=others), self.counts.singles(name)
                # sums of weights depend on the order of adding
                if not np.allclose(single, before, rtol=1e-9 if self.weight else 0.0, atol=0.0):
                    raise _changed()


def kept_counts(
    data: Any,
    schema: Schema,
    weight: str | None = None,
    by: str | None = None,
    query: str | None = None,
    cells: int = USUAL_CELLS,
    progress: Progress | None = None,
) -> Counts:
    """Counts with joint tables, to be saved: plans and totals are worked out from them as from records.

    Parameters
    ----------
    data, schema, weight, by, query, progress
        As for ``Counts.from_data``.
    cells
        The joint tables with the fewest cells are kept, so many cells in all; of all pairs in any case.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad.data.joint_counting import kept_counts
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "xor": [0, 1, 1, 0] * 20})
    >>> prior = dt.Prior.from_counts(kept_counts(frame, dt.Schema.infer(frame)))
    >>> prior.joint(["a", "b", "xor"]).counts.tolist()
    [[[20, 0], [0, 20]], [[0, 20], [20, 0]]]
    """
    ready = opened_once(data, query, schema)
    counts = Counts.from_data(ready, schema, weight, by, progress=progress)
    sets = kept_sets(schema, as_whole(cells, "cells", 1))
    named = [[schema.names[place] for place in places] for places in sets]
    tables = Records(ready.frame, counts, weight).joints(named)
    return replace(counts, joint=JointCounts(schema, tuple(sets), tuple(tables)))


def _changed() -> ValueError:
    return ValueError(
        "the records are no longer those that were counted: the data was changed since, or changes while it is read, "
        "as a query with random() does; make a copy, and the prior from it"
    )


# --- batch by batch -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JointCounter:
    """The work of one process: batches of codes in; the cells of all tables and the number of strange batches out."""

    tables: TableSet
    weighted: bool

    def __call__(self, batches: Iterator[Batch]) -> list[NDArray[Any]]:
        """Count all batches."""
        cells, strange = self.tables.nothing(self.weighted), np.zeros(1, dtype=np.int64)
        for batch in batches:
            codes = stacked(batch[: len(self.tables.sizes)])
            weight = np.asarray(batch[-1], dtype=np.float64) if self.weighted else np.zeros(0)
            strange += self.add(codes, weight, cells)
        return [cells, strange]

    def add(self, codes: NDArray[Any], weight: Floats, cells: NDArray[Any]) -> bool:
        """Count a batch whose codes lie attribute by attribute; or say that it has what was not there before."""
        if codes.min(initial=0) < 0 or weight.min(initial=0.0) < 0.0:
            return True
        self.tables.count(codes, cells, weight)
        return False


# --- table by table -------------------------------------------------------------------------------------------


def _grouped(codes: Frame, places: list[int], sizes: list[int], weighted: bool) -> NDArray[Any]:
    """One table by one group-by: for engines that cannot stream."""
    names = codes.collect_schema().names()
    group = sums_by(codes, [names[place] for place in places], names[-1] if weighted else None)
    cell = tuple(group[names[place]] for place in places)
    if any(code.min(initial=0) < 0 for code in cell):
        raise _changed()
    table = np.zeros([sizes[place] for place in places], np.float64 if weighted else np.int64)
    np.add.at(table, cell, group["weights" if weighted else "records"])
    return table
