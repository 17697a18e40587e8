"""Where an engine's ways are kept: how frames are encoded to codes and streamed into the counting kernel.

Columns are turned into codes where the data lives. Local engines then stream batches of codes; Spark and Dask run the
work on their workers, and only its result comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from deptriad.data.attribute import Attribute
from deptriad.data.batches import Batch, arrays, batches
from deptriad.data.column_types import Frame, require
from deptriad.data.encoding import ABSENT, UNSEEN, Encoder, code_of, is_empty
from deptriad.data.readers import opened
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.schema import Schema
    from deptriad.utils.progress import Progress

Work = Callable[[Iterator[Batch]], "list[NDArray[Any]]"]


def results(
    frame: Frame, encode: Encoder, work: Work, progress: Progress | None = None
) -> Iterator[list[NDArray[Any]]]:
    """The work's results on all batches of codes: one from a local engine, one for each partition of a cluster."""
    if frame.implementation.is_dask():
        yield from _dask_results(frame.to_native(), encode, work)
        return
    codes = encode(frame)
    if codes.implementation.is_pyspark() or codes.implementation.is_pyspark_connect():
        yield from _spark_results(codes.to_native(), work)
    else:
        yield work(_watched(batches(codes), progress))


def _watched(stream: Iterator[Batch], progress: Progress | None) -> Iterator[Batch]:
    """The same batches; before each next one the progress is told how many records are done."""
    done = 0
    for batch in stream:
        yield batch
        done += len(batch[0])
        if progress:
            progress(done, None)


def streams(frame: Frame) -> bool:
    """Whether an engine hands over batches of codes, or does the work itself on its partitions."""
    kind = frame.implementation
    ways = (kind.is_duckdb, kind.is_ibis, kind.is_polars, kind.is_dask, kind.is_pyspark)
    return isinstance(frame, nw.DataFrame) or any(
        is_kind() for is_kind in (*ways, kind.is_pyspark_connect)
    )


def grouped(codes: Frame, keys: list[str], weight: str | None) -> dict[str, NDArray[Any]]:
    """Records, sums of weights and numbers of bad weights of every combination of codes."""
    sums = [nw.len().alias("records")]
    if weight:
        bad = (nw.col(weight) < 0.0) | (nw.col(weight) == float("inf"))
        sums += [nw.col(weight).sum().alias("sum"), nw.col("bad").sum().alias("refused")]
        codes = codes.with_columns(bad.cast(nw.Int64).alias("bad"))
    found = codes.group_by(*keys).agg(*sums).lazy().collect()
    columns = {name: found[name].to_numpy() for name in found.columns}
    whole = {name: columns[name].astype(np.int64) for name in columns if name != "sum"}
    return whole | ({"weights": columns["sum"].astype(np.float64)} if weight else {})


def _dask_results(native: Any, encode: Encoder, work: Work) -> Iterator[list[NDArray[Any]]]:
    import dask

    parts = native[encode.columns].to_delayed()
    done = [dask.delayed(_partition_result)(part, encode, work) for part in parts]
    yield from dask.compute(*done)


def _partition_result(part: Any, encode: Encoder, work: Work) -> list[NDArray[Any]]:
    return work(batches(encode(opened(part))))


def _spark_results(native: Any, work: Work) -> Iterator[list[NDArray[Any]]]:
    def partition(arrow_batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        result = work(map(arrays, arrow_batches))
        kinds = [array.dtype.str for array in result]
        yield pa.RecordBatch.from_pydict(
            {"kind": [",".join(kinds)], "numbers": [[array.tobytes() for array in result]]},
            pa.schema([("kind", pa.string()), ("numbers", pa.list_(pa.binary()))]),
        )

    for row in native.mapInArrow(partition, "kind string, numbers array<binary>").toLocalIterator():
        pairs = zip(row["kind"].split(","), row["numbers"], strict=True)
        yield [np.frombuffer(bytes(number), dtype=kind) for kind, number in pairs]


def encoded(data: Any, schema: Schema) -> NDArray[np.int16]:
    """Codes of all records of a local frame or a file, in the order of the rows."""
    frame = opened(data, schema=schema)
    require(frame, schema.names)
    frame = frame.select(*schema.names)
    parts = [np.column_stack(batch) for batch in batches(Encoder(schema)(frame))]
    codes = np.concatenate(parts) if parts else np.zeros((0, len(schema)))
    refuse_codes(
        frame, schema, np.array([(codes == UNSEEN).sum(axis=0), (codes == ABSENT).sum(axis=0)])
    )
    return codes.astype(np.int16)


def refuse_codes(frame: Frame, schema: Schema, refused: NDArray[np.int64]) -> None:
    """Say which values a schema refuses, given how many undeclared and missing ones each attribute had."""
    for attribute, unseen, absent in zip(schema, *refused.tolist(), strict=True):
        name = attribute.name
        if unseen:
            what = "values outside its edges" if attribute.kind == "bins" else "undeclared values"
            raise InvalidValue(
                f"column {name!r} has {unseen:,} {what}{_examples(frame, attribute)}: declare them in the "
                "schema, or set ",
                *(Parameter("unseen", "'other'"), " there"),
            )
        if absent:
            raise InvalidValue(
                f"column {name!r} has {absent:,} missing values, which its schema refuses: set ",
                *(Parameter("missing", "'category'"), " there"),
            )


def _examples(frame: Frame, attribute: Attribute) -> str:
    """Some of the values that are refused, looked for only now."""
    if frame.implementation.is_dask():
        parts = frame.to_native()[[attribute.name]].to_delayed()
        shown = (_examples(opened(part.compute()), attribute) for part in parts)
        return next(filter(None, shown), "")
    types = require(frame, [attribute.name])
    if is_empty(frame, attribute, types[attribute.name]):
        return ""
    code = code_of(attribute, types[attribute.name], nw.Int16)
    values = frame.filter(code == UNSEEN).select(nw.col(attribute.name).alias("value"))
    strange = values.unique().lazy().head(5).collect()["value"].to_list()
    words = ", ".join(printable(repr(value)) for value in sorted(strange, key=str))
    return f", such as {words}" if words else ""


# --- results --------------------------------------------------------------------------------------------------


def kind_of(data: Any) -> str:
    """The library whose frames results should be given in: that of the data if it is local, else pandas."""
    name = type(data).__module__.partition(".")[0]
    return name if name in ("polars", "pyarrow") else "pandas"


def made(columns: dict[str, Any], kind: str) -> Any:
    """A native frame of the library that is wanted, or of the first one that is installed."""
    for backend in (kind, "pandas", "polars", "pyarrow"):
        if find_spec(backend):
            return nw.from_dict(columns, backend=cast(Any, backend)).to_native()
    raise ModuleNotFoundError("a frame needs pandas, Polars or PyArrow: pip install pandas")
