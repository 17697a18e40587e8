"""The compiled loops of ``interactions``: the sets of two sources at once, for all triples of attributes.

A value inside its source's set counts e^ε and one outside 1, and what exceeds 1 is kept by itself, so that tiny budgets
keep their digits. Importing this module imports numba: do it inside the functions that need it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled, part
from deptriad.utils.threads import in_blocks
from deptriad.witnesses._ascent_kernels import SETTLED


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


@part()
def _count_from(places, weight, first, second, after, shape):
    """Weight of (value of one attribute, of a second, of any from ``after`` on): three-way tables side by side."""
    table = np.zeros(shape)
    for r in range(len(places)):
        row = table[first[r], second[r]]
        w = weight[r]
        for j in range(after, places.shape[1]):
            row[places[r, j]] += w
    return table


@part()
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


@part()
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


@part()
def _best_event(more, less, lift_more, lift_less, gain, excess, members):
    """Dinkelbach as for one source, for the ratio of two likelihoods less 1: nothing near 1 is ever formed.

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


@part()
def _best_pair(table, lift, gain, excess, members):
    """The set and the ordered pair of rows with the largest ratio; ``members`` change only if it beats ``excess``."""
    for more in range(len(table)):
        for less in range(len(table)):
            if more != less:
                excess = _best_event(
                    table[more], table[less], lift[more], lift[less], gain, excess, members
                )
    return excess


@part()
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


@part()
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


@part()
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


@part()
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
def _joints(survey, i, found, start, stop):
    for j in range(i + 1 + start, i + 1 + stop):
        _triples(survey, i, j, found)


def joints(survey: Survey, i: int, found: Joints) -> None:
    """Joint leakage of all triples with first attribute ``i``, filled in.

    A thread holds the tables of two attributes at a time.
    """
    count = survey.offsets.size - 1
    work = survey.places.size * count + float(survey.offsets[-1]) ** 3
    in_blocks(_joints, count - i - 1, work, survey, i, found)
