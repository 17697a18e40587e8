"""The attributes that Schema.infer proposes for public data: categories and bins from the values of each column."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.data import column_types, readers
from deptriad.data.attribute import OTHER, Attribute
from deptriad.data.value_counts import ValueCounts, count_values
from deptriad.utils.arrays import as_whole
from deptriad.utils.errors import InvalidValue, Note, Parameter, refuse_unknown
from deptriad.utils.text import brief, printable

MOST_COLUMNS = 8000
"""Of more attributes the pairs alone have more cells than are counted, even if each has two values."""


USUAL_BINS = 10
"""Bins of columns that a mapping of bins does not name."""

OWN_VALUES = 0.95
"""Share of the records that have different values, from which on a column may name people."""


@dataclass(frozen=True)
class Wanted:
    """How attributes are to be proposed; see ``Schema.infer``. ``counts``: whether to keep about how many there are."""

    bins: int | Mapping[str | None, int]
    binning: str
    most: int
    edges: Mapping[str, Sequence[float]]
    counts: bool

    def __post_init__(self) -> None:
        given = self.bins if isinstance(self.bins, Mapping) else {None: self.bins}
        for name, number in given.items():
            as_whole(number, Parameter("bins", key=name), 2)
        as_whole(self.most, "max_categories", 2)
        if self.binning not in ("quantile", "width"):
            raise ValueError(f"binning is {self.binning!r}, expected 'quantile' or 'width'")
        for name in self.edges:
            if name in self.own_bins:
                both = (Parameter("edges", key=name), " and ", Parameter("bins", key=name))
                raise InvalidValue(*both, " are both given, expected one")

    @property
    def own_bins(self) -> tuple[str, ...]:
        """The columns that have a number of bins of their own."""
        return tuple(name for name in self.bins if name) if isinstance(self.bins, Mapping) else ()

    def bins_of(self, name: str) -> int:
        """How many bins a column gets, if it gets any."""
        if not isinstance(self.bins, Mapping):
            return self.bins
        return self.bins.get(name, self.bins.get(None, USUAL_BINS))


def proposed(
    data: Any,
    wanted: Wanted,
    columns: Sequence[str] | str | None,
    without: Sequence[str] | str,
    query: str | None,
) -> tuple[list[Attribute], list[str], int]:
    """An attribute for each column that can be one, what is worth saying, which is a warning too, and the records."""
    columns = [columns] if isinstance(columns, str) else columns
    without = [without] if isinstance(without, str) else without
    frame = readers.opened(data, query=query)
    chosen: list[Attribute] = []
    notes: list[str] = []
    given: dict[str, Iterable[str]] = {"bins": wanted.own_bins, "edges": wanted.edges}
    types = column_types.require(frame, [*(columns or ()), *without])
    names = [name for name in columns or types if name not in without]
    for what, own in given.items():
        refuse_unknown(own, names, Parameter(what, key=""))
    if len(names) > MOST_COLUMNS:
        raise InvalidValue(
            f"{readers.name_of(data)} has {len(names):,} columns, expected at most {MOST_COLUMNS:,}, of whose pairs "
            "tables can be counted: choose some with ",
            Parameter("columns", ""),
        )
    counted = list(count_values(frame, names, wanted.most))
    if counted and not any(column.records or column.trouble for column in counted):
        raise ValueError(f"{readers.name_of(data)} has no records, expected at least one")
    records = max((column.records for column in counted), default=0)
    cut: dict[str, str] = {}
    for column in counted:
        attribute, note = _proposed_column(column, wanted)
        if attribute is not None:
            chosen.append(_counted(attribute, column, records) if wanted.counts else attribute)
        if note:
            notes.append(note)
            if attribute is not None:
                cut[column.name] = note
            if attribute is None:
                warnings.warn(note, UserWarning, stacklevel=3)  # whoever called Schema.infer
    if cut:
        warnings.warn(_cut_short(cut, wanted.most), stacklevel=3)
    if mixed := [column.name for column in counted if column.name in cut and _is_mixed(column)]:
        said = f"most of {', '.join(map(printable, mixed))} are numbers beside words, which makes them text: make the "
        notes.append(f"{said}words missing, as by a query with try_cast, and they are binned")
        warnings.warn(notes[-1], stacklevel=3)
    if own := [column.name for column in counted if _names_records(column, wanted.most)]:
        said = f"nearly every record has another {', '.join(map(printable, own))}"
        notes.append(said)
        advice = ": if that names people, leave it out by "
        warnings.warn(Note(said + advice, Parameter("without", "")), stacklevel=3)
    if not chosen:
        raise ValueError(
            "no column can be an attribute: " + ("; ".join(notes) or "the data has no columns")
        )
    return chosen, notes, records


def _names_records(column: ValueCounts, most: int) -> bool:
    """Whether nearly each of many records has another text or whole number, as those that name or number people do."""
    present = column.records - column.missing
    if column.trouble or column.distinct <= max(most, OWN_VALUES * present):
        return False
    if column.numbers is None:
        return True
    numbers = np.asarray(column.numbers, dtype=np.float64)
    return bool((np.isfinite(numbers) & (numbers == np.floor(numbers))).all())


def _cut_short(cut: Mapping[str, str], most: int) -> Note:
    """One line about all columns with too many values."""
    if len(cut) == 1:
        return Note(*cut.values())
    shown = ", ".join(map(printable, list(cut)[:20])) + (", …" if len(cut) > 20 else "")
    return Note(
        f"{len(cut)} columns have more than {most} values: {shown}; the most frequent {most - 1} are kept, the others "
        f"are counted as {OTHER}"
    )


def _is_mixed(column: ValueCounts) -> bool:
    """Whether most of a text's values are numbers."""
    numbers = 0
    for value in column.values:
        with suppress(ValueError):
            float(str(value))
            numbers += 1
    return 2 * numbers > len(column.values)


def _proposed_column(column: ValueCounts, wanted: Wanted) -> tuple[Attribute | None, str | None]:
    """An attribute for a column whose values have been counted, and what is worth saying about it."""
    name, values = column.name, column.values
    left_out = f"column {name!r} is left out"
    if column.trouble:
        return None, f"{left_out}: {column.trouble}"
    if not column.distinct:
        return None, f"{left_out}: all its values are missing"
    infinite = values and values[0] in (math.inf, -math.inf)
    if column.distinct == 1 and not column.missing and not infinite:
        return None, f"{left_out}: it is constant ({brief(values[0])})"
    if values and isinstance(values[0], str | bool):
        _refuse_bins(name, wanted, "text" if isinstance(values[0], str) else "booleans")
    try:
        if values and isinstance(values[0], str):
            return _proposed_text(column, wanted.most)
        if name in wanted.edges:
            return _with_edges(column, wanted.edges[name]), None
        return _proposed_numbers(column, wanted), None
    except ValueError as error:
        if name in wanted.edges:
            raise
        return None, f"{left_out}: {error}"


def _refuse_bins(name: str, wanted: Wanted, held: str) -> None:
    asked: dict[str, Iterable[str]] = {"bins": wanted.own_bins, "edges": wanted.edges}
    for what, own in asked.items():
        if name in own:
            raise InvalidValue(
                Parameter(what, key=name), f" is given, but column {name!r} holds {held}: drop it"
            )


def _with_edges(column: ValueCounts, edges: Sequence[float]) -> Attribute:
    found = Attribute(column.name, edges=edges, missing=column.policy)
    numbers = np.asarray(column.values if column.numbers is None else column.numbers)
    low, high = float(numbers.min()), float(numbers.max())
    first, *_, last = found.edges or (0.0, 0.0)
    if low < first or high > last:
        raise InvalidValue(
            Parameter("edges", key=column.name),
            f" are from {first:g} to {last:g}, but its numbers from {low:g} to {high:g}: widen them, or let them begin "
            "with -inf and end with inf",
        )
    return found


def _counted(attribute: Attribute, column: ValueCounts, records: int) -> Attribute:
    """The attribute with about how many records have each value."""
    numbers = np.zeros(attribute.size, dtype=np.int64)
    counts = np.asarray(column.counts, dtype=np.int64)
    if attribute.edges is not None:
        given = np.asarray(column.values if column.numbers is None else column.numbers)
        inner = np.asarray(attribute.edges[1:-1], dtype=np.float64)
        kept = ~np.isnan(given.astype(np.float64))
        np.add.at(numbers, np.searchsorted(inner, given[kept], side="right"), counts[kept])
    else:
        place = {value: code for code, value in enumerate(attribute.categories or ())}
        for value, number in zip(column.values, counts.tolist(), strict=True):
            if value in place:
                numbers[place[value]] += number
    if column.missing and attribute.missing == "category":
        numbers[-1] = column.missing
    if attribute.unseen == "other":
        numbers[attribute.declared] = records - numbers.sum()
    about = zip(attribute.values, map(_about, numbers.tolist()), strict=True)
    return replace(attribute, counts=dict(about))


def _about(number: int) -> int:
    """Two digits of a number, and no number below ten.

    >>> _about(4), _about(36), _about(1264), _about(27253)
    (0, 40, 1300, 27000)
    """
    step: int = 10 ** max(len(str(number)) - 2, 1)
    return (number + step // 2) // step * step


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


def _proposed_numbers(column: ValueCounts, wanted: Wanted) -> Attribute:
    given = column.values if column.numbers is None else column.numbers
    numbers = np.asarray(given, dtype=np.float64)
    # from 2^53 on neighbouring numbers run together, so that only bins can tell them apart
    plain = column.numbers is None and np.abs(numbers).max() < 2**53
    if plain and column.name not in wanted.own_bins:
        return Attribute(column.name, sorted(column.values), missing=column.policy)
    finite = np.isfinite(numbers)
    bins = wanted.bins_of(column.name)
    inner = _inner_edges(numbers[finite], np.asarray(column.counts)[finite], bins, wanted.binning)
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
