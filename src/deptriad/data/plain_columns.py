"""Frames of pandas and Arrow without the column types that say too little: objects, dictionaries, decimals."""

from __future__ import annotations

from typing import Any


def plain_arrow(table: Any) -> Any:
    """A table of Arrow whose columns have the types of what they hold."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if (made := _plain_array(column)) is not column:
            table = table.set_column(place, name, made)
    return table


def _plain_array(column: Any) -> Any:
    """A column of Arrow by what it holds: text, or numbers by their digits (its own cast is an ulp off)."""
    import pyarrow as pa

    column = undictionaried(column)
    if pa.types.is_decimal(column.type):
        return column.cast(pa.string()).cast(pa.float64())
    return column


def undictionaried(column: Any) -> Any:
    """A column of Arrow with its values side by side."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return undictionaried(column.cast(column.type.value_type))
    if str(column.type) == "string_view":
        return column.cast(pa.large_string())
    return column


def plain_pandas(frame: Any) -> Any:
    """Columns of objects and of categories as what they hold; one of mixed kinds stays, and is refused if used."""
    plain = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if (made := _plain_series(column)) is not column:
            plain.isetitem(place, made)
    return plain


def _plain_series(column: Any) -> Any:
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        held = column.array.__arrow_array__()
        if (made := _plain_array(held)) is held:
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
