"""JointCounts: joint tables that are kept with the counts of pairs, so that plans need no records again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.data.schema import Schema
from deptriad.data.table_cover import ROOM, covering, smallest
from deptriad.data.table_set import read_off
from deptriad.utils.arrays import Integers
from deptriad.utils.errors import InvalidValue

USUAL_CELLS = 1 << 20
"""Cells of all tables that are read off the kept ones, unless one asks for more or fewer."""


@dataclass(frozen=True, eq=False)
class JointCounts:
    """Tables of some sets of attributes, from which those of all their parts are read off.

    Parameters
    ----------
    schema
        All attributes.
    sets
        The places of the attributes of each table, in order.
    tables
        Counts or sums of weights: the first axis for the groups, then one for each attribute.
    """

    schema: Schema
    sets: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[Any], ...]

    def __post_init__(self) -> None:
        sizes = self.schema.sizes
        for places, table in zip(self.sets, self.tables, strict=True):
            shape = tuple(sizes[place] for place in places)
            if table.shape[1:] != shape or list(places) != sorted(set(places)):
                raise ValueError(f"a joint table has the shape {table.shape}, expected {shape}")
            if not ((table >= 0) & np.isfinite(table)).all():
                raise ValueError("a joint table has a number below 0 or none, expected counts")

    @property
    def kept(self) -> None:
        """The codes of records, of which there are none here; as ``Records`` has it."""

    def knows(self, names: Sequence[str]) -> bool:
        """Whether some attributes' table can be read off."""
        return self._home([self.schema.index(name) for name in names]) is not None

    def joints(self, wanted: Sequence[Sequence[str]]) -> list[NDArray[Any]]:
        """Counts of each list of attributes: an axis for the groups, and one for each attribute in the order given."""
        return [self._joint(names) for names in wanted]

    def _joint(self, names: Sequence[str]) -> NDArray[Any]:
        places = [self.schema.index(name) for name in names]
        if not places or len(set(places)) < len(places):
            raise ValueError(f"a joint table of {list(names)}, expected different attributes")
        home = self._home(places)
        if home is None:
            raise InvalidValue(
                f"the counts that were kept have no joint table of {', '.join(names)}, only smaller ones: keep more "
                "cells, or use the records"
            )
        # the axis of the groups comes first, and stays
        axes = (-1, *self.sets[home])
        return read_off(self.tables[home], axes, (-1, *places))

    def _home(self, places: Sequence[int]) -> int | None:
        """The smallest table that has some attributes."""
        fitting = [number for number, own in enumerate(self.sets) if set(places) <= set(own)]
        return min(fitting, key=lambda number: self.tables[number].size, default=None)

    def regrouped(self, schema: Schema, places: Sequence[Integers]) -> JointCounts:
        """The same for a schema in which old codes became others, added up."""
        tables = []
        for own, table in zip(self.sets, self.tables, strict=True):
            for axis, place in enumerate(own, 1):
                shape = (*table.shape[:axis], schema.sizes[place], *table.shape[axis + 1 :])
                after = np.zeros(shape, dtype=table.dtype)
                np.add.at(np.moveaxis(after, axis, 0), places[place], np.moveaxis(table, axis, 0))
                table = after
            tables.append(table)
        return JointCounts(schema, self.sets, tuple(tables))

    def plus(
        self, other: JointCounts | None, own: Sequence[int], more: Sequence[int], of: int
    ) -> JointCounts | None:
        """Both added up, each with its own groups among so many; None where they have other tables."""
        if other is None or other.sets != self.sets:
            return None
        tables = []
        for one, two in zip(self.tables, other.tables, strict=True):
            table = np.zeros((of, *one.shape[1:]), dtype=one.dtype)
            table[list(own)] += one
            table[list(more)] += two
            tables.append(table)
        return JointCounts(self.schema, self.sets, tuple(tables))

    @property
    def few(self) -> int:
        """How many cells of the kept tables have from one to nine records, or so much weight."""
        return sum(int(((table > 0) & (table < 10)).sum()) for table in self.tables)

    def flat(self) -> NDArray[Any]:
        """All cells, end to end."""
        return np.concatenate([table.ravel() for table in self.tables])

    @classmethod
    def from_flat(
        cls, schema: Schema, sets: Sequence[Sequence[int]], cells: NDArray[Any], sources: int
    ) -> JointCounts:
        """From all cells, end to end."""
        if not {place for places in sets for place in places} <= set(range(len(schema))):
            raise ValueError("its joint tables have attributes that its schema does not have")
        shapes = [(sources, *(schema.sizes[place] for place in places)) for places in sets]
        ends = np.cumsum([prod(shape) for shape in shapes])
        if not len(ends) or ends[-1] != cells.size:
            raise ValueError(
                f"its joint tables have {cells.size} cells, expected those of its sets"
            )
        parts = np.split(cells, ends[:-1])
        tables = tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return cls(schema, tuple(map(tuple, sets)), tables)


def kept_sets(schema: Schema, cells: int) -> list[tuple[int, ...]]:
    """Sets of attributes whose tables hold those of all pairs, and the smallest of more, so many cells in all.

    No table is larger than the largest of these.
    """
    sizes = schema.sizes
    every = sorted({*smallest(sizes, cells), *combinations(range(len(sizes)), 2)})
    largest = max(prod(sizes[place] for place in places) for places in every)
    return covering(every, sizes, min(ROOM, largest))[0]
