"""The compiled loops that count: codes of a batch of records in, contingency tables of all pairs out.

Codes lie attribute by attribute, so that a pair reads two short runs of memory. Each pair owns its cells, so threads
share the pairs and nothing else. Tables are laid end to end: all single attributes, then all pairs i < j.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import FEW, both_ways, compiled

SMALL = 256
"""Cells a byte can number; they are counted in four copies: adding to one cell twice in a row would have to wait."""


class Pairs(NamedTuple):
    """Of every pair its two rows of codes, its width and where its cells start."""

    firsts: Integers
    seconds: Integers
    widths: Integers
    starts: Integers


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


@both_ways
def _all_pairs(codes, pairs, records):
    for pair in prange(pairs.firsts.size):
        i, j = pairs.firsts[pair], pairs.seconds[pair]
        start, stop = pairs.starts[pair], pairs.starts[pair + 1]
        _count_pair(codes, i, j, pairs.widths[pair], start, stop, records)


@compiled(parallel=True)
def _weighted_pairs(codes, pairs, sources, weight, records, weights):
    """The same by source, and with the records' weights where there are any."""
    weighted = weight.size > 0
    for pair in prange(pairs.firsts.size):
        first, second = codes[pairs.firsts[pair]], codes[pairs.seconds[pair]]
        width, start = np.int64(pairs.widths[pair]), pairs.starts[pair]
        for k in range(first.size):
            cell = start + first[k] * width + second[k]
            records[sources[k], cell] += 1
            if weighted:
                weights[sources[k], cell] += weight[k]


def count(codes: NDArray[Any], pairs: Pairs, records: Integers) -> None:
    """Add a batch to the cells of every pair."""
    if codes.shape[1] * pairs.firsts.size < FEW:
        _all_pairs(False, codes, pairs, records)
        return
    with ONE_AT_A_TIME:
        _all_pairs(True, codes, pairs, records)


def count_weighted(
    codes: NDArray[Any],
    pairs: Pairs,
    sources: Integers,
    weight: Floats,
    records: Integers,
    weights: Floats,
) -> None:
    """Add a batch to the cells of every pair of its source, and its weights likewise."""
    with ONE_AT_A_TIME:
        _weighted_pairs(codes, pairs, sources, weight, records, weights)
