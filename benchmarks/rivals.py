"""What every leakage measure costs against the alphabet size: the complexity figure of the paper.

    python benchmarks/rivals.py

For each measure and each size from 2 to 1000 this takes the time to prepare a table, the time to answer one budget once
it is prepared, the memory kept in between, and the time of one answer with nothing prepared. Each measure has a process
of its own; where one step takes longer than the limit, it ends there and is drawn up to where it got. The tables are
made as the paper's synthetic ones, x = sin(2πu) + noise of variance 2. Draws benchmarks/out/rivals.png and .svg.
"""

from __future__ import annotations

import multiprocessing
import time
import timeit
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from _history import add
from scipy.stats import norm

import deptriad as dt
from deptriad.rivals import measures

SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
KEPT = (10, 100, 1000)
"""The sizes that are printed and go into the history; the drawing has all."""

LIMIT = 5.0
"""Seconds a single step may take."""

BUDGET = 1.0
STEPS = {
    "precompute": "Time to prepare a table",
    "query": "Time to answer one budget, once prepared",
    "memory": "Memory kept in between",
    "scratch": "Time of one answer, nothing prepared",
}
OUT = Path(__file__).with_name("out")

Costs = dict[int, dict[str, float]]


# --- measuring ------------------------------------------------------------------------------------------------


def synthetic_table(size: int) -> dt.Conditional:
    """p(u | x) of records x = sin(2πu) + noise, about a hundred for each cell, both in ``size`` bins."""
    source = (np.arange(size) + 0.5) / size
    edges = np.concatenate([[-np.inf], np.linspace(-3, 3, size + 1)[1:-1], [np.inf]])
    below = norm.cdf(edges[:, None], loc=np.sin(2 * np.pi * source), scale=np.sqrt(2))
    expected = np.diff(below, axis=0) * (100 * size)
    counts = np.random.default_rng(size).poisson(expected)
    return dt.Conditional.from_counts(counts + 1)


def seconds(action: Callable[[], object]) -> float:
    """Least time of a few runs, or of one if it is long."""
    start = time.perf_counter()
    action()
    once = time.perf_counter() - start
    if once > 0.3:
        return once
    number = max(1, int(0.01 / max(once, 1e-7)))
    return min(once, *(run / number for run in timeit.repeat(action, number=number, repeat=15)))


def bytes_kept(prepared: object) -> int:
    """What the numbers and arrays of an object take."""
    numbers = (value for value in vars(prepared).values() if isinstance(value, float | np.ndarray))
    return sum(np.asarray(number).nbytes for number in numbers)


def work(name: str, to_parent: Connection) -> None:
    """Measure one measure at all sizes; send each number as soon as it is known."""
    rival = measures[name]
    warm = synthetic_table(
        40
    )  # large enough for the parallel kernels: compile them before the clock starts
    if name != "cbp":
        rival.measure(warm, BUDGET)
        if rival.prepare is not None:
            rival.prepare(warm).leakage(BUDGET)
    to_parent.send(("ready", 0, 0.0))
    for size in SIZES:
        table = synthetic_table(size)

        def scratch(table: dt.Conditional = table) -> Any:
            return rival.measure(table, BUDGET)

        to_parent.send(("table", size, 0.0))
        try:
            to_parent.send(("value", size, float(scratch())))
        except ValueError as refusal:
            to_parent.send(("refused", size, str(refusal)))
            return
        alone = seconds(scratch)
        to_parent.send(("scratch", size, alone))
        prepare = rival.prepare
        if prepare is None:
            to_parent.send(("query", size, alone))
            to_parent.send(("memory", size, table.table.nbytes))
            continue
        prepared = prepare(table)
        to_parent.send(("memory", size, bytes_kept(prepared)))
        if rival.precompute != "–":
            to_parent.send(
                ("precompute", size, seconds(lambda make=prepare, table=table: make(table)))
            )
        to_parent.send(("query", size, seconds(lambda prepared=prepared: prepared.leakage(BUDGET))))
    to_parent.send(("done", 0, 0.0))


def costs_of(name: str) -> tuple[Costs, str]:
    """The costs of a measure, size by size, and how it ended."""
    here, there = multiprocessing.Pipe(duplex=False)
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(name, there))
    worker.start()
    costs: Costs = {}
    limit, end, size = 120.0, "", 0  # the first message comes after the kernels are compiled
    while not end:
        if not here.poll(limit):
            end = f"over {LIMIT:g} s at n = {size}"
            break
        what, size, value = here.recv()
        # a step runs once, and again a few times if it is short
        limit = LIMIT if what in ("ready", "table", "value", "scratch", "memory") else 2 * LIMIT
        if what == "done":
            end = "all sizes"
        elif what == "refused":
            end = f"refused n = {size}"
        elif size and what != "table":
            costs.setdefault(size, {})[what] = value
    worker.kill()
    worker.join()
    return costs, end


# --- showing --------------------------------------------------------------------------------------------------


def ratio(costs: dict[str, Costs], name: str, ours: str, step: str, size: int) -> str:
    """How many times ours a measure costs."""
    mine, theirs = costs[ours].get(size, {}).get(step), costs[name].get(size, {}).get(step)
    return "–" if mine is None or theirs is None else f"{theirs / mine:.2g}"


def print_ratios(costs: dict[str, Costs], ends: dict[str, str]) -> None:
    columns = {
        "one answer / exact": ("exact", "scratch"),
        "prepare / triad": ("triad", "precompute"),
        "query / triad": ("triad", "query"),
        "memory / triad": ("triad", "memory"),
    }
    print(f"{'':19}" + "".join(f"{title:>24}" for title in columns))
    print(f"{'n =':19}" + "".join(f"{size:>8}" for _ in columns for size in KEPT))
    for name in costs:
        cells = [ratio(costs, name, *ours, size) for ours in columns.values() for size in KEPT]
        print(f"{name:19}" + "".join(f"{cell:>8}" for cell in cells) + f"   {ends[name]}")


COLOURS = {
    "mi": "#999999",
    "pcc": "#999999",
    "its": "#56B4E9",
    "cbp": "#E69F00",
    "hcc-1": "#CC79A7",
    "hcc-2": "#009E73",
    "ltm": "#0072B2",
    "triad": "#D55E00",
    "triad-uncalibrated": "#D55E00",
    "triad-calibrated": "#D55E00",
    "exact": "#000000",
}
"""Okabe and Ito's colours, which remain apart under every common colour blindness."""

MARKERS = dict(zip(COLOURS, "x+vDs^opd*h", strict=True))
OURS = ("triad", "exact")


def draw(costs: dict[str, Costs]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "rivals"})
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 7.5), sharex=True, layout="constrained")
    for axis, (step, title) in zip(axes.flat, STEPS.items(), strict=True):
        for name, sizes in costs.items():
            points = [(size, cost[step]) for size, cost in sizes.items() if step in cost]
            if points:
                axis.plot(
                    *zip(*points, strict=True),
                    color=COLOURS[name],
                    marker=MARKERS[name],
                    markersize=6 if name in OURS else 5,
                    linewidth=2.5 if name in OURS else 1.2,
                    linestyle="-" if name in OURS else "--",
                    zorder=3 if name in OURS else 2,
                    label=name,
                )
        axis.set(
            xscale="log",
            yscale="log",
            title=title,
            ylabel="bytes" if step == "memory" else "seconds",
        )
        axis.grid(which="major", color="#dddddd", linewidth=0.6)
        if step == "memory":
            note = {"color": "#444444", "fontsize": 9}
            axis.text(2, 3e6, "the table itself: its, cbp, hcc-1, hcc-2", **note)
            axis.text(1000, 70, "a few numbers: the triads", ha="right", **note)
            axis.text(1000, 13, "one number: mi, pcc", ha="right", **note)
            axis.set_ylim(4, 2e7)
        else:
            axis.axhline(LIMIT, color="#888888", linewidth=1, linestyle=":")
            axis.text(2, LIMIT * 1.2, f"limit {LIMIT:g} s", color="#444444", fontsize=9)
            axis.set_ylim(2e-6, 30)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[1]:
        axis.set(xlabel="alphabet size of both attributes", xticks=SIZES, xticklabels=SIZES)
        axis.minorticks_off()
    handles = {}
    for axis in axes.flat:
        handles.update(dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True)))
    order = [name for name in costs if name in handles]
    figure.legend(
        [handles[name] for name in order], order, loc="outside right center", frameon=False
    )
    OUT.mkdir(exist_ok=True)
    for kind in ("png", "svg"):
        figure.savefig(OUT / f"rivals.{kind}", dpi=150)


def main() -> None:
    start = time.perf_counter()
    costs: dict[str, Costs] = {}
    ends: dict[str, str] = {}
    for name in measures:
        costs[name], ends[name] = costs_of(name)
        print(f"{name:19} {ends[name]}", flush=True)
    print(f"\nratios, each step within {LIMIT:g} s")
    print_ratios(costs, ends)
    exact = {size: cost["value"] for size, cost in costs["exact"].items()}
    apart = max(
        abs(cost["value"] - exact[size])
        for name in ("cbp", "hcc-2", "ltm")
        for size, cost in costs[name].items()
    )
    print(f"\nlargest difference of cbp, hcc-2 and ltm from exact: {apart:.1e}")
    some = {name: {n: cost for n, cost in of.items() if n in KEPT} for name, of in costs.items()}
    add("rivals", {"limit s": LIMIT, "costs": some, "ends": ends, "largest difference": apart})
    draw(costs)
    print(f"drawn to {OUT / 'rivals.png'}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
