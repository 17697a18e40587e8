"""How reports are written into columns and read again: labels where a report names a value, text with digits else.

Where a report names a value of the attribute (``Mechanism.names_values``: GRR and the staircase), its column holds the
label, so that a file of reports reads like the data; numbers and bins come as text, too; of several attributes that are
reported as one value each column has its own label. All other reports are an "x" and hexadecimal digits
(``Mechanism.to_bytes``): OLH's seed and digit, a set's bytes, a column's number. The "x" keeps spreadsheets and readers
of CSV from taking them for numbers. What was not asked is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.data.attribute import Attribute
from deptriad.data.categories import labels
from deptriad.mechanisms import Mechanism
from deptriad.utils.text import printable


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of few different texts; where the code is −1 it is empty."""

    codes: NDArray[Any]
    values: tuple[str, ...]

    def texts(self) -> NDArray[Any]:
        """Every entry as text."""
        return np.asarray(np.array([*self.values, None], dtype=object)[self.codes])


Column = Labels | NDArray[Any]
"""Labels; or an array of text, as bytes of one length or as strings, where None is empty; or of whole numbers."""


class Piece(NamedTuple):
    """The part of a column that one question fills."""

    rows: NDArray[np.intp]
    column: Column


def laid(pieces: Sequence[Piece], count: int, values: tuple[str, ...], alone: bool) -> Column:
    """A whole column of so many rows; ``alone`` if there is one view, so that a piece has all rows."""
    if alone and pieces:
        return pieces[0].column
    if all(isinstance(piece.column, Labels) for piece in pieces):
        codes = np.full(count, -1, dtype=np.int64)
        for rows, column in pieces:
            codes[rows] = column.codes  # type: ignore[union-attr]
        return Labels(codes, values)
    texts = np.full(count, None, dtype=object)
    for rows, column in pieces:
        texts[rows] = column.texts() if isinstance(column, Labels) else _text(column)
    return texts


# --- digits ---------------------------------------------------------------------------------------------------

_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)

_VALUES = np.full(256, 255, dtype=np.uint8)
"""What each character stands for as a digit; 255 for none."""
_VALUES[_DIGITS] = np.arange(16)


def spelt(mechanism: Mechanism, reports: NDArray[Any]) -> NDArray[np.bytes_]:
    """Reports as "x" and digits, each as long as the other."""
    raw = mechanism.to_bytes(reports)
    text = np.empty((len(raw), 1 + 2 * raw.shape[1]), dtype=np.uint8)
    text[:, 0] = ord("x")
    text[:, 1::2], text[:, 2::2] = _DIGITS[raw >> 4], _DIGITS[raw & 15]
    return text.view(f"S{text.shape[1]}")[:, 0]


def read(mechanism: Mechanism, texts: NDArray[Any], name: str) -> NDArray[Any]:
    """The reports that texts spell."""
    shape, kind = mechanism._report_format
    length = 1 + 2 * mechanism.to_bytes(np.zeros((1, *shape), dtype=kind)).shape[1]
    every = texts.tolist()
    for text in every:
        if not isinstance(text, str) or len(text) != length:
            _refuse(text, mechanism, name, length)
    # no character of a report is beyond ASCII; one that is becomes one that is no digit
    letters = "".join(every).encode("ascii", "replace")
    raw = np.frombuffer(letters, dtype=np.uint8).reshape(len(every), length)
    digits = _VALUES[raw[:, 1:]]
    fitting = (raw[:, 0] == ord("x")) & (digits < 16).all(axis=1)
    if not fitting.all():
        _refuse(texts[int(np.argmin(fitting))], mechanism, name, length)
    return mechanism.from_bytes((16 * digits[:, ::2] + digits[:, 1::2]).astype(np.uint8))


def _refuse(text: Any, mechanism: Mechanism, name: str, length: int) -> None:
    raise ValueError(
        f"column {name!r} has {printable(repr(text))}, expected a report of {type(mechanism).__name__}: an x and "
        f"{length - 1} hexadecimal digits; was it collected with another plan?"
    )


def label_attribute(attribute: Attribute, held: str) -> Attribute:
    """What a column of labels is read by; one that a CSV reader took for numbers, as numbers."""
    categories = attribute.categories
    plain = held == attribute.kind and held in ("number", "boolean")
    if not plain or categories is None or labels(categories) != attribute.values:
        categories = attribute.values
    return Attribute(attribute.name, categories, missing="error")


# --- frames ---------------------------------------------------------------------------------------------------


def framed(columns: dict[str, Column], kind: str) -> Any:
    """A frame of the library that is wanted, or of the first one that is installed."""
    from deptriad.data.engines import installed

    return {"pandas": _pandas, "polars": _polars, "pyarrow": arrow}[installed(kind)](columns)


def _text(column: NDArray[Any]) -> NDArray[Any]:
    return column.astype("U").astype(object) if column.dtype.kind == "S" else column


def _pandas(columns: dict[str, Column]) -> Any:
    import pandas as pd

    def series(column: Column) -> Any:
        if isinstance(column, Labels):
            return pd.Categorical.from_codes(column.codes, list(column.values))
        return column if column.dtype.kind in "iu" else pd.array(_text(column), dtype="str")

    return pd.DataFrame({name: series(column) for name, column in columns.items()})


def _polars(columns: dict[str, Column]) -> Any:
    import polars as pl

    def series(name: str, column: Column) -> Any:
        if isinstance(column, Labels):
            every = pl.Series(name, [*column.values, None], dtype=pl.Enum(column.values))
            return every.gather(column.codes % len(every))
        if column.dtype.kind in "iu":
            return pl.Series(name, column)
        return pl.Series(name, _text(column).tolist(), dtype=pl.String)

    return pl.DataFrame([series(name, column) for name, column in columns.items()])


def arrow(columns: dict[str, Column]) -> Any:
    """An Arrow table."""
    import pyarrow as pa

    return pa.table({name: _arrow(column) for name, column in columns.items()})


def _arrow(column: Column) -> Any:
    import pyarrow as pa

    if isinstance(column, Labels):
        kind = np.int8 if len(column.values) <= 127 else np.int16
        codes = pa.array(column.codes.astype(kind), mask=column.codes < 0)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.values, pa.string()))
    if column.dtype.kind in "iu":
        return pa.array(column)
    if column.dtype.kind != "S":
        return pa.array(column, pa.string())
    width = column.dtype.itemsize
    ends = np.arange(0, (len(column) + 1) * width, width, dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(column))]
    return pa.Array.from_buffers(pa.large_string(), len(column), buffers)
