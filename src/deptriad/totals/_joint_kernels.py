"""Compiled loops over joint tables: the likelihoods of all reports of a view by GRR (maths §10.3)."""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled
from deptriad.utils.threads import in_blocks


def excess_likelihoods(table: Floats, sizes: Integers, gains: Floats) -> Floats:
    """M − 1 for all reports y (columns) and rows x: M = Σ_u p(u | x)·Π_i (1 + t_i·1{u_i = y_i}).

    One axis after the other: an excess E over what the axes still to come have by themselves, p(u_i, …), becomes
    its sum over the axis plus t_i·(E + p). Nothing is taken away, so digits stay, however small a budget is.
    """
    excess = np.zeros(table.shape)
    in_blocks(_fill_rows, len(table), table.size, table, sizes, gains, excess)
    return excess


@compiled()
def _fill_rows(
    table: Floats, sizes: Integers, gains: Floats, excess: Floats, start: int, stop: int
) -> None:
    """The excess of some rows."""
    cells = table.shape[1]
    rest = np.empty(cells)
    for row in range(start, stop):
        line = excess[row]
        for cell in range(cells):
            rest[cell] = table[row, cell]
        inner = cells
        for axis in range(sizes.size):
            size, gain, block = sizes[axis], gains[axis], inner
            inner = block // size
            for begin in range(0, cells, block):
                for place in range(inner):
                    total = 0.0
                    for value in range(size):
                        total += line[begin + value * inner + place]
                    for value in range(size):
                        at = begin + value * inner + place
                        line[at] = total + gain * (line[at] + rest[value * inner + place])
            for place in range(inner):  # the table without this axis
                for value in range(1, size):
                    rest[place] += rest[value * inner + place]


@compiled()
def largest_gains(excess: Floats, first: Integers, slack: float, tiny: float) -> Floats:
    """Of each target (rows from first[k] on) max over y, x, x' of M(y | x)/M(y | x') − 1, before its own roundings.

    ``slack`` is how far an excess may be off, relatively, and ``tiny`` what underflow may have taken from it.
    """
    targets, cells = first.size - 1, excess.shape[1]
    found = np.zeros(targets)
    high, low = np.empty(cells), np.empty(cells)
    for target in range(targets):
        if first[target + 1] - first[target] < 2:
            continue
        high[:] = 0.0
        low[:] = np.inf
        for row in range(first[target], first[target + 1]):
            for cell in range(cells):
                high[cell] = max(high[cell], excess[row, cell])
                low[cell] = min(low[cell], excess[row, cell])
        for cell in range(cells):
            least = low[cell] * (1.0 - slack)
            more = high[cell] * (1.0 + slack) + tiny - least
            found[target] = max(found[target], more / (1.0 + least))
    return found
