"""Batches of arrays from the frames of local engines, without holding all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import narwhals as nw

from deptriad.data.column_types import Frame
from deptriad.data.readers import reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batch = list["NDArray[Any]"]

BATCH = 1 << 17
"""Records that are handed on at a time."""


def batches(codes: Frame) -> Iterator[Batch]:
    """A frame of numbers without nulls as batches of arrays, a column each, in the order of the rows."""
    native, kind = codes.to_native(), codes.implementation
    if isinstance(codes, nw.LazyFrame):
        if kind.is_duckdb():
            reader = getattr(native, "to_arrow_reader", None) or native.fetch_record_batch
            with reading("the data", OSError):
                yield from map(arrays, reader(BATCH))
            return
        if kind.is_ibis() and _ibis_streams(native):
            yield from map(arrays, native.to_pyarrow_batches(chunk_size=BATCH))
            return
        if kind.is_polars() and hasattr(native, "collect_batches"):
            for part in native.collect_batches(chunk_size=BATCH, maintain_order=True):
                yield [column.to_numpy() for column in part.get_columns()]
            return
        codes = codes.collect()
    columns = [codes[name].to_numpy() for name in codes.columns]
    for start in range(0, len(codes), BATCH):
        yield [column[start : start + BATCH] for column in columns]


def _ibis_streams(native: Any) -> bool:
    """Whether Ibis can hand over batches: its DuckDB backend calls what DuckDB 2 no longer has."""
    if native.get_backend().name != "duckdb":
        return True
    import duckdb

    return hasattr(duckdb.DuckDBPyConnection, "fetch_record_batch")


def arrays(batch: Any) -> Batch:
    """The columns of a batch of Arrow."""
    return [column.to_numpy(zero_copy_only=False) for column in batch.columns]
