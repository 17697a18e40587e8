"""A survey that goes from state to state: budgets from five states, promises in nine others.

    python examples/statewise_survey.py [acs_2018_14_states.parquet [figure.png]]

Five states have answered; what they say about eight attributes of adults is the prior. Budgets are chosen so that no
attribute's total is above 3, once as if the mean of the five held everywhere ("nominal"), and once for all tables
within a standard deviation of it ("uncertainty-aware"). Then the other nine states are looked at: what budgets each
would have chosen for itself, in how many the totals of its own tables break the promise, and in how many sets of values
prove that it is broken (a lower bound, so beyond doubt for those records).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import deptriad as dt
from deptriad.budget import calibrate
from deptriad.plan import Plan

SHARED = Path(os.environ.get("DEPTRIAD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
DATA = SHARED / "data" / "acs_2018_14_states.parquet"

PROMISE = 3.0
KNOWN = 5
"""States whose answers are the prior: those with the most records."""

INF = float("inf")
SCHEMA = dt.Schema(
    [
        dt.Attribute("SEX", [1, 2], missing="error"),
        dt.Attribute("AGEP", edges=[18, 25, 35, 45, 55, 65, 75, INF], missing="error"),
        dt.Attribute("MAR", [1, 2, 3, 4, 5], missing="error"),
        dt.Attribute("RAC1P", [1, 2, 3, 6], missing="error", unseen="other"),
        dt.Attribute("HISP", [1], missing="error", unseen="other"),
        dt.Attribute("SCHL", edges=[1, 16, 18, 21, 22, 25], missing="error"),
        dt.Attribute("HINS3", [1, 2], missing="error"),
        dt.Attribute("PINCP", edges=[-INF, 10_000, 25_000, 45_000, 75_000, INF], missing="error"),
    ]
)
LABELS = ["sex", "age", "marital\nstatus", "race", "Hispanic", "schooling", "Medicare", "income"]
INK, COLOURS = "#222222", ("#999999", "#D55E00", "#0072B2")  # Okabe and Ito's, safe for all eyes


@dataclass(frozen=True)
class Outcome:
    """Two plans, and what became of them in the states that were not asked.

    Parameters
    ----------
    plans
        "nominal" and "uncertainty-aware".
    actual
        A row for each held-out state: the budgets it would have chosen for itself.
    broken
        By plan: the held-out states in which some attribute's own total is above the promise.
    proved, held_out
        By plan: those in which a witness proves it, on all records of the state; and on the half of them where its sets
        were not looked for, so that chance has no part in it.
    worst
        By plan: the largest total in any held-out state.
    """

    guarantee: str
    plans: dict[str, Plan]
    actual: np.ndarray
    broken: dict[str, list[str]]
    proved: dict[str, list[str]]
    held_out: dict[str, list[str]]
    worst: dict[str, float]


def adults(path: Path) -> Any:
    """The adults' answers, and their state."""
    import pandas as pd

    frame = pd.read_parquet(path, columns=[*SCHEMA.names, "ST"])
    return frame[frame["AGEP"] >= 18]


def split(frame: Any) -> tuple[list[int], list[int]]:
    """The states with the most records, and the others."""
    states = frame["ST"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    return states.index[:KNOWN].tolist(), sorted(states.index[KNOWN:].tolist())


def analysed(frame: Any, uncertainty: Any = None, by: str | None = None) -> dt.Analysis:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of thin values, which a small state has
        return dt.analyze(dt.Prior.from_data(frame, SCHEMA, by=by), uncertainty)


def survey(frame: Any, guarantee: str, witnesses: bool = True) -> Outcome:
    """Plans from the known states, and how they fare in the others."""
    known, others = split(frame)
    prior = frame[frame["ST"].isin(known)]
    plans = {
        "nominal": calibrate(analysed(prior, by="ST"), PROMISE, guarantee=guarantee),
        "uncertainty-aware": calibrate(
            analysed(prior, dt.Spread("std"), by="ST"), PROMISE, guarantee=guarantee
        ),
    }
    actual = []
    broken, proved, held_out = ({name: [] for name in plans} for _ in range(3))
    worst = dict.fromkeys(plans, 0.0)
    for state in others:
        there = frame[frame["ST"] == state][list(SCHEMA.names)]
        analysis = analysed(there)
        actual.append(list(calibrate(analysis, PROMISE, guarantee=guarantee).budgets.values()))
        for name, plan in plans.items():
            totals = analysis.totals(plan.budgets).values()
            largest = max(getattr(total, guarantee) for total in totals)
            worst[name] = max(worst[name], largest)
            if largest > PROMISE:
                broken[name].append(str(state))
            if witnesses:
                check = plan.check(there, np.random.default_rng(state))
                if check.broken:
                    proved[name].append(str(state))
                if any(row.held_out > row.promise for row in check.values()):
                    held_out[name].append(str(state))
    return Outcome(guarantee, plans, np.array(actual), broken, proved, held_out, worst)


def told(outcome: Outcome) -> str:
    """What happened, in words."""
    count = len(outcome.actual)
    lines = [f"{outcome.guarantee}, no total above {PROMISE:g}, {count} held-out states"]
    names = "".join(f"{name:>10}" for name in SCHEMA.names)
    lines.append(f"{'budget of':>20}{names}")
    rows = {name: list(plan.budgets.values()) for name, plan in outcome.plans.items()}
    rows |= {"held-out, mean": outcome.actual.mean(axis=0)}
    rows |= {"held-out, std": outcome.actual.std(axis=0, ddof=1)}
    for name, numbers in rows.items():
        lines.append(f"{name:>20}" + "".join(f"{number:10.3f}" for number in numbers))
    for name in outcome.plans:
        broken, proved = outcome.broken[name], outcome.proved[name]
        lines.append(
            f"{name}: the promise is broken in {len(broken)} of {count} held-out states by their own "
            f"{outcome.guarantee} totals (the largest is {outcome.worst[name]:.3f}), and provably, by a witness, in "
            f"{len(proved)} "
            f"({len(outcome.held_out[name])} on the half of the records where it was not looked for)"
        )
    return "\n".join(lines)


def draw(outcomes: Sequence[Outcome], path: str) -> None:
    """Budgets of both plans beside those that held-out states would have chosen."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        len(outcomes), 1, figsize=(9, 3.6 * len(outcomes)), layout="constrained", sharex=True
    )
    place = np.arange(len(SCHEMA))
    for axes, outcome in zip(np.atleast_1d(panels), outcomes, strict=True):
        mean, spread = outcome.actual.mean(axis=0), outcome.actual.std(axis=0, ddof=1)
        axes.bar(
            place - 0.27,
            mean,
            0.26,
            yerr=spread,
            color=COLOURS[0],
            ecolor=INK,
            capsize=3,
            label="held-out states' own (mean ± std)",
        )
        for shift, (name, plan), colour in zip(
            (0.0, 0.27), outcome.plans.items(), COLOURS[1:], strict=True
        ):
            broken, proved = len(outcome.broken[name]), len(outcome.proved[name])
            axes.bar(
                place + shift,
                list(plan.budgets.values()),
                0.26,
                color=colour,
                label=f"{name}: own total above {PROMISE:g} in {broken} of {len(outcome.actual)} "
                f"held-out states, proved by a witness in {proved}",
            )
        axes.axhline(PROMISE / len(SCHEMA), color=INK, lw=1, ls=":")
        axes.text(
            len(SCHEMA) - 0.5,
            PROMISE / len(SCHEMA),
            " splitting",
            va="center",
            color=INK,
            fontsize=9,
        )
        kind = "bound" if outcome.guarantee == "certified" else "estimate"
        axes.set_title(
            f"Budgets that hold every {outcome.guarantee} total ({kind}) at {PROMISE:g}",
            loc="left",
            color=INK,
        )
        largest = [max(plan.budgets.values()) for plan in outcome.plans.values()]
        top = max(float((mean + spread).max()), *largest)
        axes.set(ylabel="budget ε", ylim=(0, 1.45 * top), xticks=place, xticklabels=LABELS)
        axes.set_xlim(-0.6, len(SCHEMA) - 0.5)
        axes.legend(frameon=False, loc="upper left", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    figure.savefig(path, dpi=150)


def main(path: str = str(DATA), figure: str = "statewise_survey.png") -> None:
    if not Path(path).is_file():
        raise SystemExit(
            f"{path} is absent: pass the path of the American Community Survey's persons of 2018 as Parquet"
        )
    frame = adults(Path(path))
    outcomes = [survey(frame, guarantee) for guarantee in ("certified", "pairwise")]
    for outcome in outcomes:
        print(told(outcome), end="\n\n")
    draw(outcomes, figure)
    print(f"figure: {figure}")


if __name__ == "__main__":
    main(*sys.argv[1:])
