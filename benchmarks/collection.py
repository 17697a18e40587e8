"""Collection: a file perturbed end to end, frames, estimates, and simulation beside perturbing every user.

    python benchmarks/collection.py [RECORDS]

3 million records of 8 attributes by default, with the operating system's secure source of chance.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _history import add, at_most, best, seconds

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb, perturb_file
from deptriad.collection.sample import Sample
from deptriad.collection.simulation import simulate
from deptriad.collection.split import Split

RECORDS = 3_000_000
SIZES = (2, 2, 5, 9, 4, 7, 12, 30)
GOALS = {f"file {name}, seconds": at_most(10.0) for name in ("grr", "auto")}


def some_records(n: int) -> tuple[pd.DataFrame, dt.Schema]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{j}": rng.integers(0, size, n) for j, size in enumerate(SIZES)})
    names = enumerate(SIZES)
    return frame, dt.Schema(
        [dt.Attribute(f"v{j}", list(range(size)), missing="error") for j, size in names]
    )


def main(n: int) -> None:
    frame, schema = some_records(n)
    found: dict[str, float] = {"records": n}
    pair = ["v3", "v5"]
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "data.parquet", Path(folder) / "reports.parquet"
        frame.to_parquet(source)
        warm = frame.head(1000)
        for name in ("grr", "auto"):
            split = Split(schema, 8.0, name)
            perturb(split, warm)
            taken = seconds(lambda split=split: perturb_file(split, source, out))
            size = out.stat().st_size / 1e6
            print(f"file, {name}: {n:,} records × 8 in {taken:.2f} s, {size:.0f} MB")
            found[f"file {name}, seconds"] = taken
            estimate(split, perturb(split, warm), pair)
            taken = seconds(lambda split=split: estimate(split, out, pair))
            print(f"  2-way marginal from that file in {taken:.2f} s")
            found[f"estimate {name}, seconds"] = taken
    small = schema.only(*schema.names[:5])
    counts = np.zeros(small.sizes, dtype=np.int64)
    codes = frame[list(small.names)].to_numpy()
    np.add.at(counts, tuple(codes.T), 1)
    for strategy in (Split(small, 4.0, "grr"), Sample(small, 4.0, "grr", k=2)):
        kind = type(strategy).__name__
        rng = np.random.default_rng(1)
        one = seconds(lambda strategy=strategy, rng=rng: strategy.report(codes, rng))
        times = [
            best(lambda scaled=counts * times, s=strategy, rng=rng: simulate(scaled, s, rng))
            for times in (1, 1000)
        ]
        print(
            f"simulate, {kind}: {n:,} users in {1e3 * times[0]:.1f} ms, {1000 * n:,} in {1e3 * times[1]:.1f} ms; "
            f"user by user {one / times[0]:.0f}× as long"
        )
        found[f"simulate {kind}, ratio"] = one / times[0]
        found[f"simulate {kind}, thousandfold"] = times[1] / times[0]
    if n == RECORDS:
        add("collection", found, GOALS)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS)
