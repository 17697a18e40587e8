"""Smallest first, for compiled loops: a heap, since most of them stop early, and NumPy's sorts take seconds to compile.

A heap is an array of places in ``keys``; places with the same key come in their order. Importing this module imports
numba.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from deptriad.utils.compiled import part


@part()
def _sink(keys, heap, at, size):
    """Let an entry of the heap sink below all that come before it."""
    place = heap[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            keys[heap[other]] < keys[heap[below]]
            or (keys[heap[other]] == keys[heap[below]] and heap[other] < heap[below])
        ):
            below = other
        child = heap[below]
        if keys[place] < keys[child] or (keys[place] == keys[child] and place < child):
            break
        heap[at] = child
        at = below
    heap[at] = place


@part()
def heap_up(keys, heap, size):
    """Make a heap of the first ``size`` keys."""
    for place in range(size):
        heap[place] = place
    for at in range(size // 2 - 1, -1, -1):
        _sink(keys, heap, at, size)


@part()
def smallest(keys, heap, size):
    """Take the place of the smallest key from a heap of ``size`` places, which has one less from now on."""
    place = heap[0]
    heap[0] = heap[size - 1]
    _sink(keys, heap, np.int64(0), size - 1)  # a literal 0 would be compiled for by itself
    return place
