"""Figure 7: what α and β alone say about the leakage, over all ordered pairs of five real datasets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

import deptriad as dt
from deptriad.paper import figures, five
from deptriad.paper.data import FIVE, Binning
from deptriad.paper.item import Claim, Item, Outcome, Row, Work
from deptriad.paper.measures import pair_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deptriad.utils.arrays import Floats

AT = 1.0
STEP = 0.005
"""A curve goes one way if no step goes back by as much."""
PAIR, CORRELATION = "pair", "correlation"
COLUMNS: tuple[str, ...] = ("kind", "binning", "dataset", "source", "target", "epsilon")
COLUMNS += ("alpha", "beta", "leakage", "with alpha", "with beta")


def run(work: Work) -> Outcome:
    """Pairs at ε = 1, and correlations over budgets, for each binning."""
    budgets = np.geomspace(0.01, 10.0, work.choose(31, 9)).tolist()
    rows: list[Row] = []
    for done, (label, binning) in enumerate(five.BINNINGS.items(), 1):
        rows += work.kept(
            binning,
            partial(_rows, work, label, binning, budgets),
        )
        work.progress(done, len(five.BINNINGS))
    claims = [_capped(rows), _linear(rows), *_ends(rows), _dominant(rows)]
    return Outcome(rows, claims, five.DATA, _excluded(rows))


def _rows(work: Work, label: str, binning: Binning, budgets: list[float]) -> list[Row]:
    named: list[tuple[str, str, str]] = []
    tables: list[dt.Conditional] = []
    for name in FIVE:
        prior = five.prior_of(work, name, "quantile" if name == "celeba" else binning)
        named += [(name, *pair) for pair in permutations(prior.names, 2)]
        tables += pair_tables(prior)
    triads = dt.triads(tables)
    alpha, beta = np.asarray(triads.alpha), _beta(triads)
    leakage = dt.leakages(tables, AT)
    found: list[Row] = [
        _row(kind=PAIR, binning=label, dataset=own[0], source=own[1], target=own[2], epsilon=AT)
        | {"alpha": float(a), "beta": float(b) if np.isfinite(b) else "", "leakage": float(each)}
        for own, a, b, each in zip(named, alpha, beta, leakage, strict=True)
    ]
    for epsilon in budgets:
        exact = dt.leakages(tables, epsilon)
        with_alpha, with_beta = (correlation(each, exact) for each in (alpha, beta))
        row = _row(kind=CORRELATION, binning=label, epsilon=epsilon)
        found.append(row | {"with alpha": with_alpha, "with beta": with_beta})
    return found


def _beta(triads: dt.Triad) -> Floats:
    """β, and 0 where φ = δ but for rounding upward: what is left of β is then rounding alone."""
    phi, delta = np.asarray(triads.phi), np.asarray(triads.delta)
    return np.where(phi - delta <= 1e-12, 0.0, np.asarray(triads.beta))


def _row(**given: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS, "") | given


def correlation(parameter: Floats, leakage: Floats) -> float:
    """Pearson's coefficient of the logarithms, where both are positive and finite."""
    usable = np.isfinite(parameter) & (parameter > 0.0) & (leakage > 0.0)
    return float(np.corrcoef(np.log(parameter[usable]), np.log(leakage[usable]))[0, 1])


def _curve(rows: Sequence[Row], label: str, name: str) -> Floats:
    return figures.column(figures.those(rows, kind=CORRELATION, binning=label), f"with {name}")


def _capped(rows: Sequence[Row]) -> Claim:
    largest = float(np.max(figures.column(figures.those(rows, kind=PAIR), "leakage")))
    holds = largest <= AT
    return Claim(
        "at ε = 1 no leakage is above 1, and the largest is 1",
        f"the largest is {largest:.6f}",
        holds and largest > 0.99,
        ""
        if holds and largest > 0.99
        else "no pair determines another"
        if holds
        else "a leakage is above its budget",
    )


def _linear(rows: Sequence[Row]) -> Claim:
    found = {}
    for label in five.BINNINGS:
        pairs = figures.those(rows, kind=PAIR, binning=label)
        found[label] = correlation(figures.column(pairs, "beta"), figures.column(pairs, "leakage"))
    holds = min(found.values()) > 0.9
    return Claim(
        "at ε = 1 ln β and ln CPL are related about linearly (where 0 < β < ∞)",
        "correlation "
        + ", ".join(f"{value:.3f} ({label})" for label, value in found.items())
        + " (about linearly: above 0.9)",
        holds,
        "" if holds else "the correlation is not above 0.9",
    )


def _ends(rows: Sequence[Row]) -> list[Claim]:
    claims = []
    for name, sign, paper in (
        ("beta", -1.0, "falls from 0.97 to 0.69"),
        ("alpha", 1.0, "rises from 0.67 to 0.97"),
    ):
        curves = {label: _curve(rows, label, name) for label in five.BINNINGS}
        monotone = all(bool((sign * np.diff(curve) > -STEP).all()) for curve in curves.values())
        ordered = all(bool(sign * (curve[-1] - curve[0]) > 0.0) for curve in curves.values())
        shown = ", ".join(f"{c[0]:.2f} to {c[-1]:.2f} ({label})" for label, c in curves.items())
        word = "β" if name == "beta" else "α"
        claims.append(
            Claim(
                f"the correlation of ln {word} with ln CPL {paper.split(' from')[0]} as ε grows",
                f"from {shown} over ε from 0.01 to 10, no step going back by {STEP:g} or more"
                if monotone
                else f"from {shown} over ε from 0.01 to 10",
                monotone and ordered,
                ""
                if monotone and ordered
                else f"its ends are {'in this order, but' if ordered else 'not in this order, and'} it does not "
                f"go one way: {_turn(curves, sign)}",
            )
        )
        claims.append(
            Claim(
                f"the correlation of ln {word} with ln CPL {paper}",
                f"from {shown}",
                None,
                "two of the five datasets are other editions, and the paper's range of budgets is not stated",
            )
        )
    return claims


def _turn(curves: dict[str, Floats], sign: float) -> str:
    """How far each curve goes back on its way."""
    back = {
        label: float(np.max(np.maximum.accumulate(sign * curve) - sign * curve))
        for label, curve in curves.items()
    }
    return ", ".join(f"back by {value:.3f} ({label})" for label, value in back.items())


def _dominant(rows: Sequence[Row]) -> Claim:
    ends = []
    for label in five.BINNINGS:
        gap = _curve(rows, label, "beta") - _curve(rows, label, "alpha")
        ends.append((gap[0], gap[-1]))
    holds = all(first > 0.0 > last for first, last in ends)
    return Claim(
        "β says more about the leakage for small budgets, α for large ones",
        "β's correlation less α's at ε = 0.01 and 10: "
        + "; ".join(f"{first:+.2f} and {last:+.2f}" for first, last in ends),
        holds,
        "" if holds else "one of them is ahead at both ends",
    )


def _excluded(rows: Sequence[Row]) -> list[str]:
    pairs = figures.those(rows, kind=PAIR)
    unbounded = sum(str(row["beta"]) == "" for row in pairs)
    zero = figures.column(pairs, "beta") == 0.0
    if not zero.any():
        return []
    leakage = figures.column(pairs, "leakage")[zero]
    worst = [row for row, without in zip(pairs, zero, strict=True) if without][
        int(np.argmax(leakage))
    ]
    return [
        f"Of {len(pairs)} pairs {unbounded} have β = ∞ and {int(zero.sum())} have β = 0: no logarithm, so they have no "
        "part in the correlations with β. The paper does not say what it did with such pairs.",
        f"β = 0 does not mean that nothing leaks: it is so wherever φ = δ, and {five.PAPER_NAMES[worst['dataset']]}'s "
        f"{worst['source']} tells {leakage.max():.3f} of 1 about {worst['target']} ({worst['binning']}). Of the pairs "
        f"with β = 0 half leak more than {np.median(leakage):.2f} at ε = 1. So β alone is a guide only where "
        "δ is small.",
    ]


def draw(rows: Sequence[Row]) -> Figure:
    """β against the leakage, and the correlations; solid for equal counts, dashed for equal width."""
    figure = figures.sheet(2, 1, (4.6, 3.6))
    left, right = figures.panels(figure, 2)
    for name, colour, mark in zip(FIVE, figures.CYCLE, figures.MARKS, strict=False):
        chosen = figures.those(rows, kind=PAIR, binning="equal counts", dataset=name)
        left.plot(
            figures.column(chosen, "beta"),
            figures.column(chosen, "leakage"),
            mark,
            color=colour,
            markersize=2.5,
            alpha=0.5,
            linestyle="none",
            label=five.PAPER_NAMES[name],
        )
    left.set(xscale="log", yscale="log", xlabel="β", ylabel="leakage at ε = 1 (nats)")
    figures.legend(left, markerscale=2.0)
    pairs = figures.those(rows, kind=PAIR, binning="equal counts")
    hidden = len(pairs) - int(np.sum(figures.column(pairs, "beta") > 0.0))
    left.set_xlabel(f"β ({hidden} of {len(pairs)} pairs have 0 or ∞, not shown)")
    figures.name_panel(left, "a", "β against the leakage, equal counts")
    for label, dash in zip(five.BINNINGS, figures.DASHES, strict=False):
        budgets = figures.column(figures.those(rows, kind=CORRELATION, binning=label), "epsilon")
        for name, word, colour in (
            ("beta", "β", figures.CYCLE[0]),
            ("alpha", "α", figures.CYCLE[1]),
        ):
            right.plot(
                budgets,
                _curve(rows, label, name),
                color=colour,
                linestyle=dash,
                linewidth=2,
                label=f"ln {word}, {label}",
            )
    right.set(xscale="log", xlabel="budget ε", ylabel="correlation with ln CPL")
    figures.legend(right)
    figures.name_panel(right, "b", "correlation over budgets")
    return figure


WORDS = (
    "On the left the leakages of all pairs of five datasets at a budget of 1 against their β: on "
    "logarithmic scales a narrow band along a rising line. On the right, against the budget, the "
    "correlation with β falls from 0.97, and that with α rises to 0.98 or 0.90, and falls a little at the "
    "end"
)

ITEM = Item(
    "figure-7", "What α and β alone say about the leakage", run, draw, needs=FIVE, words=WORDS
)
