"""The points of all sources about one target, for pairs of its values: what no budgets change (maths §5).

Importing this module imports numba: do so inside functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from deptriad.tables.table import Box
from deptriad.totals import _point_kernels
from deptriad.totals._point_kernels import SLOPES, Pairs, Points
from deptriad.totals.layout import Source
from deptriad.utils.arrays import Floats, Integers

MOST_HELD = 1 << 17
"""Points of all pairs up to which they are kept; others are made anew for every look."""

FIRST = 4
"""Pairs whose points are made at first where they are not kept: the worst come first, and the rest may need no look."""


class AllPoints:
    """The points of all sources for every ordered pair of target values: pair (x, x') is at x·rows + x'."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.rows = sources[0].table.shape[0]
        self.edged = np.array([each.sets is None for each in sources])
        self.width = max(map(_width, sources))
        self.size = self.rows * self.rows * len(sources) * self.width

    @cached_property
    def _held(self) -> Pairs | None:
        """All of them, if they are few."""
        if self.size > MOST_HELD:
            return None
        every = self._made(np.arange(self.rows * self.rows))
        most = int(every.counts.max())
        lower, upper = (np.ascontiguousarray(each[:, :, :most]) for each in every[:2])
        return Pairs(lower, upper, every.counts)

    def _made(self, places: Integers, some: Integers | None = None) -> Pairs:
        """The points of some pairs, and of some sources only; of a value with itself there are none."""
        shape = places.size, len(self.sources)
        points = Pairs(
            np.zeros((*shape, self.width)),
            np.zeros((*shape, self.width)),
            np.zeros(shape, dtype=np.int64),
        )
        more, less = np.divmod(places, self.rows)
        for i in range(len(self.sources)) if some is None else some:
            table, sets = self.sources[i]
            if sets is not None:
                _point_kernels.set_points(points, i, more, less, *sets)
            elif isinstance(table, Box):
                edges = table.lower, table.upper, table.spare, table.surplus
                _point_kernels.box_points(points, i, more, less, *edges)
            else:
                _point_kernels.table_points(points, i, more, less, table.table)
        for each in points:
            each[more == less] = 0
        return points

    def at(self, x: int, y: int) -> Points:
        """Those of one pair."""
        place, held = x * self.rows + y, self._held
        if held is None:
            place, held = 0, self._made(np.array([place]))
        return Points(held.lower[place], held.upper[place], held.counts[place], self.edged)

    def among(
        self, places: Integers, some: Integers | None = None
    ) -> Iterator[tuple[slice, Integers, Pairs]]:
        """Pairs in their order, ever more at a time: which of them, where they are, and in what.

        What is not kept is made for some sources only, or for all.
        """
        if self._held is not None:
            yield slice(0, places.size), places, self._held
            return
        start, number = 0, FIRST
        while start < places.size:
            part = slice(start, min(start + number, places.size))
            yield part, np.arange(part.stop - start), self._made(places[part], some)
            start += number
            number = max(min(2 * number, MOST_HELD * self.rows * self.rows // self.size), 1)

    def distances(self) -> Floats:
        """The largest A − B for each pair of target values (row) and source (column)."""
        every = np.arange(self.rows * self.rows)
        found = [
            np.max(points.upper - points.lower, axis=2, initial=0.0)
            for _, _, points in self.among(every)
        ]
        return np.concatenate(found)


def _width(source: Source) -> int:
    """How many points a source may have for a pair, at most."""
    if source.sets is not None:
        return max(len(source.sets.low.T), 1)
    return SLOPES + 2 if isinstance(source.table, Box) else source.table.shape[1] + 1
