"""Compiled loops over what a view tells about all targets: counting, and the likelihoods of all reports (maths §10).

Tables have a row for each cell of the view and a column for each value of each target, so that all loops run along
columns.
"""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled


@compiled(nogil=True)
def count_cells(
    places: Integers, codes: Integers, weights: Floats, first: Integers, table: Floats
) -> None:
    """Add every record to the row of its values in some places, in the column of each target's value."""
    for record in range(weights.size):
        cell = 0
        for place in places:
            cell = cell * (first[place + 1] - first[place]) + codes[record, place]
        line, weight = table[cell], weights[record]
        for target in range(codes.shape[1]):
            line[first[target] + codes[record, target]] += weight


@compiled(nogil=True, fastmath={"contract"})
def likelihoods(table: Floats, sizes: Integers, gains: Floats, out: Floats) -> None:
    """Σ_u p(u | x)·Π_i (1 + t_i·1{u_i = y_i}) for all y: each axis becomes its sum plus t_i times itself."""
    cells, columns = table.shape
    total = np.empty(columns)
    for cell in range(cells):
        for column in range(columns):
            out[cell, column] = table[cell, column]
    inner = 1
    for axis in range(sizes.size - 1, -1, -1):
        size, gain = sizes[axis], gains[axis]
        for begin in range(0, cells, size * inner):
            for place in range(begin, begin + inner):
                for column in range(columns):
                    total[column] = out[place, column]
                for value in range(1, size):
                    line = out[place + value * inner]
                    for column in range(columns):
                        total[column] += line[column]
                for value in range(size):
                    line = out[place + value * inner]
                    for column in range(columns):
                        line[column] = total[column] + gain * line[column]
        inner *= size


@compiled(nogil=True)
def worst_ratios(likelihood: Floats, first: Integers, value: Floats, where: Integers) -> None:
    """Of each target the largest ratio of a report's likelihoods under two of its values, and where: y, x, x'.

    Filled in where it is above the ``value`` that is there.
    """
    targets = first.size - 1
    for cell in range(likelihood.shape[0]):
        line = likelihood[cell]
        for target in range(targets):
            high, low = line[first[target]], line[first[target]]
            for column in range(first[target] + 1, first[target + 1]):
                high = max(high, line[column])
                low = min(low, line[column])
            if high > value[target] * low:
                value[target] = high / low
                where[target, 0] = cell
    for target in range(targets):
        if where[target, 0] >= 0:
            line = likelihood[where[target, 0]]
            where[target, 1] = where[target, 2] = first[target]
            for column in range(first[target], first[target + 1]):
                if line[column] > line[where[target, 1]]:
                    where[target, 1] = column
                if line[column] < line[where[target, 2]]:
                    where[target, 2] = column


@compiled(nogil=True)
def joint_gain(table: Floats, first: Integers, odds: Floats) -> float:
    """The largest t with (1 + t·p(y | x)) ≤ odds·(1 + t·p(y | x')) for all targets, x, x' and y."""
    most = np.inf
    for cell in range(table.shape[0]):
        line = table[cell]
        for target in range(first.size - 1):
            high, low = line[first[target]], line[first[target]]
            for column in range(first[target] + 1, first[target + 1]):
                high = max(high, line[column])
                low = min(low, line[column])
            if high > odds[target] * low:
                most = min(most, (odds[target] - 1.0) / (high - odds[target] * low))
    return most


@compiled(nogil=True)
def matches(table: Floats, column: int, cell: int, sizes: Integers, out: Floats) -> None:
    """p(u_C = y_C | x) for all sets C of axes, as binary numbers, the last axis lowest: y a cell, x a column."""
    now = np.empty(table.shape[0])
    for other in range(now.size):
        now[other] = table[other, column]
    # axis by axis, the last one first: all of its values summed, then its own value
    done = size = 1
    rest, left = now.size, cell
    for axis in range(sizes.size - 1, -1, -1):
        size = sizes[axis]
        rest //= size
        own = left % size
        left //= size
        then = np.empty(rest * 2 * done)
        for before in range(rest):
            for some in range(done):
                total = 0.0
                for value in range(size):
                    total += now[(before * size + value) * done + some]
                then[before * 2 * done + some] = total
                then[(before * 2 + 1) * done + some] = now[(before * size + own) * done + some]
        now = then
        done *= 2
    for some in range(done):
        out[some] = now[some]
