"""Tables of any attributes that are counted together, their cells end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.arrays import Floats, Integers

if TYPE_CHECKING:
    from deptriad.data._joint_kernels import Tables
    from deptriad.data.engines import Batch


@dataclass(frozen=True)
class TableSet:
    """The attributes of each table, from 0, and how many values each attribute has."""

    tables: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the tables."""
        return [tuple(self.sizes[place] for place in table) for table in self.tables]

    @cached_property
    def starts(self) -> Integers:
        """Where each table's cells begin, and where the last one's end."""
        return np.cumsum([0, *map(prod, self.shapes)], dtype=np.int64)

    def nothing(self, weighted: bool = False) -> NDArray[Any]:
        """No records, or no weights, in any cell."""
        return np.zeros(self.starts[-1], dtype=np.float64 if weighted else np.int64)

    def count(self, codes: NDArray[Any], cells: NDArray[Any], weight: Floats | None = None) -> None:
        """Add records to the cells, whose codes lie attribute by attribute; or their weights, where they are given."""
        from deptriad.data import _joint_kernels

        none = np.zeros(0) if weight is None else weight
        _joint_kernels.count(codes, self._listed, none, cells)

    @cached_property
    def _listed(self) -> Tables:
        """As the kernel takes them."""
        from deptriad.data._joint_kernels import Tables

        firsts = np.cumsum([0, *map(len, self.tables)], dtype=np.int64)
        places, sizes = (np.concatenate(each) for each in (self.tables, self.shapes))
        return Tables(firsts, places.astype(np.int64), sizes.astype(np.int64), self.starts)

    def apart(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """The tables, each with its axes."""
        ends = zip(self.starts[:-1], self.starts[1:], self.shapes, strict=True)
        return [cells[start:stop].reshape(shape) for start, stop, shape in ends]


def read_off(table: NDArray[Any], places: Sequence[int], wanted: Sequence[int]) -> NDArray[Any]:
    """A table of some of the attributes of another one, in the order that is wanted."""
    rest = tuple(axis for axis, place in enumerate(places) if place not in wanted)
    kept = [place for place in places if place in wanted]
    order = [kept.index(place) for place in wanted]
    return np.ascontiguousarray(table.sum(axis=rest).transpose(order))


def spans_of(first: int, second: int, shape: Sequence[int]) -> tuple[int, int, int, int, int]:
    """How many cells lie before, along, between, along and after two axes; an axis with itself has nothing of its own.

    >>> spans_of(1, 3, (2, 3, 4, 5, 6))
    (2, 3, 4, 5, 6)
    >>> spans_of(1, 1, (2, 3, 4, 5, 6))
    (2, 3, 1, 1, 120)
    """
    before, along = prod(shape[:first]), shape[first]
    if first == second:
        return before, along, 1, 1, prod(shape[first + 1 :])
    between, after = prod(shape[first + 1 : second]), prod(shape[second + 1 :])
    return before, along, between, shape[second], after


def stacked(columns: Batch) -> NDArray[Any]:
    """Codes attribute by attribute, and a row of zeros."""
    codes = np.zeros((len(columns) + 1, len(columns[0])), dtype=np.result_type(*columns))
    for row, column in zip(codes, columns, strict=False):
        row[:] = column
    return codes
