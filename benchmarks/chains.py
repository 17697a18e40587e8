"""An answer collected again and again: a stationary chain of 1,000 values and 10,000 steps.

    python benchmarks/chains.py

Uneven budgets, so that no step is like another. Times are ratios to one pass of scipy's pdist (L1) over a table of the
same size; the limit, which is asked for again and again once the profiles are there, is in microseconds. Beside it the
published recursion, on 30 values and 20 steps, with what each tells at some of the times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _history import add, at_most
from scipy.spatial.distance import pdist

import deptriad as dt
from deptriad.rivals.temporal import temporal_leakage

SEED = 20261118
VALUES, STEPS = 1000, 10_000
FEW_VALUES, FEW_STEPS = 30, 20


def least(action: Callable[[], Any], times: int = 1) -> tuple[Any, float]:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def chain_of(values: int, rng: np.random.Generator) -> dt.Chain:
    """Half of the people stay where they are; the others move, mostly to values nearby."""
    near = np.exp(-np.abs(np.subtract.outer(np.arange(values), np.arange(values))) / (values / 10))
    weights = near * rng.gamma(1.0, size=(values, values)) + 1e-6
    moved = weights / weights.sum(axis=1, keepdims=True)
    return dt.Chain(0.5 * np.eye(values) + 0.5 * moved, "stationary")


def main() -> None:
    rng = np.random.default_rng(SEED)
    small = chain_of(FEW_VALUES, rng)
    small.totals([0.1, 0.2])  # compile
    chain = chain_of(VALUES, rng)
    table = chain.forward.table
    _, unit = least(lambda: pdist(table, "cityblock"), 3)
    budgets = rng.uniform(0.01, 0.1, STEPS)
    _, profiles = least(lambda: chain.totals(budgets[:2]))
    told, steps = least(lambda: chain.totals(budgets), 3)
    limit, at_once = least(lambda: chain.limit(0.1), 20)
    _, calibrated = least(lambda: chain.calibrate(3.0), 3)
    print(f"{VALUES} values, {STEPS} steps; one pass of pdist takes {unit:.3f} s")
    print(f"both profiles {profiles / unit:.1f} passes, all totals after that {steps / unit:.2f}")
    print(
        f"told at most {told.total.max():.4f} of {budgets.sum():.0f} added up; for ever at 0.1: {limit:.4f}"
    )
    print(
        f"the limit takes {1e6 * at_once:.0f} µs, the budget for a promise of 3 {1e3 * calibrated:.1f} ms"
    )

    few = rng.uniform(0.1, 1.0, FEW_STEPS)
    ours, our_time = least(lambda: dt.Chain(small.forward, "stationary").totals(few), 3)
    shares = np.linalg.matrix_power(small.forward.table, 2000)[0]
    backward = (shares[:, None] * small.forward.table / shares).T
    backward /= backward.sum(axis=1, keepdims=True)
    rival, rival_time = least(lambda: temporal_leakage(small.forward.table, backward, few))
    print(
        f"{FEW_VALUES} values, {FEW_STEPS} steps: published recursion {rival_time:.2f} s, ours {our_time:.4f} s"
    )
    print(f"{'time':>6} {'published':>10} {'ours':>10} {'added up':>10}")
    for step in (0, 4, 9, 14, FEW_STEPS - 1):
        print(
            f"{step + 1:>6} {rival[step]:>10.6f} {ours.total[step]:>10.6f} {few[: step + 1].sum():>10.4f}"
        )
    figures = {
        "profiles / pdist": profiles / unit,
        "10,000 totals / pdist": steps / unit,
        "limit, microseconds": 1e6 * at_once,
        "published / ours": rival_time / our_time,
        "largest difference": float(np.abs(rival - ours.total).max()),
    }
    goals = {"limit, microseconds": at_most(1000.0), "largest difference": at_most(1e-9)}
    add("chains", figures, goals)


if __name__ == "__main__":
    main()
