"""Totals as smooth functions of the budgets, with their slopes: what a search for budgets steers by (maths §5, §8).

A row bounds, or estimates, what all sources say about one pair of target values; a total is the largest of its rows.
Rows are held: whatever they may choose freely stays as it was where they were made. There they agree with
``target_total`` to about 1e-7, close enough to steer by, and never what is promised. Importing this module imports
numba: do so inside functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deptriad.curves import lines
from deptriad.totals import (
    _hull_kernels,
    _search_kernels,
    _slope_kernels,
)
from deptriad.totals._hull_kernels import Hull, LeakageRows
from deptriad.totals._search_kernels import Choice as Choice
from deptriad.totals._slope_kernels import HeldRows
from deptriad.totals.certificate import Tables, plain_ceilings
from deptriad.totals.least_denominator import MOST, avoiding, event_sets, nested, planes
from deptriad.totals.pair_bounds import STEEP, feasible, plain_bound, worst_events
from deptriad.totals.shared_target import Table
from deptriad.utils.arrays import Floats, Integers

CLOSE = 1e-6
"""How near the least bound shares are searched for, as a part of the sum of budgets."""

MOST_LOOKS = 100
"""Pairs that are looked at for the worst ones, at most."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class TargetSources:
    """One target, and the tables of all sources that say anything about it.

    Parameters
    ----------
    target, telling
        Places of the target and of these sources among all attributes, whose budgets the methods take.
    tables
        The tables, in the order of ``telling``.
    """

    target: int
    telling: Integers
    tables: Tables

    @property
    def rows(self) -> int:
        """Number of target values."""
        return self.tables.rows

    @classmethod
    def of(cls, target: int, tables: Mapping[int, Table]) -> TargetSources | None:
        """From tables by the place of their source; None where a single value, or no source, leaves nothing to tell."""
        telling = [place for place, table in tables.items() if table.shape[1] > 1]
        if not telling or tables[telling[0]].shape[0] < 2:
            return None
        return cls(target, np.array(telling), Tables([tables[place] for place in telling]))

    def whole_hull(self) -> Hull:
        """Points of each source over all pairs together: a row of these is the sum of the sources' leakages."""
        size, points = self.telling.size, self.tables.points
        lower, upper = np.empty((2, size, 0))
        held = np.zeros(size, dtype=np.int64)
        for _, places, some in points.among(np.arange(self.rows**2)):
            # the hull of many pairs can have more points than that of any one of them
            room = int(held.max()) + places.size * points.width - lower.shape[1]
            if room > 0:
                more = ((0, 0), (0, room))
                lower, upper = np.pad(lower, more), np.pad(upper, more)
            used = some.lower.copy(), some.upper.copy(), some.counts
            _hull_kernels.add_to_hulls(*used, places, lower, upper, held)
        hull: Hull = _hull_kernels.end_to_end(lower, upper, np.append(0, np.cumsum(held)))
        return hull

    def pair_hull(self, x: int, y: int) -> Hull:
        """Points of each source for one pair: a row of these is the sum of the leakages about it."""
        points = self.tables.points.at(x, y)
        hull: Hull = _hull_kernels.pair_hull(
            points.lower.copy(), points.upper.copy(), points.counts
        )
        return hull

    def pair_leakages(self, epsilon: Floats) -> Floats:
        """The sum of leakages about each ordered pair of target values; −1 on the diagonal."""
        budgets = epsilon[self.telling]
        focus = lines.inverse_gain(budgets)
        sums = np.empty(self.rows**2)
        for part, places, points in self.tables.points.among(np.arange(sums.size)):
            _hull_kernels.pair_leakages(points, places, budgets, focus, sums[part])
        sums[:: self.rows + 1] = -1.0
        return sums.reshape(self.rows, self.rows)

    def worst_pairs(self, epsilon: Floats, most: int) -> list[Pair]:
        """The pairs with the largest plain bounds, by falling ceilings of these, as far as ``MOST_LOOKS`` allows."""
        budgets = epsilon[self.telling]
        focus = lines.inverse_gain(budgets)
        ceilings = plain_ceilings(self.tables, budgets)
        found: list[tuple[float, Pair]] = []
        for place in np.argsort(-ceilings, kind="stable")[:MOST_LOOKS]:
            pair = divmod(int(place), self.rows)
            if len(found) >= most and ceilings[place] <= sorted(found)[-most][0]:
                break
            if pair[0] != pair[1]:
                plain, _ = plain_bound(self.tables.points.at(*pair), budgets, focus)
                found.append((plain, pair))
        return [pair for _, pair in sorted(found)[-most:]]

    def worst_joints(self, epsilon: Floats, most: int) -> list[tuple[Floats, Floats]] | None:
        """The worst joints of the pairs with the largest bounds; None where events are too many, or sources."""
        budgets = epsilon[self.telling]
        every = list(range(budgets.size))
        if budgets.size > MOST or budgets.sum() > STEEP or (budgets == 0.0).any():
            return None
        ceilings, least = plain_ceilings(self.tables, budgets), planes(budgets)
        found: list[tuple[float, int, Floats, Floats]] = []
        for place in np.argsort(-ceilings, kind="stable")[:MOST_LOOKS]:
            x, y = divmod(int(place), self.rows)
            if found and ceilings[place] <= max(each[0] for each in found):
                break
            if x != y:
                points = self.tables.points.at(x, y)
                if not feasible(points, every):
                    return None
                value, chosen = worst_events(points, every, budgets, least)
                found.append(
                    (value, int(place), points.lower[every, chosen], points.upper[every, chosen])
                )
        largest = sorted(found, key=lambda each: each[:2])[-most:]
        return [(nested(upper), avoiding(lower, budgets)) for _, _, lower, upper in largest]

    def choice(self, epsilon: Floats, pair: Pair) -> Choice:
        """What the reference form of one pair chooses, about."""
        budgets = epsilon[self.telling]
        points = self.tables.points.at(*pair)
        close = CLOSE * float(budgets.sum())
        choice: Choice = _search_kernels.search(budgets, points, -np.inf, close)[1]
        return choice


@dataclass
class Rows:
    """Values and slopes of the rows at some budgets; row r is about attribute ``target[r]``."""

    target: Integers
    value: Floats
    slope: Floats

    def totals(self, size: int) -> tuple[Floats, Floats]:
        """The largest row of each of so many attributes, with its slopes; 0 where there is none."""
        # of those written to a place the last one stays
        order = np.argsort(self.value, kind="stable")
        value, slope = np.zeros(size), np.zeros((size, size))
        value[self.target[order]] = self.value[order]
        slope[self.target[order]] = self.slope[order]
        return value, slope


class LeakageSums:
    """Rows that are sums of leakages: a target with its sources, and their points, for each."""

    def __init__(self, rows: Sequence[tuple[TargetSources, Hull]]) -> None:
        self.target, first, attribute = _entries([about for about, _ in rows])
        points = np.cumsum([0, *(hull.lower.size for _, hull in rows)])
        begins = [hull.begin[:-1] + held for (_, hull), held in zip(rows, points[:-1], strict=True)]
        self.rows = LeakageRows(
            first,
            attribute,
            begin=np.concatenate([*begins, points[-1:]]),
            lower=np.concatenate([np.zeros(0), *(hull.lower for _, hull in rows)]),
            upper=np.concatenate([np.zeros(0), *(hull.upper for _, hull in rows)]),
        )

    def at(self, epsilon: Floats) -> Rows:
        """The sums at some budgets, those of the targets' own releases left out."""
        if not self.target.size:
            return _none(epsilon)
        return Rows(self.target, *_hull_kernels.leakage_rows(self.rows, epsilon))


class WorstJoints:
    """Rows that are worst joints of a few sources: ln of the ratio of their likelihoods, with slopes.

    Given events, the joint distribution under which they are worst stays: nested ones given one target value, ones
    that avoid each other given the other. Where the row was made, both are worst, so value and slopes are the bound's.
    """

    def __init__(self, rows: Sequence[tuple[TargetSources, Floats, Floats]]) -> None:
        self.target = np.array([about.target for about, _, _ in rows], dtype=np.int64)
        # a place behind all budgets stands for no source
        self.attribute = np.full((len(rows), MOST), -1)
        self.more, self.less = np.zeros((2, len(rows), 1 << MOST))
        for r, (about, more, less) in enumerate(rows):
            self.attribute[r, : about.telling.size] = about.telling
            self.more[r, : more.size], self.less[r, : less.size] = more, less

    def at(self, epsilon: Floats) -> Rows:
        """The bounds at some budgets, those of the targets' own releases left out."""
        members = event_sets(MOST)
        weight = np.exp(np.append(epsilon, 0.0)[self.attribute] @ members.T)
        value, slope = np.zeros(len(self.more)), np.zeros((len(self.more), epsilon.size + 1))
        for sign, chance in ((1.0, self.more), (-1.0, self.less)):
            mass = chance * weight
            value += sign * np.log(mass.sum(axis=1))
            for i in range(MOST):
                part = (mass @ members[:, i]) / mass.sum(axis=1)
                slope[np.arange(len(value)), self.attribute[:, i]] += sign * part
        return Rows(self.target, value, slope[:, :-1])


class HeldBounds:
    """Rows that are certified bounds: a target with its sources, what a pair chose, and at which budgets."""

    def __init__(self, rows: Sequence[tuple[TargetSources, Choice, Floats]]) -> None:
        self.target, first, attribute = _entries([about for about, _, _ in rows])
        none = np.zeros(0)
        ratios = [choice.share / made_at[about.telling] for about, choice, made_at in rows]
        self.rows = HeldRows(
            first,
            attribute,
            a=np.concatenate([none, *(choice.a for _, choice, _ in rows)]),
            ratio=np.concatenate([none, *ratios]),
            points=np.concatenate([np.zeros((0, 4)), *(choice.points for _, choice, _ in rows)]),
            part=np.concatenate([none, *(choice.part for _, choice, _ in rows)]),
        )

    def at(self, epsilon: Floats) -> Rows:
        """The bounds at some budgets, those of the targets' own releases left out."""
        if not self.target.size:
            return _none(epsilon)
        value, slope = _slope_kernels.reference_rows(self.rows, epsilon)
        self._cap(epsilon, value, slope)
        return Rows(self.target, value, slope)

    def _cap(self, epsilon: Floats, value: Floats, slope: Floats) -> None:
        """No bound is above the plain sum of the budgets."""
        first, attribute = self.rows.first, self.rows.attribute
        most = np.add.reduceat(epsilon[attribute], first[:-1]) if value.size else value
        for row in np.flatnonzero(~(value <= most)):
            value[row], slope[row] = most[row], 0.0
            slope[row, attribute[first[row] : first[row + 1]]] = 1.0


def _none(epsilon: Floats) -> Rows:
    """No rows, for which nothing need be compiled."""
    return Rows(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, epsilon.size)))


def _entries(rows: list[TargetSources]) -> tuple[Integers, Integers, Integers]:
    """The target of each row, where its entries begin, and the source of each entry."""
    target = np.array([about.target for about in rows], dtype=np.int64)
    first = np.cumsum([0, *(about.telling.size for about in rows)])
    telling = (about.telling for about in rows)
    return target, first, np.concatenate([np.zeros(0, dtype=np.int64), *telling])
