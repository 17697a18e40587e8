"""Collect in two phases: learn from the first reports how attributes depend on each other, then spend budgets better.

    python examples/two_phases.py [acs_2018_14_states.parquet]

Phase one asks everybody in the first five states with the budget split evenly. From those reports alone a prior is
learnt; with it budgets are calibrated to a promise, once taking the prior as it is and once with boxes that allow for
the noise of the reports and for sampling. Phase two collects the other nine states by each plan. For every one of
them the certified total of every attribute is worked out on its true tables, which neither plan has seen: the promise
holds if none is above it. Phase one is done with three budgets. Where it is small, noise makes the estimated tables
look more dependent than they are, which is cautious by accident, and boxes leave nothing but splitting evenly; where it
is large, tables are sharp, and without boxes the plan trusts them too far.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb
from deptriad.collection.split import Split
from deptriad.planning.calibrate import calibrate
from deptriad.planning.plan import Plan

BESIDE = Path(__file__).resolve().parents[2] / "shared"
USUAL = Path(os.environ.get("DEPTRIAD_SHARED", BESIDE)) / "data" / "acs_2018_14_states.parquet"
FIRST, PROMISE = 5, 3.0
FIRST_TOTALS = (3.0, 6.0, 12.0)
YES_NO = ("SEX", "HICOV", "DIS", "NATIVITY", "PUBCOV")


def schema() -> dt.Schema:
    """Declared beforehand: codes of the survey, none of which is missing."""
    two = [dt.Attribute(name, [1, 2], missing="error") for name in YES_NO]
    married = dt.Attribute("MAR", [1, 2, 3, 4, 5], missing="error")
    return dt.Schema([*two, married])


def mean_distance(strategy: object, reports: pd.DataFrame, truth: pd.DataFrame) -> float:
    """Mean total variation distance of all two-way marginals."""
    known = schema()
    codes, found = known.encode(truth), []
    for i in range(len(known)):
        for j in range(i):
            counts = np.zeros((known.sizes[i], known.sizes[j]))
            np.add.at(counts, (codes[:, i], codes[:, j]), 1)
            names = [known.names[i], known.names[j]]
            found.append(estimate(strategy, reports, names).distance(counts))
    return float(np.mean(found))


def main(path: Path) -> None:
    if not path.is_file():
        print(f"skipped: there is no {path}; pass the path of acs_2018_14_states.parquet")
        return
    known, rng = schema(), np.random.default_rng(2018)
    people = pd.read_parquet(path, columns=[*known.names, "ST"])
    states = sorted(people["ST"].unique())
    early = people[people["ST"].isin(states[:FIRST])]
    late = [people[people["ST"] == state] for state in states[FIRST:]]

    truths = [dt.analyze(dt.Prior.from_data(state, known, min_records=0)) for state in late]
    split = Split(known, PROMISE)
    usual = np.mean([mean_distance(split, perturb(split, state, rng), state) for state in late])
    print(
        f"promise for phase two, {len(late)} held-out states: no certified total above {PROMISE:g}"
    )
    print(f"mean distance of two-way marginals if split evenly there, too: {usual:.4f}")
    for total in FIRST_TOTALS:
        print(f"\nphase one: {len(early):,} people in {FIRST} states, Split with ε = {total:g}")
        first = Split(known, total)
        prior = dt.Prior.from_reports(perturb(first, early, rng), first)
        for name, uncertainty in {"without boxes": None, "with boxes": dt.Confidence(0.95)}.items():
            plan = calibrate(dt.analyze(prior, uncertainty), PROMISE)
            tell(name, plan, truths)
            found = [mean_distance(plan, perturb(plan, state, rng), state) for state in late]
            print(f"  mean distance of two-way marginals: {np.mean(found):.4f}")


def tell(name: str, plan: Plan, truths: list[dt.Analysis]) -> None:
    """In how many states the promise held."""
    worst = [max(each.certified for each in t.totals(plan.budgets).values()) for t in truths]
    held = sum(value <= PROMISE for value in worst)
    print(f"{name}: the promise held in {held} of {len(truths)} held-out states")
    print(f"  largest total of any attribute: {min(worst):.3f} to {max(worst):.3f} by state")
    print("  budgets: " + ", ".join(f"{key} {value:.2f}" for key, value in plan.budgets.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else USUAL)
