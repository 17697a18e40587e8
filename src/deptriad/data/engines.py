"""The engines whose frames are read: one entry for each says what it does in a way of its own.

Columns become codes where the data lives. An engine then hands over batches of codes; or it runs the work on its
workers, and only the result comes back; or it can do neither, and is asked for one group-by after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from deptriad.data.plain_columns import plain_arrow, plain_pandas

Batch = list[NDArray[Any]]
"""Some records: an array for each column."""

Work = Callable[[Iterator[Batch]], list[NDArray[Any]]]
"""What is done with the batches of one process, and results in arrays."""


@dataclass(frozen=True)
class Engine:
    """How one engine's frames differ from others; a backend of narwhals without an entry gets by with the defaults.

    Parameters
    ----------
    name
        As messages call it.
    modules
        Top modules of the classes of its frames.
    columns
        The attribute of a native frame that has the names of its columns, where it lets a name come twice.
    ignores_case
        Whether a native frame takes names that differ only in case for the same, as SQL does.
    misread
        A pattern of what it does not take for part of a column's name.
    plain
        A native frame without the column types that say too little.
    arrow_batches
        A lazy native frame as batches of Arrow of at most so many rows, in their order.
    batches
        The same of a frame of numbers, as arrays. Without either, and without work on its workers, a lazy frame is
        counted by group-bys.
    on_parts
        The results of a function on each partition of a native frame, which is a local frame: for an engine whose
        column types are known there only.
    on_codes
        The results of some work on the batches of each partition of a native frame of numbers.
    results
        The library whose frames results are given in: pandas, Polars or PyArrow.
    """

    name: str
    modules: Sequence[str]
    columns: str | None = None
    ignores_case: Callable[[Any], bool] = lambda native: False
    misread: str = ""
    plain: Callable[[Any], Any] = lambda native: native
    arrow_batches: Callable[[Any, int], Iterator[Any]] | None = None
    batches: Callable[[Any, int], Iterator[Batch]] | None = None
    on_parts: Callable[[Any, Callable[[Any], Any]], Iterator[Any]] | None = None
    on_codes: Callable[[Any, Work], Iterator[list[NDArray[Any]]]] | None = None
    results: str = "pandas"

    def __post_init__(self) -> None:
        if arrow := self.arrow_batches:
            arrays = lambda native, size: map(_arrays, arrow(native, size))  # noqa: E731
            object.__setattr__(self, "batches", arrays)


def engine_of(native: Any) -> Engine:
    """The entry of a native frame's class, or of one that it derives from; all defaults where there is none."""
    for kind in type(native).__mro__:
        for engine in ENGINES:
            if kind.__module__.partition(".")[0] in engine.modules:
                return engine
    return Engine("another engine", ())


# --- Polars, DuckDB, Ibis: they stream ------------------------------------------------------------------------


def _polars_batches(native: Any, size: int) -> Iterator[Batch]:
    if hasattr(native, "collect_batches"):
        parts = native.collect_batches(chunk_size=size, maintain_order=True)
    else:
        parts = native.collect().iter_slices(size)
    for part in parts:
        yield [column.to_numpy() for column in part.get_columns()]


def _duckdb_batches(native: Any, size: int) -> Iterator[Any]:
    reader = getattr(native, "to_arrow_reader", None) or native.fetch_record_batch
    return iter(reader(size))


def _ibis_batches(native: Any, size: int) -> Iterator[Any]:
    if _on_duckdb(native):
        import duckdb

        # what Ibis calls to hand over batches, and DuckDB 2 no longer has
        if not hasattr(duckdb.DuckDBPyConnection, "fetch_record_batch"):
            return iter(native.to_pyarrow().to_batches(size))
    return iter(native.to_pyarrow_batches(chunk_size=size))


def _on_duckdb(native: Any) -> bool:
    return bool(native.get_backend().name == "duckdb")


def _arrays(batch: Any) -> Batch:
    """The columns of a batch of Arrow."""
    return [column.to_numpy(zero_copy_only=False) for column in batch.columns]


# --- Spark and Dask: they work on their partitions ------------------------------------------------------------


def _on_spark_codes(native: Any, work: Work) -> Iterator[list[NDArray[Any]]]:
    def partition(arrow_batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        result = work(map(_arrays, arrow_batches))
        kinds = [array.dtype.str for array in result]
        yield pa.RecordBatch.from_pydict(
            {"kind": [",".join(kinds)], "numbers": [[array.tobytes() for array in result]]},
            pa.schema([("kind", pa.string()), ("numbers", pa.list_(pa.binary()))]),
        )

    for row in native.mapInArrow(partition, "kind string, numbers array<binary>").toLocalIterator():
        pairs = zip(row["kind"].split(","), row["numbers"], strict=True)
        yield [np.frombuffer(bytes(number), dtype=kind) for kind, number in pairs]


def _on_dask_parts(native: Any, function: Callable[[Any], Any]) -> Iterator[Any]:
    import dask

    yield from dask.compute(*[dask.delayed(function)(part) for part in native.to_delayed()])


# --- the entries ----------------------------------------------------------------------------------------------

STAR = r"^\*$"
"""All columns, as SQL means it."""

ENGINES = [
    Engine("pandas", ["pandas"], columns="columns", plain=plain_pandas),
    Engine(
        "Polars", ["polars"], misread=r"^\*$|^\^.*\$$", batches=_polars_batches, results="polars"
    ),
    Engine("PyArrow", ["pyarrow"], columns="column_names", plain=plain_arrow, results="pyarrow"),
    Engine(
        "DuckDB",
        ["duckdb", "_duckdb"],
        columns="columns",
        ignores_case=lambda native: True,
        misread=STAR,
        arrow_batches=_duckdb_batches,
    ),
    Engine("Ibis", ["ibis"], ignores_case=_on_duckdb, misread=STAR, arrow_batches=_ibis_batches),
    Engine(
        "PySpark",
        ["pyspark"],
        columns="columns",
        ignores_case=lambda native: True,
        misread=r"[.`]|^\*$",
        on_codes=_on_spark_codes,
    ),
    Engine("Dask", ["dask"], columns="columns", on_parts=_on_dask_parts),
]


# --- results --------------------------------------------------------------------------------------------------


def made(columns: dict[str, Any], kind: str) -> Any:
    """A native frame of the library that is wanted, or of the first one that is installed."""
    return nw.from_dict(columns, backend=installed(kind)).to_native()


def installed(kind: str) -> Any:
    """The library that is wanted, or the first one that is installed."""
    for backend in (kind, "pandas", "polars", "pyarrow"):
        if find_spec(backend):
            return backend
    raise ModuleNotFoundError("a frame needs pandas, Polars or PyArrow: pip install pandas")
