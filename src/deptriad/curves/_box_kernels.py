"""The compiled loops over boxes: the certificate of a pair at γ, for which any prices μ, ν of its two rows are a proof.

Rows of a box are ``low ≤ g ≤ high`` with Σ g = 1; ``spare`` = 1 − Σ low is what is left to hand out above the lower
edges, ``surplus`` = Σ high − 1 what must be taken back from the upper ones (maths §3). No certificate is above the
paper's program.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptriad.curves._program_kernels import program
from deptriad.curves._table_kernels import by_tiles, positive
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.compiled import SUM, compiled, part
from deptriad.utils.heap import heap_up, smallest
from deptriad.utils.rounding import ENTRY, ROUNDOFF
from deptriad.utils.threads import in_blocks

FREE, IN, OUT = 0, 1, 2

TERM_ERROR = 8 * ROUNDOFF
"""Of a term a − γc, relative to a + γc."""


class Edges(NamedTuple):
    """A box: the edges of its rows, and what they leave to hand out or take back."""

    lower: Floats
    upper: Floats
    spare: Floats
    surplus: Floats


class Pair(NamedTuple):
    """Two rows of a box, the first the more likely one: lower edges and widths, its spare and the other's surplus."""

    low: Floats
    wide: Floats
    low2: Floats
    wide2: Floats
    spare: float
    surplus: float


class Question(NamedTuple):
    """E_γ of a pair is asked: what stays below ``floor`` is not looked into, and ``nodes`` may be branched."""

    gamma: float
    floor: float
    nodes: int


@part(fastmath=SUM)
def _positive_difference(a, c):
    total = 0.0
    for u in range(a.size):
        total += positive(a[u] - c[u])
    return total


@compiled()
def tile_bound(high_priced, low_priced, more_constant, less_constant, bounds, start, stop):
    rows = high_priced.shape[0]
    for y in range(rows):
        for x in range(start, min(rows, stop)):
            total = _positive_difference(high_priced[x], low_priced[y])
            bounds[x, y] = total + more_constant[x] + less_constant[y] if x != y else 0.0


def price_bounds(
    high_priced: Floats, low_priced: Floats, more_constant: Floats, less_constant: Floats
) -> Floats:
    """Σ (a − c)₊ + constants for every ordered pair: the certificate with one price for each row in each role."""
    bounds = np.empty((len(high_priced), len(high_priced)))
    by_tiles(tile_bound, high_priced, low_priced, more_constant, less_constant, bounds)
    return bounds


@part()
def _slide(value, slope, state, drift, longest):
    """Least t in [0, longest] that minimises Σ (value + t·slope)₊ + t·drift, a convex function of t.

    Terms that are IN count without the positive part, terms that are OUT not at all.
    """
    size = value.size
    rate = drift
    for u in range(size):
        rises = value[u] > 0.0 or (value[u] == 0.0 and slope[u] > 0.0)
        if state[u] == IN or (state[u] == FREE and rises):
            rate += slope[u]
    if rate >= 0.0:
        return 0.0
    turns = np.empty(size)
    change = np.empty(size)
    count = np.int64(0)
    for u in range(size):
        if state[u] == FREE and slope[u] != 0.0:
            turn = -value[u] / slope[u]
            if 0.0 < turn < longest:
                turns[count], change[count] = turn, abs(slope[u])
                count += 1
    heap = np.empty(count, dtype=np.int64)
    heap_up(turns, heap, count)
    for waiting in range(count, 0, -1):
        k = smallest(turns, heap, waiting)
        rate += change[k]
        if rate >= 0.0:
            return turns[k]
    return longest


@part()
def _terms(pair, gamma, mu, nu, value):
    """a − γc of every source value at prices μ, ν; 0 where it is within rounding of 0: a kink."""
    low, wide, low2, wide2 = pair.low, pair.wide, pair.low2, pair.wide2
    for u in range(low.size):
        a = low[u] + mu * wide[u]
        c = gamma * (low2[u] + (1.0 - nu) * wide2[u])
        size = low[u] + wide[u] + gamma * (low2[u] + wide2[u])
        value[u] = a - c if abs(a - c) > 4e-16 * size else 0.0


@part()
def _step(pair, gamma, mu, nu, direction, kink):
    """The direction's unit step in (μ, ν): along an axis, or along the line on which one term stays 0."""
    if direction < 4:
        sign = 1.0 if direction % 2 == 0 else -1.0
        return (sign, 0.0) if direction < 2 else (0.0, sign)
    wide, wide2 = pair.wide, pair.wide2
    norm = wide[kink] + gamma * wide2[kink]
    if norm == 0.0:
        return 0.0, 0.0
    sign = 1.0 if direction % 2 == 0 else -1.0
    return sign * gamma * wide2[kink] / norm, -sign * wide[kink] / norm


@part()
def _room(price, step):
    """How far a price in [0, 1] can go along a step."""
    if step == 0.0:
        return np.inf
    return (1.0 - price) / step if step > 0.0 else -price / step


@part()
def _kinks(pair, value, state, found):
    """The first few free terms that are 0 and move with a price."""
    wide, wide2 = pair.wide, pair.wide2
    count = 0
    for u in range(value.size):
        free = state[u] == FREE and wide[u] + wide2[u] > 0.0
        if value[u] == 0.0 and free and count < found.size:
            found[count] = u
            count += 1
    return count


@part()
def _price(pair, gamma, mu, nu, state, value):
    """Prices that minimise a pair's certificate, from a first guess; leaves its terms in ``value``.

    The certificate is convex and piecewise linear over the plane of prices. Where neither axis descends any more,
    only a kink can. Any point passed is a proof, so stopping early costs tightness, never truth.
    """
    wide, wide2 = pair.wide, pair.wide2
    size = wide.size
    slope = np.empty(size)
    found = np.empty(4, dtype=np.int64)
    _terms(pair, gamma, mu, nu, value)
    for _ in range(50):
        moved = False
        kinks = _kinks(pair, value, state, found)
        for direction in range(4 + 2 * kinks):
            kink = found[(direction - 4) // 2] if direction >= 4 else -1
            step_mu, step_nu = _step(pair, gamma, mu, nu, direction, kink)
            longest = min(_room(mu, step_mu), _room(nu, step_nu))
            if not 0.0 < longest < np.inf:
                continue
            for u in range(size):
                rise, fall = step_mu * wide[u], step_nu * gamma * wide2[u]
                slope[u] = (
                    rise + fall if abs(rise + fall) > 1e-15 * (abs(rise) + abs(fall)) else 0.0
                )
            step = _slide(
                value, slope, state, -step_mu * pair.spare - step_nu * gamma * pair.surplus, longest
            )
            if step > 0.0:
                mu = min(1.0, max(0.0, mu + step * step_mu))
                nu = min(1.0, max(0.0, nu + step * step_nu))
                _terms(pair, gamma, mu, nu, value)
                moved = moved or step > 1e-13
        if not moved:
            break
    return _certificate(pair, gamma, mu, nu, state), mu, nu


@part()
def _certificate(pair, gamma, mu, nu, state):
    """The bound that prices μ, ν prove, every term rounded up."""
    low, wide, low2, wide2, spare, surplus = pair
    total = (1.0 - mu) * spare + gamma * (1.0 - nu) * surplus
    bulk = 0.0
    for u in range(low.size):
        if state[u] != OUT:
            a = low[u] + mu * wide[u]
            c = gamma * (low2[u] + (1.0 - nu) * wide2[u])
            value = (a - c) + TERM_ERROR * (a + c)
            total += value if state[u] == IN else positive(value)
            bulk += abs(value) if state[u] == IN else 0.0
    return total + low.size * ROUNDOFF * bulk  # terms that are in may cancel


@part()
def _attained(pair, inside):
    """Largest g(S) and, with it, least h(S) of the event S over the two rows of a box."""
    low, wide, low2, wide2, spare, surplus = pair
    more, extra, less, extra2 = 0.0, 0.0, 0.0, 0.0
    for u in range(low.size):
        if inside[u]:
            more, extra = more + low[u], extra + wide[u]
            less, extra2 = less + low2[u], extra2 + wide2[u]
    return more + min(extra, spare), less + max(0.0, extra2 - surplus)


@part()
def _round_event(pair, gamma, state, value, event):
    """The best event near a priced one: terms above 0 are in, those at 0 are tried both ways.

    Leaves it in ``event``; returns g(S), h(S) and the widest term at 0, to branch on (−1 where there is none).
    """
    wide, wide2 = pair.wide, pair.wide2
    found = np.empty(4, dtype=np.int64)
    kinks = _kinks(pair, value, state, found)
    inside = np.empty(value.size, dtype=np.bool_)
    for u in range(value.size):
        inside[u] = state[u] == IN or (state[u] == FREE and value[u] > 0.0)
    best_more, best_less = 0.0, 0.0
    for choice in range(1 << kinks):
        for k in range(kinks):
            inside[found[k]] = (choice >> k) & 1
        more, less = _attained(pair, inside)
        if choice == 0 or more - gamma * less > best_more - gamma * best_less:
            best_more, best_less = more, less
            for u in range(event.size):
                event[u] = inside[u]
    branch = -1
    for k in range(kinks):
        width = wide[found[k]] + gamma * wide2[found[k]]
        if width > 0.0 and (branch < 0 or width > wide[branch] + gamma * wide2[branch]):
            branch = found[k]
    return best_more, best_less, branch


@part()
def settle_pair(box, x, y, question, prices, event):
    """Hockey stick of two rows of a box: a bound, g(S), h(S) of the event S that comes closest, the prices μ, ν.

    Branches on terms at 0 until the bound is met or so many nodes are used up. What cannot rise above ``floor`` is
    not looked into: the bound is then the floor. Leaves S in ``event``; the prices are those of the first node. At
    γ = 1 a bound that is not met is compared with the paper's program, so that it is never above that.
    """
    lower, upper, spare, surplus = box
    gamma, floor, nodes = question
    size = lower.shape[1]
    wide, wide2 = np.empty(size), np.empty(size)
    for u in range(size):
        wide[u], wide2[u] = upper[x, u] - lower[x, u], upper[y, u] - lower[y, u]
    pair = Pair(lower[x], wide, lower[y], wide2, spare[x], surplus[y])
    value, near = np.empty(size), np.empty(size, dtype=np.bool_)
    state = np.empty(size, dtype=np.int8)
    states = np.empty((nodes + 2, size), dtype=np.int8)
    promise = np.empty(nodes + 2)
    promise[0] = np.inf
    for u in range(size):
        states[0, u] = FREE
    best, best_more, best_less, unsettled = floor, 0.0, 0.0, floor
    mu, nu = prices[x, 0], prices[y, 1]
    first_mu, first_nu = mu, nu
    waiting, used = 1, 0
    while waiting > 0:
        waiting -= 1
        if used == nodes:
            unsettled = max(unsettled, promise[waiting])
            continue
        for u in range(size):
            state[u] = states[waiting, u]
        bound, mu, nu = _price(pair, gamma, mu, nu, state, value)
        bound = min(bound, promise[waiting])
        used += 1
        if used == 1:
            first_mu, first_nu = mu, nu
        more, less, branch = _round_event(pair, gamma, state, value, near)
        if used == 1 or more - gamma * less > best:
            best_more, best_less = more, less
            for u in range(size):
                event[u] = near[u]
            best = max(best, more - gamma * less)
        if branch < 0 or bound <= best * (1.0 + 1e-14) + 8 * ROUNDOFF * best_more:
            unsettled = max(unsettled, bound)
            continue
        for choice in range(2):
            for u in range(size):
                states[waiting, u] = state[u]
            states[waiting, branch] = IN if choice else OUT
            promise[waiting] = bound
            waiting += 1
    highest = max(best, unsettled)
    if gamma == 1.0 and highest > best_more - best_less:
        by_program, _, _ = program(lower[x], upper[x], lower[y], upper[y], spare[x], surplus[y])
        # like φ of a table: what entries that reached us rounded may add to E, relative to A + B ≤ 2
        by_program += 2 * ENTRY if by_program > 0.0 else 0.0
        highest = min(highest, max(by_program, floor))
    return highest, best_more, best_less, first_mu, first_nu


@compiled()
def _settle_pairs(box, more, less, question, prices, result, event, start, stop):
    for k in range(start, stop):
        found = settle_pair(box, more[k], less[k], question, prices, event[k])
        result[k, 0], result[k, 1], result[k, 2], result[k, 3], result[k, 4] = found


def settle_pairs(
    box: Edges, more: Integers, less: Integers, question: Question, prices: Floats
) -> tuple[Floats, Booleans]:
    """``settle_pair`` for each listed pair: its five numbers in a row, and the events S themselves."""
    result = np.empty((more.size, 5))
    event = np.empty((more.size, box.lower.shape[1]), dtype=np.bool_)
    arguments = box, more, less, question, prices, result, event
    in_blocks(_settle_pairs, more.size, 10 * event.size, *arguments)
    return result, event
