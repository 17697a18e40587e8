"""The compiled loops of ``witness``: sets of source values over weighted records, and triples of attributes.

For all sources at once a value inside its source's set counts 1, one outside e^−ε: this is the likelihood of an
event scaled by e^−Σε, which cancels in every ratio and cannot overflow. For two sources it counts e^ε and 1, and
what exceeds 1 is kept by itself, so that tiny budgets keep their digits. Importing this module imports numba: do it
inside the functions that need it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import prange

from deptriad.utils.compiled import FEW, SUM, compiled

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats, Integers

FEW_VALUES = 4
"""Alphabets up to this size are summed value by value, which vectorises; larger ones in one pass."""

LANES = 4
"""Running sums of a value that are kept side by side, since each waits for its own last addition."""

SETTLED = 1e-13
"""Relative gain below which a step is taken for rounding."""

ROUNDS = 200
"""More sweeps than an ascent has ever needed: each one raises the ratio, so it ends by itself."""


class Records(NamedTuple):
    """Records sorted by target value, those of value x from ``begins[x]`` on, and what is known of their sources."""

    columns: Any  # the codes of each source
    mass: Floats  # the weight of each record, those of a target value summing to 1
    begins: Integers
    offsets: Integers  # where the values of each source begin, all of them side by side
    shrink: Floats  # e^−ε


class Survey(NamedTuple):
    """Records whose triples of attributes are asked for; ``asked`` are the targets, ``gain`` is e^ε − 1."""

    columns: Any  # codes by attribute
    places: Any  # codes by record, shifted by ``offsets``
    weight: Floats
    offsets: Integers
    gain: Floats
    asked: Any
    work: float  # operations up to which all sets are tried


class Joints(NamedTuple):
    """What is found: ``joint[k, i, j]`` of sources i < j about k, whether it is exact, and the two-way tables."""

    joint: Floats
    exact: Any
    pairs: Floats


# --- records of one target value ------------------------------------------------------------------------------


@compiled(fastmath=SUM)
def _value_sum(column, weight, value):
    total = 0.0
    for r in range(column.size):
        total += weight[r] if column[r] == value else 0.0
    return total


@compiled()
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


@compiled()
def _multiply(column, weight, factor):
    for r in range(column.size):
        weight[r] *= factor[column[r]]


@compiled()
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


@compiled()
def _scaled(row, members, shrink):
    """Σ over all values, those outside the set shrunk."""
    total = 0.0
    for u in range(row.size):
        total += row[u] if members[u] else shrink * row[u]
    return total


@compiled()
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


@compiled()
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
def _few_ascents(records, pairs, orders, inside, value):
    for k in range(value.size):
        more, less = pairs[k]
        value[k] = _ascend(records, more, less, orders[k], inside[k])


@compiled(parallel=True)
def _many_ascents(records, pairs, orders, inside, value):
    for k in prange(value.size):
        more, less = pairs[k]
        value[k] = _ascend(records, more, less, orders[k], inside[k])


def ascents(records: Records, pairs: Integers, orders: Integers, inside: Any) -> Floats:
    """ln of the ratio each start climbs to; a start is a row of ``pairs``, ``orders`` and ``inside`` (overwritten)."""
    value = np.empty(len(pairs))
    run = _few_ascents if value.size * records.columns.size < FEW else _many_ascents
    run(records, pairs, orders, inside, value)
    return value


@compiled()
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


@compiled(parallel=True)
def pair_scores(table, offsets, shrink, pairs):
    """``_pair_score`` of all pairs; ``table`` has a row p(· | x) for each target value, sources side by side."""
    score = np.empty(len(pairs))
    for job in prange(len(pairs)):
        inside = np.zeros(table.shape[1], dtype=np.bool_)
        score[job] = _pair_score(table, offsets, shrink, pairs[job, 0], pairs[job, 1], inside)
    return score


@compiled()
def single_sets(table, offsets, shrink, pairs, inside):
    """The sets that each source alone would choose, for some pairs."""
    for job in range(len(pairs)):
        _pair_score(table, offsets, shrink, pairs[job, 0], pairs[job, 1], inside[job])


# --- two sources at once --------------------------------------------------------------------------------------


@compiled()
def _count_from(places, weight, first, second, after, shape):
    """Weight of (value of one attribute, of a second, of any from ``after`` on): three-way tables side by side."""
    table = np.zeros(shape)
    for r in range(len(places)):
        row = table[first[r], second[r]]
        w = weight[r]
        for j in range(after, places.shape[1]):
            row[places[r, j]] += w
    return table


@compiled()
def _rows(table):
    """p(u, v | x) from weights of (x, u, v), the smaller alphabet in the middle; only x with records."""
    values, us, vs = table.shape
    rows = np.empty((values, min(us, vs), max(us, vs)))
    kept = 0
    for x in range(values):
        total = table[x].sum()
        if total > 0.0:
            for u in range(us):
                for v in range(vs):
                    place = (kept, u, v) if us <= vs else (kept, v, u)
                    rows[place] = table[x, u, v] / total
            kept += 1
    return rows[:kept]


@compiled()
def _seen_through(rows, members, gain, out, lift):
    """Rows over the last axis, the middle one weighed by a set: 1 + gain inside. ``lift`` is what their sums gain."""
    out[:] = 0.0
    lift[:] = 0.0
    for x in range(rows.shape[0]):
        for u in range(rows.shape[1]):
            factor = 1.0 + gain if members[u] else 1.0
            total = 0.0
            for v in range(rows.shape[2]):
                out[x, v] += factor * rows[x, u, v]
                total += rows[x, u, v]
            if members[u]:
                lift[x] += gain * total


@compiled()
def _best_event(more, less, lift_more, lift_less, gain, excess, members):
    """Dinkelbach as in ``_best_set``, for the ratio of two likelihoods less 1: nothing near 1 is ever formed.

    A likelihood is 1 + lift + gain·(row's sum over the set), since the rows would sum to 1 + lift.
    """
    while True:
        above, below = lift_more, lift_less
        for v in range(more.size):
            if more[v] - less[v] > excess * less[v]:
                above += gain * more[v]
                below += gain * less[v]
        reached = (above - below) / (1.0 + below)
        if not reached > excess * (1.0 + SETTLED):
            return excess
        for v in range(more.size):
            members[v] = more[v] - less[v] > excess * less[v]
        excess = reached


@compiled()
def _best_pair(table, lift, gain, excess, members):
    """The set and the ordered pair of rows with the largest ratio; ``members`` change only if it beats ``excess``."""
    for more in range(len(table)):
        for less in range(len(table)):
            if more != less:
                excess = _best_event(
                    table[more], table[less], lift[more], lift[less], gain, excess, members
                )
    return excess


@compiled()
def _enumerated(rows, gain_middle, gain_last):
    """All sets of the middle axis, for each the best of the last: the maximum over all product sets, less 1."""
    seen, lift = np.empty((rows.shape[0], rows.shape[2])), np.empty(rows.shape[0])
    chosen = np.empty(rows.shape[1], dtype=np.bool_)
    members = np.empty(rows.shape[2], dtype=np.bool_)
    excess = 0.0
    for mask in range(2 ** rows.shape[1] - 1):  # the whole alphabet says as little as the empty set
        for u in range(chosen.size):
            chosen[u] = (mask >> u) & 1
        _seen_through(rows, chosen, gain_middle, seen, lift)
        excess = _best_pair(seen, lift, gain_last, excess, members)
    return excess


@compiled()
def _alternated(rows, gain_middle, gain_last):
    """Alternating maximisation over the two sets, from no set and from each single value of the middle axis."""
    flipped = rows.transpose(0, 2, 1).copy()
    seen, back = np.empty((rows.shape[0], rows.shape[2])), np.empty(rows.shape[:2])
    lift = np.empty(rows.shape[0])
    best = 0.0
    for start in range(-1, rows.shape[1]):
        chosen = np.zeros(rows.shape[1], dtype=np.bool_)
        members = np.zeros(rows.shape[2], dtype=np.bool_)
        if start >= 0:
            chosen[start] = True
        excess, before = 0.0, -1.0
        while excess > before:
            before = excess
            _seen_through(rows, chosen, gain_middle, seen, lift)
            excess = _best_pair(seen, lift, gain_last, excess, members)
            _seen_through(flipped, members, gain_last, back, lift)
            excess = _best_pair(back, lift, gain_middle, excess, chosen)
        best = max(best, excess)
    return best


@compiled()
def _joint(table, gain_first, gain_second, work):
    """ln of the largest ratio over product sets of two sources, and whether all of them were tried."""
    rows = _rows(table)
    values, middle, last = rows.shape
    if values < 2:
        return 0.0, True
    swapped = table.shape[2] < table.shape[1]
    gain_middle = gain_second if swapped else gain_first
    gain_last = gain_first if swapped else gain_second
    if 2.0**middle * (middle + values) * last * values <= work:
        return math.log1p(_enumerated(rows, gain_middle, gain_last)), True
    return math.log1p(_alternated(rows, gain_middle, gain_last)), False


@compiled()
def _triples(survey, i, j, found):
    """All triples i < j < k of two attributes, each of the three in turn the target."""
    columns, places, weight, offsets, gain, asked, work = survey
    joint, exact, pairs = found
    values = offsets[j + 1] - offsets[j]
    shape = (offsets[i + 1] - offsets[i], values, offsets[-1])
    table = _count_from(places, weight, columns[i], columns[j], j, shape)
    for v in range(offsets[j], offsets[j + 1]):
        pairs[offsets[i] : offsets[i + 1], v] = table[:, v - offsets[j], v]
    for k in range(j + 1, offsets.size - 1):
        part = table[:, :, offsets[k] : offsets[k + 1]]
        if asked[i]:
            joint[i, j, k], exact[i, j, k] = _joint(part, gain[j], gain[k], work)
        if asked[j]:
            second = part.transpose(1, 0, 2)
            joint[j, i, k], exact[j, i, k] = _joint(second, gain[i], gain[k], work)
        if asked[k]:
            third = part.transpose(2, 0, 1)
            joint[k, i, j], exact[k, i, j] = _joint(third, gain[i], gain[j], work)


@compiled()
def few_joints(survey, i, seconds, found):
    """``many_joints`` where waking a second thread takes longer than it saves."""
    for job in range(seconds.size):
        _triples(survey, i, seconds[job], found)


@compiled(parallel=True)
def many_joints(survey, i, seconds, found):
    """Joint leakage of all triples with first attribute ``i`` and a second one of ``seconds``, filled in.

    A thread holds the tables of two attributes at a time.
    """
    for job in prange(seconds.size):
        _triples(survey, i, seconds[job], found)
