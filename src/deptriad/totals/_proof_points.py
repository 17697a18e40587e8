"""Cloud: the points that all sets of a table's values give, by plain NumPy, to check proofs with (maths §3, §5)."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from deptriad.curves import lines
from deptriad.curves.leakage import leakage
from deptriad.tables.table import Box
from deptriad.totals.layout import edges_of
from deptriad.totals.shared_target import FEW, Table
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.rounding import ROUNDOFF


class Cloud:
    """The points (B, A) = (min G'(S), max G(S)) of one table or box for any pair of its rows.

    A is rounded up and B down by what a sum of so many entries may be off: with a small share, whether A is above a
    or a hair below decides about the whole budget.
    """

    def __init__(self, table: Table, favoured: Booleans | None = None) -> None:
        self.table, self.any_set = table, favoured is None
        self.lower, self.upper = edges_of(table)
        self.few = table.shape[1] <= FEW if favoured is None else len(favoured) <= 1 << FEW
        self.up = 1.0 + (table.shape[1] + 4) * ROUNDOFF
        self.down = 1.0 - (table.shape[1] + 4) * ROUNDOFF
        if self.few:
            self.top, self.low = self._sums(
                _all_sets(table.shape[1]) if favoured is None else favoured
            )

    def _sums(self, sets: Booleans) -> tuple[Floats, Floats]:
        """max G(S) and min G(S) for each row and each set."""
        members = sets.astype(np.float64)
        above, below = self.upper @ members.T, self.lower @ members.T
        if isinstance(self.table, Box):
            spare, surplus = self.table.spare[:, None], self.table.surplus[:, None]
            most = np.minimum(above, below + spare)
            return most * self.up, np.maximum(below, above * self.down - surplus) * self.down
        return above * self.up, below * self.down

    def points(self, x: int, y: int) -> tuple[Floats, Floats]:
        """B and A: of all sets where they are few, otherwise of the corners of a concave curve above them."""
        if self.few and not self.any_set:
            return self.low[y], np.minimum(self.top[x], 1.0)
        if self.few:
            empty = (self.top[x] == 0.0) & (self.top[y] == 0.0)
            kept = ~(empty | empty[::-1])  # the sets run from {0} to the complement of {0}
            if not kept.any():
                return np.zeros(1), np.zeros(1)
            return self.low[y, kept], np.minimum(self.top[x, kept], 1.0)
        if isinstance(self.table, Box):
            return self._polygon(self.table, x, y)
        lower, upper = _hull(self.table.table[x], self.table.table[y])
        return lower * self.down, np.minimum(upper * self.up, 1.0)

    def best_points(self, x: int, y: int) -> tuple[Floats, Floats]:
        """The points of sets with a larger A than every set of smaller B: no other can be worst."""
        lower, upper = self.points(x, y)
        order = np.lexsort((-upper, lower))
        lower, upper = lower[order], upper[order]
        kept = np.append(True, upper[1:] > np.maximum.accumulate(upper)[:-1])
        return lower[kept], upper[kept]

    def gaps(self, x: int, y: int) -> tuple[Floats, Floats]:
        """B and A − B of what may attain the leakage: prefixes of a table's values by ratio, or sets of a box's."""
        if isinstance(self.table, Box) or not self.any_set:
            lower, upper = self.points(x, y)
            return lower, np.maximum(upper - lower, 0.0)
        row, other = self.table.table[x], self.table.table[y]
        order = _by_ratio(row, other)
        return np.cumsum(other[order]), np.maximum(np.cumsum((row - other)[order]), 0.0)

    def _polygon(self, box: Box, x: int, y: int) -> tuple[Floats, Floats]:
        """All places where two certified lines A ≤ E_γ + γB meet, lowered to the lowest line there (maths §3)."""
        from deptriad.totals._point_kernels import PRICES, slopes_of

        low, high, low2, high2 = self.lower[x], self.upper[x], self.lower[y], self.upper[y]
        slopes = np.append(slopes_of(low, high, low2, high2), 0.0)
        mu, nu = (price.ravel()[:, None] for price in np.meshgrid(PRICES, PRICES))
        heights = []
        for gamma in slopes:
            terms = (1.0 - mu) * low + mu * high
            terms -= gamma * ((1.0 - nu) * high2 + nu * low2) * (1.0 - 16 * ROUNDOFF)
            rest = (1.0 - mu) * box.spare[x] + gamma * (1.0 - nu) * box.surplus[y]
            heights.append(min(1.0, float((np.maximum(terms, 0.0).sum(1) + rest[:, 0]).min())))
        height = np.array([*heights[:-1], 1.0])
        with np.errstate(divide="ignore", invalid="ignore"):
            meeting = (height[:, None] - height) / (slopes - slopes[:, None])
        lower = np.unique(np.append(meeting[(meeting >= 0.0) & (meeting <= 1.0)], 0.0))
        upper = (height[:, None] + slopes[:, None] * lower).min(axis=0)
        # the corners themselves are off by a few roundings of A
        return lower, np.minimum(upper * (self.up + 16 * ROUNDOFF), 1.0)


def _all_sets(size: int) -> Booleans:
    """All sets of so many values but the empty and the full one, from {0} to the complement of {0}."""
    return ((np.arange(1, (1 << size) - 1)[:, None] >> np.arange(size)) & 1).astype(bool)


def _by_ratio(row: Floats, other: Floats) -> Integers:
    """The values that have mass in the first row, by falling ratio of the two."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(row > 0.0, row / other, 0.0)
    order = np.argsort(-ratio, kind="stable")
    return np.asarray(order[row[order] > 0.0])


def _hull(row: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Corners of the hull of the sets of two rows, from the empty set on."""
    order = _by_ratio(row, other)
    lower, upper = (np.append(0.0, np.cumsum(part[order])) for part in (other, row))
    return lower, np.minimum(upper, 1.0)


def pair_leakage(cloud: Cloud, x: int, y: int, epsilon: float) -> float:
    """ln of the largest (1 + tA)/(1 + tB) of one source for one pair: by prefixes, by sets or by corners."""
    budget = np.asarray(epsilon)
    lower, gap = cloud.gaps(x, y)
    return min(
        float(lines.leakage(gap, lower, budget, lines.inverse_gain(budget)).max()), float(epsilon)
    )


def source_leakage(cloud: Cloud, epsilon: float) -> float:
    """The same for all pairs; for a large box by its search."""
    if isinstance(cloud.table, Box) and not cloud.few:
        return float(np.asarray(leakage(cloud.table, epsilon)))
    pairs = permutations(range(cloud.table.shape[0]), 2)
    return max((pair_leakage(cloud, x, y, epsilon) for x, y in pairs), default=0.0)
