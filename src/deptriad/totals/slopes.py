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
from deptriad.totals import _hull_kernels, _slope_kernels, _term_kernels
from deptriad.totals._hull_kernels import Hull, LeakageRows
from deptriad.totals._slope_kernels import Choice, HeldRows
from deptriad.totals.layout import Sources, laid_out
from deptriad.totals.shared_target import Table
from deptriad.utils.arrays import Floats, Integers


@dataclass(frozen=True)
class TargetSources:
    """One target, and the tables of all sources that say anything about it.

    Parameters
    ----------
    target, telling
        Places of the target and of these sources among all attributes, whose budgets the methods take.
    sources
        The tables, in the order of ``telling``.
    """

    target: int
    telling: Integers
    sources: Sources

    @classmethod
    def of(cls, target: int, tables: Mapping[int, Table]) -> TargetSources | None:
        """From tables by the place of their source; None where a single value, or no source, leaves nothing to tell."""
        telling = [place for place, table in tables.items() if table.shape[1] > 1]
        if not telling or tables[telling[0]].shape[0] < 2:
            return None
        return cls(target, np.array(telling), laid_out([tables[place] for place in telling]))

    def whole_hull(self) -> Hull:
        """Points of each source over all pairs together: a row of these is the sum of the sources' leakages."""
        hull: Hull = _hull_kernels.whole_hull(self.sources)
        return hull

    def pair_hull(self, x: int, y: int) -> Hull:
        """Points of each source for one pair: a row of these is the sum of the leakages about it."""
        hull: Hull = _hull_kernels.pair_hull(self.sources, x, y)
        return hull

    def pair_leakages(self, epsilon: Floats) -> Floats:
        """The sum of leakages about each ordered pair of target values; −1 on the diagonal."""
        budgets = epsilon[self.telling]
        focus = lines.inverse_gain(budgets)
        return np.asarray(_hull_kernels.pair_leakages(self.sources, budgets, focus))

    def worst_pairs(self, epsilon: Floats, most: int) -> Choice:
        """What the reference form of the pairs with the largest bounds chooses at some budgets: a row each."""
        budgets = epsilon[self.telling]
        focus = lines.inverse_gain(budgets)
        plain, _ = _term_kernels.plain_bounds(self.sources, budgets, focus, budgets)
        choices: Choice = _slope_kernels.worst_pairs(self.sources, budgets, plain, most)
        return choices


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
        return Rows(self.target, *_hull_kernels.leakage_rows(self.rows, epsilon))


class HeldBounds:
    """Rows that are certified bounds: targets with their sources, and what their worst pairs chose at some budgets."""

    def __init__(self, chosen: Sequence[tuple[TargetSources, Choice]], made_at: Floats) -> None:
        self.target, first, attribute = _entries(
            [about for about, choice in chosen for _ in choice.a]
        )
        a, share, part = (
            np.concatenate([np.zeros(0), *(getattr(choice, name).ravel() for _, choice in chosen)])
            for name in ("a", "share", "part")
        )
        points = [choice.points.reshape(-1, 4) for _, choice in chosen]
        self.rows = HeldRows(
            first,
            attribute,
            a,
            ratio=share / made_at[attribute],
            points=np.concatenate([np.zeros((0, 4)), *points]),
            part=part,
        )

    def at(self, epsilon: Floats) -> Rows:
        """The bounds at some budgets, those of the targets' own releases left out."""
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


def _entries(rows: list[TargetSources]) -> tuple[Integers, Integers, Integers]:
    """The target of each row, where its entries begin, and the source of each entry."""
    target = np.array([about.target for about in rows], dtype=np.int64)
    first = np.cumsum([0, *(about.telling.size for about in rows)])
    telling = (about.telling for about in rows)
    return target, first, np.concatenate([np.zeros(0, dtype=np.int64), *telling])
