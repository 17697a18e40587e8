"""The compiled loops that count: codes of a batch of records in, contingency tables of all pairs out.

Codes lie attribute by attribute, so that a pair reads two short runs of memory. Each pair owns its cells, so threads
share the pairs and nothing else. Tables are laid end to end: all single attributes, then all pairs i < j.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import FEW, compiled

SMALL = 256
"""Cells a byte can number; they are counted in four copies: adding to one cell twice in a row would have to wait."""

Pairs = tuple[Integers, Integers, Integers, Integers]
"""Of every pair its two rows of codes, its width and where its cells start."""

ONE_AT_A_TIME = Lock()
"""Not every threading layer of numba bears two parallel kernels at once, as Dask's threads would run them."""


@compiled()
def _count_small(first, second, width, cells):
    cell = np.empty(first.size, dtype=np.uint8)
    for k in range(first.size):  # by itself, so that it vectorises
        cell[k] = first[k] * width + second[k]
    copies = np.zeros((4, SMALL), dtype=np.int64)
    one, two, three, four = copies[0], copies[1], copies[2], copies[3]
    whole = cell.size - cell.size % 4
    for k in range(0, whole, 4):
        one[cell[k]] += 1
        two[cell[k + 1]] += 1
        three[cell[k + 2]] += 1
        four[cell[k + 3]] += 1
    for k in range(whole, cell.size):
        one[cell[k]] += 1
    for c in range(cells.size):
        cells[c] += one[c] + two[c] + three[c] + four[c]


@compiled()
def _count_large(first, second, width, cells):
    for k in range(first.size):
        cells[np.int64(first[k]) * width + second[k]] += 1


@compiled()
def _count_pair(codes, i, j, width, start, stop, records):
    if stop - start <= SMALL:
        _count_small(codes[i], codes[j], np.uint8(width), records[start:stop])
    else:
        _count_large(codes[i], codes[j], width, records[start:stop])


@compiled()
def _few_pairs(codes, firsts, seconds, widths, starts, records):
    for pair in range(firsts.size):
        i, j = firsts[pair], seconds[pair]
        _count_pair(codes, i, j, widths[pair], starts[pair], starts[pair + 1], records)


@compiled(parallel=True)
def _many_pairs(codes, firsts, seconds, widths, starts, records):
    for pair in prange(firsts.size):
        i, j = firsts[pair], seconds[pair]
        _count_pair(codes, i, j, widths[pair], starts[pair], starts[pair + 1], records)


@compiled(parallel=True)
def _weighted_pairs(codes, firsts, seconds, widths, starts, sources, weight, records, weights):
    """The same by source, and with the records' weights where there are any."""
    weighted = weight.size > 0
    for pair in prange(firsts.size):
        first, second = codes[firsts[pair]], codes[seconds[pair]]
        width, start = np.int64(widths[pair]), starts[pair]
        for k in range(first.size):
            cell = start + first[k] * width + second[k]
            records[sources[k], cell] += 1
            if weighted:
                weights[sources[k], cell] += weight[k]


def count(codes: NDArray[Any], layout: Pairs, records: Integers) -> None:
    """Add a batch to the cells of every pair."""
    if codes.shape[1] * layout[0].size < FEW:
        _few_pairs(codes, *layout, records)
        return
    with ONE_AT_A_TIME:
        _many_pairs(codes, *layout, records)


def count_weighted(
    codes: NDArray[Any],
    layout: Pairs,
    sources: Integers,
    weight: Floats,
    records: Integers,
    weights: Floats,
) -> None:
    """Add a batch to the cells of every pair of its source, and its weights likewise."""
    with ONE_AT_A_TIME:
        _weighted_pairs(codes, *layout, sources, weight, records, weights)
