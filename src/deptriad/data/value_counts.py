"""How often the values of a column occur, counted where the data lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from deptriad.data.batches import BATCH, batches
from deptriad.data.categories import Value
from deptriad.data.column_types import Frame, held_by, number_of, require
from deptriad.data.engines import engine_of
from deptriad.data.readers import opened, reading
from deptriad.data.tallies import tallied


@dataclass(frozen=True)
class ValueCounts:
    """Different values of a column and how often each occurs; or why it cannot be an attribute.

    Where only so many were asked for and there are more, text has the most frequent ones here, and ``rare`` records
    have others; numbers are all in an array, in order, so that many of them take little room.
    """

    name: str
    values: list[Value]
    counts: Sequence[int] | NDArray[np.int64]
    missing: int = 0
    trouble: str = ""
    distinct: int = 0
    numbers: NDArray[Any] | None = None
    rare: int = 0

    @property
    def policy(self) -> Literal["category", "error"]:
        """What an attribute of these values says of missing ones."""
        return "category" if self.missing else "error"

    @property
    def records(self) -> int:
        """Of how many records."""
        return int(np.sum(self.counts)) + self.rare + self.missing


def count_values(
    frame: Frame, columns: Sequence[str], most: int | None = None
) -> Iterator[ValueCounts]:
    """Count the values of columns, one after another; of text only so many values, the most frequent."""
    types = require(frame, columns)
    tallies = tallied(frame, columns)
    for name in columns:
        with reading(f"column {name!r}", OSError):
            if name in tallies:
                values = opened(tallies[name])
                yield _counted(values, name, values.collect_schema()["value"], most)
            else:
                yield _counted_alone(frame, name, types[name], most)


def _counted_alone(frame: Frame, name: str, dtype: Any, most: int | None) -> ValueCounts:
    values: Frame = frame.select(nw.col(name).alias("value"))
    if engine_of(frame.to_native()).on_parts:  # what it holds is known only once it is here
        found = values.group_by("value").agg(nw.len().alias("records")).lazy().collect()
        values = opened(found.to_native())
        dtype = values.collect_schema()["value"]
    return _counted(values, name, dtype, most)


def _counted(values: Frame, name: str, dtype: Any, most: int | None) -> ValueCounts:
    held = held_by(dtype)
    if str(dtype) == "Null" or (str(dtype) == "Unknown" and _is_empty(values)):
        return ValueCounts(name, [], [], missing=1)
    if held == "number":
        values = values.with_columns(number_of(nw.col("value"), dtype, whole=True))
    elif held == "text" and dtype != nw.String:
        values = values.with_columns(nw.col("value").cast(nw.String))
    elif held not in ("text", "boolean"):
        advice = "; convert it to" if held == "mixed types" else ", expected"
        part = ", such as year(…) by a query" if held.startswith("Date") else ""
        return ValueCounts(
            name, [], [], trouble=f"it holds {held}{advice} text, numbers or booleans{part}"
        )
    return (_text if held == "text" else _numbers)(name, values, most)


def _grouped(values: Frame) -> Frame:
    """How often each value occurs, missing ones aside."""
    counted = "records" in values.collect_schema()
    records = nw.col("records").sum() if counted else nw.len().alias("records")
    return values.filter(~nw.col("value").is_null()).group_by("value").agg(records)


def _missing(values: Frame) -> int:
    absent = values.filter(nw.col("value").is_null())
    if "records" in values.collect_schema():
        return int(_collected(absent)["records"].sum())
    return int(_collected(absent.select(nw.len().alias("records")))["records"].to_list()[0])


def _is_empty(values: Frame) -> bool:
    return not _collected(values.select(nw.col("value").count()))["value"].to_list()[0]


def _collected(frame: Frame) -> nw.DataFrame[Any]:
    return frame.lazy().collect()


def _text(name: str, values: Frame, most: int | None) -> ValueCounts:
    if engine_of(values.to_native()).batches:  # which ranks a lazy frame with less memory
        values = values.lazy()
    grouped = _grouped(values)
    given: int | None = None
    if isinstance(grouped, nw.DataFrame):
        found = grouped if most is None else _most_frequent(grouped, most)
        distinct, given = len(grouped), int(grouped["records"].sum())
    else:
        # ties in frequency go by the alphabet, so that the order of rows does not matter
        ranked = grouped.sort("records", "value", descending=[True, False])
        found = _collected(ranked if most is None else ranked.head(most + 1))
        distinct = len(found)
        if most is not None and distinct > most:
            found = found.head(most)
            sizes = grouped.select(nw.len().alias("number"), nw.col("records").sum())
            distinct, given = map(int, _collected(sizes).row(0))
    texts, counts = found["value"].to_list(), found["records"].to_list()
    rare = 0 if given is None else given - sum(counts)
    return ValueCounts(name, texts, counts, _missing(values), distinct=distinct, rare=rare)


def _most_frequent(grouped: nw.DataFrame[Any], most: int) -> nw.DataFrame[Any]:
    """The same as by sorting, but many values that are equally rare are never sorted, nor held in a list."""
    if len(grouped) > most:
        records = np.sort(grouped["records"].to_numpy())
        least = int(records[-most])
        times = nw.col("records")
        rare = grouped.filter(times == least)["value"]
        parts = (rare[start : start + BATCH].to_list() for start in range(0, len(rare), BATCH))
        places = most - int((records > least).sum())
        last = nsmallest(places, chain.from_iterable(parts))[-1]
        first = (times == least) & (nw.col("value") <= last)
        grouped = grouped.filter((times > least) | first)
    return grouped.sort("records", "value", descending=[True, False])


def _numbers(name: str, values: Frame, most: int | None) -> ValueCounts:
    """Of numbers or booleans: sorted where they are here already, else grouped where they live."""
    if isinstance(values, nw.DataFrame) and "records" not in values.columns:
        here = values["value"].drop_nulls()
        numbers, counts = np.unique(_array(here), return_counts=True)
        missing = len(values) - len(here)
    else:
        numbers, counts = _streamed(values) if _is_spread(values) else _from_groups(values)
        missing = _missing(values)
    if most is not None and len(numbers) > most:
        return ValueCounts(name, [], counts, missing, distinct=len(numbers), numbers=numbers)
    return ValueCounts(name, numbers.tolist(), counts.tolist(), missing, distinct=len(numbers))


def _from_groups(values: Frame) -> tuple[NDArray[Any], NDArray[np.int64]]:
    found = _collected(_grouped(values))
    numbers, counts = _array(found["value"]), found["records"].to_numpy().astype(np.int64)
    order = np.argsort(numbers)
    return numbers[order], counts[order]


def _is_spread(values: Frame) -> bool:
    """Whether a local engine's column has mostly different numbers, whose groups would take more room than they."""
    if isinstance(values, nw.DataFrame) or not engine_of(values.to_native()).batches:
        return False
    first = _collected(values.head(BATCH))["value"]
    return len(np.unique(_array(first.drop_nulls()))) > BATCH // 16


def _streamed(values: Frame) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """ValueCounts batch by batch: what is held are the different numbers, once, and a few batches."""
    numbers, counts = np.zeros(0), np.zeros(0, dtype=np.int64)
    waiting: list[NDArray[Any]] = []
    for (batch,) in batches(values.filter(~nw.col("value").is_null())):
        waiting.append(batch)
        if sum(map(len, waiting)) > max(len(numbers), 8 * BATCH):
            numbers, counts = _merged(numbers, counts, waiting)
            waiting = []
    return _merged(numbers, counts, waiting) if waiting else (numbers, counts)


def _merged(
    numbers: NDArray[Any], counts: NDArray[np.int64], batches: list[NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    more, times = np.unique(np.concatenate(batches), return_counts=True)
    if not len(numbers):
        return more, times
    united = np.concatenate([numbers, more])
    order = np.argsort(united, kind="stable")
    weights = np.concatenate([counts, times])[order]
    united = united[order]
    starts = np.flatnonzero(np.append(True, united[1:] != united[:-1]))
    return united[starts], np.add.reduceat(weights, starts)


def _array(column: nw.Series[Any]) -> NDArray[Any]:
    array = column.to_numpy()
    return array if array.dtype.kind in "biuf" else array.astype(np.float64)
