"""How long calibration takes, and what it gains over the paper's gradient descent, splitting and sampling.

    python benchmarks/budget.py

Eight attributes of the census by state and forty face attributes need their files beside the repository; parts without
them are skipped and said so. Two hundred binary attributes are made up: twenty hidden ones, each copied ten times with
errors. Times are the least of a few runs after one to warm up; the goals are for two idle cores.
"""

from __future__ import annotations

import os
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _history import Goal, add, at_most, best

import deptriad as dt
from deptriad.mechanisms.expected_error import Utility
from deptriad.paper.data import STATE, Library
from deptriad.paper.states import Survey
from deptriad.planning.constraints import constraints

calibrate = partial(dt.calibrate, views="all")
"""Everybody is asked everything."""

SHARED = Path(os.environ.get("DEPTRIAD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TOTAL = 3.0
GOALS = {"census": 0.2, "faces": 5.0, "made up": 60.0}
"""Seconds for a certified plan; an estimate may take a quarter of it."""

GUARANTEES = ("certified", "paired", "pairwise")
SEED = 20261116


def census(path: Path) -> dt.Analysis:
    frame, schema = Library(path.parent).records("acs")
    known = Survey(frame).known
    some = frame[frame[STATE].isin(known)]
    return dt.analyze(dt.Prior.from_data(some, schema, by=STATE), dt.Spread("std"))


def faces(path: Path) -> dt.Analysis:
    return dt.analyze(dt.Prior.from_data(path, schema=dt.Schema.infer(path)))


def made_up(size: int = 200, records: int = 20_000) -> dt.Analysis:
    rng = np.random.default_rng(SEED)
    hidden = rng.integers(0, 2, (records, size // 10))
    errors = rng.uniform(0.1, 0.45, size)
    values = hidden[:, np.arange(size) % hidden.shape[1]] ^ (rng.random((records, size)) < errors)
    frame = pd.DataFrame(values, columns=[f"a{k}" for k in range(size)])
    return dt.analyze(dt.Prior.from_data(frame, schema=dt.Schema.infer(frame)))


def mean_error(analysis: dt.Analysis, budgets: Any, users: int = 100_000) -> float:
    """Root of the mean summed variance of all one- and two-way marginals."""
    size = len(analysis.names)
    utility = Utility(analysis.schema.sizes, ["auto"] * size, np.ones(size))
    return float(np.sqrt(utility.exact(np.asarray(budgets, dtype=float)) / users))


def gradient_descent(analysis: dt.Analysis, steps: int = 2000, rate: float = 0.01) -> np.ndarray:
    """The paper's way: plain gradient descent on Σ_k (total_k − ε̃)², never below splitting; then towards splitting."""
    size = len(analysis.names)
    held = constraints(analysis, "pairwise", np.ones(size, dtype=bool))
    splitting = np.full(size, TOTAL / size)
    epsilon = splitting.copy()
    for _ in range(steps):
        held.refresh(epsilon)
        value, slope = held.rows(epsilon).totals(size)
        step = 2.0 * (value - TOTAL) @ slope
        epsilon = np.clip(epsilon - rate / size * step, splitting, TOTAL)
    low, high = 0.0, 1.0
    for _ in range(50):
        part = 0.5 * (low + high)
        kept = held.totals(splitting + part * (epsilon - splitting)).max() <= TOTAL
        low, high = (part, high) if kept else (low, part)
    return splitting + low * (epsilon - splitting)


def measured(name: str, analysis: dt.Analysis) -> dict[str, Any]:
    size = len(analysis.names)
    splitting = mean_error(analysis, np.full(size, TOTAL / size))
    print(f"{name}: {size} attributes, total {TOTAL:g}, mean error of splitting {splitting:.4f}")
    result: dict[str, Any] = {"splitting_error": splitting}
    for guarantee in GUARANTEES:
        seconds = best(
            lambda guarantee=guarantee: calibrate(analysis, TOTAL, guarantee=guarantee),
            1 if size > 100 else 3,
        )
        plan = calibrate(analysis, TOTAL, guarantee=guarantee)
        error = mean_error(analysis, list(plan.budgets.values()))
        print(
            f"  {guarantee:>9}: {seconds:8.3f} s, mean error {error:.4f}, "
            f"{splitting / error:.2f} times less than splitting"
        )
        result[guarantee] = {"seconds": seconds, "error": error}
    if size <= 40:
        result["paper"] = against_gradient_descent(analysis)
    return result


def loss(analysis: dt.Analysis, epsilon: np.ndarray) -> float:
    """The paper's: Σ_k (total_k − ε̃)² of pairwise totals."""
    totals = analysis.totals(dict(zip(analysis.names, epsilon.tolist(), strict=True)))
    return float(sum((total.pairwise - TOTAL) ** 2 for total in totals.values()))


def against_gradient_descent(analysis: dt.Analysis) -> dict[str, Any]:
    """Both for the paper's loss and the paper's totals; its step size and number of steps are not published."""
    result: dict[str, Any] = {}
    ways = {
        "gradient descent, 2,000 steps": lambda: gradient_descent(analysis),
        "calibrate": lambda: np.array(
            list(calibrate(analysis, TOTAL, "paper", "pairwise").budgets.values())
        ),
    }
    for name, way in ways.items():
        start = time.perf_counter()
        epsilon = way()
        seconds = time.perf_counter() - start
        result[name] = {"seconds": seconds, "loss": loss(analysis, epsilon)}
        print(f"  the paper's loss, {name}: {result[name]['loss']:.4f} in {seconds:.3f} s")
    return result


def goals() -> dict[str, Goal]:
    return {
        f"{name} / {guarantee} / seconds": at_most(limit / (1 if guarantee == "certified" else 4))
        for name, limit in GOALS.items()
        for guarantee in GUARANTEES
    }


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    result: dict[str, Any] = {}
    for name, make, file in (
        ("census", census, "acs_2018_14_states.parquet"),
        ("faces", faces, "celeba.parquet"),
    ):
        path = SHARED / "data" / file
        if path.is_file():
            result[name] = measured(name, make(path))
        else:
            print(f"left out: {path} is absent (set DEPTRIAD_SHARED to its folder)")
    result["made up"] = measured("made up", made_up())
    add("budget", result, goals())


if __name__ == "__main__":
    main()
