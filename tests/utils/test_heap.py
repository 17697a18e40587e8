"""Smallest first: the order of a stable sort."""

import numpy as np

from deptriad.utils.compiled import compiled
from deptriad.utils.heap import heap_up, smallest


@compiled()
def in_order(keys):
    heap = np.empty(keys.size, dtype=np.int64)
    places = np.empty(keys.size, dtype=np.int64)
    heap_up(keys, heap, keys.size)
    for k in range(keys.size):
        places[k] = smallest(keys, heap, keys.size - k)
    return places


def test_places_come_as_a_stable_sort_gives_them(rng):
    for size in range(40):
        for keys in (rng.random(size), rng.integers(0, 4, size) - 1.0, np.zeros(size)):
            np.testing.assert_array_equal(in_order(keys), np.argsort(keys, kind="stable"))
