"""The compiled loops: arrays in, numbers out, no objects, no checks, no I/O.

Tables are C-ordered float64. ``contract`` makes d − η·b one fused operation, which only removes a rounding. Importing
this module imports numba: do it inside the functions that need it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import SUM, compiled, part
from deptriad.utils.rounding import ROUNDOFF
from deptriad.utils.threads import FEW, Result, in_blocks, in_stretches

TILE = 16
"""Rows that meet all later rows together, so that they stay in the cache."""

SMALLEST = 2.0**-1022
"""The smallest float that keeps all its digits: a step up where a relative one would be none."""

TERM = {"contract"}


# --- one pair of rows -----------------------------------------------------------------------------------------


@part()
def positive(value):
    """The positive part, written so that it compiles to one instruction."""
    return value if value > 0.0 else 0.0


@part(fastmath=TERM)
def _excess(a, b, eta):
    """(a − γb)₊ for γ = 1 + η, as (a − b) − ηb: exact to a rounding of a − b, however small η is."""
    return positive((a - b) - eta * b)


@part()
def _difference(a, b):
    """a − b as one term of a sum: taken apart by a reordering, it would lose all its digits."""
    return a - b


@part(fastmath=SUM)
def _distance(g, h):
    """Σ |g − h|."""
    total = 0.0
    for u in range(g.size):
        total += abs(g[u] - h[u])
    return total


@part(fastmath=SUM)
def _sticks(g, h, eta):
    """Hockey sticks of g over h and of h over g at γ = 1 + η, in one pass."""
    forth = 0.0
    back = 0.0
    for u in range(g.size):
        forth += _excess(g[u], h[u], eta)
        back += _excess(h[u], g[u], eta)
    return forth, back


@part(fastmath=SUM)
def _event(g, h, eta):
    """Gap g(S) − h(S) and mass h(S) of the set S where g > (1 + η)h."""
    gap = 0.0
    lower = 0.0
    for u in range(g.size):
        # a factor vectorises, a branch does not
        inside = 1.0 if _excess(g[u], h[u], eta) > 0.0 else 0.0
        gap += inside * _difference(g[u], h[u])
        lower += inside * h[u]
    return gap, lower


@part()
def _climb(g, h, focus, eta):
    """Dinkelbach: from a reachable η to one that no event of this pair exceeds (maths §1), checked at the end.

    Where η rests on the kink of a heavy value, rounding may keep that value in the event and hide light ones with
    larger ratios. So the last step goes past the kink, and counts only if the stick there agrees.
    """
    step = 8 * ROUNDOFF
    while True:
        gap, lower = _event(g, h, eta)
        better = gap / (focus + lower) if gap > 0.0 else 0.0
        if not better > eta:
            beyond = max(eta, better) * (1.0 + step) + SMALLEST
            if not _sticks(g, h, beyond)[0] > focus * beyond:
                return beyond
            better = beyond
            step *= 2.0
        if not math.isfinite(better):
            return better
        eta = better


# --- all pairs of rows of one table ---------------------------------------------------------------------------
# A tile of rows start … stop meets all later rows. Little work runs as one tile, much of it in many, side by side.


def by_tiles(loop: Callable[..., Result], table: Floats, *arguments: object) -> list[Result]:
    """A loop over tiles of the rows of a table; over one where a second thread would not pay."""
    rows, columns = table.shape
    width = TILE if rows * rows * columns > 20 * FEW else rows
    return in_stretches(loop, rows, width, table, *arguments)


def read_only(values: Floats) -> Floats:
    """The same numbers, as those of a table come: for others the loops would be compiled once more."""
    same = values.view()
    same.flags.writeable = False
    return same


@compiled()
def _tile_distance(table, start, stop):
    best = 0.0
    for j in range(start + 1, table.shape[0]):
        for i in range(start, min(stop, j)):
            best = max(best, _distance(table[i], table[j]))
    return best


def largest_distance(table: Floats) -> float:
    """max over pairs of rows of Σ |g − h|."""
    return float(max(by_tiles(_tile_distance, read_only(table))))


@compiled()
def _tile_stick(table, eta, start, stop):
    best = 0.0
    for j in range(start + 1, table.shape[0]):
        for i in range(start, min(stop, j)):
            forth, back = _sticks(table[i], table[j], eta)
            best = max(best, forth, back)
    return best


def largest_stick(table: Floats, eta: float) -> float:
    """max over ordered pairs of rows of E_γ at γ = 1 + η."""
    return float(max(by_tiles(_tile_stick, read_only(table), eta)))


@compiled()
def _tile_event(table, focus, eta, start, stop):
    """Best η within a tile, from one it is known to reach, and the ordered pair that attains it.

    A pair whose sticks at the best η so far stay below focus·η cannot beat it: one pass over its rows.
    """
    more, less = 0, 0
    for j in range(start + 1, table.shape[0]):
        for i in range(start, min(stop, j)):
            forth, back = _sticks(table[i], table[j], eta)
            if forth > focus * eta:
                higher = _climb(table[i], table[j], focus, eta)
                if higher > eta * (1.0 + 1e-13):  # more than the step past a kink
                    more, less = i, j
                eta = max(eta, higher)
            if back > focus * eta:
                higher = _climb(table[j], table[i], focus, eta)
                if higher > eta * (1.0 + 1e-13):
                    more, less = j, i
                eta = max(eta, higher)
    return eta, more, less


def steepest_event(table: Floats, focus: float, eta: float) -> tuple[float, int, int]:
    """Largest η = γ − 1 with focus·η ≤ E_γ over all ordered pairs, and the pair (more likely, less likely)."""
    found: list[tuple[float, int, int]] = by_tiles(_tile_event, read_only(table), focus, eta)
    return max(found, key=lambda each: each[0])


@compiled()
def largest_ratio(lower, upper):
    """Largest upper[x, u] / lower[x', u] over columns and rows x ≠ x' with a positive denominator, at least 1.

    The two largest numerators and the two smallest denominators of a column suffice. Returned as a numerator and a
    denominator, since the ratio of tiny numbers may overflow.
    """
    rows, columns = lower.shape
    ends = np.empty((columns, 4))  # largest and second numerator, smallest and second denominator
    owners = np.empty((columns, 2), dtype=np.int64)  # rows of the first of each
    for u in range(columns):
        ends[u, 0], ends[u, 1], ends[u, 2], ends[u, 3] = 0.0, 0.0, np.inf, np.inf
        owners[u, 0], owners[u, 1] = -1, -1
    for x in range(rows):
        for u in range(columns):
            numerator, denominator = upper[x, u], lower[x, u]
            if numerator > ends[u, 0]:
                ends[u, 1] = ends[u, 0]
                ends[u, 0], owners[u, 0] = numerator, x
            elif numerator > ends[u, 1]:
                ends[u, 1] = numerator
            if 0.0 < denominator < ends[u, 2]:
                ends[u, 3] = ends[u, 2]
                ends[u, 2], owners[u, 1] = denominator, x
            elif 0.0 < denominator < ends[u, 3]:
                ends[u, 3] = denominator
    ratio, height = 1.0, 0.0
    for u in range(columns):
        same = 1 if owners[u, 0] == owners[u, 1] else 0  # then one of the two gives way
        for way in range(1 + same):
            numerator, denominator = ends[u, same * (1 - way)], ends[u, 2 + same * way]
            if numerator > denominator:
                ratio = max(ratio, numerator / denominator)
                height = max(height, math.log(numerator) - math.log(denominator))
    return ratio, height


@compiled()
def _events(table, more, less, eta, gap, lower, start, stop):
    for k in range(start, stop):
        gap[k], lower[k] = _event(table[more[k]], table[less[k]], eta)


def events(table: Floats, more: Integers, less: Integers, eta: float) -> tuple[Floats, Floats]:
    """Gap and mass of the best event of each listed ordered pair of rows at γ = 1 + η."""
    gap, lower = np.empty(more.size), np.empty(more.size)
    work = more.size * table.shape[1] / 10
    in_blocks(_events, more.size, work, table, more, less, eta, gap, lower)
    return gap, lower


@compiled()
def ratio_chords(table):
    """Largest chord height of the uncalibrated triad over pairs: φ of (α, γ, δ) of each pair (maths §2)."""
    rows, columns = table.shape
    best = 0.0
    for i in range(rows):
        for j in range(i + 1, rows):
            up, down, lost, gone = 1.0, 1.0, 0.0, 0.0
            for u in range(columns):
                g, h = table[i, u], table[j, u]
                if h > 0.0 and g > 0.0:
                    up, down = max(up, g / h), max(down, h / g)
                elif g > 0.0:
                    lost += g
                else:
                    gone += h
            lost = min(max(lost, gone), 1.0)
            share = 0.0
            if up > 1.0 and down > 1.0:
                share = (1.0 - 1.0 / up) * (1.0 - 1.0 / down) / (1.0 - 1.0 / up / down)
            best = max(best, lost + (1.0 - lost) * share)
    return best


# --- many small tables ----------------------------------------------------------------------------------------


@part(fastmath=SUM)
def excluded_mass(g, h):
    """Mass of g where h is zero."""
    total = 0.0
    for u in range(g.size):
        if h[u] == 0.0:
            total += g[u]
    return total


@part()
def _triad_numbers(table):
    """Logarithm of the largest ratio, largest distance and largest excluded mass of a table."""
    rows, columns = table.shape
    height, distance, excluded = 0.0, 0.0, 0.0
    for u in range(columns):
        top, low = 0.0, np.inf
        for x in range(rows):
            top = max(top, table[x, u])
            if 0.0 < table[x, u] < low:
                low = table[x, u]
        if top > low:
            ratio = top / low
            wide = math.log(ratio) if math.isfinite(ratio) else math.log(top) - math.log(low)
            height = max(height, wide)
    for j in range(1, rows):
        for i in range(j):
            distance = max(distance, _distance(table[i], table[j]))
            excluded = max(
                excluded, excluded_mass(table[i], table[j]), excluded_mass(table[j], table[i])
            )
    return height, distance, excluded


@compiled()
def _triads(values, starts, rows, columns, numbers, start, stop):
    for k in range(start, stop):
        table = values[starts[k] : starts[k] + rows[k] * columns[k]].reshape((rows[k], columns[k]))
        numbers[0, k], numbers[1, k], numbers[2, k] = _triad_numbers(table)


def many_triads(values: Floats, starts: Integers, rows: Integers, columns: Integers) -> Floats:
    """``_triad_numbers`` of tables laid end to end: three arrays."""
    numbers = np.empty((3, rows.size))
    in_blocks(_triads, rows.size, values.size, read_only(values), starts, rows, columns, numbers)
    return numbers


@compiled()
def _leakages(values, starts, rows, columns, focus, eta, start, stop):
    first = np.int64(0)  # a literal would be compiled for by itself
    for k in range(start, stop):
        table = values[starts[k] : starts[k] + rows[k] * columns[k]].reshape((rows[k], columns[k]))
        eta[k] = _tile_event(table, focus[k], 0.0, first, rows[k])[0]


def many_leakages(
    values: Floats, starts: Integers, rows: Integers, columns: Integers, focus: Floats
) -> Floats:
    """``steepest_event`` of tables laid end to end, each from its own focus: η."""
    eta = np.empty(rows.size)
    work = (rows * rows * columns).sum()
    in_blocks(_leakages, rows.size, work, read_only(values), starts, rows, columns, focus, eta)
    return eta
