"""What a budget buys: distance of 2-, 3- and 4-way marginals from the truth, by strategy, on nine survey attributes.

    python examples/marginal_study.py [acs_2018_14_states.parquet [figure.png]]

The paper's comparison: a calibrated plan, splitting, and one random k-way view for each user; beside them the two that
never report attributes together, which are given the product of one-way marginals. All use GRR, by simulation from
joint counts. Lines are means over five repetitions, bands their spread.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import deptriad as dt
from deptriad.budget import calibrate
from deptriad.study import Study, marginal_study, usual

BESIDE = Path(__file__).resolve().parents[2] / "shared"
USUAL = Path(os.environ.get("DEPTRIAD_SHARED", BESIDE)) / "data" / "acs_2018_14_states.parquet"
SIZES = {"SEX": 2, "MAR": 5, "CIT": 5, "RAC1P": 9, "NATIVITY": 2, "DIS": 2, "HICOV": 2}
SIZES |= {"PRIVCOV": 2, "PUBCOV": 2}
BUDGETS = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#999999", "#CC79A7")


def draw(study: Study, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharey=True, layout="constrained")
    names = list(dict.fromkeys(row.strategy for row in study))
    for axis, k in zip(axes, (2, 3, 4), strict=True):
        for name, colour in zip(names, COLOURS, strict=True):
            rows = [study.get(name, k, budget) for budget in BUDGETS]
            mean, spread = (
                np.array([getattr(row, key) for row in rows]) for key in ("mean", "spread")
            )
            axis.plot(BUDGETS, mean, "o-", color=colour, ms=4, label=name)
            axis.fill_between(BUDGETS, mean - spread, mean + spread, color=colour, alpha=0.2)
        axis.set_title(f"{k}-way marginals", loc="left")
        axis.set(xlabel="total budget ε", yscale="log")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("mean total variation distance (log scale)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=5)
    figure.savefig(path, dpi=150)
    print(f"figure: {path}")


def main(path: Path, picture: str) -> None:
    if not path.is_file():
        print(f"skipped: there is no {path}; pass the path of acs_2018_14_states.parquet")
        return
    values = {name: list(range(1, size + 1)) for name, size in SIZES.items()}
    schema = dt.Schema([dt.Attribute(name, own, missing="error") for name, own in values.items()])
    people = pd.read_parquet(path, columns=list(SIZES))
    counts = np.zeros(schema.sizes, dtype=np.int64)
    np.add.at(counts, tuple(schema.encode(people).T), 1)
    analysis = dt.analyze(dt.Prior.from_data(people, schema))

    @cache
    def plan(epsilon: float) -> object:
        return calibrate(analysis, epsilon, mechanism="grr")

    strategies = {"plan": lambda epsilon, k: plan(epsilon), **usual(schema)}
    study = marginal_study(
        counts, schema, BUDGETS, strategies=strategies, rng=np.random.default_rng(1)
    )
    print(study)
    draw(study, picture)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0]) if given else USUAL, given[1] if len(given) > 1 else "marginal_study.png")
