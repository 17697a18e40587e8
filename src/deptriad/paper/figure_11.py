"""Figure 11: time and space of the triad, HCC-2 and LTM against the alphabet size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import deptriad as dt
from deptriad.paper import costs, figures
from deptriad.paper.item import Claim, Item, Outcome, Row, Work
from deptriad.rivals import hcc_2, ltm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deptriad.utils.arrays import Floats

SIZES = (2, 5, 10, 20, 50, 100, 200, 400, 1000)
SHORT = (5, 10, 20, 40)
MOST = {"triad": 1000, "paper": 1000, "hcc-2": 400, "ltm": 200, "ltm all pairs": 200}
MOST |= {"knots": 1000, "closed": 400}
"""Largest size of each: beyond it takes minutes, or gigabytes."""

TITLES = {
    "triad": "triad (table)",
    "paper": "triad (±10 %, the paper's program by interior points, one pair × pairs)",
    "hcc-2": "HCC-2",
    "ltm": "LTM, merged",
    "ltm all pairs": "LTM, pieces of every pair",
    "knots": "ours: 8 knots",
    "closed": "ours: triad (±10 %, the paper's program in closed form)",
}


def run(work: Work) -> Outcome:
    """Costs of each algorithm at each size it is fit for."""
    sizes = work.choose(SIZES, SHORT)
    rows: list[Row] = []
    for done, size in enumerate(sizes):
        for name in TITLES:
            if size <= MOST[name]:
                rows.append(work.kept(f"{name}-{size}", partial(_row, name, size)))
        work.progress(done + 1, len(sizes))
    claims = [
        _constant(rows, "query", "evaluating the triad takes constant time", work.quick),
        _constant(rows, "bytes", "the triad takes constant space", False),
        _polynomial(
            rows, "query", "evaluating HCC-2 takes polynomial time", (2.3, 3.7), work.quick
        ),
        _polynomial(rows, "bytes", "HCC-2 keeps the table: polynomial space", (1.9, 2.1), False),
        _faster(rows),
        _smaller(rows),
    ]
    return Outcome(rows, claims, DATA, NOTES)


DATA = "sine tables by their law; processor time on one machine, another one than the paper's"
NOTES = (
    "The panels of the paper have no words; taken as time of precomputation, time of one evaluation, and space.",
    "LTM's evaluation is a binary search once all pairs are merged into one function, about as quick as the triad; "
    "its precomputation is what costs.",
    "The triad of a known table needs no linear program, and that of an uncertain one has a closed form.",
)


def _row(name: str, size: int) -> dict[str, Any]:
    prepare, query, kept = _costs(name, size)
    return {"algorithm": name, "size": size, "precompute": prepare, "query": query, "bytes": kept}


def _costs(name: str, size: int) -> tuple[float | str, float | str, float]:
    """Seconds to prepare, seconds to answer, bytes kept; empty where there is no such step."""
    table = costs.table(size)
    if name == "hcc-2":
        again = costs.seconds(lambda: hcc_2.measure(table, costs.BUDGET))
        return "", again, float(table.table.nbytes)
    if name == "paper":
        pairs = size * (size - 1)
        return pairs * costs.program_time(size), "", costs.kept_bytes(dt.triad(costs.table(2)))
    makers: dict[str, Any] = {
        "triad": partial(dt.triad, table),
        "ltm": partial(ltm.prepare, table),
        "ltm all pairs": partial(ltm.pieces, table),
        "knots": lambda: dt.profile(table).thin(8),
        "closed": lambda: dt.triad(costs.box(size), relaxation="paper"),
    }
    made = makers[name]()
    return costs.seconds(makers[name]), costs.query_time(made), costs.kept_bytes(made)


def _series(rows: Sequence[Row], name: str, cost: str) -> tuple[Floats, Floats]:
    chosen = figures.those(rows, algorithm=name)
    sizes, values = figures.column(chosen, "size"), figures.column(chosen, cost)
    there = ~np.isnan(values)
    return sizes[there], values[there]


def _constant(rows: Sequence[Row], cost: str, words: str, untold: bool) -> Claim:
    sizes, values = _series(rows, "triad", cost)
    growth = costs.exponent(sizes, values)
    holds = abs(growth) < 0.2
    return Claim(
        words,
        f"grows as size^{growth:.2f} from {sizes[0]:g} to {sizes[-1]:g} values",
        None if untold else holds,
        costs.TOO_SMALL if untold else "" if holds else "it changes, or other load on the machine",
    )


def _polynomial(
    rows: Sequence[Row], cost: str, words: str, between: tuple[float, float], untold: bool
) -> Claim:
    sizes, values = _series(rows, "hcc-2", cost)
    last = slice(-3, None)
    growth = costs.exponent(sizes[last], values[last])
    holds = between[0] <= growth <= between[1]
    return Claim(
        words,
        f"grows as size^{growth:.2f} over the three largest sizes",
        None if untold else holds,
        costs.TOO_SMALL if untold else "" if holds else f"expected an exponent in {between}",
    )


def _at_common_size(rows: Sequence[Row], cost: str) -> tuple[int, dict[str, float]]:
    names = ("triad", "hcc-2", "ltm")
    series = {name: dict(zip(*_series(rows, name, cost), strict=True)) for name in names}
    size = max(set.intersection(*(set(each) for each in series.values())))
    return int(size), {name: float(series[name][size]) for name in names}


def _faster(rows: Sequence[Row]) -> Claim:
    size, found = _at_common_size(rows, "query")
    holds = found["triad"] < min(found["hcc-2"], found["ltm"])
    shown = ", ".join(f"{name} {1e6 * value:.3g} µs" for name, value in found.items())
    return Claim(
        "the triad is evaluated faster than the other algorithms",
        f"at {size} values: {shown}",
        holds,
        ""
        if holds
        else "both take microseconds whatever the size: LTM, once merged, is a binary search over few pieces, "
        "and our triad is also rounded outward",
    )


def _smaller(rows: Sequence[Row]) -> Claim:
    size, found = _at_common_size(rows, "bytes")
    holds = found["triad"] < min(found["hcc-2"], found["ltm"])
    shown = ", ".join(f"{name} {value:.0f} bytes" for name, value in found.items())
    return Claim(
        "the triad takes less space than the other algorithms",
        f"at {size} values: {shown}",
        holds,
        "" if holds else "others keep less",
    )


def draw(rows: Sequence[Row]) -> Figure:
    """Precomputation, evaluation and space on logarithmic axes."""
    figure = figures.sheet(3, 1, (3.8, 3.8))
    panels = {
        "precompute": ("time of precomputation", "seconds"),
        "query": ("time of one evaluation", "seconds"),
        "bytes": ("space", "bytes"),
    }
    for axes, letter, (cost, (title, unit)) in zip(
        figures.panels(figure, 3), "abc", panels.items(), strict=True
    ):
        for name, colour, mark in zip(TITLES, figures.CYCLE, figures.MARKS, strict=False):
            sizes, values = _series(rows, name, cost)
            if name in ("paper", "closed") and cost != "precompute":
                continue  # a triad like the other
            axes.plot(sizes, values, color=colour, marker=mark, ms=4, lw=1.5, label=TITLES[name])
        axes.set(xscale="log", yscale="log", xlabel="alphabet size of both", ylabel=unit)
        figures.name_panel(axes, letter, title)
    figures.legend_below(figure, 3)
    return figure


WORDS = (
    "Time of precomputation, time of one evaluation, and space, against the alphabet size on logarithmic "
    "scales. Evaluating the triad and its space stay level; HCC-2 grows steeply in time and space, and "
    "the pieces of LTM most in space"
)

ITEM = Item("figure-11", "Time and space against the alphabet size", run, draw, words=WORDS)
