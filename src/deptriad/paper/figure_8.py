"""Figure 8: the sine table of ten values known up to a relative error: the range of its leakage, and the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import deptriad as dt
from deptriad.paper import figures, sine
from deptriad.paper.boxes import largest_leakage, smallest_leakage
from deptriad.paper.estimators import EPSILON_MAX, KNOTS
from deptriad.paper.item import Claim, Item, Outcome, Row, Work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deptriad.utils.arrays import Floats

SIZE = 10
MARGIN = 0.1
MARGINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
BUDGETS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)

BOUNDS = {
    "paper": "the paper's triad",
    "tight": "ours: tight triad",
    "tuned": f"ours: tuned triad, ε ≤ {EPSILON_MAX:g}",
    "knots": f"ours: {KNOTS} knots",
    "certified": "ours: certified",
}


def run(work: Work) -> Outcome:
    """Leakages by budget at 10 %, and by error margin at three budgets."""
    points = [(MARGIN, budget) for budget in work.choose(BUDGETS, (0.1, 1.0, 3.0, 10.0))]
    asked = [("budget", *point) for point in points]
    asked += [("margin", margin, budget) for budget in (0.5, 1.0, 5.0) for margin in MARGINS]
    rows: list[Row] = []
    for done, point in enumerate(asked):
        rows.append(work.kept("-".join(map(str, point)), partial(_row, *point)))
        work.progress(done + 1, len(asked))
    claims = [_known(rows), _above(rows), _tight(rows), _grows(rows), _no_margin(rows)]
    return Outcome(rows, claims, sine.MADE, NOTES)


NOTES = (
    "The true maximum is found by all 1024 sets of source values for each pair of target values, the true minimum by "
    "linear programs.",
    "The certified leakage reaches the true maximum here; the paper calls this problem exponential.",
    "In the paper's words |P_A − P_K| ≤ 10 %; taken relative to each entry, as its Δ = e·P_K says.",
)


def _row(panel: str, margin: float, epsilon: float) -> dict[str, Any]:
    table = sine.table(SIZE)
    box = dt.Relative(margin).box(table)
    curve = dt.profile(box)
    answers = {
        "known": dt.leakage(table, epsilon),
        "known_triad": dt.triad(table).leakage(epsilon),
        "largest": largest_leakage(box, epsilon),
        "smallest": smallest_leakage(box, epsilon, 1e-6) if panel == "budget" else np.nan,
        "paper": dt.triad(box, relaxation="paper").leakage(epsilon),
        "tight": dt.triad(box).leakage(epsilon),
        "tuned": dt.triad(box, epsilon_max=EPSILON_MAX).leakage(epsilon),
        "knots": curve.thin(KNOTS).leakage(epsilon),
        "certified": dt.leakage(box, epsilon),
    }
    known = {name: float(np.asarray(value)) for name, value in answers.items()}
    numbers = {name: "" if np.isnan(value) else value for name, value in known.items()}
    return {"by": panel, "margin": margin, "epsilon": epsilon} | numbers


def _excess(rows: Sequence[Row], name: str, over: str) -> Floats:
    return figures.column(rows, name) / figures.column(rows, over) - 1.0


def _known(rows: Sequence[Row]) -> Claim:
    excess = _excess(rows, "known_triad", "known")
    holds = bool(excess.min() >= -1e-12)
    return Claim(
        "the triad is an upper bound on the leakage of the known table",
        f"{100 * excess.min():.1f} to {100 * excess.max():.1f} % above it",
        holds,
        "" if holds else "it lies below somewhere",
    )


def _above(rows: Sequence[Row]) -> Claim:
    least = {name: float(_excess(rows, name, "largest").min()) for name in BOUNDS}
    chosen = figures.those(rows, by="budget")
    ordered = figures.column(chosen, "smallest") <= figures.column(chosen, "known") * (1 + 1e-5)
    holds = bool(min(least.values()) >= -1e-9 and ordered.all())
    return Claim(
        "the triad of the uncertain table is an upper bound on the true maximum, above the true minimum",
        f"smallest relative error {min(least.values()):.1e} over all bounds, budgets and margins; at ε = 1 "
        f"{_range(rows)}",
        holds,
        "" if holds else "a bound lies below the true maximum",
    )


def _range(rows: Sequence[Row]) -> str:
    row = figures.those(rows, by="budget", epsilon=1.0)[0]
    low, high, paper = (float(row[name]) for name in ("smallest", "largest", "paper"))
    return (
        f"the leakage is between {low:.4f} and {high:.4f}, and the paper's triad says {paper:.4f}"
    )


def _tight(rows: Sequence[Row]) -> Claim:
    chosen = figures.those(rows, by="budget")
    worst = {name: float(_excess(chosen, name, "largest").max()) for name in BOUNDS}
    meant = [row for row in chosen if float(row["epsilon"]) <= EPSILON_MAX]
    worst["tuned"] = float(_excess(meant, "tuned", "largest").max())
    shown = ", ".join(f"{name} {100 * value:.1f} %" for name, value in worst.items())
    return Claim(
        "it is a tight bound",
        f"at most above the true maximum: {shown} (tuned: up to ε = {EPSILON_MAX:g})",
        None,
        "the paper does not say how near is tight",
    )


def _grows(rows: Sequence[Row]) -> Claim:
    by_margin = figures.those(rows, by="margin")
    steps = [
        np.diff(figures.column(figures.those(by_margin, epsilon=epsilon), "paper"))
        for epsilon in figures.values(by_margin, "epsilon")
    ]
    holds = all(bool((step > 0.0).all()) for step in steps)
    at_one = figures.column(figures.those(by_margin, epsilon=1.0), "paper")
    return Claim(
        "the estimate grows with the error margin",
        f"at ε = 1 from {at_one[0]:.4f} at 0 to {at_one[-1]:.4f} at {100 * MARGINS[-1]:.0f} %",
        holds,
        "" if holds else "it falls somewhere",
    )


def _no_margin(rows: Sequence[Row]) -> Claim:
    none = figures.those(figures.those(rows, by="margin"), margin=0.0)
    apart = float(np.abs(figures.column(none, "paper") - figures.column(none, "known_triad")).max())
    holds = apart < 1e-9
    return Claim(
        "with a margin of 0 it is that of the known table",
        f"largest difference {apart:.1e}",
        holds,
        "" if holds else "the two differ",
    )


def draw(rows: Sequence[Row]) -> Figure:
    """Panel a by budget with the true range, panel b by error margin at ε = 1."""
    figure = figures.sheet(2, 1, (5.0, 4.0))
    left, right = figures.panels(figure, 2)
    chosen = figures.those(rows, by="budget")
    epsilon = figures.column(chosen, "epsilon")
    low, high = figures.column(chosen, "smallest"), figures.column(chosen, "largest")
    left.fill_between(epsilon, low, high, color=figures.PALE, label="true range")
    left.plot(epsilon, high, "o", color=figures.INK, ms=3.5, label="true maximum")
    left.plot(epsilon, low, "v", color=figures.GREY, ms=3.5, label="true minimum")
    known = figures.column(chosen, "known")
    left.plot(epsilon, known, color=figures.INK, lw=1, label="known table, exact")
    triad = figures.column(chosen, "known_triad")
    left.plot(epsilon, triad, color=figures.GREY, lw=1, ls="--", label="known table, triad")
    at_one = figures.those(figures.those(rows, by="margin"), epsilon=1.0)
    margin = 100 * figures.column(at_one, "margin")
    right.plot(margin, figures.column(at_one, "largest"), "o", color=figures.INK, ms=3.5)
    for (name, title), colour, dash in zip(
        BOUNDS.items(), figures.CYCLE, figures.DASHES, strict=False
    ):
        options: dict[str, Any] = {"color": colour, "linestyle": dash, "linewidth": 1.8}
        shown = epsilon <= (EPSILON_MAX if name == "tuned" else np.inf)
        left.plot(epsilon[shown], figures.column(chosen, name)[shown], label=title, **options)
        right.plot(margin, figures.column(at_one, name), **options)
    figures.name_panel(left, "a", f"{SIZE} values known to ±{100 * MARGIN:.0f} %")
    figures.name_panel(right, "b", "against the error margin, ε = 1")
    left.set(xlabel="budget ε", ylabel="leakage (nats)", xlim=(0, 10), ylim=(0, None))
    right.set(xlabel="error margin e (%)", ylabel="leakage (nats)", xlim=(0, None), ylim=(0, None))
    figures.legend_below(figure, 4)
    return figure


WORDS = (
    "On the left, against the budget, the range of leakages of all tables that are known to ten per cent, "
    "and bounds: the paper's triad runs up to 15 per cent above the true maximum, the certified bound on "
    "it. On the right, at a budget of 1, all bounds rise with the margin of error, in the same order"
)

ITEM = Item("figure-8", "An uncertain sine table: true range and bounds", run, draw, words=WORDS)
