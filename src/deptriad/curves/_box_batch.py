"""The compiled loops over many small boxes, one thread to a box.

Boxes lie end to end in flat arrays. Each answers one question at a time, E_γ at a γ of its own. Its rows learn their
prices from the first question, at γ = 1; the best event of the last one stays in the arrays too.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange

from deptriad.curves._box_kernels import TERM_ERROR, Edges, Question, settle_pair, tile_bound
from deptriad.curves._table_kernels import excluded_mass, largest_ratio
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.compiled import FEW, both_ways, compiled
from deptriad.utils.rounding import ENTRY, ROUNDOFF

LITTLE = FEW // 50
"""rows² · columns of all boxes together up to which one thread does them."""


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
        lower=np.concatenate([np.empty(0), *(edge.reshape(-1) for edge in lower)]),
        upper=np.concatenate([np.empty(0), *(edge.reshape(-1) for edge in upper)]),
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


@compiled()
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


@compiled()
def _remainder(edge, roundings):
    """1 − Σ of a row, which may be tiny beside the terms: summed with its errors, but for the terms' own roundings."""
    total, error, plain = 1.0, 0.0, 0.0
    for value in edge:
        new = total - value
        back = new - total
        error += (total - (new - back)) - (value + back)  # what this step lost (Knuth)
        total, plain = new, plain + value
    return (total + error) + roundings * ROUNDOFF * plain


@compiled()
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


@compiled()
def _bounds(box, prices, gamma):
    """The certificate of every ordered pair at the prices of its rows, every term rounded up."""
    lower, upper, spare, surplus = box
    rows, columns = lower.shape
    high_priced, low_priced = np.empty((rows, columns)), np.empty((rows, columns))
    more_constant, less_constant = np.empty(rows), np.empty(rows)
    for x in range(rows):
        mu, nu = prices[x]
        more_constant[x] = (1.0 - mu) * spare[x]
        less_constant[x] = gamma * (1.0 - nu) * surplus[x]
        for u in range(columns):
            low, wide = lower[x, u], upper[x, u] - lower[x, u]
            high_priced[x, u] = (low + mu * wide) * (1.0 + TERM_ERROR)
            low_priced[x, u] = gamma * (low + (1.0 - nu) * wide) * (1.0 - TERM_ERROR)
    bounds = np.empty((rows, rows))
    tile_bound(high_priced, low_priced, more_constant, less_constant, bounds, 0, rows)
    return bounds.reshape(rows * rows) * (1.0 + (columns + 4) * ROUNDOFF)


@compiled()
def _stick(boxes, k, eta, floor, nodes):
    """E_γ of a box at γ = 1 + η: a bound, gap and mass of the event that comes closest, and whether that meets it.

    Pairs are settled by falling bound until what is attained spares the rest. Pairs below ``floor`` are not looked
    into: the bound is the floor where all are, and gap and mass are 0.
    """
    box = _box(boxes, k)
    gamma = 1.0 + eta
    rows, columns = box.lower.shape
    prices = boxes.prices[boxes.row_starts[k] : boxes.row_starts[k] + rows]
    event = boxes.event[boxes.column_starts[k] : boxes.column_starts[k] + columns]
    near = np.empty(columns, dtype=np.bool_)
    highest, reached, gap, lower = floor, floor, 0.0, 0.0
    bounds = _bounds(box, prices, gamma)
    for place in np.argsort(-bounds):
        if bounds[place] <= reached * (1.0 + 1e-12):  # near enough as it is
            highest = max(highest, bounds[place])
            break
        x, y = place // rows, place % rows
        question = Question(gamma, reached, nodes)
        bound, above, below, mu, nu = settle_pair(box, x, y, question, prices, near)
        if eta == 0.0:  # never later, so that no answer depends on what else was asked
            prices[x, 0], prices[y, 1] = mu, nu
        highest = max(highest, bound)
        if above - gamma * below > reached:
            reached, gap, lower = above - gamma * below, above - below, below
            boxes.pair[k, 0], boxes.pair[k, 1] = x, y
            event[:] = near
    exact = highest <= reached * (1.0 + 1e-12) + 1e-14 * (gap + lower)
    bound = min(highest * (1.0 + (2 * columns + 4) * ROUNDOFF), 1.0)
    return bound, gap, lower, 1.0 if exact else 0.0


@both_ways
def _sticks(boxes, which, eta, floor, nodes, result):
    for i in prange(which.size):
        result[i] = _stick(boxes, which[i], eta[i], floor[i], nodes)


def many_sticks(boxes: Boxes, which: Integers, eta: Floats, floor: Floats, nodes: int) -> Floats:
    """``_stick`` of each box that is asked, none of them twice: a row of four numbers each."""
    result = np.empty((which.size, 4))
    rows, columns = boxes.rows[which], boxes.columns[which]
    much = which.size > 1 and (rows * rows * columns).sum() > LITTLE
    _sticks(much, boxes, which, eta, floor, nodes, result)
    return result


# --- the second knot of a triad -----------------------------------------------------------------------------------


@compiled()
def _answer(eta, bound, last, focus):
    """Leakage that chords through knots 0 … last, flat after that, allow at a budget."""
    best = bound[last] / focus
    for k in range(last):
        slope = max(bound[k] - bound[k + 1], 0.0) / (eta[k + 1] - eta[k])
        best = max(best, (bound[k] + eta[k] * slope) / (focus + slope))
    return math.log1p(best)


@compiled()
def _best_knot(eta, bound, focuses):
    last = eta.size - 1
    if last < 2:
        return last
    worst = np.zeros(eta.size)
    looser = np.zeros(eta.size, dtype=np.bool_)
    two_etas, two_bounds = np.zeros(2), np.empty(2)
    two_bounds[0] = bound[0]
    for focus in focuses:
        curve = _answer(eta, bound, last, focus)
        at_last = 0.0
        for k in range(last, 0, -1):
            two_etas[1], two_bounds[1] = eta[k], min(bound[k], bound[0])
            answer = _answer(two_etas, two_bounds, 1, focus)
            at_last = answer if k == last else at_last
            looser[k] = looser[k] or answer > at_last * (1.0 + 1e-12)
            worst[k] = max(worst[k], answer / curve if curve > 0.0 else 0.0)
    best = last
    for k in range(1, last):
        if worst[k] < worst[best] and not looser[k]:
            best = k
    return best if worst[last] > 1.1 * worst[best] else last


@both_ways
def _best_knots(etas, bounds, starts, counts, focuses, best):
    for k in prange(counts.size):
        stop = starts[k] + counts[k]
        knot = _best_knot(etas[starts[k] : stop], bounds[starts[k] : stop], focuses)
        best[k] = starts[k] + knot


def best_knots(
    etas: Floats, bounds: Floats, starts: Integers, counts: Integers, focuses: Floats
) -> Integers:
    """Which knot of each curve serves these budgets best as a triad's second; the last unless that is worse by far.

    Curves lie end to end. Their last knots are at e^α, and a tiny lower edge sends α to the sky: a chord that reaches
    so far says little about ordinary budgets.
    """
    best = np.empty(counts.size, dtype=np.int64)
    _best_knots(counts.size >= LITTLE // 10, etas, bounds, starts, counts, focuses, best)
    return best
