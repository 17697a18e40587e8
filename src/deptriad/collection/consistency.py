"""Marginals that agree with each other: every common margin is the same, and no share is below 0.

A table over the attributes w is the sum of parts, one for each s ⊆ w: the margin over s, centred along each of its
axes, spread evenly over the others. Parts of different s are at right angles to each other, and tables agree exactly
when they have the same part s wherever they have s at all. So weighted least squares on common margins has a closed
form: each part is a mean. The estimate of the marginal s itself has all that reports tell about the part s, as it has
every view that any larger marginal has, at the best weights: the unbiased tables that agree take their parts from it.

The nearest tables x that agree and are nowhere below 0, by a distance in which each table counts by its precision, are
found from the dual: x = start + Π·y, where Π is the projection onto differences that agree and y ≥ 0 the price of each
cell. Its gradient is x, and Π has norm 1: y ← max(0, y − x), with momentum (Nesterov's, restarted where it leads
uphill). It ends at min(x, y) = 0, where no tables are nearer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, combinations
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deptriad.utils.arrays import Floats

Names = tuple[str, ...]
Tables = dict[Names, Floats]
Project = Callable[[Floats], Floats]

STEPS = 2000
"""Steps of the dual, at most."""

CLOSE = 1e-7
"""What is below 0 by no more than that is mended by mixing in so much of the uniform distribution."""


def parts_needed(marginals: Iterable[Names]) -> list[Names]:
    """All parts of some marginals, each once, small ones first; attributes in the order of the marginal."""
    found: dict[frozenset[str], Names] = {}
    for names in marginals:
        for size in range(1, len(names) + 1):
            for some in combinations(names, size):
                found.setdefault(frozenset(some), some)
    return sorted(found.values(), key=len)


def agreed(direct: Mapping[Names, Floats], precision: Mapping[Names, float]) -> Tables:
    """The nearest tables that agree and are nowhere below 0, from estimates of marginals and of all their parts."""
    layout = _Layout(direct)
    sizes = np.repeat(layout.tables.sizes, layout.tables.sizes)
    counts = np.repeat([precision[names] for names in direct], layout.tables.sizes)
    own = layout.projection(lambda names, some: float(len(names) == len(some)))
    alike = layout.projection(lambda names, some: precision[names] / direct[names].size)
    start = 1.0 / sizes + own(np.concatenate([table.ravel() for table in direct.values()]))
    found = _nearest(start, alike, counts)
    below = max(0.0, float(np.max(-found * sizes)))
    cells = np.maximum((found + below / sizes) / (1.0 + below), 0.0)
    every = np.split(cells, layout.tables.starts[1:])
    return {
        names: own.reshape(direct[names].shape) for names, own in zip(direct, every, strict=True)
    }


def _nearest(start: Floats, alike: Project, counts: Floats) -> Floats:
    """The nearest cells that are nowhere below 0, from those that agree; each counts so much."""
    found, pace = start, 1.0
    ahead, price, last, moved, change = np.zeros((5, len(start)))
    # in place, and without BLAS: new arrays, and threads that wait for each other, would take most of the time
    for _ in range(STEPS):
        found = alike(ahead)
        found += start
        price, last = last, price
        np.maximum(np.subtract(ahead, found, out=price), 0.0, out=price)
        np.subtract(price, ahead, out=moved)
        if max(moved.max(), -moved.min()) <= CLOSE:
            break
        np.subtract(price, last, out=change)
        moved *= counts
        moved *= change
        if moved.sum() < 0.0:
            pace = 1.0
        before, pace = pace, (1.0 + np.sqrt(1.0 + 4.0 * pace * pace)) / 2.0
        np.add(price, np.multiply(change, (before - 1.0) / pace, out=ahead), out=ahead)
    return found


class _Row:
    """Where the cells of some tables lie in one row of numbers."""

    def __init__(self, shapes: Mapping[Names, tuple[int, ...]]) -> None:
        self.shapes = shapes
        self.sizes = [prod(shape) for shape in shapes.values()]
        *starts, self.length = accumulate(self.sizes, initial=0)
        self.starts = starts
        self.start = dict(zip(shapes, starts, strict=True))


class _Layout:
    """All cells of some tables in one row, all cells of their parts in another, and what lies where."""

    def __init__(self, tables: Mapping[Names, Floats]) -> None:
        self.tables = _Row({names: table.shape for names, table in tables.items()})
        long = {
            name: size
            for names, table in tables.items()
            for name, size in zip(names, table.shape, strict=True)
        }
        parts = parts_needed(tables)
        self.parts = _Row({some: tuple(long[name] for name in some) for some in parts})
        self.lines = [self._along(axis) for axis in range(len(parts[-1]))]
        self.margins = list(self._margins())
        spread = {
            (names, some): prod(self.parts.shapes[some]) / tables[names].size
            for names, some, _ in self.margins
        }
        self.spread = self._matrix(spread).T.tocsr()

    def _margins(self) -> Iterator[tuple[Names, Names, NDArray[np.intp]]]:
        """For each table and each of its parts the place of each cell of the table in the part."""
        ordered = {frozenset(some): some for some in self.parts.shapes}
        for names, shape in self.tables.shapes.items():
            grid = dict(zip(names, np.indices(shape).reshape(len(shape), -1), strict=True))
            for size in range(1, len(names) + 1):
                for some in combinations(names, size):
                    own = ordered[frozenset(some)]
                    places = [grid[name] for name in own]
                    yield names, own, np.ravel_multi_index(places, self.parts.shapes[own])

    def _along(self, axis: int) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
        """From which cell on parts have an axis (small ones are first), the line along it of each, and its length."""
        having = [(some, shape) for some, shape in self.parts.shapes.items() if len(shape) > axis]
        lines, lengths = [], np.empty(0, dtype=np.intp)
        for _, shape in having:
            own = np.arange(prod(shape) // shape[axis])
            across = own.reshape(*shape[:axis], 1, *shape[axis + 1 :])
            lines.append(len(lengths) + np.broadcast_to(across, shape).ravel())
            lengths = np.append(lengths, np.full(len(own), shape[axis]))
        return self.parts.start[having[0][0]], np.concatenate(lines), lengths

    def _matrix(self, values: Mapping[tuple[Names, Names], float]) -> csr_array:
        """From cells of tables to cells of parts: a number for each table and part."""
        rows = [self.parts.start[some] + inside for _, some, inside in self.margins]
        columns = [
            self.tables.start[names] + np.arange(len(inside)) for names, _, inside in self.margins
        ]
        every = [np.full(len(inside), values[names, some]) for names, some, inside in self.margins]
        return csr_array(
            (np.concatenate(every), (np.concatenate(rows), np.concatenate(columns))),
            shape=(self.parts.length, self.tables.length),
        )

    def projection(self, weight: Callable[[Names, Names], float]) -> Project:
        """To tables that agree: each part is the mean of those of all tables that have it, by these weights."""
        weights = {(names, some): weight(names, some) for names, some, _ in self.margins}
        of: dict[Names, float] = defaultdict(float)
        for (_, some), each in weights.items():
            of[some] += each
        mean = self._matrix(
            {(names, some): each / of[some] for (names, some), each in weights.items()}
        )

        def project(cells: Floats) -> Floats:
            found = mean @ cells
            for first, lines, length in self.lines:
                found[first:] -= (np.bincount(lines, found[first:]) / length)[lines]
            return np.asarray(self.spread @ found)

        return project
