"""Spark and Dask, two workers on this machine: does time grow with the records, does the memory of the driver?

    python benchmarks/clusters.py [--millions 1 5 20] [--folder DIR]

Records of 8 attributes in a Parquet file: all pairs counted with a schema that is given, then a schema inferred. Time
is beside that of the same file read by DuckDB in this process. The peak memory is that of the Python process that
drives; Spark's Java process is its cluster and not counted, and so are Dask's workers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _history import add, at_most, best
from data import made

import deptriad as dt

CLUSTERS = ("Dask, 2 processes", "Spark, local[2]")

PROBE = """
import json, sys, time, warnings
sys.path.insert(0, {here!r})
warnings.simplefilter("ignore")
import deptriad as dt
from _history import peak_mib
from data import ENGINES
from pathlib import Path
if __name__ == "__main__":
    schema = dt.Schema.load({schema!r})
    frame = ENGINES[{engine!r}](Path({path!r}))
    dt.Counts.from_data(frame.head(10, npartitions=-1) if "Dask" in {engine!r} else frame.limit(10), schema)
    start = time.perf_counter()
    counts = dt.Counts.from_data(frame, schema)
    counted = time.perf_counter()
    found = dt.Schema.infer(frame)
    inferred = time.perf_counter()
    print(json.dumps([counted - start, inferred - counted, peak_mib(), counts.records, len(found)]))
"""


def probed(engine: str, path: Path, schema: Path) -> tuple[float, float, float, int] | None:
    """Seconds for pairs and for a schema, the driver's peak in MiB, and records, in a process of its own."""
    code = PROBE.format(
        here=str(Path(__file__).parent), engine=engine, path=str(path), schema=str(schema)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        print(f"  {engine}: left out: {done.stderr.strip().splitlines()[-1]}")
        return None
    pairs, inferring, peak, records, attributes = json.loads(done.stdout.splitlines()[-1])
    assert attributes == 8
    return pairs, inferring, peak, records


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--millions", type=int, nargs="+", default=[1, 5, 20])
    options.add_argument("--folder", type=Path, help="where to keep the generated files")
    given = options.parse_args()
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for millions in given.millions:
            rows = millions * 1_000_000
            path, schema = made(folder, 8, rows)
            schema.save(folder / "schema.json")
            local = best(lambda path=path, schema=schema: dt.Counts.from_data(path, schema), 1)
            print(f"{rows:,} × 8: the same file by DuckDB {local:.2f} s")
            for engine in CLUSTERS:
                found = probed(engine, path, folder / "schema.json")
                if found is None:
                    continue
                pairs, inferring, peak, records = found
                assert records == rows
                figures.setdefault(engine, {}).update(
                    {
                        f"{millions} million, pairs over DuckDB": pairs / local,
                        f"{millions} million, pairs": pairs,
                        f"{millions} million, schema": inferring,
                        f"{millions} million, driver MiB": peak,
                    }
                )
                print(
                    f"  {engine:18} pairs {pairs:6.1f} s, schema {inferring:6.1f} s, driver {peak:.0f} MiB"
                )
    least, most = min(given.millions), max(given.millions)
    goals = {}
    for engine, own in figures.items():
        own["driver's memory, most over least"] = (
            own[f"{most} million, driver MiB"] / own[f"{least} million, driver MiB"]
        )
        own["pairs, time a record, most over least"] = (
            own[f"{most} million, pairs"] / own[f"{least} million, pairs"] * least / most
        )
        goals[f"{engine} / driver's memory, most over least"] = at_most(1.2)
        goals[f"{engine} / pairs, time a record, most over least"] = at_most(1.2)
    add("clusters", figures, goals)


if __name__ == "__main__":
    main()
