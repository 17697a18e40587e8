"""What the best views gain over the known strategies, by the formulas of expected errors, and how long that takes.

    python benchmarks/planner.py [--quick] [--only cardio] [--simulate 20] [--keep cells.jsonl] [--minutes 10]
    python benchmarks/planner.py --speed

Real records lie beside the repository; those that are absent are left out, and said so. Gains are summed variances of
all marginals of a workload under a known strategy, over those of the plan, whose weights make it minimise that sum.
Known strategies have even shares, and the better of GRR and OLH for each marginal; "tuned" is the best of splitting and
sampling with the best shares of all their views, and "tuned one pair" that of one of them. Every total of every plan is
worked out again with plain tensors. Of fakes (RS+FD) it is said what they tell by the same records.
With --simulate so many collections of 100,000 people are simulated in each cell, by the plan and the best known
strategy, and reports of the plan are audited. With --keep cells that were done stay in a file, and a run goes on
where the last one ended: after so many --minutes, or when all is done, which adds to the history.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _history import add, at_least, at_most

import deptriad as dt
from deptriad.collection.marginal import estimates
from deptriad.collection.perturb import perturb
from deptriad.collection.view import View
from deptriad.planning import known_views
from deptriad.planning.calibrate import calibrate
from deptriad.planning.shares import optimal_shares
from deptriad.planning.workload import Workload

SHARED = Path(os.environ.get("DEPTRIAD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
APART = {"id", "fnlwgt", "education_num", "pwgtp", "wgtp", "rt", "weights", "wt"}
"""Columns that are identifiers or weights of records, have one value, or say what another one says."""

SURVEYS = {
    "cardio": ("cardio", 8),
    "adult": ("adult", 13),
    "adult, 8 columns": ("adult", 8),
    "acs_2018_14_states": ("acs_2018_14_states", 6),
    "brfss_diabetes_2015": ("brfss_diabetes_2015", 8),
    "cps_spm_2019": ("cps_spm_2019", 8),
    "dss_2025": ("dss_2025", 8),
    "nist_acs_national_2019": ("nist_acs_national_2019", 8),
}
"""The file of each survey, and how many columns are taken of it, from the left."""

PROMISES = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
WORKLOADS: dict[str, list[int]] = {
    "one-way": [1],
    "two-way": [2],
    "both": [1, 2],
    "three-way": [3],
}
QUICK = ("cardio", "adult, 8 columns", "acs_2018_14_states", "brfss_diabetes_2015")

PASSED = {  # of a first prototype: promise -> one-way, two-way
    "cardio": {1.0: (2.0, 1.5), 3.0: (2.1, 3.9), 6.0: (3.4, 5.0)},
    "adult, 8 columns": {1.0: (1.27, 1.14), 3.0: (1.22, 1.53), 6.0: (2.2, 2.0)},
    "acs_2018_14_states": {1.0: (1.18, 1.14), 3.0: (1.08, 1.18), 6.0: (1.8, 1.6)},
    "brfss_diabetes_2015": {1.0: (2.6, 2.1), 3.0: (3.0, 4.1), 6.0: (3.9, 5.7)},
}
"""Gains over one attribute and one pair with even shares that are to be reached."""


PEOPLE, ATTACKED, SEED = 100_000, 20_000, 20261118


SPEED = {
    "best": {9: 2.0, 15: 10.0, 30: 60.0},
    "all": {8: 0.1, 15: 0.7, 30: 3.0, 40: 5.0},
}
"""Seconds for plans of so many attributes of the ACS, on two idle cores."""


class Survey(NamedTuple):
    analysis: dt.Analysis
    codes: np.ndarray
    frame: pd.DataFrame


def survey(name: str, columns: int) -> Survey:
    frame = pd.read_parquet(SHARED / "data" / f"{name}.parquet")
    frame = frame[[column for column in frame.columns if column.lower() not in APART][:columns]]
    schema = dt.Schema.infer(frame, bins=8)
    prior = dt.Prior.from_data(frame, schema, thin="merge")
    return Survey(dt.analyze(prior), prior.schema.encode(frame), frame)


def workload_of(schema: dt.Schema, orders: list[int], epsilon: float) -> Workload:
    """All marginals of some orders, each with its variance under the best known strategy as its weight."""
    every = Workload.checked(schema, max(orders)).marginals
    plain = Workload.checked(schema, [some for some in every if len(some) in orders])
    best = np.min(list(known_views.strategies(plain, epsilon).values()), axis=0)
    return Workload.checked(schema, plain.marginals, best.tolist())


def tuned(workload: Workload, views: list[View]) -> float:
    """The summed variance of some views with their best shares."""
    rows = np.array([workload.precision(view) for view in views])
    if not (rows.sum(axis=0) > 0.0).all():
        return np.inf
    return optimal_shares(rows, np.ones(len(workload.marginals))).objective


def known(workload: Workload, epsilon: float) -> dict[str, float]:
    """The summed variance of each known strategy, with even shares and with the best ones."""
    found, every = {}, [known_views.splitting(workload, epsilon)]
    with np.errstate(divide="ignore"):
        found["splitting"] = float(np.sum(1.0 / workload.precision(every[0])))
        for size in range(1, min(3, len(workload.asked)) + 1):
            ways = known_views.sampling(workload, epsilon, size)
            rows = [np.sum([workload.precision(view) for view in views], axis=0) for views in ways]
            name, own = known_views.sampled(size), [view for views in ways for view in views]
            found[name] = float(np.sum(len(ways[0]) / np.max(rows, axis=0)))
            found[f"tuned {name}"] = tuned(workload, own)
            every += own
    return found | {"tuned": tuned(workload, every)}


def fakes_tell(found: Survey, epsilon: float) -> float:
    """The most that one attribute by GRR among uniform fakes tells about any attribute, by the records.

    A report y has a likelihood of (1/d)·Σ_i b_i·p(y_i | x), up to a factor; the largest ratio is the root λ of
    Σ_i max_y b_i·(p(y | x) − λ·p(y | x')) = 0, by Dinkelbach's steps.
    """
    sizes = found.analysis.schema.sizes
    gain = len(sizes) * np.expm1(epsilon)
    most = 0.0
    for target in range(len(sizes)):
        tables = []
        for source, size in enumerate(sizes):
            counts = np.zeros((sizes[target], size))
            np.add.at(counts, (found.codes[:, target], found.codes[:, source]), 1.0)
            some = counts[counts.sum(axis=1) > 0.0]
            shares = some / some.sum(axis=1, keepdims=True)
            tables.append(size * (1.0 + gain * shares) / (gain + size))
        rows = range(len(tables[0]))
        for one, other in ((i, j) for i in rows for j in rows if i != j):
            ratio, before = 1.0, 0.0
            while ratio > before * (1.0 + 1e-12):
                best = [int(np.argmax(table[one] - ratio * table[other])) for table in tables]
                pairs = list(zip(tables, best, strict=True))
                before = ratio
                ratio = sum(t[one, y] for t, y in pairs) / sum(t[other, y] for t, y in pairs)
            most = max(most, float(np.log(ratio)))
    return most


def broken(found: Survey, view: View, promise: float) -> bool | None:
    """Whether a view tells more than was promised about any attribute, by tensors of all records; None if not known."""
    if view.epsilon <= promise:
        return False
    if set(view.mechanisms.values()) != {"grr"}:
        return None
    sizes = found.analysis.schema.sizes
    places = [found.analysis.schema.index(name) for name in view.attributes]
    shape = [sizes[place] for place in places]
    cell = np.ravel_multi_index(tuple(found.codes[:, place] for place in places), shape)
    for target, size in enumerate(sizes):
        counts = np.zeros((size, int(np.prod(shape))))
        np.add.at(counts, (found.codes[:, target], cell), 1.0)
        some = counts[counts.sum(axis=1) > 0.0]
        p = (some / some.sum(axis=1, keepdims=True)).reshape(-1, *shape)
        if view.joint:
            p = 1.0 + np.expm1(view.epsilon) * p
        else:
            for axis, budget in enumerate(view.budgets.values(), 1):
                p = p.sum(axis=axis, keepdims=True) + np.expm1(budget) * p
        if np.log(p.max(axis=0) / p.min(axis=0)).max() > promise * (1.0 + 1e-12):
            return True
    return False


def simulated(
    found: Survey, plan: dt.Plan, workload: Workload, promise: float, times: int
) -> dict[str, float]:
    """Summed squared errors of the best known strategy over the plan's, with its standard error; and an audit.

    Also those of the plan's unbiased estimates over those that are made to agree.
    """
    schema = found.analysis.schema
    variance = known_views.strategies(workload, promise)
    name = min(variance, key=lambda each: float(variance[each].sum()))
    size = {"one attribute": 1, "one pair as one value": 2, "one triple as one value": 3}.get(name)
    rival = dt.Split(schema, promise) if size is None else dt.Sample(schema, promise, k=size)
    rng = np.random.default_rng(SEED)
    errors, agreed = np.zeros((times, 2)), np.zeros(times)
    for each in range(times):
        people = found.frame.iloc[rng.integers(0, len(found.frame), PEOPLE)].reset_index(drop=True)
        codes = schema.encode(people)
        for place, (strategy, post) in enumerate(((plan, "agree"), (rival, "raw"))):
            reports = perturb(strategy, people, rng)
            for names, marginal in estimates(strategy, reports, workload.marginals, post).items():
                places = [schema.index(one) for one in names]
                truth = np.zeros([schema.sizes[one] for one in places])
                np.add.at(truth, tuple(codes[:, one] for one in places), 1.0 / PEOPLE)
                errors[each, place] += np.sum((marginal.unbiased - truth) ** 2)
                agreed[each] += (strategy is plan) * np.sum((marginal.frequencies - truth) ** 2)
    own, other = errors.mean(axis=0)
    spread = errors.std(axis=0, ddof=1) / np.sqrt(times)
    ratio = other / own
    some = found.frame.sample(ATTACKED, random_state=SEED, replace=len(found.frame) < ATTACKED)
    attacks = dt.attack_all(some, plan, ceiling=False, rng=rng)
    return {
        "simulations": times,
        f"simulated {name}": ratio,
        "simulated, standard error": float(ratio * np.hypot(spread[0] / own, spread[1] / other)),
        "simulated, made to agree": float(own / agreed.mean()),
        "expected of it": float(variance[name].sum() / _own(plan, workload)),
        "audit, most proved": max(each.audit.attained for each in attacks.values()),
    }


def _own(plan: dt.Plan, workload: Workload) -> float:
    rows = [view.share * workload.precision(view) for view in plan.views]
    return float(np.sum(1.0 / np.sum(rows, axis=0)))


def measured(found: Survey, promise: float, word: str, simulations: int) -> dict[str, float]:
    orders = WORKLOADS[word]
    workload = workload_of(found.analysis.schema, orders, promise)
    start = time.perf_counter()
    plan = calibrate(
        *(found.analysis, promise),
        views="best",
        marginals=workload.marginals,
        weights=workload.weights.tolist(),
    )
    taken = time.perf_counter() - start
    own = _own(plan, workload)
    figures = {strategy: value / own for strategy, value in known(workload, promise).items()}
    if orders == [1]:
        sizes = found.analysis.schema.sizes
        fakes = [known_views.fake_moment(len(sizes), promise, size) for size in sizes]
        figures["fakes"] = float(np.sum(fakes) / own)
        figures["fakes tell"] = fakes_tell(found, promise)
    alone = calibrate(found.analysis, promise, views="all")
    whole = sum(alone.expected(some) ** 2 * alone.users for some in workload.marginals)
    without = calibrate(
        *(found.analysis.schema, promise),
        marginals=workload.marginals,
        weights=workload.weights.tolist(),
    )
    if simulations:
        figures |= simulated(found, plan, workload, promise, simulations)
    checks = [broken(found, view, promise) for view in plan.views]
    figures |= {
        "everything at once": float(whole / own),
        "best without a prior": _own(without, workload) / own,
        "views": len(plan.views),
        "ratio": plan.optimality,
        "broken": sum(each is True for each in checks),
        "not checked": sum(each is None for each in checks),
        "seconds": taken,
    }
    return {key: float(value) for key, value in figures.items() if np.isfinite(value)}


def speed() -> dict[str, Any]:
    """How long plans take: wall clock, and processor time, which a busy machine disturbs less."""
    frame = pd.read_parquet(SHARED / "data" / "acs_2018_14_states.parquet")
    some = [name for name in frame.columns if 2 <= frame[name].nunique() <= 8]
    analyses = {}
    for size in sorted({size for goals in SPEED.values() for size in goals}):
        own = frame[[name for name in some if name.lower() not in APART][:size]]
        analyses[size] = dt.analyze(dt.Prior.from_data(own, dt.Schema.infer(own), thin="merge"))
    results: dict[str, Any] = {}
    for views, goals in SPEED.items():
        calibrate(analyses[8], 3.0, views=views)  # compiled
        for size in goals:
            start, processor = time.perf_counter(), time.process_time()
            calibrate(analyses[size], 3.0, views=views)
            taken = time.perf_counter() - start, time.process_time() - processor
            results[f"{views}, {size} attributes"] = dict(
                zip(("seconds", "processor"), taken, strict=True)
            )
            print(
                f"{views}, {size} attributes: {taken[0]:.2f} s, processor {taken[1]:.2f} s",
                flush=True,
            )
    return results


def goals_of(cells: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Goals of the cells that were measured."""
    goals: dict[str, Any] = {}
    for key in cells:
        name, promise, word = key.split(" / ")
        goals |= {f"{key} / {rival}": at_least(0.99) for rival in ("tuned", "everything at once")}
        goals |= {f"{key} / {count}": at_most(0) for count in ("broken", "not checked")}
        goals[f"{key} / ratio"] = at_most(1.01)
        goals[f"{key} / audit, most proved"] = at_most(float(promise))
        if word == "one-way" and cells[key]["fakes tell"] <= float(promise):
            goals[f"{key} / fakes"] = at_least(0.99)
        if word in ("one-way", "two-way") and float(promise) in PASSED.get(name, {}):
            order = WORKLOADS[word][0]
            passed = PASSED[name][float(promise)][order - 1]
            goals[f"{key} / {known_views.sampled(order)}"] = at_least(passed)
    return goals


def wanted(quick: bool, only: str | None) -> list[tuple[str, float, str]]:
    """Cells to measure: survey, promise, workload."""
    found = []
    for name, (file, _) in SURVEYS.items():
        path = SHARED / "data" / f"{file}.parquet"
        if only not in (None, name):
            continue
        if not path.is_file() or (quick and not only and name not in QUICK):
            print(f"left out: {name}" + ("" if path.is_file() else f": {path} is absent"))
            continue
        promises, words = (
            ((1.0, 3.0, 6.0), ("one-way", "two-way")) if quick else (PROMISES, WORKLOADS)
        )
        found += [(name, promise, word) for promise in promises for word in words]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="four surveys, three promises")
    parser.add_argument("--only", help="one survey", choices=SURVEYS)
    parser.add_argument("--simulate", type=int, default=0, help="simulations of each cell")
    parser.add_argument("--keep", type=Path, help="a file of cells that were done, to go on with")
    parser.add_argument("--minutes", type=float, default=np.inf, help="end after so many")
    parser.add_argument("--speed", action="store_true", help="only how long plans take")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if asked.speed:
        limits = {
            f"{views}, {size} attributes / seconds": at_most(limit)
            for views, goals in SPEED.items()
            for size, limit in goals.items()
        }
        add("planner, speed", speed(), limits)
        return
    start, cells = time.perf_counter(), {}
    if asked.keep and asked.keep.is_file():
        for line in asked.keep.read_text(encoding="utf-8").splitlines():
            cells |= json.loads(line)
    name, found = "", None
    for survey_name, promise, word in wanted(asked.quick, asked.only):
        key = f"{survey_name} / {promise:g} / {word}"
        if key in cells and cells[key].get("simulations", 0) >= asked.simulate:
            continue
        if time.perf_counter() - start > 60.0 * asked.minutes:
            print("to be continued")
            return
        if survey_name != name:
            name, found = survey_name, survey(*SURVEYS[survey_name])
            print(
                f"{name}: {len(found.analysis.names)} attributes of {found.analysis.schema.sizes} values"
            )
        cells[key] = measured(found, promise, word, asked.simulate)
        print(f"  {key}: " + ", ".join(f"{k} {v:.3g}" for k, v in cells[key].items()), flush=True)
        if asked.keep:
            with asked.keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps({key: cells[key]}) + "\n")
    add("planner", cells, goals_of(cells))


if __name__ == "__main__":
    main()
