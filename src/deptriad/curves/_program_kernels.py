"""The compiled loops over boxes: the paper's linear program for every pair of rows, in closed form (maths §3).

Rows of a box are ``low ≤ g ≤ high`` with Σ g = 1; ``spare`` = 1 − Σ low is what is left to hand out above the lower
edges, ``surplus`` = Σ high − 1 what must be taken back from the upper ones.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from deptriad.curves._table_kernels import by_tiles, positive
from deptriad.utils.arrays import Floats
from deptriad.utils.compiled import SUM, compiled, part
from deptriad.utils.heap import heap_up, smallest


@part()
def _preference(low, high, low2, high2):
    """c = M⁺/(M⁺ + M⁻) of one source value: how far the program lets it count for the event."""
    over = positive(high - low2)
    under = positive(high2 - low)
    both = over + under
    return over / (both if both > 0.0 else 1.0)


@part(fastmath=SUM)
def _program_bound(low, high, low2, high2, spare, surplus, mu, nu):
    """A bound on the program from any two prices μ, ν: weak duality of its two knapsacks."""
    total = mu * spare + nu * surplus
    for u in range(low.size):
        c = _preference(low[u], high[u], low2[u], high2[u])
        total += positive(low[u] - high2[u])
        total += positive(c - mu) * (high[u] - low[u])
        total += positive(c - nu) * (high2[u] - low2[u])
    return total


@part()
def program(low, high, low2, high2, spare, surplus):
    """The program's value: two knapsacks filled in one order of preference. Returns their prices too."""
    size = low.size
    disfavour = np.empty(size)  # −c, so that the smallest comes first
    heap = np.empty(size, dtype=np.int64)
    for u in range(size):
        disfavour[u] = -_preference(low[u], high[u], low2[u], high2[u])
    heap_up(disfavour, heap, size)
    total, mu, nu = 0.0, 0.0, 0.0
    left, left2 = spare, surplus
    for waiting in range(size, 0, -1):
        u = smallest(disfavour, heap, waiting)
        c = -disfavour[u]
        total += positive(low[u] - high2[u])
        if left > 0.0:
            take = min(left, high[u] - low[u])
            total, left, mu = total + c * take, left - take, c
        if left2 > 0.0:
            take = min(left2, high2[u] - low2[u])
            total, left2, nu = total + c * take, left2 - take, c
    return total, mu, nu


@compiled()
def _tile_program(lower, upper, spare, surplus, start, stop):
    """Largest program value for the rows of a tile against all others.

    The prices of the last pair that was solved make a bound for the next one in a single pass; most need no more.
    """
    rows = lower.shape[0]
    best, mu, nu = 0.0, 0.5, 0.5
    for x in range(start, min(rows, stop)):
        for y in range(rows):
            if x == y:
                continue
            pair = lower[x], upper[x], lower[y], upper[y], spare[x], surplus[y]
            if _program_bound(*pair, mu, nu) > best:
                value, mu, nu = program(*pair)
                best = max(best, value)
    return best


def paper_variation(lower: Floats, upper: Floats, spare: Floats, surplus: Floats) -> float:
    """The largest value of the paper's program over ordered pairs x ≠ x'."""
    return float(max(by_tiles(_tile_program, lower, upper, spare, surplus)))
