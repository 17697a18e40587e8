"""What algorithms cost against the alphabet size: times, kept numbers, and the exponents that they grow with."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from functools import cache, partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

import deptriad as dt
from deptriad.paper import sine
from deptriad.rivals import measures

if TYPE_CHECKING:
    from deptriad.tables.table import Box
    from deptriad.utils.arrays import Floats

BUDGET = 1.0
MARGIN = 0.1

SIZES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "mi": ((400, 800, 1600, 3200), (100, 200, 400)),
    "pcc": ((400, 800, 1600, 3200), (100, 200, 400)),
    "its": ((400, 800, 1600, 3200), (100, 200, 400)),
    "cbp": ((15, 16, 17, 18, 19), (10, 12, 14)),
    "hcc-1": ((200, 400, 800, 1600), (100, 200, 400)),
    "hcc-2": ((80, 160, 320, 480), (20, 40, 80)),
    "ltm": ((80, 160, 320, 480), (20, 40, 80)),
    "triad": ((250, 500, 1000, 2000), (100, 200, 400)),
}
"""Alphabet sizes at which each algorithm is timed, in full and quick: past its fixed costs, and within seconds."""

REPEATS = 3
TOO_SMALL = "a quick run: at sizes this small fixed costs hide the growth"
"""Why the growth that a quick run measures tells nothing."""


@cache
def table(size: int) -> dt.Conditional:
    """The sine table of a size, checked; made once."""
    return dt.Conditional(sine.table(size))


@cache
def box(size: int) -> Box:
    """The same, known up to 10 %."""
    return dt.Relative(MARGIN).box(table(size))


def seconds(action: Callable[[], object]) -> float:
    """Least processor time of a few runs, after one that may compile; processor time, so that neighbours count less."""
    timeit.timeit(action, number=1)
    once = timeit.timeit(action, number=1, timer=process_time)
    if once > 1.0:
        return once
    number = max(1, int(0.005 / max(once, 1e-6)))
    runs = timeit.repeat(action, number=number, repeat=REPEATS, timer=process_time)
    return max(min(once, *(run / number for run in runs)), 1e-9)


def exponent(sizes: Sequence[float] | Floats, costs: Sequence[float] | Floats) -> float:
    """k of the cost ~ size^k that fits best."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def doublings(sizes: Sequence[float] | Floats, costs: Sequence[float] | Floats) -> float:
    """k of the cost ~ 2^(k·size) that fits best."""
    return float(np.polyfit(sizes, np.log2(costs), 1)[0])


@cache
def answer_times(name: str, sizes: tuple[int, ...]) -> list[float]:
    """Seconds of one answer of a measure, nothing prepared, by size; timed once, for both tables."""
    measure = measures[name].measure
    return [seconds(partial(measure, table(size), BUDGET)) for size in sizes]


def query_time(prepared: Any) -> float:
    """Seconds to answer one budget."""
    return seconds(lambda: prepared.leakage(BUDGET))


def kept_bytes(prepared: Any) -> int:
    """Bytes of the numbers that an object keeps, in its Python objects or arrays."""
    numbers = (value for value in vars(prepared).values() if isinstance(value, float | np.ndarray))
    return sum(np.asarray(number).nbytes for number in numbers)


def program_time(size: int) -> float:
    """Seconds of the paper's linear program for one pair of target values, by an interior-point method."""
    uncertain = box(size)
    return seconds(lambda: published_program(uncertain, 0, size // 2))


def published_program(uncertain: Box, x: int, y: int) -> float:
    """The paper's relaxed φ of one pair of rows, by the linear program as it is written (Algorithm 1, line 18).

    Variables are z, G and G'. Where an entry has no room at all both ways, z is 0.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, csr_array, diags_array, hstack

    low, high = np.asarray(uncertain.lower), np.asarray(uncertain.upper)
    up = np.maximum(0.0, high[x] - low[y])
    down = np.maximum(0.0, high[y] - low[x])
    with np.errstate(invalid="ignore"):
        share = np.where(up + down > 0.0, up / (up + down), 0.0)
    size = share.size
    limits = hstack([diags_array(np.ones(size)), diags_array(-share), diags_array(share)])
    one, none = coo_array(np.ones((1, size))), csr_array((1, size))
    sums = np.vstack([hstack([none, one, none]).toarray(), hstack([none, none, one]).toarray()])
    bounds = np.vstack(
        [
            np.column_stack([np.zeros(size), np.full(size, np.inf)]),
            np.column_stack([low[x], high[x]]),
            np.column_stack([low[y], high[y]]),
        ]
    )
    cost = np.concatenate([-np.ones(size), np.zeros(2 * size)])
    solve: Any = linprog  # its stubs know no sparse matrices
    found = solve(cost, limits, share * down, sums, np.ones(2), bounds, method="highs-ipm")
    if not found.success:
        raise ValueError(f"the paper's linear program failed: {found.message}")
    return -float(found.fun)
