"""What the columns of a frame hold, in the words of a schema; and frames without the types that say too little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw

from deptriad.utils.text import closest

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

RENAMED = "frame.columns = [str(name) for name in frame.columns]"
"""How columns get names of text, whatever they were."""


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


def number_of(column: nw.Expr, dtype: Any, whole: bool) -> nw.Expr:
    """A numeric column with one zero and no NaN; signed integers stay as they are where only those are wanted."""
    if is_whole(dtype) and whole:
        return column
    if dtype == nw.Decimal:  # by its digits: not every engine rounds to the nearest float
        column = column.cast(nw.String)
    number = column.cast(nw.Float64)
    if dtype.is_float():
        number = nw.when(~number.is_nan()).then(number)
    return number + 0.0


def is_whole(dtype: Any) -> bool:
    """Whether a column holds signed integers that fit into 64 bits."""
    return bool(dtype.is_signed_integer()) and dtype != nw.Int128


# --- names ----------------------------------------------------------------------------------------------------


def require(frame: Frame, names: Sequence[str]) -> dict[str, Any]:
    """Types of the columns, all of which must be there."""
    types: dict[Any, Any] = dict(frame.collect_schema())
    spark = frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()
    alike = Counter(map(folded, types)) if _ignores_case(frame) else Counter()
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"column {name!r} has a name that is no text: rename the columns, as by {RENAMED}"
            )
        if name not in types:
            raise ValueError(_no_column(name, list(types)))
        if alike[folded(name)] > 1:
            raise ValueError(
                f"there is a column beside {name!r} whose name differs only in case, which SQL takes for the same: "
                "rename one"
            )
        if spark and set(name) & set(".`"):
            raise ValueError(
                f"column {name!r} has a dot or a backtick in its name, which Spark reads as something else: rename it"
            )
    return types


def _no_column(name: str, there: list[Any]) -> str:
    known = [other for other in there if isinstance(other, str)]
    said = f"there is no column {name!r}" + (f": {closest(name, known)}" if known else "")
    if odd := [other for other in there if not isinstance(other, str)]:
        near = next((other for other in odd if str(other) == name), odd[0])
        said += f"; column {near!r} has a name that is no text, rename it as by {RENAMED}"
    return said


def folded(name: Any) -> Any:
    """A name as DuckDB compares it: without the case of its Latin letters."""
    if not isinstance(name, str):
        return name
    return name.encode("utf-8", "surrogatepass").lower()


def _ignores_case(frame: Frame) -> bool:
    kind = frame.implementation
    if kind.is_ibis():
        return bool(frame.to_native().get_backend().name == "duckdb")
    return kind.is_duckdb() or kind.is_pyspark() or kind.is_pyspark_connect()


def refuse_twice(names: Iterable[Any], where: str) -> None:
    """Columns are told apart by their names."""
    if twice := sorted(str(name) for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"{where} has column {twice[0]!r} twice, expected distinct names")


# --- plain types ----------------------------------------------------------------------------------------------


def plain(data: Any) -> Any:
    """The same frame without the column types that say too little: objects, dictionaries, decimals of Arrow."""
    module = type(data).__module__.partition(".")[0]
    if module == "pandas":
        return _plain_pandas(data)
    if module == "pyarrow":
        for place, name in enumerate(data.column_names):
            column = data.column(place)
            if (made := _plain_arrow(column)) is not column:
                data = data.set_column(place, name, made)
    return data


def _plain_arrow(column: Any) -> Any:
    """A column of Arrow by what it holds: text, or numbers by their digits (its own cast is an ulp off)."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return _plain_arrow(column.cast(column.type.value_type))
    if pa.types.is_decimal(column.type):
        return column.cast(pa.string()).cast(pa.float64())
    if str(column.type) == "string_view":
        return column.cast(pa.large_string())
    return column


def _plain_pandas(frame: Any) -> Any:
    """Columns of objects and of categories as what they hold; one of mixed kinds stays, and is refused if used."""
    changed = {}
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if (made := _plain_series(column)) is not column:
            changed[place] = made
    if changed:
        frame = frame.copy(deep=False)
        for place, column in changed.items():
            frame.isetitem(place, column)
    return frame


def _plain_series(column: Any) -> Any:
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        held = column.array.__arrow_array__()
        if (made := _plain_arrow(held)) is held:
            return column
        return pd.Series(pd.arrays.ArrowExtensionArray(made), index=column.index)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype != object:
        return column
    for kind in _KINDS.get(pd.api.types.infer_dtype(column, skipna=True), ()):
        try:
            return column.astype(kind)
        except (OverflowError, TypeError, ValueError):  # as for integers beyond 64 bits
            continue
    return column


_KINDS = {
    "string": ("str",),
    "boolean": ("boolean",),
    "integer": ("Int64", "Float64"),
    "floating": ("Float64",),
    "decimal": ("Float64",),
    "mixed-integer-float": ("Float64",),
    "empty": ("Float64",),
}
"""What pandas says that objects are, and the types to try for them."""
