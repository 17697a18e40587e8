"""The compiled loops that count tables of any number of attributes: codes of a batch of records in, their cells out.

Codes lie attribute by attribute. A block of records at a time gets the numbers of its cells, in mixed radix and in as
few bytes as they need, so that this vectorises; then they are counted. Each table owns its cells, so threads may share
the tables and nothing else.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled, part
from deptriad.utils.threads import in_blocks

BLOCK = 4096
"""Records whose cells are numbered at a time: they stay in the nearest cache."""

SMALL = 1 << 16
"""Cells that two bytes can number; counted in two copies: adding to one cell twice in a row would have to wait."""


class Tables(NamedTuple):
    """Of each table: where its attributes are listed, which they are and their sizes, and where its cells start."""

    firsts: Integers
    places: Integers
    sizes: Integers
    starts: Integers


@part()
def _number_cells(codes, places, sizes, begin, cell):
    first = codes[places[0], begin : begin + cell.size]
    for k in range(cell.size):
        cell[k] = first[k]
    for axis in range(1, places.size):
        size, code = sizes[axis], codes[places[axis], begin : begin + cell.size]
        for k in range(cell.size):
            cell[k] = cell[k] * size + code[k]


@part()
def _count_small(codes, places, sizes, cells):
    numbered = np.empty(BLOCK, dtype=np.uint16)
    copies = np.zeros((2, cells.size), dtype=np.uint32)
    one, two = copies[0], copies[1]
    for begin in range(0, codes.shape[1], BLOCK):
        cell = numbered[: min(BLOCK, codes.shape[1] - begin)]
        _number_cells(codes, places, sizes, begin, cell)
        even = cell.size - cell.size % 2
        for k in range(0, even, 2):
            one[cell[k]] += np.uint32(1)
            two[cell[k + 1]] += np.uint32(1)
        if even < cell.size:
            one[cell[even]] += np.uint32(1)
    for c in range(cells.size):
        cells[c] += np.int64(one[c]) + np.int64(two[c])


@part()
def _count_large(codes, places, sizes, weight, cells):
    numbered = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, codes.shape[1], BLOCK):
        cell = numbered[: min(BLOCK, codes.shape[1] - begin)]
        _number_cells(codes, places, sizes, begin, cell)
        for k in range(cell.size):
            cells[cell[k]] += weight[begin + k] if weight.size else 1


@compiled()
def _all_tables(codes, tables, weight, cells, start, stop):
    for table in range(start, stop):
        listed = slice(tables.firsts[table], tables.firsts[table + 1])
        places, sizes = tables.places[listed], tables.sizes[listed]
        own = cells[tables.starts[table] : tables.starts[table + 1]]
        if weight.size or own.size > SMALL:
            _count_large(codes, places, sizes, weight, own)
        else:
            _count_small(codes, places, sizes, own)


def count(codes: NDArray[Any], tables: Tables, weight: Floats, cells: NDArray[Any]) -> None:
    """Add a batch to the cells of every table: its records, or their weights where there are any."""
    weight = weight.astype(cells.dtype)  # so that numbers of records stay whole
    number = tables.starts.size - 1
    in_blocks(_all_tables, number, codes.shape[1] * number, codes, tables, weight, cells)


@compiled()
def _add_pairs(cells, begins, spans, starts, records):
    for pair in range(begins.size):
        before, rows, between, columns, after = spans[pair]
        cell, start = begins[pair], starts[pair]
        for _ in range(before):
            for row in range(rows):
                for _ in range(between):
                    for column in range(columns):
                        total = 0
                        for k in range(cell, cell + after):
                            total += cells[k]
                        records[start + row * columns + column] += total
                        cell += after


def add_pairs(
    cells: Integers, begins: Integers, spans: Integers, starts: Integers, records: Integers
) -> None:
    """Add to the cells of each pair what larger tables have of it: where such a table begins, and its spans."""
    _add_pairs(cells, begins, spans, starts, records)
