"""Where the contingency tables of all attributes and pairs lie in one array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.arrays import Integers

ALL = "all"
"""The one group of tables that were not counted by group."""


@dataclass(frozen=True)
class Layout:
    """Where the tables of all single attributes and of all pairs lie in one array."""

    sizes: tuple[int, ...]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """First and second attribute of each table; a single attribute is paired with itself."""
        places = range(len(self.sizes))
        return [(i, i) for i in places] + list(combinations(places, 2))

    @cached_property
    def starts(self) -> Integers:
        """Where each table begins, and where the last one ends."""
        cells = [self.sizes[i] * (self.sizes[j] if i != j else 1) for i, j in self.pairs]
        return np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        """Number of the table of a pair i ≤ j."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    @property
    def cells(self) -> int:
        """Cells of all tables, without listing them."""
        values, squares = sum(self.sizes), sum(size * size for size in self.sizes)
        return values + (values * values - squares) // 2

    @cached_property
    def arrays(self) -> tuple[Integers, Integers, Integers, Integers]:
        """First and second rows, widths and starts, as the kernel takes them.

        The second row of a single attribute is a row of zeros after the last attribute.
        """
        zeros = len(self.sizes)
        firsts, seconds = np.array(self.pairs, dtype=np.int64).T.copy()
        seconds[:zeros] = zeros
        widths = np.array([*self.sizes, 1], dtype=np.int64)[seconds]
        return firsts, seconds, widths, self.starts

    def table(self, cells: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
        """The table of two different attributes, one for its rows and one for its columns."""
        low, high = sorted((rows, columns))
        place = self.place[low, high]
        flat = cells[..., self.starts[place] : self.starts[place + 1]]
        table = flat.reshape(*cells.shape[:-1], self.sizes[low], self.sizes[high])
        return table if rows == low else np.swapaxes(table, -1, -2)

    def single(self, cells: NDArray[Any], attribute: int) -> NDArray[Any]:
        """The counts of one attribute."""
        return cells[..., self.starts[attribute] : self.starts[attribute + 1]]
