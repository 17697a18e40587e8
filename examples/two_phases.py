"""Collect in two phases: begin without any pilot, learn from the reports, then ask better.

    python examples/two_phases.py [acs_2018_14_states.parquet]

Phase one asks people in the first five states with the best plan that needs no prior. ``recheck`` makes a prior from
these reports alone, says whether the promise held, and gives two analyses for the next plan: of the tables as they were
estimated, and of boxes that allow for the noise of the reports and for sampling. Phase two asks the other nine states
by each plan, beside the first plan again. For every one of them it is worked out on all of its records, which no plan
has seen, what each view really tells about each attribute. Last, the reports of phase two are rechecked, too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import deptriad as dt
from deptriad.planning.guard import Guard
from deptriad.planning.told import Tables

BESIDE = Path(__file__).resolve().parents[2] / "shared"
USUAL = Path(os.environ.get("DEPTRIAD_SHARED", BESIDE)) / "data" / "acs_2018_14_states.parquet"
FIRST, PROMISE = 5, 3.0
YES_NO = ("SEX", "HICOV", "DIS", "NATIVITY", "PUBCOV")


def schema() -> dt.Schema:
    """Declared beforehand: codes of the survey, none of which is missing."""
    two = [dt.Attribute(name, [1, 2], missing="error") for name in YES_NO]
    married = dt.Attribute("MAR", [1, 2, 3, 4, 5], missing="error")
    return dt.Schema([*two, married])


def mean_distance(plan: dt.Plan, reports: pd.DataFrame, truth: pd.DataFrame) -> float:
    """Mean total variation distance of all two-way marginals."""
    known = schema()
    codes, found = known.encode(truth), []
    for names, marginal in plan.estimates(reports, 2).items():
        if len(names) == 2:
            places = [known.index(name) for name in names]
            counts = np.zeros([known.sizes[place] for place in places])
            np.add.at(counts, tuple(codes[:, place] for place in places), 1)
            found.append(marginal.distance(counts))
    return float(np.mean(found))


def largest_total(plan: dt.Plan, prior: dt.Prior) -> float:
    """What any view really tells about any attribute, by joint tables of all records."""
    promises = np.full(len(prior.names), PROMISE)
    guard = Guard(prior.schema, promises, dt.analyze(prior), Tables(prior))
    return float(max(guard.totals(view).max() for view in plan.views))


def main(path: Path) -> None:
    if not path.is_file():
        print(f"skipped: there is no {path}; pass the path of acs_2018_14_states.parquet")
        return
    known, rng = schema(), np.random.default_rng(2018)
    people = pd.read_parquet(path, columns=[*known.names, "ST"])
    states = sorted(people["ST"].unique())
    early = people[people["ST"].isin(states[:FIRST])]
    late = [people[people["ST"] == state] for state in states[FIRST:]]

    first = dt.calibrate(known, PROMISE)
    print(f"phase one: {len(early):,} people in {FIRST} states, a plan without a prior")
    learnt = first.recheck(first.perturb(early, rng))
    print(learnt)
    plans = {
        "the first plan again": first,
        "a plan by boxes": dt.calibrate(learnt.sure, PROMISE),
        "a plan by estimates": dt.calibrate(learnt.likely, PROMISE),
    }
    truths = [dt.Prior.from_data(state, known, min_records=0) for state in late]
    print(f"\nphase two: {sum(map(len, late)):,} people in {len(late)} other states")
    for name, plan in plans.items():
        told = [largest_total(plan, truth) for truth in truths]
        held = sum(each <= PROMISE for each in told)
        off = np.mean([mean_distance(plan, plan.perturb(state, rng), state) for state in late])
        print(
            f"{name}: one of {len(plan.views)} views each; mean distance of two-way tables {off:.4f}"
        )
        print(
            f"  the promise held in {held} of {len(late)} states, the largest total is {max(told):.3f}"
        )
    last = plans["a plan by estimates"]
    print("\nthe reports of the last plan say about its promise:")
    print(last.recheck(last.perturb(pd.concat(late), rng)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else USUAL)
