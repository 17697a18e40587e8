"""From columns to codes: one narwhals expression for each attribute, computed where the data lives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from deptriad.data.attribute import Attribute
from deptriad.data.batches import coded
from deptriad.data.categories import Value
from deptriad.data.column_types import (
    Frame,
    floats_of,
    held_by,
    is_nan,
    is_whole,
    number_of,
    require,
    require_weight,
)
from deptriad.data.engines import engine_of
from deptriad.data.readers import opened, reading
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.schema import Schema

CHAINED = 8
"""Up to so many categories a chain of comparisons beats a lookup on most engines."""

UNSEEN, ABSENT = -1, -2
"""Codes of what a schema refuses: an undeclared value, a missing one."""


def code_of(attribute: Attribute, dtype: Any, integer: Any, empty: bool = False) -> nw.Expr:
    """The code of an attribute's value, computed where the data lives; an empty column may be of any type."""
    column = nw.col(attribute.name)
    unseen = attribute.declared if attribute.unseen == "other" else UNSEEN
    places = {"category": attribute.size - 1, "other": attribute.declared, "error": ABSENT}
    absent = places[attribute.missing]
    if empty:
        return _coded(column, nw.lit(absent, dtype=integer), absent, integer)
    if attribute.kind == "bins":
        column = number_of(column, dtype, whole=False)
        code = _bin(column, attribute.edges or (), unseen, integer)
    else:
        values: Sequence[Value] = attribute.categories or ()
        if attribute.kind == "number":
            whole = all(isinstance(value, int) for value in values)
            column = number_of(column, dtype, whole)
            if not (whole and is_whole(dtype)):
                values = [float(value) for value in values]
            else:
                column = column.cast(nw.Int64)  # a category may lie beyond the column's own type
                gapless = list(values) == list(range(values[0], values[0] + len(values)))  # type: ignore[arg-type, operator]
                if gapless and not attribute.groups:
                    return _coded(column, _shift(column, values, unseen, integer), absent, integer)
        elif attribute.kind == "text" and dtype != nw.String:
            column = column.cast(nw.String)
        code = _lookup(column, values, attribute.codes, unseen, integer)
    return _coded(column, code, absent, integer)


def _coded(column: nw.Expr, code: nw.Expr, absent: int, integer: Any) -> nw.Expr:
    missing = nw.lit(absent, dtype=integer)
    return nw.when(column.is_null()).then(missing).otherwise(code).cast(integer)


def _shift(column: nw.Expr, values: Sequence[Any], unseen: int, integer: Any) -> nw.Expr:
    """Whole numbers without a gap, which most coded surveys have, need a subtraction only."""
    inside = (column >= values[0]) & (column <= values[-1])
    code = column.cast(nw.Int64) - values[0]
    return nw.when(inside).then(code).otherwise(nw.lit(unseen)).cast(integer)


def _lookup(
    column: nw.Expr, values: Sequence[Value], codes: Sequence[int], unseen: int, integer: Any
) -> nw.Expr:
    if len(values) > CHAINED:
        return column.replace_strict(values, list(codes), default=unseen, return_dtype=integer)
    code = nw.lit(unseen, dtype=integer)
    for number, value in reversed(list(zip(codes, values, strict=True))):
        code = nw.when(column == value).then(nw.lit(number, dtype=integer)).otherwise(code)
    return code


def _bin(column: nw.Expr, edges: Sequence[float], unseen: int, integer: Any) -> nw.Expr:
    """How many inner edges a number has reached; outside the outer ones it is unseen."""
    inner = [(column >= edge).cast(integer) for edge in edges[1:-1]]
    reached = nw.sum_horizontal(*inner) if inner else nw.lit(0, dtype=integer)
    inside = (column >= edges[0]) & (column <= edges[-1])
    return nw.when(inside).then(reached.cast(integer)).otherwise(nw.lit(unseen, dtype=integer))


def is_empty(frame: Frame, attribute: Attribute, dtype: Any) -> bool:
    """Whether a column of another type than declared has no value at all; if it has one, that is an error."""
    if (held := held_by(dtype)) == attribute.held:
        return False
    column = nw.col(attribute.name)
    with reading(f"column {attribute.name!r}", OSError):
        number = frame.select(column.count().alias("values")).lazy().collect()["values"]
    if not number.to_list()[0]:
        return True
    declared = "bins are" if attribute.kind == "bins" else f"{attribute.kind} categories are"
    raise ValueError(
        f"column {attribute.name!r} holds {held} where {declared} declared: convert the column, or declare what it "
        "holds in the schema"
    )


@dataclass(frozen=True)
class Encoder:
    """From a frame to one of codes: the schema's attributes in order, then the group's code and the weight."""

    schema: Schema
    by: Attribute | None = None
    weight: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns it reads."""
        more = (self.by.name if self.by else None, self.weight)
        return [*self.schema.names, *(name for name in more if name is not None)]

    def __call__(self, frame: Frame) -> Frame:
        """The frame of codes, lazily where the frame is lazy."""
        codes: Frame = self.only(frame, self.columns)
        return codes

    def only(self, frame: Any, columns: Sequence[str]) -> Any:
        """The same of some of its columns, in the order given."""
        types = require(frame, columns)
        integer = nw.Int8 if max(self.schema.sizes) <= 127 else nw.Int16
        codes = []
        for name in columns:
            if self.by and name == self.by.name:
                codes.append(code_of(self.by, types[name], nw.Int32).alias("source"))
            elif name == self.weight:
                codes.append(weight_of(name, types).alias("weight"))
            else:
                each = self.schema[name]
                code = code_of(each, types[name], integer, is_empty(frame, each, types[name]))
                # plain names: not every engine quotes those of others when it groups
                codes.append(code.alias(f"code_{self.schema.index(name)}"))
        return frame.select(*codes)


def weight_of(name: str, types: Mapping[str, Any]) -> nw.Expr:
    """Weights, where a missing one is -1."""
    require_weight(types, name)
    weight = floats_of(nw.col(name), types[name])
    missing = weight.is_null()
    if types[name].is_float():
        missing = missing | is_nan(weight)
    return nw.when(missing).then(nw.lit(-1.0)).otherwise(weight)


def encoded(data: Any, schema: Schema, of_plan: bool = False) -> NDArray[np.int16]:
    """Codes of all records of a local frame or a file, in the order of the rows; the schema may be that of a plan."""
    frame = opened(data, schema=schema)
    require(frame, schema.names)
    frame = frame.select(*schema.names)
    parts = [np.column_stack(batch) for batch in coded(frame, Encoder(schema))]
    codes = np.concatenate(parts) if parts else np.zeros((0, len(schema)))
    refused = [(codes == code).sum(axis=0) for code in (UNSEEN, ABSENT)]
    refuse_codes(frame, schema, np.array(refused), of_plan)
    return codes.astype(np.int16)


PLANNED = (
    "a plan stands as it is: leave such records out, or calibrate again with a schema that has "
)
"""What to do where the schema is that of a plan, whose mechanisms know no other values."""


def refuse_codes(
    frame: Frame, schema: Schema, refused: NDArray[np.int64], of_plan: bool = False
) -> None:
    """Say which values a schema refuses, given how many undeclared and missing ones each attribute had."""
    for attribute, unseen, absent in zip(schema, *refused.tolist(), strict=True):
        name = attribute.name
        if unseen:
            what = "values outside its edges" if attribute.kind == "bins" else "undeclared values"
            said = f"column {name!r} has {unseen:,} {what}{_examples(frame, attribute)}: "
            if of_plan:
                raise InvalidValue(said, PLANNED, "them, or ", Parameter("unseen", "'other'"))
            raise InvalidValue(
                said,
                "declare them in the schema, or set ",
                *(Parameter("unseen", "'other'"), " there"),
            )
        if absent:
            said = f"column {name!r} has {absent:,} missing values"
            if of_plan:
                raise InvalidValue(f"{said}: ", PLANNED, Parameter("missing", "'category'"))
            raise InvalidValue(
                f"{said}, which its schema refuses: set ",
                *(Parameter("missing", "'category'"), " there"),
            )


def _examples(frame: Frame, attribute: Attribute) -> str:
    """Some of the values that are refused, looked for only now."""
    column = frame.select(attribute.name)
    if on_parts := engine_of(frame.to_native()).on_parts:
        shown = on_parts(column.to_native(), partial(_examples_in_part, attribute))
        return next(filter(None, shown), "")
    dtype = require(column, [attribute.name])[attribute.name]
    if is_empty(column, attribute, dtype):
        return ""
    code = code_of(attribute, dtype, nw.Int16)
    values = column.filter(code == UNSEEN).select(nw.col(attribute.name).alias("value"))
    strange = values.unique().lazy().head(5).collect()["value"].to_list()
    words = ", ".join(printable(repr(value)) for value in sorted(strange, key=str))
    return f", such as {words}" if words else ""


def _examples_in_part(attribute: Attribute, part: Any) -> str:
    return _examples(opened(part), attribute)
