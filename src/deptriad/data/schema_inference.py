"""The attributes that Schema.infer proposes for public data: categories and bins from the values of each column."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.data import column_types, readers
from deptriad.data.attribute import OTHER, Attribute
from deptriad.data.value_counts import ValueCounts, count_values
from deptriad.utils.arrays import as_whole
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import brief

MOST_COLUMNS = 8000
"""Of more attributes the pairs alone have more cells than are counted, even if each has two values."""


def proposed(
    data: Any,
    bins: int,
    binning: str,
    max_categories: int,
    columns: Sequence[str] | str | None,
    without: Sequence[str] | str,
    query: str | None,
) -> tuple[list[Attribute], list[str]]:
    """An attribute for each column that can be one, and what is worth saying, which is a warning too."""
    as_whole(bins, "bins", 2)
    as_whole(max_categories, "max_categories", 2)
    if binning not in ("quantile", "width"):
        raise ValueError(f"binning is {binning!r}, expected 'quantile' or 'width'")
    columns = [columns] if isinstance(columns, str) else columns
    without = [without] if isinstance(without, str) else without
    frame = readers.opened(data, query=query)
    chosen: list[Attribute] = []
    notes: list[str] = []
    types = column_types.require(frame, [*(columns or ()), *without])
    wanted = [name for name in columns or types if name not in without]
    if len(wanted) > MOST_COLUMNS:
        raise InvalidValue(
            f"{readers.name_of(data)} has {len(wanted):,} columns, expected at most {MOST_COLUMNS:,}, of whose pairs "
            "tables can be counted: choose some with ",
            Parameter("columns", ""),
        )
    counted = list(count_values(frame, wanted, max_categories))
    if counted and not any(column.records or column.trouble for column in counted):
        raise ValueError(f"{readers.name_of(data)} has no records, expected at least one")
    for column in counted:
        attribute, note = _proposed_column(column, bins, binning, max_categories)
        if attribute is not None:
            chosen.append(attribute)
        if note:
            notes.append(note)
            warnings.warn(note, UserWarning, stacklevel=3)  # whoever called Schema.infer
    if not chosen:
        raise ValueError(
            "no column can be an attribute: " + ("; ".join(notes) or "the data has no columns")
        )
    return chosen, notes


def _proposed_column(
    column: ValueCounts, bins: int, binning: str, most: int
) -> tuple[Attribute | None, str | None]:
    """An attribute for a column whose values have been counted, and what is worth saying about it."""
    name, values = column.name, column.values
    left_out = f"column {name!r} is left out"
    if column.trouble:
        return None, f"{left_out}: {column.trouble}"
    if not column.distinct:
        return None, f"{left_out}: all its values are missing"
    if column.distinct == 1 and not column.missing:
        return None, f"{left_out}: it is constant ({brief(values[0])})"
    try:
        if values and isinstance(values[0], str):
            return _proposed_text(column, most)
        return _proposed_numbers(column, bins, binning), None
    except ValueError as error:
        return None, f"{left_out}: {error}"


def _proposed_text(column: ValueCounts, most: int) -> tuple[Attribute, str | None]:
    values = [str(value) for value in column.values]
    if column.distinct <= most:
        return Attribute(column.name, sorted(values), missing=column.policy), None
    # the values come by their frequency; one that reads (other) is counted as just that
    kept = sorted([value for value in values if value != OTHER][: most - 1])
    note = (
        f"column {column.name!r} has {column.distinct:,} different values: the {len(kept)} most frequent are kept, the "
        f"other {column.distinct - len(kept):,} are counted as {OTHER}"
    )
    return Attribute(column.name, kept, missing=column.policy, unseen="other"), note


def _proposed_numbers(column: ValueCounts, bins: int, binning: str) -> Attribute:
    given = column.values if column.numbers is None else column.numbers
    numbers = np.asarray(given, dtype=np.float64)
    # from 2^53 on neighbouring numbers run together, so that only bins can tell them apart
    if column.numbers is None and np.abs(numbers).max() < 2**53:
        return Attribute(column.name, sorted(column.values), missing=column.policy)
    finite = np.isfinite(numbers)
    inner = _inner_edges(numbers[finite], np.asarray(column.counts)[finite], bins, binning)
    if not inner and not column.missing:
        raise ValueError("its numbers are infinite or too large to be told apart")
    return Attribute(column.name, edges=[-math.inf, *inner, math.inf], missing=column.policy)


def _inner_edges(
    numbers: NDArray[np.float64], counts: NDArray[np.int64], bins: int, binning: str
) -> list[float]:
    """Edges at values that occur, so that they are the same on every engine; the numbers come in order."""
    if not numbers.size:
        return []
    low, high = numbers[0], numbers[-1]
    if binning == "width":
        steps = np.arange(1, bins) / bins
        inner = (
            np.linspace(low, high, bins + 1)[1:-1]
            if high / 2 - low / 2 < np.finfo(np.float64).max / 2
            else low * (1.0 - steps) + high * steps
        )
    else:
        passed = np.cumsum(counts)
        inner = numbers[np.searchsorted(passed, passed[-1] * np.arange(1, bins) / bins)]
    inner = np.unique(inner[inner > low])
    if not inner.size:  # one value outweighs all others together: it gets a bin of its own
        inner = numbers[numbers > low][:1]
    return [float(edge) for edge in inner]
