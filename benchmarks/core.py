"""Speed and size of the core, as ratios to scipy's pdist on the same table in the same run.

    python benchmarks/core.py

``pdist(P, "cityblock")`` computes the distances whose maximum is 2φ, so it is the natural yardstick: a ratio of 1 means
that an answer about all pairs of target values costs as much as their plain distances. The limit is printed too: one
pass of a two-core loop over all pairs that only adds up |g − h| (the triad's own kernel).
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
from _history import add, at_most, best
from scipy.optimize import linprog
from scipy.spatial.distance import pdist

import deptriad as dt
from deptriad.curves import _table_kernels

SIZE = 1000
GOALS = {
    "ratios to pdist / triad(P)": at_most(0.6),
    "ratios to pdist / leakage(P, 1)": at_most(1.0),
    'ratios to pdist / triad(box, "paper")': at_most(20.0),
    "ratios to pdist / triad(box)": at_most(6.0),
    "ratios to pdist / leakage(box, 1)": at_most(10.0),
    "many / 10,000 tables of 2 × 2 to triads, ms": at_most(20.0),
    "many / 10^6 (triad, ε) to leakages, ms": at_most(50.0),
    "many / profile(P) at n = 200, s": at_most(1.0),
    "size / peak MB": at_most(200.0),
    "size / import s": at_most(0.25),
}


def ratios() -> dict[str, float]:
    table = np.random.default_rng(0).dirichlet(np.ones(SIZE), SIZE)
    box = dt.Relative(0.1).box(table)
    yardstick = best(lambda: pdist(table, "cityblock"))
    print(f"pdist at n = {SIZE}: {yardstick:.3f} s = 1")
    actions = {
        "triad(P)": lambda: dt.triad(table),
        "leakage(P, 1)": lambda: dt.leakage(table, 1.0),
        'triad(box, "paper")': lambda: dt.triad(box, "paper"),
        "triad(box)": lambda: dt.triad(box),
        "leakage(box, 1)": lambda: dt.leakage(box, 1.0),
    }
    limit = best(lambda: _table_kernels.largest_distance(table)) / yardstick
    print(f"  {'one pass over all pairs (the limit)':38} {limit:6.2f}")
    measured = {"pass": limit}
    for name, action in actions.items():
        measured[name] = best(action, 2) / yardstick
        far = measured[name] / limit
        print(f"  {name:38} {measured[name]:6.2f}   {far:5.1f} passes")
    return measured


def many() -> dict[str, float]:
    rng = np.random.default_rng(1)
    small = rng.dirichlet(np.ones(2), (10_000, 2))
    some = dt.triads(small[:1000])
    budgets = np.linspace(0.01, 10.0, 1000)[:, None]
    hard = rng.dirichlet(np.ones(200), 200)
    found = {
        "10,000 tables of 2 × 2 to triads, ms": best(lambda: dt.triads(small)) * 1e3,
        "10^6 (triad, ε) to leakages, ms": best(lambda: some.leakage(budgets)) * 1e3,
        "profile(P) at n = 200, s": best(lambda: dt.profile(hard), 1),
    }
    for name, value in found.items():
        print(f"  {name:38} {value:6.2f}")
    return found


def many_boxes() -> dict[str, float]:
    """All ordered pairs of 40 attributes: one call, against a call for each box."""
    rng = np.random.default_rng(3)
    found = {}
    for rows, columns in ((2, 2), (5, 7)):
        tables = rng.dirichlet(np.ones(columns), (1560, rows))
        boxes = [dt.Relative(0.1).box(table) for table in tables]
        plain = [dt.Conditional(table) for table in tables]
        actions = {
            "boxes to triads": (boxes, dt.triads, dt.triad),
            "boxes to leakages": (
                boxes,
                lambda many: dt.leakages(many, 1.0),
                lambda one: dt.leakage(one, 1.0),
            ),
            "tables to leakages": (
                plain,
                lambda many: dt.leakages(many, 1.0),
                lambda one: dt.leakage(one, 1.0),
            ),
        }
        for what, (many, together, alone) in actions.items():
            batch = best(lambda many=many, together=together: together(many))
            loop = best(lambda many=many, alone=alone: [alone(one) for one in many], 1)
            name = f"1,560 {what}, {rows} × {columns}"
            found[f"{name}, ms"] = batch * 1e3
            found[f"{name}, times faster than one by one"] = loop / batch
            print(
                f"  {name:38} {batch * 1e3:6.1f} ms   {loop / batch:5.1f} times faster than a loop"
            )
    return found


def paper_program(
    lower: np.ndarray, upper: np.ndarray, lower2: np.ndarray, upper2: np.ndarray
) -> float:
    """The paper's linear program for one pair, as it states it, solved by HiGHS."""
    size = lower.size
    over, under = np.maximum(0, upper - lower2), np.maximum(0, upper2 - lower)
    share = np.divide(over, over + under, out=np.zeros(size), where=over + under > 0)
    eye = np.eye(size)
    rows = np.hstack([eye, -share[:, None] * eye, share[:, None] * eye])
    sums = np.zeros((2, 3 * size))
    sums[0, size : 2 * size] = sums[1, 2 * size :] = 1.0
    edges = (
        [(0, None)] * size
        + list(zip(lower, upper, strict=True))
        + list(zip(lower2, upper2, strict=True))
    )
    cost = np.concatenate([-np.ones(size), np.zeros(2 * size)])
    return -linprog(cost, A_ub=rows, b_ub=share * under, A_eq=sums, b_eq=[1, 1], bounds=edges).fun


def against_solver() -> dict[str, float]:
    """All pairs of a 30 × 30 box: ours, and HiGHS on a sample of pairs scaled up."""
    size, sample = 30, 60
    rng = np.random.default_rng(2)
    box = dt.Relative(0.1).box(rng.dirichlet(np.ones(size), size))
    ours = best(lambda: dt.triad(box))
    closed = best(lambda: dt.triad(box, "paper"))
    pairs = [rng.choice(size, 2, replace=False) for _ in range(sample)]
    start = time.perf_counter()
    for x, y in pairs:
        paper_program(box.lower[x], box.upper[x], box.lower[y], box.upper[y])
    each = (time.perf_counter() - start) / sample
    solver = each * size * (size - 1)
    print(
        f"  the paper's program by HiGHS, n = {size}: {each * 1e3:.2f} ms a pair, {solver:.2f} s for all pairs"
    )
    print(
        f"    closed form {solver / closed:,.0f} times faster, tight triad {solver / ours:,.0f} times"
    )
    return {"HiGHS ms a pair": each * 1e3, "closed form": solver / closed, "tight": solver / ours}


def in_fresh_process(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def size_and_start() -> dict[str, float]:
    peak = float(
        in_fresh_process(
            "import tracemalloc, numpy as np, deptriad as dt\n"
            "P = np.random.default_rng(0).dirichlet(np.ones(1000), 1000); box = dt.Relative(.1).box(P)\n"
            "dt.triad(P), dt.leakage(P, 1.0), dt.triad(box), dt.triad(box, 'paper')  # compile\n"
            "tracemalloc.start()\n"
            "dt.triad(P), dt.leakage(P, 1.0); box = dt.Relative(.1).box(P); dt.triad(box), dt.leakage(box, 1.0)\n"
            "print(tracemalloc.get_traced_memory()[1] / 2**20)"
        )
    )
    start = min(
        float(
            in_fresh_process(
                "import time, numpy; t = time.perf_counter(); import deptriad; print(time.perf_counter() - t)"
            )
        )
        for _ in range(3)
    )
    large = float(
        in_fresh_process(
            "import time, numpy as np, deptriad as dt\n"
            "P = np.random.default_rng(0).dirichlet(np.ones(4000), 4000)\n"
            "t = time.perf_counter(); dt.triad(P); dt.leakage(P, 1.0); print(time.perf_counter() - t)"
        )
    )
    print(f"  peak extra memory at n = 1000          {peak:6.0f} MB")
    print(f"  import deptriad, beyond numpy          {start:6.3f} s")
    print(f"  triad and leakage at n = 4000          {large:6.1f} s")
    return {"peak MB": peak, "import s": start, "n = 4000 s": large}


if __name__ == "__main__":
    results = {
        "ratios to pdist": ratios(),
        "many": many(),
        "many boxes": many_boxes(),
        "solver": against_solver(),
        "size": size_and_start(),
    }
    add("core", results, GOALS)
    print(
        f"peak memory of the benchmark itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )
