"""What the columns of a frame are called and what they hold, in the words of a schema."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw

from deptriad.data.engines import engine_of
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
    return "a type that is not known here" if dtype == nw.Unknown else str(dtype)


def number_of(column: nw.Expr, dtype: Any, whole: bool) -> nw.Expr:
    """A numeric column with one zero and no NaN; signed integers stay as they are where only those are wanted."""
    if is_whole(dtype) and whole:
        return column
    number = floats_of(column, dtype)
    if dtype.is_float():
        number = nw.when(~is_nan(number)).then(number)
    return number + 0.0


def floats_of(column: nw.Expr, dtype: Any) -> nw.Expr:
    """The float nearest to each number, on every engine."""
    if dtype == nw.Decimal:  # by its digits: not every engine rounds to the nearest float
        column = column.cast(nw.String)
    elif dtype in (nw.Int64, nw.UInt64):
        # Arrow refuses to cast those beyond 2^53, but divides them
        column = column / 1
    return column.cast(nw.Float64)


def is_nan(number: nw.Expr) -> nw.Expr:
    """Whether a float is NaN, also where it comes from a Parquet file.

    A file's statistics leave NaN out, so that DuckDB takes it for absent; it forgets them behind a choice.
    """
    return nw.when(~number.is_null()).then(number).is_nan()


def is_whole(dtype: Any) -> bool:
    """Whether a column holds signed integers that fit into 64 bits."""
    return bool(dtype.is_signed_integer()) and dtype != nw.Int128


# --- names ----------------------------------------------------------------------------------------------------


def require(frame: Frame, names: Sequence[str]) -> dict[str, Any]:
    """Types of the columns, all of which must be there."""
    types: dict[Any, Any] = dict(frame.collect_schema())
    native = frame.to_native()
    engine = engine_of(native)
    alike = Counter(map(folded, types)) if engine.ignores_case(native) else Counter()
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
        if engine.misread and (misread := re.search(engine.misread, name)):
            raise ValueError(
                f"column {name!r} has {misread[0]!r} in its name, which {engine.name} reads otherwise: rename it"
            )
    return types


def require_weight(types: Mapping[str, Any], name: str) -> None:
    """A column of weights must hold numbers."""
    if (held := held_by(types[name])) != "number":
        raise ValueError(f"the weight column {name!r} holds {held}, expected numbers")


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


def refuse_twice(names: Iterable[Any], where: str) -> None:
    """Columns are told apart by their names."""
    if twice := sorted(str(name) for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"{where} has column {twice[0]!r} twice, expected distinct names")
