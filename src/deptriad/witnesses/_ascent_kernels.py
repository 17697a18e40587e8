"""The compiled loops of ``witness``: sets of source values over weighted records.

A value inside its source's set counts 1, one outside e^−ε: this is the likelihood of an event scaled by e^−Σε, which
cancels in every ratio and cannot overflow. Importing this module imports numba: do so inside functions.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.compiled import SUM, compiled, part
from deptriad.utils.threads import in_blocks

FEW_VALUES = 4
"""Alphabets up to this size are summed value by value, which vectorises; larger ones in one pass."""

LANES = 4
"""Running sums of a value that are kept side by side, since each waits for its own last addition."""

SETTLED = 1e-13
"""Relative gain below which a step is taken for rounding."""

ROUNDS = 200
"""More sweeps than an ascent has ever needed: each one raises the ratio, so it ends by itself."""


# --- records of one target value ------------------------------------------------------------------------------


@part(fastmath=SUM)
def _value_sum(column, weight, value):
    total = 0.0
    for r in range(column.size):
        total += weight[r] if column[r] == value else 0.0
    return total


@part()
def _sums(column, weight, size):
    """Total weight of the records with each value of a source."""
    table = np.zeros(size)
    if size <= FEW_VALUES:
        for value in range(size):
            table[value] = _value_sum(column, weight, value)
        return table
    lanes = np.zeros((LANES, size))
    whole = column.size // LANES * LANES
    for r in range(0, whole, LANES):
        for lane in range(LANES):
            lanes[lane, column[r + lane]] += weight[r + lane]
    for r in range(whole, column.size):
        lanes[0, column[r]] += weight[r]
    for lane in range(LANES):
        table += lanes[lane]
    return table


@part()
def _multiply(column, weight, factor):
    for r in range(column.size):
        weight[r] *= factor[column[r]]


@part()
def _event_weights(columns, offsets, shrink, inside, mass):
    """Weight of each record times the scaled likelihood of the event."""
    weight = mass.copy()
    for i in range(columns.shape[0]):
        members = inside[offsets[i] : offsets[i + 1]]
        factor = np.where(members, 1.0, shrink[i])
        if not members.all():
            _multiply(columns[i], weight, factor)
    return weight


# --- one source, the others given -----------------------------------------------------------------------------


@part()
def _scaled(row, members, shrink):
    """Σ over all values, those outside the set shrunk."""
    total = 0.0
    for u in range(row.size):
        total += row[u] if members[u] else shrink * row[u]
    return total


@part()
def _best_set(more, less, shrink, ratio, members):
    """Dinkelbach: the set with the largest (c + tA(S)) / (c' + tA'(S)), c and c' the sums of the rows (maths §1).

    A set beats the ratio γ iff Σ_u f_u·(more − γ·less)_u > 0 for its factors f (1 inside, e^−ε outside). The left
    side is largest for S = {more > γ·less}, so that S either beats γ and becomes the next one, or γ is the maximum.
    Starts from a ratio that is reached by ``members``, which are overwritten only by a better set.
    """
    while True:
        upper, lower = 0.0, 0.0
        for u in range(more.size):
            factor = 1.0 if more[u] > ratio * less[u] else shrink
            upper += factor * more[u]
            lower += factor * less[u]
        if not upper > ratio * (1.0 + SETTLED) * lower:
            return ratio
        for u in range(more.size):
            members[u] = more[u] > ratio * less[u]
        if not lower > 0.0:  # only where weights underflow
            return ratio
        ratio = upper / lower


@part()
def _ascend(records, more, less, order, inside):
    """Alternating maximisation for one ordered pair of target values; ``inside`` becomes the sets it ends with.

    Each step is exact for its source, so the ratio only rises, and it ends where no source alone can raise it.
    """
    columns, mass, begins, offsets, shrink = records
    first = columns[:, begins[more] : begins[more + 1]]
    second = columns[:, begins[less] : begins[less + 1]]
    upper = _event_weights(first, offsets, shrink, inside, mass[begins[more] : begins[more + 1]])
    lower = _event_weights(second, offsets, shrink, inside, mass[begins[less] : begins[less + 1]])
    ratio = upper.sum() / lower.sum()
    idle = 0
    for step in range(ROUNDS * order.size):
        i = order[step % order.size]
        members = inside[offsets[i] : offsets[i + 1]]
        above = _sums(first[i], upper, members.size)
        below = _sums(second[i], lower, members.size)
        # a factor depends on the value alone, so the sums without this source need no pass of their own
        undo = np.where(members, 1.0, 1.0 / shrink[i])
        before = members.copy()
        ratio = _scaled(above * undo, members, shrink[i]) / _scaled(
            below * undo, members, shrink[i]
        )
        ratio = _best_set(above * undo, below * undo, shrink[i], ratio, members)
        idle += 1
        if (members != before).any():
            idle = 0
            change = np.where(members, 1.0, shrink[i]) * undo
            _multiply(first[i], upper, change)
            _multiply(second[i], lower, change)
        if idle >= order.size:
            break
    return math.log(ratio)


@compiled()
def _ascents(records, pairs, orders, inside, value, start, stop):
    for k in range(start, stop):
        more, less = pairs[k]
        value[k] = _ascend(records, more, less, orders[k], inside[k])


def ascents(records: Any, pairs: Integers, orders: Integers, inside: Any) -> Floats:
    """ln of the ratio each start climbs to; a start is a row of ``pairs``, ``orders`` and ``inside`` (overwritten)."""
    value = np.empty(len(pairs))
    work = value.size * records.columns.size
    in_blocks(_ascents, value.size, work, records, pairs, orders, inside, value)
    return value


@part()
def _pair_score(table, offsets, shrink, more, less, inside):
    """Σ over sources of the leakage of each alone for one ordered pair, and the sets that attain them."""
    score = 0.0
    for i in range(offsets.size - 1):
        values = slice(offsets[i], offsets[i + 1])
        members = inside[values]
        members[:] = False
        score += math.log(
            _best_set(table[more, values], table[less, values], shrink[i], 1.0, members)
        )
    return score


@compiled()
def _pair_scores(table, offsets, shrink, pairs, score, inside, start, stop):
    """The sets are kept where ``inside`` has a row for each pair, and not where it has none."""
    scratch = np.empty(table.shape[1], dtype=np.bool_)
    for job in range(start, stop):
        members = inside[job] if len(inside) else scratch
        score[job] = _pair_score(table, offsets, shrink, pairs[job, 0], pairs[job, 1], members)


def pair_scores(table: Floats, offsets: Integers, shrink: Floats, pairs: Integers) -> Floats:
    """``_pair_score`` of all pairs; ``table`` has a row p(· | x) for each target value, sources side by side."""
    return _scored(table, offsets, shrink, pairs, np.empty((0, table.shape[1]), dtype=np.bool_))


def single_sets(
    table: Floats, offsets: Integers, shrink: Floats, pairs: Integers, inside: Booleans
) -> None:
    """The sets that each source alone would choose, for some pairs."""
    _scored(table, offsets, shrink, pairs, inside)


def _scored(
    table: Floats, offsets: Integers, shrink: Floats, pairs: Integers, inside: Booleans
) -> Floats:
    score = np.empty(len(pairs))
    arguments = table, offsets, shrink, pairs, score, inside
    in_blocks(_pair_scores, score.size, 10 * score.size * table.shape[1], *arguments)
    return score
