"""Told: what a view tells about every attribute by the prior's joint tables, exactly for GRR (maths §10.3).

Inside a search these numbers are floats to steer by; what a plan promises is computed again, rounded outward.
Importing this module imports numba: do so inside functions.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptriad.analysis.prior import Prior
from deptriad.data.table_cover import smallest
from deptriad.planning import _view_kernels
from deptriad.tables.joint import Joint
from deptriad.utils.arrays import Floats, Integers

IN_ONE_PASS = 1 << 22
"""Cells of all joint tables that are counted at once where records are not kept in memory: 32 MiB."""


class Tables:
    """The joint tables of a prior: whatever is needed is counted, at once where the records are kept in memory.

    Where they are not, the smallest tables, up to ``IN_ONE_PASS`` cells in all, are counted in one pass over the data,
    and no others are known.
    """

    def __init__(self, prior: Prior) -> None:
        self.prior = prior
        names, sizes = prior.names, prior.schema.sizes
        kept = prior.records.kept if prior.records else None
        self._codes = _different(*kept, sizes) if kept else None
        self._joints: dict[tuple[int, ...], Joint] = {}
        if kept:
            self._count([(place,) for place in range(len(sizes))])
        else:
            self._count(self._small())
        values = [self.joint([place]).target_values(name) for place, name in enumerate(names)]
        self.rows = [
            np.array([attribute.values.index(value) for value in own])
            for attribute, own in zip(prior.schema, values, strict=True)
        ]
        # if all records have one value, people of another one are taken to be like them in all else
        self._lone = [
            place for place, size in enumerate(sizes) if size > 1 and self.rows[place].size == 1
        ]
        for place in self._lone:
            self.rows[place] = np.repeat(self.rows[place], 2)
        self.first = np.cumsum([0, *(rows.size for rows in self.rows)])
        self._every = np.cumsum([0, *sizes])
        self._kept = np.concatenate(
            [begin + rows for begin, rows in zip(self._every[:-1], self.rows, strict=True)]
        )

    def _small(self) -> list[tuple[int, ...]]:
        """The tables with the fewest cells that there are, of sets as large as can be listed."""
        names = self.prior.names
        found = smallest(self.prior.schema.sizes, IN_ONE_PASS / len(self.prior.sources))
        return [some for some in found if self.prior.knows([names[place] for place in some])]

    def _count(self, wanted: Sequence[tuple[int, ...]]) -> None:
        """Count tables in one pass."""
        names = self.prior.names
        found = self.prior.joints([[names[place] for place in some] for some in wanted])
        self._joints |= dict(zip(wanted, found, strict=True))

    def known(self, places: Sequence[int]) -> bool:
        """Whether there are tables of some attributes together with each target."""
        if self._codes is not None:
            return True
        every = range(len(self.rows))
        return all(tuple(sorted({*places, target})) in self._joints for target in every)

    def told(self, places: Sequence[int]) -> Told:
        """What is told about every attribute by those in some places, which are in the order of the schema."""
        sizes = [self.prior.schema.sizes[place] for place in places]
        table = np.zeros((math.prod(sizes), self.first[-1]))
        if self._codes is None:
            for target in range(len(self.rows)):
                self._given(places, target, table)
        else:
            table = self._counted(places, math.prod(sizes))
            table = table / table.sum(axis=0)
        for target in set(self._lone) & set(places):
            column = table[:, self.first[target] + 1].reshape(sizes)
            other = np.roll(column, 1, axis=list(places).index(target))
            table[:, self.first[target] + 1] = other.ravel()
        return Told(table, self.first, np.array(sizes))

    def _counted(self, places: Sequence[int], cells: int) -> Floats:
        codes, weights = self._codes  # type: ignore[misc]
        table = np.zeros((cells, int(self._every[-1])))
        some = np.array(places, dtype=np.int64)
        _view_kernels.count_cells(some, codes, weights, self._every, table)
        return np.ascontiguousarray(table[:, self._kept])

    def _given(self, places: Sequence[int], target: int, table: Floats) -> None:
        """Fill in the columns of one target, from a joint table of it and the view."""
        name, rows = self.prior.names[target], self.rows[target]
        joint = self.joint([*places, target] if target not in places else places)
        given = joint.given(name)
        if target in places:  # the cells whose own value is another one stay 0
            axis = list(places).index(target)
            own = np.zeros((rows.size, *(self.prior.schema.sizes[place] for place in places)))
            np.moveaxis(own, axis + 1, 1)[np.arange(rows.size), rows] = given
            given = own
        table[:, self.first[target] : self.first[target + 1]] = given.reshape(len(given), -1).T

    def joint(self, places: Sequence[int]) -> Joint:
        """The joint table of some attributes in the order of the schema, counted the first time."""
        key = tuple(sorted(places))
        if key not in self._joints:
            self._count([key])
        return self._joints[key]


@dataclass(frozen=True)
class Told:
    """p(u | x) of the joint values u of a view (rows), for every value x of every target (columns).

    Parameters
    ----------
    table
        A row for each cell, in the order of the view's attributes, the last one fastest.
    first
        Where the columns of each target begin; one more at the end.
    sizes
        How many values each attribute of the view has.
    """

    table: Floats
    first: Integers
    sizes: Integers

    def totals(self, budgets: Floats) -> tuple[Floats, Integers]:
        """Of each target ln of the largest ratio of two likelihoods of a report, and where it is: y, x, x'.

        An attribute of the view is a target, too: the likelihoods of its own report are part of its columns.
        """
        out = _buffer(self.table.size).reshape(self.table.shape)
        _view_kernels.likelihoods(self.table, self.sizes, np.expm1(budgets), out)
        value = np.ones(self.first.size - 1)
        where = np.full((self.first.size - 1, 3), -1, dtype=np.int64)
        _view_kernels.worst_ratios(out, self.first, value, where)
        return np.log(value), where

    def classes(self, column: int, cell: int) -> Floats:
        """p(u_C = y_C | x) for all sets C of the view's attributes, as a binary number with the last one lowest."""
        found = np.zeros(1 << self.sizes.size)
        _view_kernels.matches(self.table, column, cell, self.sizes, found)
        return found

    def largest_joint_budget(self, promises: Floats, most: float) -> float:
        """The largest ε of GRR on the joint value: a report y has the likelihood 1 + t·p(y | x)."""
        gain = _view_kernels.joint_gain(self.table, self.first, np.exp(promises))
        return min(math.log1p(gain), most)


def _different(codes: Integers, weights: Floats, sizes: Sequence[int]) -> tuple[Integers, Floats]:
    """Records that differ, a row each, with the summed weights of those that are alike."""
    number: Integers = np.zeros(codes.shape[1], dtype=np.int64)
    known = 1
    for row, size in zip(codes, sizes, strict=True):
        if known * size > 1 << 62:  # numbers of what was seen so far, so that they stay small
            number = np.unique(number, return_inverse=True)[1].ravel()
            known = int(number.max(initial=0)) + 1
        number = number * size + row
        known *= size
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    summed = np.bincount(number.ravel(), weights=weights)
    return np.ascontiguousarray(codes[:, first].T, dtype=np.int64), np.asarray(summed)


_held = threading.local()


def _buffer(size: int) -> Floats:
    """Room for so many numbers, kept for the next time: fresh memory costs more than the work done in it."""
    if getattr(_held, "room", np.empty(0)).size < size:
        _held.room = np.empty(size)
    found: Floats = _held.room[:size]
    return found
