"""Reports are read batch by batch, where they are, and summed at once: none of them is held longer.

An empty cell where the view asks is a question that was not answered: the person counts among all, not among those who
answered it. Estimates stay right if who leaves a question out does not depend on the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from deptriad.collection import report_format, report_store
from deptriad.collection.score_sums import Sums, Told, add_told
from deptriad.data import batches, column_types, encoding, readers
from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema
from deptriad.utils.text import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.collection.question import Question
    from deptriad.collection.strategy import Strategy
    from deptriad.data.column_types import Frame
    from deptriad.data.engines import Batch

Source = Attribute | str
"""A column that is read: of the labels of an attribute, or of any text."""


@dataclass(frozen=True)
class ReportColumns:
    """From a frame of reports to one of codes, where labels are written, of text where digits are, and of weights."""

    sources: tuple[Source, ...]
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns of reports that it reads."""
        return [each if isinstance(each, str) else each.name for each in self.sources]

    @property
    def columns(self) -> list[str]:
        """All columns that it reads."""
        return [*self.names, *([] if self.weight is None else [self.weight])]

    @property
    def labelled(self) -> list[int]:
        """Places of the columns of labels."""
        return [place for place, each in enumerate(self.sources) if not isinstance(each, str)]

    def labels(self, types: dict[str, Any]) -> list[Attribute]:
        """What columns of labels are read by; one that a reader took for numbers, as numbers."""
        every = [each for each in self.sources if not isinstance(each, str)]
        return [
            report_format.label_attribute(each, column_types.held_by(types[each.name]))
            for each in every
        ]

    def __call__(self, frame: Frame) -> Frame:
        """The frame of codes, text and weights, lazily where the frame is lazy."""
        types = column_types.require(frame, self.columns)
        labels = iter(self.labels(types))
        made = []
        for place, (each, name) in enumerate(zip(self.sources, self.names, strict=True)):
            column = nw.col(name)
            if not isinstance(each, str):
                column = _label_code(frame, next(labels), types[name])
            elif column_types.held_by(types[name]) == "text":
                column = column.cast(nw.String)
            made.append(column.alias(f"column_{place}"))
        if self.weight is not None:
            made.append(encoding.weight_of(self.weight, types).alias("weight"))
        return frame.select(*made)


def _label_code(frame: Frame, own: Attribute, dtype: Any) -> nw.Expr:
    """The code of a label; an empty text, as some readers of CSV give for an empty cell, is absent like a null."""
    code = encoding.code_of(own, dtype, nw.Int32, encoding.is_empty(frame, own, dtype))
    if dtype != nw.String or "" in own.values:
        return code
    absent = nw.lit(encoding.ABSENT, dtype=nw.Int32)
    return nw.when(nw.col(own.name) == "").then(absent).otherwise(code)


def layout(strategy: Strategy, places: Sequence[int], weight: str | None) -> ReportColumns:
    """The columns with the reports to some questions; that of the views, if there are several, first."""
    used = {name for place in places for name in strategy.questions[place].columns}
    every = [each for each in strategy.released if each.name in used]
    sources: list[Source] = [each.name if strategy.is_text(each.name) else each for each in every]
    if len(strategy.parts) > 1:
        numbers = [view + 1 for view in range(len(strategy.parts))]
        sources.insert(0, Attribute(strategy.view_column, numbers, missing="error"))
    if weight in (*strategy.released.names, strategy.view_column):
        raise ValueError(f"weight is {weight!r}, a column of reports, expected another column")
    return ReportColumns(tuple(sources), weight)


def frame_of(reports: Any, encode: ReportColumns) -> Frame:
    """A frame of reports, whose columns are text also where a CSV has nothing but digits."""
    text = Schema([Attribute(name, [""], missing="error") for name in encode.names])
    frame = readers.opened(reports, schema=text)
    column_types.require(frame, encode.columns)
    return frame.select(*encode.columns)


def add_all(
    reports: Any, strategy: Strategy, every: Sequence[Sums], weight: str | None = None
) -> None:
    """Add all reports, in a frame, a file or a store, to sums that are empty yet; with the weights of a column."""
    places = sorted({place for sums in every for place in sums.places})
    encode = layout(strategy, places, weight)
    empty, parts = deepcopy(every), iter([reports])
    if report_store.is_store(reports):
        parts = report_store.frames(reports, strategy.view_column, encode.names)
    for part in parts:
        _add(frame_of(part, encode), strategy, places, encode, empty, every)


def _add(
    frame: Frame,
    strategy: Strategy,
    places: Sequence[int],
    encode: ReportColumns,
    empty: Sequence[Sums],
    every: Sequence[Sums],
) -> None:
    labels = Schema(encode.labels(dict(frame.collect_schema())) or [Attribute("", [""])])
    work = partial(_summed, strategy, places, encode, empty)
    refused = np.zeros((2, len(labels)), dtype=np.int64)
    for said, bad, *found in batches.results(frame, encode, work):  # type: ignore[arg-type]
        refused += bad[: refused.size].reshape(refused.shape)
        encoding.refuse_codes(frame, labels, refused)
        if message := said.tobytes().decode().strip():
            raise ValueError(message)
        for sums in every:
            own, found = found[: len(sums.arrays())], found[len(sums.arrays()) :]
            sums.absorb(own)


def _summed(
    strategy: Strategy,
    places: Sequence[int],
    encode: ReportColumns,
    empty: Sequence[Sums],
    stream: Iterator[Batch],
) -> list[NDArray[Any]]:
    """What is wrong, how many labels are unknown and views missing, and the sums of some batches."""
    every, said = deepcopy(empty), ""
    refused = np.zeros((2, max(len(encode.labelled), 1)), dtype=np.int64)
    for batch in stream:
        for rank, place in enumerate(encode.labelled):
            refused[0, rank] += np.count_nonzero(batch[place] == encoding.UNSEEN)
        if len(strategy.parts) > 1:
            refused[1, 0] += np.count_nonzero(batch[0] == encoding.ABSENT)
        if said or refused.any():
            continue  # the rest is looked through to say how many there are
        try:
            told = _told(strategy, places, dict(zip(encode.names, batch, strict=False)))
            weights = None if encode.weight is None else _weights(batch[-1], encode.weight)
        except ValueError as error:
            said = str(error)
            continue
        add_told(every, told, len(batch[0]), weights)
    return [
        np.frombuffer(f" {said}".encode(), dtype=np.uint8),
        refused,
        *(array for sums in every for array in sums.arrays()),
    ]


def _told(
    strategy: Strategy, places: Sequence[int], batch: dict[str, NDArray[Any]]
) -> dict[int, Told]:
    """The reports to each of these questions in a batch."""
    given = {name: _given(column) for name, column in batch.items()}
    views = batch.get(strategy.view_column)
    if views is not None:
        _refuse_strangers(strategy, batch, given, views)
    found = {}
    for place in places:
        question: Question = strategy.questions[place]
        rows = np.logical_and.reduce([given[name] for name in question.columns])
        if views is not None:
            rows &= views == question.view
        own = [batch[name] if rows.all() else batch[name][rows] for name in question.columns]
        found[place] = Told(rows, question.read(own))
    return found


def _given(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column is not empty: not absent, null, NaN or a text without letters."""
    if column.dtype.kind in "iu":
        return np.asarray(column != encoding.ABSENT)
    every = (text is not None and text == text and text != "" for text in column.tolist())
    return np.fromiter(every, dtype=np.bool_, count=len(column))


def _refuse_strangers(
    strategy: Strategy,
    batch: dict[str, NDArray[Any]],
    given: dict[str, NDArray[np.bool_]],
    views: NDArray[Any],
) -> None:
    """Refuse a report of an attribute that the view does not ask, or not in that column."""
    for name in batch:
        if name == strategy.view_column:
            continue
        asked = {each.view for each in strategy.questions if name in each.columns}
        wrong = given[name] & ~np.isin(views, list(asked))
        if wrong.any():
            raise ValueError(
                f"column {printable(repr(name))} has reports of view {views[wrong][0] + 1}, which writes none there: "
                "were they collected with another plan?"
            )


def _weights(weights: NDArray[Any], name: str) -> NDArray[np.float64]:
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError(
            f"column {name!r} has weights that are missing, below 0 or not finite, expected numbers ≥ 0"
        )
    return np.asarray(weights, dtype=np.float64)
