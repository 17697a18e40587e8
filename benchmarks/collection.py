"""Collection: a file perturbed end to end, frames, estimates, and simulation beside perturbing every user.

    python benchmarks/collection.py [RECORDS]
    python benchmarks/collection.py memory [MILLIONS ...]

3 million records of 8 attributes by default, with the operating system's secure source of chance. ``memory`` estimates
a 3-way marginal from files of 2, 5 and 20 million reports, each in a process of its own, and says how much memory it
took.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from _history import add, at_most, best, seconds

import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb, perturb_file
from deptriad.collection.sample import Sample
from deptriad.collection.simulation import simulate
from deptriad.collection.split import Split

HERE = str(Path(__file__).parent)
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


PEAK = """
import sys
sys.path.insert(0, sys.argv.pop())
import deptriad as dt
from deptriad.collection.marginal import estimate
from deptriad.collection.split import Split
from _history import peak_mib
schema = dt.Schema.load(sys.argv[1])
estimate(Split(schema, 8.0, sys.argv[3]), sys.argv[2], schema.names[-3:])
print(peak_mib())
"""


def memory(millions: list[float]) -> None:
    """Peak memory of estimating from files, which does not grow with them."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path, csv, saved = (str(Path(folder) / name) for name in ("r.parquet", "r.csv", "s.json"))
        for size in millions:
            frame, schema = some_records(int(size * 1e6))
            frame, schema = frame[list(schema.names[-3:])], schema.only(*schema.names[-3:])
            schema.save(saved)
            for name in ("grr", "olh"):
                perturb_file(Split(schema, 8.0, name), frame, path)
                duckdb.read_parquet(path).write_csv(csv)
                for file in (path, csv):
                    command = [sys.executable, "-c", PEAK, saved, file, name, HERE]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    kind = f"{name}, {Path(file).suffix[1:]}, {size:g} million, MB"
                    found[kind] = float(done.stdout)
                    print(f"estimate, {kind}: {found[kind]:.0f}", flush=True)
            del frame
    add("collection memory", found, {kind: at_most(600.0) for kind in found})


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
    if sys.argv[1:2] == ["memory"]:
        memory([float(each) for each in sys.argv[2:]] or [2.0, 5.0, 20.0])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS)
