"""The compiled loops behind slopes: leakages of sources, and their derivatives by every budget (maths §1, §5).

The leakage of a source is the largest ln (1 + tA)/(1 + tB) of its points, and its slope that of the largest one. So
the upper hull of the points is all that is needed of them, for every budget.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._term_kernels import leakage
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled, part

FREE = {"error_model": "numpy"}
"""A division by zero is ±∞, and each that can happen says what that means."""


class Hull(NamedTuple):
    """The hulls of some sources end to end: that of source i from ``begin[i]`` to ``begin[i + 1]``."""

    begin: Integers
    lower: Floats
    upper: Floats


class LeakageRows(NamedTuple):
    """Sums of leakages: row r has entries ``first[r]`` to ``first[r + 1]``, each an attribute and its hull."""

    first: Integers
    attribute: Integers
    begin: Integers
    lower: Floats
    upper: Floats


@compiled(**FREE)
def leakage_rows(rows, epsilon):
    """Σ_i L_i of each row, and its slopes by all budgets."""
    first, attribute, begin, lower, upper = rows
    values, slopes = np.zeros(first.size - 1), np.zeros((first.size - 1, epsilon.size))
    for r in range(first.size - 1):
        for e in range(first[r], first[r + 1]):
            i = attribute[e]
            focus = 1.0 / math.expm1(epsilon[i])
            best, gap, under = 0.0, 0.0, 0.0
            for k in range(begin[e], begin[e + 1]):
                ratio = (upper[k] - lower[k]) / (focus + lower[k])
                if ratio > best:
                    best, gap, under = ratio, upper[k] - lower[k], lower[k]
            values[r] += math.log1p(best)
            # d/dε of ln(1 + gap/(1/t + B)), where d(1/t)/dε = −(1/t)(1 + 1/t)
            slopes[r, i] += gap * focus * (1.0 + focus) / ((focus + under) * (focus + under + gap))
    return values, slopes


@compiled(**FREE)
def pair_leakages(points, places, epsilon, focus, sums):
    """Fill in Σ_i L_i of some pairs of target values."""
    for k in range(places.size):
        sums[k], pair = 0.0, places[k]
        for i in range(epsilon.size):
            lower, upper = points.lower[pair, i], points.upper[pair, i]
            count = points.counts[pair, i]
            sums[k] += leakage(lower, upper, count, epsilon[i], focus[i])


@part(**FREE)
def _hull(lower, upper, count):
    """Those of points by increasing B and A that some budget may choose: the upper hull. Returns how many."""
    kept = 0
    for k in range(count):
        if upper[k] <= lower[k]:
            continue
        while kept > 1:
            run, rise = lower[kept - 1] - lower[kept - 2], upper[kept - 1] - upper[kept - 2]
            if rise * (lower[k] - lower[kept - 2]) > (upper[k] - upper[kept - 2]) * run:
                break
            kept -= 1
        lower[kept], upper[kept] = lower[k], upper[k]
        kept += 1
    return kept


@compiled(**FREE)
def pair_hull(lower, upper, counts):
    """The hull of each source's points for one pair; the points are used up."""
    begin = np.zeros(counts.size + 1, dtype=np.int64)
    for i in range(counts.size):
        begin[i + 1] = begin[i] + _hull(lower[i], upper[i], counts[i])
    return end_to_end(lower, upper, begin)


@compiled(**FREE)
def end_to_end(lower, upper, begin):
    """Hulls without the room between them."""
    flat_lower, flat_upper = np.empty(begin[-1]), np.empty(begin[-1])
    for i in range(begin.size - 1):
        count = begin[i + 1] - begin[i]
        flat_lower[begin[i] : begin[i + 1]] = lower[i, :count]
        flat_upper[begin[i] : begin[i + 1]] = upper[i, :count]
    return Hull(begin, flat_lower, flat_upper)


@compiled(**FREE)
def add_to_hulls(lower, upper, counts, places, held_lower, held_upper, held):
    """Add each source's points for some pairs, which are used up, to its hull of those before: a row for each."""
    for i in range(held.size):
        for k in range(places.size):
            p = places[k]
            held[i] = _merged(
                held_lower[i], held_upper[i], held[i], lower[p, i], upper[p, i], counts[p, i]
            )


@part(**FREE)
def _merged(held_lower, held_upper, held, lower, upper, count):
    """The hull of a hull and more points."""
    count = _hull(lower, upper, count)
    held_lower[held : held + count] = lower[:count]
    held_upper[held : held + count] = upper[:count]
    size = held + count
    order = np.argsort(held_lower[:size])
    low, high = held_lower[:size][order], held_upper[:size][order]
    kept, best = 0, -1.0
    for k in range(size):  # increasing in B and in A; of equal B the largest A
        if high[k] > best:
            if kept and held_lower[kept - 1] == low[k]:
                kept -= 1
            held_lower[kept], held_upper[kept] = low[k], high[k]
            best = high[k]
            kept += 1
    return _hull(held_lower, held_upper, kept)
