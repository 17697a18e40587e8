"""Where an engine's ways are kept: how frames are opened, encoded to codes and streamed into the counting kernel.

Columns are turned into codes where the data lives, by one narwhals expression for each attribute. Local engines then
stream batches of codes; Spark and Dask run the work on their workers, and only its result comes back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from deptriad.schema import Attribute, Schema, Value, closest
from deptriad.text import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
Batch = list["NDArray[Any]"]
Progress = Callable[[int, int | None], None]
"""Called with what is done and what there is to do in all, where that is known."""

Work = Callable[[Iterator[Batch]], "list[NDArray[Any]]"]

BATCH = 1 << 17
"""Records that are handed on at a time."""

CHAINED = 8
"""Up to so many categories a chain of comparisons beats a lookup on most engines."""

UNSEEN, ABSENT = -1, -2
"""Codes of what a schema refuses: an undeclared value, a missing one."""

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".parq": "parquet",
}


# --- opening --------------------------------------------------------------------------------------------------


def opened(data: Any, query: str | None = None, schema: Schema | None = None) -> Frame:
    """A narwhals frame of whatever came in: a frame of any engine, or a path or glob read out of core by DuckDB."""
    if isinstance(data, str | os.PathLike):
        data = _file(os.fspath(data), query, schema)
    elif query is not None:
        raise ValueError("query is for files: pass the frame that the query gives")
    elif isinstance(data, nw.DataFrame | nw.LazyFrame):
        data = data.to_native()
    _refuse_twice(_native_columns(data), "the frame")
    try:
        frame: Frame = nw.from_native(_plain(data))
    except TypeError:
        raise ValueError(
            f"data is a {type(data).__name__}, expected a pandas, Polars, PyArrow, DuckDB, Ibis, PySpark or Dask "
            "frame, or the path of a .csv or .parquet file"
        ) from None
    return frame


def name_of(data: Any) -> str:
    """How a message names the data: by its path, where it has one."""
    return os.fspath(data) if isinstance(data, str | os.PathLike) else "the data"


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


def _native_columns(data: Any) -> list[Any]:
    """Names of the columns, where an engine lets one come twice."""
    engine = type(data).__module__.partition(".")[0]
    if engine not in ("pandas", "pyarrow", "pyspark", "dask"):
        return []
    return list(data.column_names if engine == "pyarrow" else data.columns)


def _refuse_twice(names: Sequence[Any], where: str) -> None:
    if twice := sorted({str(name) for name in names if list(names).count(name) > 1}):
        raise ValueError(f"{where} has column {twice[0]!r} twice, expected distinct names")


def _plain(data: Any) -> Any:
    """The same frame without the column types that say too little: objects and dictionaries."""
    module = type(data).__module__.partition(".")[0]
    if module == "pandas":
        return _plain_pandas(data)
    if module == "pyarrow":
        import pyarrow as pa

        for place, field in enumerate(data.schema):
            if pa.types.is_dictionary(field.type):
                data = data.set_column(
                    place, field.name, data[field.name].cast(field.type.value_type)
                )
    return data


def _plain_pandas(frame: Any) -> Any:
    """Columns of objects and of categories as what they hold; one of mixed kinds stays, and is refused if used."""
    import pandas as pd

    types = {
        "string": "str",
        "boolean": "boolean",
        "integer": "Int64",
        "floating": "Float64",
        "empty": "Float64",
    }
    types |= {"decimal": "Float64", "mixed-integer-float": "Float64"}
    plain = {}
    for name, dtype in frame.dtypes.items():
        column = frame[name]
        if isinstance(dtype, pd.CategoricalDtype):
            column = column.astype(object)
        if column.dtype == object:
            held = types.get(pd.api.types.infer_dtype(column, skipna=True))
            if held:
                plain[name] = column.astype(held)
    return frame.assign(**plain) if plain else frame


def _file(path: str, query: str | None, schema: Schema | None) -> Any:
    """A DuckDB relation over a file or a glob of files; with a schema, a CSV's columns are read as declared."""
    try:
        import duckdb
        import pyarrow  # noqa: F401  DuckDB hands batches over in Arrow
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"reading files needs {missing.name}: pip install 'deptriad[files]'", name=missing.name
        ) from None
    kind = SUFFIXES.get(Path(path.removesuffix(".gz").removesuffix(".zst")).suffix.lower())
    if kind is None:
        raise ValueError(f"{path} is of no kind known here, expected one of {', '.join(SUFFIXES)}")
    if not re.search(r"[*?\[]", path) and not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if Path(path).is_file() and not Path(path).stat().st_size:
        raise ValueError(f"{path} is empty")
    connection = duckdb.connect()
    with _reading(path):
        if kind == "parquet":
            _refuse_twice(_parquet_names(connection, path), path)
            relation = connection.read_parquet(path)
        else:
            relation = _csv(connection, path, schema)
        return relation.query("data", query) if query else relation


def _reason(error: Exception) -> str:
    """What DuckDB says went wrong, without its advice on how to call it."""
    said = re.split(r"\n\s*(?:Possible|LINE \d)", str(error))[0]
    return "; ".join(line.strip() for line in said.splitlines() if line.strip())


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """What DuckDB finds wrong with a file while it reads it, as an error of the data."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("_duckdb", "duckdb") and not (
            isinstance(error, OSError) and "Error" in str(error)
        ):
            raise
        raise ValueError(f"cannot read {what}: {_reason(error)}") from None


def _parquet_names(connection: Any, path: str) -> list[str]:
    """Names of the top columns of a Parquet file as they are; DuckDB renames those that come twice."""
    rows = connection.execute(
        "select file_name, name, num_children from parquet_schema(?)", [path]
    ).fetchall()
    first = [(name, children or 0) for file, name, children in rows if file == rows[0][0]]
    names, place = [], 1
    while place < len(first):
        names.append(first[place][0])
        inside = 1
        while inside:  # skip what is nested in it
            inside += first[place][1] - 1
            place += 1
    return names


def _csv(connection: Any, path: str, schema: Schema | None) -> Any:
    found = connection.execute(
        "select Delimiter, HasHeader, Columns from sniff_csv(?)", [path]
    ).fetchall()
    delimiter, has_header, columns = found[0]
    if not has_header:
        raise ValueError(
            f"{path} has no line of column names at its top, or is no table of values between commas"
        )
    header = connection.read_csv(path, header=False, all_varchar=True, delimiter=delimiter).limit(1)
    _refuse_twice([name for row in header.fetchall() for name in row if name is not None], path)
    held = {"text": "VARCHAR", "boolean": "BOOLEAN", "number": "DOUBLE", "bins": "DOUBLE"}
    names = [column["name"] for column in columns]
    declared = {each.name: held[each.kind] for each in schema or () if each.name in names}
    # types that are not declared are found from the whole file, not from its first rows
    return connection.read_csv(
        path, delimiter=delimiter, header=True, dtype=declared or None, sample_size=-1
    )


# --- columns --------------------------------------------------------------------------------------------------


def held_by(dtype: Any) -> str:
    """What a column holds, in the words of a schema, or its type where that is no kind of attribute."""
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype == nw.Object:
        return "mixed types"
    return str(dtype)


def require(frame: Frame, names: Sequence[str]) -> dict[str, Any]:
    """Types of the columns, all of which must be there."""
    types = dict(frame.collect_schema())
    spark = frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()
    for name in names:
        if name not in types:
            raise ValueError(f"there is no column {name!r}: {closest(name, list(types))}")
        if spark and set(name) & set(".`"):
            raise ValueError(
                f"column {name!r} has a dot or a backtick in its name, which Spark reads as something else: rename it"
            )
    return types


def _number(column: nw.Expr, dtype: Any, whole: bool) -> nw.Expr:
    """A numeric column with one zero and no NaN; signed integers stay as they are where only those are wanted."""
    if dtype.is_signed_integer() and whole:
        return column
    number = column.cast(nw.Float64)
    if dtype.is_float():
        number = nw.when(~number.is_nan()).then(number)
    return number + 0.0


def code_of(attribute: Attribute, dtype: Any, integer: Any, empty: bool = False) -> nw.Expr:
    """The code of an attribute's value, computed where the data lives; an empty column may be of any type."""
    wanted = "number" if attribute.kind == "bins" else attribute.kind
    column = nw.col(attribute.name)
    unseen = attribute.declared if attribute.unseen == "other" else UNSEEN
    absent = {
        "category": attribute.size - 1,
        "other": attribute.declared,
        "error": ABSENT,
    }[attribute.missing]
    if empty:
        missing = nw.lit(absent, dtype=integer)
        return nw.when(column.is_null()).then(missing).otherwise(missing)
    if attribute.kind == "bins":
        column = _number(column, dtype, whole=False)
        code = _bin(column, attribute.edges or (), unseen, integer)
    else:
        values: Sequence[Value] = attribute.categories or ()
        if wanted == "number":
            whole = all(isinstance(value, int) for value in values)
            column = _number(column, dtype, whole)
            if not (whole and dtype.is_signed_integer()):
                values = [float(value) for value in values]
            elif list(values) == list(range(values[0], values[0] + len(values))):  # type: ignore[arg-type, operator]
                return _coded(column, _shift(column, values, unseen, integer), absent, integer)
        elif wanted == "text" and dtype != nw.String:
            column = column.cast(nw.String)
        code = _lookup(column, values, unseen, integer)
    return _coded(column, code, absent, integer)


def _coded(column: nw.Expr, code: nw.Expr, absent: int, integer: Any) -> nw.Expr:
    missing = nw.lit(absent, dtype=integer)
    return nw.when(column.is_null()).then(missing).otherwise(code).cast(integer)


def _shift(column: nw.Expr, values: Sequence[Any], unseen: int, integer: Any) -> nw.Expr:
    """Whole numbers without a gap, which most coded surveys have, need a subtraction only."""
    inside = (column >= values[0]) & (column <= values[-1])
    code = column.cast(nw.Int64) - values[0]
    return nw.when(inside).then(code).otherwise(nw.lit(unseen)).cast(integer)


def _lookup(column: nw.Expr, values: Sequence[Value], unseen: int, integer: Any) -> nw.Expr:
    if len(values) > CHAINED:
        codes = list(range(len(values)))
        return column.replace_strict(values, codes, default=unseen, return_dtype=integer)
    code = nw.lit(unseen, dtype=integer)
    for number, value in reversed(list(enumerate(values))):
        code = nw.when(column == value).then(nw.lit(number, dtype=integer)).otherwise(code)
    return code


def _bin(column: nw.Expr, edges: Sequence[float], unseen: int, integer: Any) -> nw.Expr:
    """How many inner edges a number has reached; outside the outer ones it is unseen."""
    inner = [(column >= edge).cast(integer) for edge in edges[1:-1]]
    reached = nw.sum_horizontal(*inner) if inner else nw.lit(0, dtype=integer)
    inside = (column >= edges[0]) & (column <= edges[-1])
    return nw.when(inside).then(reached.cast(integer)).otherwise(nw.lit(unseen, dtype=integer))


def _is_empty(frame: Frame, attribute: Attribute, dtype: Any) -> bool:
    """Whether a column of another type than declared has no value at all; if it has one, that is an error."""
    held = held_by(dtype)
    wanted = "number" if attribute.kind == "bins" else attribute.kind
    if held == wanted:
        return False
    column = nw.col(attribute.name)
    if not frame.select(column.count().alias("values")).lazy().collect()["values"].to_list()[0]:
        return True
    declared = "bins are" if attribute.kind == "bins" else f"{wanted} categories are"
    raise ValueError(
        f"column {attribute.name!r} holds {held} where {declared} declared: convert the column, or declare what it "
        "holds in the schema"
    )


@dataclass(frozen=True)
class Encoder:
    """From a frame to one of codes: the schema's attributes in order, then the source's code and the weight."""

    schema: Schema
    by: Attribute | None = None
    weight: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns it reads."""
        more = [self.by.name] if self.by else []
        return [*self.schema.names, *more, *([self.weight] if self.weight else [])]

    def __call__(self, frame: Frame) -> Frame:
        """The frame of codes, lazily where the frame is lazy."""
        types = require(frame, self.columns)
        integer = nw.Int8 if max(self.schema.sizes) <= 127 else nw.Int16
        # plain names: not every engine quotes those of others when it groups
        codes = [
            code_of(each, types[each.name], integer, _is_empty(frame, each, types[each.name]))
            for each in self.schema
        ]
        codes = [code.alias(f"code_{place}") for place, code in enumerate(codes)]
        if self.by:
            codes.append(code_of(self.by, types[self.by.name], nw.Int32).alias("source"))
        if self.weight:
            if held_by(types[self.weight]) != "number":
                raise ValueError(
                    f"the weight column {self.weight!r} holds {held_by(types[self.weight])}, expected numbers"
                )
            weight = nw.col(self.weight).cast(nw.Float64)
            missing = weight.is_null() | (
                weight.is_nan() if types[self.weight].is_float() else False
            )
            codes.append(nw.when(missing).then(nw.lit(-1.0)).otherwise(weight).alias("weight"))
        return frame.select(*codes)


# --- streaming ------------------------------------------------------------------------------------------------


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


def batches(codes: Frame) -> Iterator[Batch]:
    """A frame of numbers without nulls as batches of arrays, a column each, in the order of the rows."""
    native, kind = codes.to_native(), codes.implementation
    if isinstance(codes, nw.LazyFrame):
        if kind.is_duckdb():
            reader = getattr(native, "to_arrow_reader", None) or native.fetch_record_batch
            with _reading("the data"):
                yield from map(_arrays, reader(BATCH))
            return
        if kind.is_ibis() and _ibis_streams(native):
            yield from map(_arrays, native.to_pyarrow_batches(chunk_size=BATCH))
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


def _arrays(batch: Any) -> Batch:
    return [column.to_numpy(zero_copy_only=False) for column in batch.columns]


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

        result = work(map(_arrays, arrow_batches))
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
    frame = opened(data, schema=schema).select(*schema.names)
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
            what = "outside its edges" if attribute.kind == "bins" else "undeclared"
            raise ValueError(
                f"column {name!r} has {unseen:,} {what} values{_examples(frame, attribute)}: declare them in the "
                "schema, or set unseen='other' there"
            )
        if absent:
            raise ValueError(
                f"column {name!r} has {absent:,} missing values, which its schema refuses: set missing='category' there"
            )


def _examples(frame: Frame, attribute: Attribute) -> str:
    """Some of the values that are refused, looked for only now."""
    if frame.implementation.is_dask():
        parts = frame.to_native()[[attribute.name]].to_delayed()
        shown = (_examples(opened(part.compute()), attribute) for part in parts)
        return next(filter(None, shown), "")
    types = require(frame, [attribute.name])
    if _is_empty(frame, attribute, types[attribute.name]):
        return ""
    code = code_of(attribute, types[attribute.name], nw.Int16)
    values = frame.filter(code == UNSEEN).select(nw.col(attribute.name).alias("value"))
    strange = values.unique().lazy().head(5).collect()["value"].to_list()
    words = ", ".join(printable(repr(value)) for value in sorted(strange, key=str))
    return f", such as {words}" if words else ""


# --- tallies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """Different values of a column and how often each occurs; or why it cannot be an attribute."""

    name: str
    values: list[Value]
    counts: list[int]
    missing: int = 0
    trouble: str = ""

    @property
    def records(self) -> int:
        """Of how many records."""
        return sum(self.counts) + self.missing


def tallies(frame: Frame, columns: Sequence[str]) -> Iterator[Tally]:
    """Tally the columns one after another, where the data lives."""
    types = require(frame, columns)
    for name in columns:
        yield _tally(frame, name, types[name])


def _tally(frame: Frame, name: str, dtype: Any) -> Tally:
    held = held_by(dtype)
    if held == "mixed types" and not frame.implementation.is_dask():
        return Tally(
            name, [], [], trouble="it holds values of mixed types; convert it to text or numbers"
        )
    if held not in ("text", "number", "boolean", "mixed types"):
        if str(dtype) in ("Null", "Unknown"):
            return Tally(name, [], [], missing=1)
        return Tally(name, [], [], trouble=f"it holds {held}, expected text, numbers or booleans")
    column = frame.select(nw.col(name).alias("value"))
    with _reading(f"column {name!r}"):
        found = column.group_by("value").agg(nw.len().alias("records")).lazy().collect()
    values: dict[Value, int] = {}
    missing = int(found.filter(nw.col("value").is_null())["records"].sum())
    found = found.filter(~nw.col("value").is_null())
    for value, count in zip(found["value"].to_list(), found["records"].to_list(), strict=True):
        if value != value:
            missing += int(count)
            continue
        plain = value if isinstance(value, str | bool | int) else float(value) + 0.0
        values[plain] = values.get(plain, 0) + int(count)
    return Tally(name, list(values), list(values.values()), missing)
