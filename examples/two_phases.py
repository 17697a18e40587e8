"""Collect in two phases: learn from the first reports how attributes depend on each other, then spend budgets better.

    python examples/two_phases.py [acs_2018_14_states.parquet]

Phase one asks everybody in the first five states with the budget split evenly. From those reports alone a prior is
learnt; with it budgets are calibrated to a promise, once taking the prior as it is and once with boxes that allow for
the noise of the reports and for sampling. Phase two collects the other nine states by each plan. For every one of
them the certified total of every attribute is worked out on its true tables, which neither plan has seen: the promise
holds if none is above it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import deptriad as dt
from deptriad.budget import calibrate
from deptriad.collection import Split, perturb
from deptriad.marginals import estimate
from deptriad.reports_prior import prior_from_reports

BESIDE = Path(__file__).resolve().parents[2] / "shared"
USUAL = Path(os.environ.get("DEPTRIAD_SHARED", BESIDE)) / "data" / "acs_2018_14_states.parquet"
FIRST, PROMISE, FIRST_TOTAL = 5, 3.0, 12.0
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

    first = Split(known, FIRST_TOTAL)
    prior = prior_from_reports(perturb(first, early, rng), first)
    plans = {
        "without boxes": calibrate(dt.analyze(prior), PROMISE),
        "with boxes": calibrate(dt.analyze(prior, dt.Confidence(0.95)), PROMISE),
    }
    print(f"phase one: {len(early):,} people in {FIRST} states, Split with ε = {FIRST_TOTAL:g}")
    print(f"promise for phase two: no certified total above {PROMISE:g}\n")
    truths = [dt.analyze(dt.Prior.from_data(state, known, min_records=0)) for state in late]
    for name, plan in plans.items():
        worst = [max(each.certified for each in t.totals(plan.budgets).values()) for t in truths]
        held = sum(value <= PROMISE for value in worst)
        print(f"{name}: the promise held in {held} of {len(late)} held-out states")
        print(f"  largest total by state: {', '.join(f'{value:.3f}' for value in worst)}")
        print(
            "  budgets: " + ", ".join(f"{key} {value:.2f}" for key, value in plan.budgets.items())
        )
    print("\nmean distance of two-way marginals in the held-out states:")
    for name, strategy in {**plans, "Split": Split(known, PROMISE)}.items():
        found = [mean_distance(strategy, perturb(strategy, state, rng), state) for state in late]
        print(f"  {name:14} {np.mean(found):.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else USUAL)
