"""From records of persons over time to tables of transitions, counted where the data lives."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from deptriad.chains.intervals import share_intervals
from deptriad.data import readers
from deptriad.data.attribute import Attribute
from deptriad.data.column_types import Frame, held_by, number_of, require
from deptriad.data.encoding import ABSENT, UNSEEN, code_of, is_empty, refuse_codes
from deptriad.data.schema import Schema
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Confidence
from deptriad.utils.arrays import Integers
from deptriad.utils.text import printable, shortened

MOST_TIMES = 10_000
"""Times that are told apart; more are most likely moments, of which no two are the same."""

CHANCE = 1e-3
"""How likely a stationary chain is warned of as one that drifts, at most."""


@dataclass(frozen=True)
class Transitions:
    """How often each value (row) was followed by each (column), by how many persons, in how many unbroken runs.

    ``values`` are those that were left or come to, of as many as were ``declared``.
    """

    name: str
    values: tuple[str, ...]
    counts: Integers
    persons: int
    runs: int
    times: int
    declared: int


def transitions(
    data: Any, person: str, time: str, value: str, schema: Schema | None, query: str | None
) -> Transitions:
    """Count pairs of values of a person at neighbouring times, by a join that the engine itself runs."""
    if len({person, time, value}) < 3:
        raise ValueError(
            f"person is {person!r}, time {time!r} and value {value!r}, expected three columns"
        )
    declared = None if schema is None else schema.only(value)
    frame = readers.opened(data, query, declared)
    require(frame, [person, time, value])
    frame = frame.select(person, time, value)
    declared = declared or Schema.infer(frame.select(value))
    (attribute,) = declared
    times = _times(frame, person, time)
    codes = _coded(frame, person, time, times, attribute).lazy()
    rows = _rows(codes, frame, declared)
    after = codes.select("person", nw.col("step") - 1, nw.col("code").alias("after"))
    pairs = codes.join(after, on=["person", "step"], how="inner")
    found = pairs.group_by("code", "after").agg(nw.len().alias("pairs")).collect()
    counts = np.zeros((attribute.size, attribute.size), dtype=np.int64)
    counts[found["code"].to_numpy(), found["after"].to_numpy()] = found["pairs"].to_numpy()
    if not counts.any():
        raise ValueError(
            f"{readers.name_of(data)} has no person with values at two neighbouring times of {time!r}"
        )
    persons = codes.select(nw.col("person").n_unique()).collect()["person"].to_list()[0]
    # every row is the first of a run or comes after another one
    runs = rows - int(counts.sum())
    values, counts = _seen(attribute, counts)
    return Transitions(
        attribute.name, values, counts, int(persons), runs, len(times), attribute.size
    )


def _seen(attribute: Attribute, counts: Integers) -> tuple[tuple[str, ...], Integers]:
    """The values that were left or come to, and their counts; says which declared ones were not."""
    there = np.flatnonzero(counts.any(axis=0) | counts.any(axis=1))
    absent = sorted(set(range(attribute.declared)) - set(there.tolist()))
    if absent:
        labels = shortened([attribute.values[place] for place in absent])
        warnings.warn(
            f"nobody was seen to leave or come to {labels} of `{printable(attribute.name)}`: left out, so bounds hold "
            "if that does not occur",
            UserWarning,
            stacklevel=4,
        )
    return tuple(attribute.values[place] for place in there), counts[np.ix_(there, there)]


def _moment(frame: Frame, time: str) -> nw.Expr:
    """The time as a number or as text; dates as 2026-01-31, which sort as they should."""
    dtype = dict(frame.collect_schema())[time]
    if held_by(dtype) == "number":
        return number_of(nw.col(time), dtype, whole=True)
    return nw.col(time) if dtype == nw.String else nw.col(time).cast(nw.String)


def _times(frame: Frame, person: str, time: str) -> list[Any]:
    """The times that occur, in order."""
    moments = frame.select(_moment(frame, time).alias("time"))
    for name, column in ((time, moments), (person, frame.select(nw.col(person).alias("who")))):
        if _has_nulls(column):
            raise ValueError(f"column {name!r} has missing values, expected one in every row")
    times = moments.unique().lazy().collect()["time"].to_list()
    if len(times) > MOST_TIMES:
        raise ValueError(
            f"column {time!r} has {len(times):,} different times, expected at most {MOST_TIMES:,}: round them, as to "
            "months"
        )
    return sorted(times)


def _coded(frame: Frame, person: str, time: str, times: list[Any], attribute: Attribute) -> Frame:
    """Three columns of plain names: the person, the number of the time, the code of the value."""
    dtype = dict(frame.collect_schema())[attribute.name]
    code = code_of(attribute, dtype, nw.Int32, is_empty(frame, attribute, dtype))
    numbers = list(range(len(times)))
    step = _moment(frame, time).replace_strict(times, numbers, default=-1, return_dtype=nw.Int64)
    return frame.select(nw.col(person).alias("person"), step.alias("step"), code.alias("code"))


def _has_nulls(frame: Frame) -> bool:
    """Whether the one column of a frame lacks a value somewhere."""
    nulls = frame.select(nw.all().is_null().any()).lazy().collect()
    return bool(nulls[nulls.columns[0]].to_list()[0])


def _rows(codes: nw.LazyFrame[Any], frame: Frame, schema: Schema) -> int:
    """How many rows there are; refuses values that the schema does not know, and persons with two for one time."""
    found = codes.group_by("code").agg(nw.len().alias("rows")).collect()
    rows = dict(zip(found["code"].to_list(), found["rows"].to_list(), strict=True))
    refuse_codes(frame, schema, np.array([[rows.get(UNSEEN, 0)], [rows.get(ABSENT, 0)]]))
    each = codes.group_by("person", "step").agg(nw.len().alias("rows"))
    if len(twice := each.filter(nw.col("rows") > 1).head(1).collect()):
        who = printable(str(twice["person"].to_list()[0]))
        raise ValueError(
            f"person {who} has {twice['rows'].to_list()[0]} rows for one time, expected one row for each person and "
            "time"
        )
    return int(sum(rows.values()))


# --- tables -----------------------------------------------------------------------------------------------------


def tables(
    found: Transitions, uncertainty: Confidence | None
) -> tuple[Conditional | Box, Conditional | Box]:
    """The tables forward and back in time; with Confidence, boxes that hold both with its probability."""
    labels: dict[str, Any] = {"target": found.name, "source": found.name}
    labels |= {"target_values": found.values, "source_values": found.values}
    if uncertainty is None:
        return (
            Conditional.from_counts(found.counts, **labels),
            Conditional.from_counts(found.counts.T, **labels),
        )
    if not isinstance(uncertainty, Confidence):
        raise ValueError(
            f"uncertainty is {uncertainty!r}, expected Confidence(level): of counts over time only that gives boxes"
        )
    # of all values of the schema: which of them were seen is left to chance
    cells = max(uncertainty.cells or 0, 2 * found.declared**2)
    miss = (1.0 - uncertainty.level) / cells
    forward, back = share_intervals(found.counts, miss), share_intervals(found.counts.T, miss)
    return Box(*forward, **labels), Box(*back, **labels)


def warn_of_drift(found: Transitions) -> None:
    """Say so if a value gains or loses more persons between first and last time than a stationary chain does by chance.

    What comes to a value less what leaves it is a sum over persons of mean 0, if the chain is stationary: of −1, 0 or 1
    for each unbroken run of times. By Hoeffding's inequality it exceeds √(2s·ln(2b/p)) for any of b values with a
    probability of at most p, where s is the sum over persons of the squared number of their runs.
    """
    gains = found.counts.sum(axis=0) - found.counts.sum(axis=1)
    most = 1 if found.runs == found.persons else (found.times + 1) // 2  # runs of one person
    allowed = math.sqrt(2.0 * most * found.runs * math.log(2.0 * gains.size / CHANCE))
    worst = int(np.argmax(np.abs(gains)))
    if abs(gains[worst]) > allowed:
        name, label = printable(found.name), printable(found.values[worst])
        word = "gained" if gains[worst] > 0 else "lost"
        warnings.warn(
            f"`{name} = {label}` {word} {abs(gains[worst]):,} of {found.persons:,} persons over time, where a "
            f"stationary chain moves {math.floor(allowed):,} by chance: bounds that take it as stationary may be too "
            "low. Give initial=None, or the distribution at the first release",
            UserWarning,
            stacklevel=3,
        )
