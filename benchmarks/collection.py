"""Collection: a file perturbed end to end, frames, estimates, and simulation beside perturbing every user.

    python benchmarks/collection.py [RECORDS]

3 million records of 8 attributes by default, with the operating system's secure source of chance.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _results import best, save

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb, perturb_file
from deptriad.collection.sample import Sample
from deptriad.collection.simulation import simulate
from deptriad.collection.split import Split

SIZES = (2, 2, 5, 9, 4, 7, 12, 30)
LIMIT = 10.0


def some_records(n: int) -> tuple[pd.DataFrame, dt.Schema]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{j}": rng.integers(0, size, n) for j, size in enumerate(SIZES)})
    names = enumerate(SIZES)
    return frame, dt.Schema(
        [dt.Attribute(f"v{j}", list(range(size)), missing="error") for j, size in names]
    )


def timed(action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


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
            seconds = timed(lambda split=split: perturb_file(split, source, out))
            size = out.stat().st_size / 1e6
            print(
                f"file, {name}: {n:,} records × 8 in {seconds:.2f} s (limit {LIMIT:g} s), {size:.0f} MB"
            )
            found[f"file {name}, seconds"] = round(seconds, 3)
            estimate(split, perturb(split, warm), pair)
            seconds = timed(lambda split=split: estimate(split, out, pair))
            print(f"  2-way marginal from that file in {seconds:.2f} s")
            found[f"estimate {name}, seconds"] = round(seconds, 3)
    small = schema.only(*schema.names[:5])
    counts = np.zeros(small.sizes, dtype=np.int64)
    codes = frame[list(small.names)].to_numpy()
    np.add.at(counts, tuple(codes.T), 1)
    for strategy in (Split(small, 4.0, "grr"), Sample(small, 4.0, "grr", k=2)):
        kind = type(strategy).__name__
        rng = np.random.default_rng(1)
        one = timed(lambda strategy=strategy, rng=rng: strategy.report(codes, rng))
        times = [
            best(lambda scaled=counts * times, s=strategy, rng=rng: simulate(scaled, s, rng))
            for times in (1, 1000)
        ]
        print(
            f"simulate, {kind}: {n:,} users in {1e3 * times[0]:.1f} ms, {1000 * n:,} in {1e3 * times[1]:.1f} ms; "
            f"user by user {one / times[0]:.0f}× as long"
        )
        found[f"simulate {kind}, ratio"] = round(one / times[0], 1)
        found[f"simulate {kind}, thousandfold"] = round(times[1] / times[0], 2)
    save("collection", found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000)
