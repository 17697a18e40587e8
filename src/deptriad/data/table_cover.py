"""Few tables from which many are read off: a table of four attributes holds four tables of three."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb, isqrt, prod

import numpy as np

ROOM = 4096
"""Cells up to which a table is let grow to hold further ones: they stay in the nearest cache while they are counted."""

MOST_SETS = 50_000
"""Sets of attributes that are listed, at most."""

MOST = 1 << 22
"""Cells of all tables that are counted for the sake of pairs: 32 MiB."""


def pair_covering(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Sets of attributes such that each pair, and each attribute, lies within one of them.

    The more attributes there are, the smaller are the sets: all their tables together have up to ``MOST`` cells, unless
    the pairs alone have more.
    """
    for half in (isqrt(ROOM), 16, 4, 1):
        sets = _pairs_of_groups(sizes, half)
        if sum(prod(sizes[place] for place in places) for places in sets) <= MOST:
            break
    return sets


def _pairs_of_groups(sizes: Sequence[int], half: int) -> list[tuple[int, ...]]:
    """Attributes are put into groups of few cells; each two groups make a set.

    One of many values is in no group, and makes a set with each other attribute.

    Examples
    --------
    >>> _pairs_of_groups([8, 8, 2, 100, 8], 64)
    [(0, 1, 2, 4), (0, 3), (1, 3), (2, 3), (3, 4)]
    >>> _pairs_of_groups([3, 4, 100], 64)
    [(0, 1), (0, 2), (1, 2)]
    """
    small = [place for place, size in enumerate(sizes) if size <= half]
    large = [place for place, size in enumerate(sizes) if size > half]
    groups: list[list[int]] = []
    room = half + 1
    for place in small:
        room *= sizes[place]
        if room > half:
            groups.append([])
            room = sizes[place]
        groups[-1].append(place)
    sets = [(*one, *two) for one, two in combinations(groups, 2)] or [
        tuple(each) for each in groups
    ]
    apart = [*product(small, large), *combinations(large, 2)]
    return sets + [tuple(sorted(pair)) for pair in apart] or [(0,)]


def smallest(sizes: Sequence[int], room: float) -> list[tuple[int, ...]]:
    """The sets whose tables have the fewest cells, so many in all, of sets as large as can be listed.

    Those of one attribute always.

    Examples
    --------
    >>> smallest([2, 3, 50], 120)
    [(0,), (0, 1), (1,), (2,)]
    """
    sets = list(combinations(range(len(sizes)), 1))
    for size in range(2, len(sizes) + 1):
        if len(sets) + comb(len(sizes), size) > MOST_SETS:
            break
        sets += combinations(range(len(sizes)), size)
    cells = np.array([prod(sizes[place] for place in some) for some in sets], dtype=float)
    order = np.argsort(cells, kind="stable")
    few = order[np.cumsum(cells[order]) <= room]
    return sorted({*sets[: len(sizes)], *(sets[place] for place in few)})


def covering(
    wanted: Sequence[Sequence[int]], sizes: Sequence[int], most: int = ROOM
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Sets of attributes, in order, such that each of the wanted ones lies within one of them; and within which.

    Greedy: a wanted set of the most attributes that is not covered yet, and whichever further attribute covers most of
    the others, as long as its table keeps to ``most`` cells.

    Parameters
    ----------
    wanted
        The attributes of each table, from 0.
    sizes
        How many values each attribute has.
    most
        Cells up to which a set may grow.

    Examples
    --------
    >>> covering([(0, 1), (2, 1), (0, 2), (3,)], [8, 8, 8, 5000])
    ([(0, 1, 2), (3,)], [0, 0, 0, 1])
    """
    left = np.zeros((len(wanted), len(sizes)), dtype=np.float32)
    for row, places in zip(left, wanted, strict=True):
        row[list(places)] = 1.0
    values = np.asarray(sizes, dtype=np.float64)
    rows, within = np.arange(len(wanted)), np.zeros(len(wanted), dtype=int)
    cover: list[tuple[int, ...]] = []
    while len(left):
        outside = left.sum(axis=1)
        inside = left[int(outside.argmax())].copy()
        room = values[inside > 0.0].prod()
        outside -= left @ inside
        while True:
            one_short = (outside == 1.0).astype(np.float32)
            gain = (one_short @ left) * (1.0 - inside) * (room * values <= most)
            best = int(gain.argmax())
            if not gain[best]:
                break
            inside[best] = 1.0
            room *= values[best]
            outside -= left[:, best]
        further = outside > 0.0
        within[rows[~further]] = len(cover)
        cover.append(tuple(np.flatnonzero(inside).tolist()))
        left, rows = left[further], rows[further]
    return cover, within.tolist()
