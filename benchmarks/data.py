"""From a file to all triads, against pandas.crosstab and against the bare time to read the columns.

    python benchmarks/data.py [--rows 50] [--folder DIR] [--parts file joint faces wide large]

First the goals: the face attributes from their file to all triads, against pandas; and all joint tables of three
attributes, against all pairs. Then three parts. The face attributes (celeba.parquet beside the repository; skipped
and said so without it): file to all 1,560 triads, on every engine that is installed, as ratios to pandas.crosstab
over the 780 pairs in the same run. A file of 40 attributes × 3 million records: all triads, beside the bare time
DuckDB takes to read those columns. A file of 12 attributes × 50 million records (--rows, in millions): time and peak
memory of each engine that streams.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from _history import add, at_least, at_most, best, seconds

import deptriad as dt

SHARED = Path(os.environ.get("DEPTRIAD_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def triads_of(data: Any, schema: dt.Schema | None) -> dt.Analysis:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dt.analyze(dt.Prior.from_data(data, schema=schema))


def bare_read(path: Path) -> Callable[[], object]:
    """DuckDB reads all columns and keeps a sum of each; a maximum would come from the file's own statistics."""
    columns = duckdb.read_parquet(str(path)).columns
    sums = ", ".join(f'sum("{name}")' for name in columns)
    return lambda: duckdb.sql(f"select {sums} from read_parquet('{path}')").fetchall()


# --- engines --------------------------------------------------------------------------------------------------


def polars_frame(path: Path) -> Any:
    import polars

    return polars.scan_parquet(path)


def arrow_table(path: Path) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)


def ibis_table(path: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(path)


def dask_frame(path: Path) -> Any:
    import dask.dataframe
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    distributed.Client(cluster)
    return dask.dataframe.read_parquet(path)


def spark_frame(path: Path) -> Any:
    from pyspark.sql import SparkSession

    if not shutil.which("java"):
        raise ModuleNotFoundError("no Java runtime", name="java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "ERROR").getOrCreate()
    return session.read.parquet(str(path))


ENGINES: dict[str, Callable[[Path], Any]] = {
    "file (DuckDB)": str,
    "pandas": pd.read_parquet,
    "Polars, lazy": polars_frame,
    "PyArrow": arrow_table,
    "Ibis": ibis_table,
    "Dask, 2 processes": dask_frame,
    "Spark, local[2]": spark_frame,
}


def frames(path: Path, names: list[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        try:
            yield name, ENGINES[name](path)
        except ModuleNotFoundError as missing:
            print(f"  {name}: left out, {missing.name} is not installed")


# --- the three parts ------------------------------------------------------------------------------------------


def faces() -> dict[str, float]:
    path = SHARED / "data" / "celeba.parquet"
    if not path.is_file():
        print(f"left out: {path} is absent (set DEPTRIAD_SHARED to its folder)")
        return {}
    frame = pd.read_parquet(path)
    start = time.perf_counter()
    for first, second in itertools.combinations(frame.columns, 2):
        pd.crosstab(frame[first], frame[second])
    crosstab = time.perf_counter() - start
    print(f"202,599 × 40, all 780 pairs: pandas.crosstab {crosstab:.2f} s")
    schema = dt.Schema.infer(path)
    codes = schema.encode(path)
    result = {"crosstab_seconds": crosstab, "kernel": best(kernel_of(codes, schema)) / crosstab}
    print(f"  kernel alone, codes to counts: {1 / result['kernel']:.0f} times faster")
    for name, data in frames(path, list(ENGINES)):
        seconds = best(lambda data=data: triads_of(data, schema))
        result[name] = seconds / crosstab
        print(
            f"  {name:18} → 1,560 triads {seconds:6.3f} s, {crosstab / seconds:5.1f} times faster"
        )
    return result


def from_the_file() -> dict[str, float]:
    """File to all triads, against pandas reading it and making a crosstab of each pair: times faster."""
    path = SHARED / "data" / "celeba.parquet"
    if not path.is_file():
        return {}

    def crosstabs() -> None:
        frame = pd.read_parquet(path)
        for first, second in itertools.combinations(frame.columns, 2):
            pd.crosstab(frame[first], frame[second])

    def inferring() -> dt.Analysis:
        return triads_of(path, None)

    schema = dt.Schema.infer(path)
    ways = {"schema given": lambda: triads_of(path, schema), "schema inferred": inferring}
    began = time.process_time()
    rival = seconds(crosstabs)
    rival_cpu = time.process_time() - began
    result = {}
    for name, way in ways.items():
        result[name] = rival / best(way)
        began = time.process_time()
        way()
        result[f"{name}, by processor time"] = rival_cpu / (time.process_time() - began)
    for name, times in result.items():
        print(f"  file to 1,560 triads, {name}: {times:.0f} times faster than pandas")
    return result


def joint_tables() -> dict[str, float]:
    """All 455 tables of 3 of 15 attributes with 8 values, 200,000 records, over all pairs of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"a{k}": rng.integers(0, 8, 200_000).astype("int8") for k in range(15)})
    schema = dt.Schema([dt.Attribute(name, range(8), missing="error") for name in frame.columns])
    triples = list(itertools.combinations(frame.columns, 3))
    codes = schema.encode(frame)
    prior = dt.Prior.from_data(frame, schema)
    prior.joint(triples[0])
    kernel = best(kernel_of(codes, schema), 7)
    result = {
        "from codes": best(lambda: prior.joints(triples), 7) / kernel,
        "from the frame": best(lambda: dt.Prior.from_data(frame, schema).joints(triples))
        / best(lambda: dt.Counts.from_data(frame, schema)),
    }
    for name, ratio in result.items():
        print(f"455 joint tables {name}: {ratio:.1f} times the time of all pairs")
    return result


def kernel_of(codes: Any, schema: dt.Schema) -> Callable[[], object]:
    from deptriad.data.batches import BATCH
    from deptriad.data.counting import Counter
    from deptriad.data.table_layout import Layout

    columns = [column.astype("int8") for column in codes.T]
    count = Counter(Layout(schema.sizes), 1, False, False)
    parts = range(0, len(codes), BATCH)
    return lambda: count([column[k : k + BATCH] for column in columns] for k in parts)


def made(folder: Path, attributes: int, rows: int) -> tuple[Path, dt.Schema]:
    """A file of attributes with 2 to 12 values that depend on a hidden one."""
    path = folder / f"{attributes}x{rows}.parquet"
    sizes = [2 + 5 * place % 11 for place in range(attributes)]
    if not path.exists():
        columns = ", ".join(
            f"((hash(i * 64 + {place}) >> 8) % 4 * (hash(i) % 7) % {size})::tinyint as a{place}"
            for place, size in enumerate(sizes)
        )
        duckdb.sql(f"copy (select {columns} from range({rows}) t(i)) to '{path}' (format parquet)")
    schema = [
        dt.Attribute(f"a{place}", list(range(size)), missing="error")
        for place, size in enumerate(sizes)
    ]
    return path, dt.Schema(schema)


def wide(folder: Path) -> dict[str, float]:
    path, schema = made(folder, 40, 3_000_000)
    bare = best(bare_read(path))
    seconds = best(lambda: triads_of(str(path), schema))
    print(f"3,000,000 × 40: bare read {bare:.2f} s; file to all 1,560 triads {seconds:.2f} s")
    return {"bare_read_seconds": bare, "triads_over_bare_read": seconds / bare}


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
    start = time.perf_counter()
    counts = dt.Counts.from_data(frame, schema)
    seconds = time.perf_counter() - start
    print(json.dumps([seconds, peak_mib(), counts.records]))
"""


def large(folder: Path, rows: int) -> dict[str, Any]:
    path, schema = made(folder, 12, rows)
    schema.save(folder / "schema.json")
    print(f"{rows:,} × 12, {path.stat().st_size / 2**20:.0f} MiB of Parquet")
    bare = best(bare_read(path), 1)
    print(f"  bare read {bare:.1f} s")
    result: dict[str, Any] = {"rows": rows, "bare_read_seconds": bare}
    for engine in ("file (DuckDB)", "Polars, lazy", "Ibis", "Dask, 2 processes"):
        code = PROBE.format(
            here=str(Path(__file__).parent),
            schema=str(folder / "schema.json"),
            engine=engine,
            path=str(path),
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if done.returncode:
            print(f"  {engine}: left out: {done.stderr.strip().splitlines()[-1]}")
            continue
        seconds, peak, records = json.loads(done.stdout.splitlines()[-1])
        assert records == rows
        result[engine] = {"over_bare_read": seconds / bare, "peak_mib": peak}
        print(f"  {engine:18} {seconds:6.1f} s, peak memory {peak:.0f} MiB")
    return result


PARTS = ("file", "joint", "faces", "wide", "large")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--rows", type=float, default=50.0, help="millions of records of the large file"
    )
    options.add_argument(
        "--folder", type=Path, help="where to keep the generated files; else removed"
    )
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "file": from_the_file,
            "joint": joint_tables,
            "faces": faces,
            "wide": lambda: wide(folder),
            "large": lambda: large(folder, round(given.rows * 1e6)),
        }
        add(
            "data",
            {part: parts[part]() for part in given.parts},
            {
                "file / schema given": at_least(20.0),
                "file / schema given, by processor time": at_least(20.0),
                "file / schema inferred": at_least(10.0),
                "file / schema inferred, by processor time": at_least(10.0),
                "joint / from the frame": at_most(5.0),
            },
        )


if __name__ == "__main__":
    main()
