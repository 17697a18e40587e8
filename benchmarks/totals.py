"""Totals of the face attributes and of the census: estimates, witness, certificate; and how long they take.

    python benchmarks/totals.py

Needs celeba.parquet and adult.parquet beside the repository; parts without their file are skipped and said so. Means
over the 40 face targets of what the 39 others give away (the target's own budget is left out), at 0.05, 0.1 and 0.5
each; the triples in which the paper's sum understates at ε = 1, and the worst; the exact totals of all targets in all
3-attribute views of 15 attributes with 8 values, from their joint tables; times as ratios to one bare pass over all
pairs of a 1000 × 1000 table.
"""

from __future__ import annotations

import itertools
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _history import add, at_most
from scipy.spatial.distance import pdist

import deptriad as dt
from deptriad.totals.joint import rows_inside, view_totals
from deptriad.witnesses.interactions import interactions_of_codes
from deptriad.witnesses.witness import witness_of_codes

SHARED = Path(os.environ.get("DEPTRIAD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SEED = 20261116


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def analysis_of(path: Path, *without: str) -> tuple[dt.Analysis, dt.Schema]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = dt.Schema.infer(path, without=without, max_categories=50)
        return dt.analyze(dt.Prior.from_data(path, schema=schema)), schema


def faces(path: Path, unit: float) -> dict[str, Any]:
    analysis, schema = analysis_of(path)
    codes = schema.encode(path)
    names, rng = schema.names, np.random.default_rng(SEED)
    analysis.totals(0.1)  # compile
    result: dict[str, Any] = {}
    print(f"{'each ε':>8} {'witness':>9} {'pairwise':>9} {'certified':>9} {'budgets':>9}")
    for epsilon in (0.05, 0.1, 0.5):
        totals, seconds = timed(lambda epsilon=epsilon: analysis.totals(epsilon))
        found = [
            witness_of_codes(codes, schema.sizes, [epsilon] * 40, k, split=None, starts=8, rng=rng)
            for k in range(40)
        ]
        means = {
            "witness": np.mean([each.leakage for each in found]),
            "pairwise": np.mean([each.pairwise - epsilon for each in totals.values()]),
            "certified": np.mean([each.certified - epsilon for each in totals.values()]),
            "budgets": np.mean([each.budgets - epsilon for each in totals.values()]),
        }
        print(f"{epsilon:8} " + " ".join(f"{mean:9.3f}" for mean in means.values()))
        result[str(epsilon)] = {name: float(mean) for name, mean in means.items()}
        result[str(epsilon)]["totals_in_passes"] = seconds / unit
    _, seconds = timed(
        lambda: witness_of_codes(codes, schema.sizes, [1.0] * 40, names.index("Bangs"), rng=rng)
    )
    print(f"witness of one target, 39 sources, both halves: {seconds:.2f} s")
    found, triples_seconds = timed(
        lambda: interactions_of_codes(codes, schema.sizes, [1.0] * 40, names=names)
    )
    worst = found[0]
    print(
        f"the sum understates in {found.understated:,} of {len(found):,} triples at ε = 1 ({triples_seconds:.1f} s); "
        f"worst: {worst.source_1}, {worst.source_2} about {worst.target}, {worst.joint:.3f} against {worst.sum:.3f}"
    )
    return result | {
        "witness_seconds": seconds,
        "triples_seconds": triples_seconds,
        "understated": found.understated,
        "triples": len(found),
    }


def census(path: Path, unit: float) -> dict[str, float]:
    analysis, _ = analysis_of(path, "fnlwgt", "education_num")
    analysis.totals(1.0)
    _, seconds = timed(lambda: analysis.totals(1.0))
    print(f"census, {len(analysis.names)} attributes, values up to 42: totals {seconds:.2f} s")
    return {"totals_seconds": seconds, "totals_in_passes": seconds / unit}


def views(unit: float) -> dict[str, float]:
    """All 3-attribute views of 15 attributes with 8 values: three targets each, by separate and by joint reports."""
    rng = np.random.default_rng(SEED)
    codes = rng.integers(0, 8, (15, 200_000))
    codes[1:] = np.where(rng.random(codes[1:].shape) < 0.3, codes[:-1], codes[1:])
    chosen = list(itertools.combinations(range(15), 3))
    tables = [
        np.bincount(codes[a] * 64 + codes[b] * 8 + codes[c], minlength=512).reshape(8, 8, 8)
        for a, b, c in chosen
    ]

    def totals(budgets: list[float], joint_report: bool) -> None:
        for counts in tables:
            view_totals(*rows_inside(counts), counts.shape, budgets, joint_report)

    result = {"views": float(len(chosen))}
    for name, budgets in (("separate", [1.0, 0.5, 2.0]), ("joint", [3.0])):
        totals(budgets, name == "joint")  # compile
        seconds = min(timed(lambda b=budgets, n=name: totals(b, n == "joint"))[1] for _ in range(3))
        result |= {f"{name}_seconds": seconds, f"{name}_in_passes": seconds / unit}
        print(
            f"{len(chosen)} views of 3 of 15, {name} reports, each target inside: {seconds:.2f} s"
        )
    return result


def main() -> None:
    table = np.random.default_rng(0).dirichlet(np.ones(1000), 1000)
    _, unit = timed(lambda: pdist(table, "cityblock"))
    print(f"one bare pass over all pairs of a 1000 × 1000 table: {unit:.2f} s")
    result: dict[str, Any] = {"pass_seconds": unit}
    for name, part in (("celeba", faces), ("adult", census)):
        path = SHARED / "data" / f"{name}.parquet"
        if path.is_file():
            result[name] = part(path, unit)
        else:
            print(f"left out: {path} is absent (set DEPTRIAD_SHARED to its folder)")
    result["views"] = views(unit)
    # a second on two cores of the machine whose pass takes 0.28 s
    add("totals", result, {"views / separate_in_passes": at_most(3.5)})


if __name__ == "__main__":
    main()
