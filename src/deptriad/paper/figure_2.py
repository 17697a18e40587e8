"""Figure 2: the sorted ratios of two rows, and their two-level approximations by (α, γ) and (α, β)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import deptriad as dt
from deptriad.paper import figures, toy
from deptriad.paper.item import Claim, Item, Outcome, Row, Work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deptriad.utils.arrays import Floats

BUDGETS = (0.5, 1.0, 3.0)
SHARED = ((3 / 8, 3 / 8, 1 / 4), (3 / 4, 1 / 8, 1 / 8)), ((0.38, 0.42, 0.2), (0.76, 0.14, 0.1))
"""The paper's two pairs of rows that share the ratios 0.5, 3, 2."""


def run(work: Work) -> Outcome:
    """Ratios and levels of both scenarios of the toy example."""
    rows = [row for scenario in toy.SCENARIOS for row in _levels(scenario)]
    claims = [_between(rows), *(_printed(scenario) for scenario in toy.SCENARIOS)]
    return Outcome(rows, [*claims, _sharing(), _largest()], toy.DATA, NOTES)


NOTES = (
    "The figure of the paper names no data; the toy example of its section IV is used.",
    "β is a re-coding of the largest total variation φ: the two-level pair of rows with ratios e^α and e^−β has the "
    "same φ as the rows themselves.",
)


def _levels(scenario: int) -> list[Row]:
    ratio = np.sort(toy.ratios(scenario))
    triad = dt.triad(toy.SCENARIOS[scenario])
    gamma = -np.log(ratio[0])
    return [
        {
            "scenario": scenario,
            "place": place + 1,
            "ratio": float(value),
            "alpha_gamma_level": float(np.exp(triad.alpha if value > 1.0 else -gamma)),
            "alpha_beta_level": float(np.exp(triad.alpha if value > 1.0 else -triad.beta)),
        }
        for place, value in enumerate(ratio)
    ]


def _between(rows: Sequence[Row]) -> Claim:
    low = [row for row in rows if row["ratio"] < 1.0]
    holds = all(row["alpha_gamma_level"] <= row["alpha_beta_level"] <= 1.0 for row in low)
    levels = {row["scenario"]: row["alpha_beta_level"] for row in low}
    found = ", ".join(f"{level:.3f} in scenario {scenario}" for scenario, level in levels.items())
    why = "" if holds else "β is larger than γ"
    return Claim("e^−β lies between e^−γ = 0.25 and 1", f"e^−β is {found}", holds, why)


def _printed(scenario: int) -> Claim:
    ours, printed = toy.ratios(scenario), np.array(toy.PRINTED[scenario])
    holds = bool((np.abs(ours - printed) < 0.006).all())
    wrong = [f"{p:g} is {o:.3f}" for o, p in zip(ours, printed, strict=True) if abs(o - p) >= 0.006]
    return Claim(
        f"the ratios of scenario {scenario} are {', '.join(f'{p:g}' for p in printed)}",
        ", ".join(f"{value:.3f}" for value in ours),
        holds,
        "" if holds else f"misprints: {' and '.join(wrong)} by the rows that the paper gives",
    )


def _sharing() -> Claim:
    ratio = [np.asarray(more) / np.asarray(less) for more, less in SHARED]
    holds = all(np.allclose(each, (0.5, 3.0, 2.0)) for each in ratio)
    leakages = [float(np.asarray(dt.leakage(pair, 1.0))) for pair in SHARED]
    return Claim(
        "two pairs of rows share the ratios 0.5, 3, 2",
        f"they do; their leakages at ε = 1 are {leakages[0]:.4f} and {leakages[1]:.4f}",
        holds,
        "" if holds else "their ratios differ",
    )


def _largest() -> Claim:
    """Theorem IV.1 on the ratios 0.5, 3, 2: such rows G' are the mixtures of two of them."""
    ends = np.array([[0.8, 0.2, 0.0], [2 / 3, 0.0, 1 / 3]])  # Σ G' = 1 and Σ ratio·G' = 1
    mixtures = [share * ends[0] + (1.0 - share) * ends[1] for share in np.linspace(0.0, 1.0, 101)]
    most = [max(_over(less, epsilon) for less in mixtures) for epsilon in BUDGETS]
    formula = [_formula(np.log(3.0), np.log(2.0), epsilon) for epsilon in BUDGETS]
    holds = bool(np.allclose(most, formula, rtol=1e-9))
    return Claim(
        "the most that rows with given ratios leak is the formula in α and γ",
        f"for 0.5, 3, 2: {', '.join(f'{value:.4f}' for value in most)} against "
        f"{', '.join(f'{value:.4f}' for value in formula)} at ε = 0.5, 1, 3; a supremum: it is reached where the "
        "source value with the third ratio has no probability",
        holds,
        "" if holds else "the formula is not the most that such rows leak",
    )


def _over(less: Floats, epsilon: float) -> float:
    """Leakage of the row with the ratios 0.5, 3, 2 to another over that one, by all sets of source values."""
    sets = np.array([[(number >> bit) & 1 for bit in range(3)] for number in range(8)])
    gain = np.expm1(epsilon)
    more = less * (0.5, 3.0, 2.0)
    return float(np.log(((1.0 + gain * (sets @ more)) / (1.0 + gain * (sets @ less))).max()))


def _formula(alpha: float, gamma: float, epsilon: float) -> float:
    """The paper's expression of Theorem IV.1."""
    up, down, odds = np.exp(alpha), np.exp(gamma), np.exp(epsilon)
    return float(np.log((up - 1 + up * odds * (down - 1)) / (odds * (down - 1) + down * (up - 1))))


def draw(rows: Sequence[Row]) -> Figure:
    """Three panels a scenario: the ratios, and both approximations."""
    scenarios = figures.values(rows, "scenario")
    kinds = {
        "ratio": "ratios G/G'",
        "alpha_gamma_level": r"$e^{\alpha}$ and $e^{-\gamma}$",
        "alpha_beta_level": r"$e^{\alpha}$ and $e^{-\beta}$",
    }
    figure = figures.sheet(3, len(scenarios), (3.3, 2.5))
    grid = figures.panels(figure, 3, len(scenarios), sharey=True)
    for line, scenario in enumerate(scenarios):
        chosen = figures.those(rows, scenario=scenario)
        place, ratio = figures.column(chosen, "place"), figures.column(chosen, "ratio")
        for axes, letter, (kind, title) in zip(
            grid[3 * line : 3 * line + 3], "abc", kinds.items(), strict=True
        ):
            height = figures.column(chosen, kind)
            axes.bar(place, height, color=figures.CYCLE[0], width=0.6, zorder=2)
            axes.plot(place, ratio, "o", color=figures.CYCLE[1], ms=4, zorder=3, label="ratio")
            axes.axhline(1.0, color=figures.GREY, linewidth=0.8)
            figures.name_panel(axes, letter, f"scenario {scenario}: {title}")
            axes.set_xlabel("place in ascending order")
        grid[3 * line].set_ylabel("G/G'")
        figures.legend(grid[3 * line + 1])
    return figure


WORDS = (
    "Bar charts of five sorted ratios in two scenarios, and two approximations by two levels each. Those "
    "in α and γ are the same in both scenarios; those in α and β have their lower bars at 0.42 in the "
    "first and at 0.90 in the second, as the ratios are there"
)

ITEM = Item("figure-2", "Sorted ratios and their two-level approximations", run, draw, words=WORDS)
