"""The compiled loops over many small boxes, one thread to a box.

Boxes lie end to end in flat arrays. Each answers one question at a time, E_γ at a γ of its own. Its rows learn their
prices from the first question, at γ = 1; the best event of the last one stays in the arrays too.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.curves._box_kernels import TERM_ERROR, Edges, Question, settle_pair, tile_bound
from deptriad.curves._table_kernels import excluded_mass, largest_ratio, read_only
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.compiled import compiled, part
from deptriad.utils.heap import heap_up, smallest
from deptriad.utils.rounding import ENTRY, ROUNDOFF
from deptriad.utils.threads import in_blocks

WORK = 50
"""Additions that settling a pair takes, times its columns."""


class Boxes(NamedTuple):
    """Boxes laid end to end: box k has its entries from ``starts[k]``, its rows from ``row_starts[k]``, and so on."""

    lower: Floats
    upper: Floats
    starts: Integers
    row_starts: Integers
    column_starts: Integers
    rows: Integers
    columns: Integers
    spare: Floats
    surplus: Floats
    ends: Floats
    """α and δ of each box."""
    prices: Floats
    """A row for each row of each box: its prices as the more and as the less likely target value."""
    event: Booleans
    """Which source values are in the last event that rose above a floor."""
    pair: Integers
    """The rows that this event tells apart."""


def laid_out(lower: list[Floats], upper: list[Floats]) -> Boxes:
    """Boxes end to end from their edges, ready for questions."""
    shapes = np.array([edge.shape for edge in lower], dtype=np.int64).reshape(-1, 2)
    rows, columns = shapes.T.copy()
    starts, row_starts, column_starts = (
        np.cumsum(size) - size for size in (rows * columns, rows, columns)
    )
    all_rows = int(rows.sum())
    boxes = Boxes(
        lower=read_only(np.concatenate([np.empty(0), *(edge.reshape(-1) for edge in lower)])),
        upper=read_only(np.concatenate([np.empty(0), *(edge.reshape(-1) for edge in upper)])),
        starts=starts,
        row_starts=row_starts,
        column_starts=column_starts,
        rows=rows,
        columns=columns,
        spare=np.empty(all_rows),
        surplus=np.empty(all_rows),
        ends=np.empty((rows.size, 2)),
        prices=np.full((all_rows, 2), 0.5),
        event=np.zeros(int(columns.sum()), dtype=np.bool_),
        pair=np.zeros((rows.size, 2), dtype=np.int64),
    )
    _prepare(boxes)
    return boxes


@part()
def _box(boxes, k):
    """Edges, spare and surplus of one box."""
    rows, columns, start = boxes.rows[k], boxes.columns[k], boxes.starts[k]
    stop, row = start + rows * columns, boxes.row_starts[k]
    return Edges(
        boxes.lower[start:stop].reshape((rows, columns)),
        boxes.upper[start:stop].reshape((rows, columns)),
        boxes.spare[row : row + rows],
        boxes.surplus[row : row + rows],
    )


# --- once for each box ----------------------------------------------------------------------------------------


@part()
def _remainder(edge, roundings):
    """1 − Σ of a row, which may be tiny beside the terms: summed with its errors, but for the terms' own roundings."""
    total, error, plain = 1.0, 0.0, 0.0
    for u in range(edge.size):
        value = edge[u]
        new = total - value
        back = new - total
        error += (total - (new - back)) - (value + back)  # what this step lost (Knuth)
        total, plain = new, plain + value
    return (total + error) + roundings * ROUNDOFF * plain


@part()
def _extremes(lower, upper):
    """α and δ of a box, rounded up like those of a table."""
    rows, columns = lower.shape
    ratio, height = largest_ratio(lower, upper)
    height = math.log(ratio) if math.isfinite(ratio) else height
    excluded = 0.0
    for x in range(rows):
        for y in range(rows):
            if x != y:
                excluded = max(excluded, excluded_mass(upper[x], lower[y]))
    alpha = height * (1.0 + 16 * ROUNDOFF) + 3 * ENTRY if height > 0.0 else 0.0
    return alpha, min(min(excluded, 1.0) * (1.0 + (columns + 16) * ROUNDOFF), 1.0)


@compiled()
def _prepare(boxes):
    """Fills in spare and surplus of every row, and α and δ of every box."""
    for k in range(boxes.rows.size):
        lower, upper, spare, surplus = _box(boxes, k)
        for x in range(len(lower)):
            spare[x] = max(_remainder(lower[x], 2.0), 0.0)
            surplus[x] = max(-_remainder(upper[x], -2.0), 0.0)
        boxes.ends[k, 0], boxes.ends[k, 1] = _extremes(lower, upper)


# --- E_γ --------------------------------------------------------------------------------------------------------


@part()
def _lowered_bounds(box, prices, gamma):
    """Minus the certificate of every ordered pair at the prices of its rows, every term rounded up."""
    lower, upper, spare, surplus = box
    rows, columns = lower.shape
    high_priced, low_priced = np.empty((rows, columns)), np.empty((rows, columns))
    more_constant, less_constant = np.empty(rows), np.empty(rows)
    for x in range(rows):
        mu, nu = prices[x, 0], prices[x, 1]
        more_constant[x] = (1.0 - mu) * spare[x]
        less_constant[x] = gamma * (1.0 - nu) * surplus[x]
        for u in range(columns):
            low, wide = lower[x, u], upper[x, u] - lower[x, u]
            high_priced[x, u] = (low + mu * wide) * (1.0 + TERM_ERROR)
            low_priced[x, u] = gamma * (low + (1.0 - nu) * wide) * (1.0 - TERM_ERROR)
    bounds = np.empty((rows, rows))
    first = np.int64(0)  # a literal would be compiled for by itself
    tile_bound(high_priced, low_priced, more_constant, less_constant, bounds, first, rows)
    lowered = np.empty(rows * rows)
    for place in range(lowered.size):
        lowered[place] = -bounds[place // rows, place % rows] * (1.0 + (columns + 4) * ROUNDOFF)
    return lowered


@compiled()
def _sticks(boxes, which, eta, floor, nodes, result, start, stop):
    """E_γ of boxes at γ = 1 + η: a bound, gap and mass of the event that comes closest, and whether that meets it.

    Pairs are settled by falling bound until what is attained spares the rest. Pairs below ``floor`` are not looked
    into: the bound is the floor where all are, and gap and mass are 0.
    """
    for i in range(start, stop):
        k, gamma = which[i], 1.0 + eta[i]
        box = _box(boxes, k)
        rows, columns = box.lower.shape
        prices = boxes.prices[boxes.row_starts[k] : boxes.row_starts[k] + rows]
        event = boxes.event[boxes.column_starts[k] : boxes.column_starts[k] + columns]
        near = np.empty(columns, dtype=np.bool_)
        highest, reached, gap, lower = floor[i], floor[i], 0.0, 0.0
        lowered = _lowered_bounds(box, prices, gamma)
        heap = np.empty(lowered.size, dtype=np.int64)
        heap_up(lowered, heap, lowered.size)
        for waiting in range(lowered.size, 0, -1):
            place = smallest(lowered, heap, waiting)
            if -lowered[place] <= reached * (1.0 + 1e-12):  # near enough as it is
                highest = max(highest, -lowered[place])
                break
            x, y = place // rows, place % rows
            question = Question(gamma, reached, nodes)
            bound, above, below, mu, nu = settle_pair(box, x, y, question, prices, near)
            if eta[i] == 0.0:  # never later, so that no answer depends on what else was asked
                prices[x, 0], prices[y, 1] = mu, nu
            highest = max(highest, bound)
            if above - gamma * below > reached:
                reached, gap, lower = above - gamma * below, above - below, below
                boxes.pair[k, 0], boxes.pair[k, 1] = x, y
                for u in range(columns):
                    event[u] = near[u]
        # a row sums to 1, so what edges leave of it is only known to roundings of 1, however small E is beside them
        rounding = (2 * columns + 40) * ROUNDOFF * (1.0 + gamma)
        exact = highest <= reached * (1.0 + 1e-12) + rounding
        result[i, 0] = min(highest * (1.0 + (2 * columns + 4) * ROUNDOFF), 1.0)
        result[i, 1], result[i, 2], result[i, 3] = gap, lower, 1.0 if exact else 0.0


def many_sticks(boxes: Boxes, which: Integers, eta: Floats, floor: Floats, nodes: int) -> Floats:
    """E_γ of each box that is asked, none of them twice: a row of four numbers each, as of ``_sticks``."""
    result = np.empty((which.size, 4))
    rows, columns = boxes.rows[which], boxes.columns[which]
    work = WORK * (rows * rows * columns).sum()
    in_blocks(_sticks, which.size, work, boxes, which, eta, floor, nodes, result)
    return result


# --- the second knot of a triad -----------------------------------------------------------------------------------


@part()
def _answer(eta, bound, last, focus):
    """Leakage that chords through knots 0 … last, flat after that, allow at a budget."""
    best = bound[last] / focus
    for k in range(last):
        slope = max(bound[k] - bound[k + 1], 0.0) / (eta[k + 1] - eta[k])
        best = max(best, (bound[k] + eta[k] * slope) / (focus + slope))
    return math.log1p(best)


@part()
def _best_knot(eta, bound, focuses):
    last = eta.size - 1
    if last < 2:
        return last
    worst = np.empty(eta.size)
    looser = np.empty(eta.size, dtype=np.bool_)
    for k in range(eta.size):
        worst[k], looser[k] = 0.0, False
    one = np.int64(1)  # a literal would be compiled for by itself
    two_etas, two_bounds = np.empty(2), np.empty(2)
    two_etas[0], two_bounds[0] = 0.0, bound[0]
    for place in range(focuses.size):
        focus = focuses[place]
        curve = _answer(eta, bound, last, focus)
        at_last = 0.0
        for k in range(last, 0, -1):
            two_etas[1], two_bounds[1] = eta[k], min(bound[k], bound[0])
            answer = _answer(two_etas, two_bounds, one, focus)
            at_last = answer if k == last else at_last
            looser[k] = looser[k] or answer > at_last * (1.0 + 1e-12)
            worst[k] = max(worst[k], answer / curve if curve > 0.0 else 0.0)
    best = last
    for k in range(1, last):
        if worst[k] < worst[best] and not looser[k]:
            best = k
    return best if worst[last] > 1.1 * worst[best] else last


@compiled()
def _best_knots(etas, bounds, starts, counts, focuses, best, start, stop):
    for k in range(start, stop):
        end = starts[k] + counts[k]
        knot = _best_knot(etas[starts[k] : end], bounds[starts[k] : end], focuses)
        best[k] = starts[k] + knot


def best_knots(
    etas: Floats, bounds: Floats, starts: Integers, counts: Integers, focuses: Floats
) -> Integers:
    """Which knot of each curve serves these budgets best as a triad's second; the last unless that is worse by far.

    Curves lie end to end. Their last knots are at e^α, and a tiny lower edge sends α to the sky: a chord that reaches
    so far says little about ordinary budgets.
    """
    best = np.empty(counts.size, dtype=np.int64)
    work = 10 * WORK * counts.size
    in_blocks(_best_knots, counts.size, work, etas, bounds, starts, counts, focuses, best)
    return best
