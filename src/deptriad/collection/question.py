"""Questions: what is asked at once, how its answer is drawn, and how reports are read from their columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.collection import report_format
from deptriad.collection.report_format import Column, Labels
from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema
from deptriad.mechanisms import Mechanism, expected_error, mechanisms
from deptriad.mechanisms.chance import word_source
from deptriad.mechanisms.entries import smallest_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.column_types import Frame

Generator = np.random.Generator | None


@dataclass(frozen=True)
class Question:
    """What is asked at once: one attribute, or several as one joint value; and the mechanism that reports it."""

    attributes: tuple[Attribute, ...]
    mechanism: Mechanism

    @property
    def name(self) -> str:
        """Name of the attribute, or of all of them with an "&" between."""
        return " & ".join(each.name for each in self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(each.name for each in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(each.size for each in self.attributes)

    @property
    def labelled(self) -> bool:
        """Whether its reports are written as labels."""
        return len(self.attributes) == 1 and self.mechanism.names_values

    def read(self, texts: list[Any]) -> NDArray[Any]:
        """Reports from what was written."""
        if not self.labelled:
            return report_format.read(self.mechanism, texts, self.name)
        codes = {value: code for code, value in enumerate(self.attributes[0].values)}
        found = [codes.get(text, -1) for text in texts]
        if -1 in found:
            raise ValueError(
                f"the report {texts[found.index(-1)]!r} of {self.name!r} is none of its values: {self.attributes[0]!r}"
            )
        return np.array(found, dtype=np.int64)

    def column(self, reports: NDArray[Any]) -> Column:
        """Reports as they are written."""
        if self.labelled:
            return Labels(reports, self.attributes[0].values)
        return report_format.spelt(self.mechanism, reports)


def question_by(name: str, epsilon: float, *attributes: Attribute) -> Question:
    """Ask for attributes by a mechanism's key; "auto" is the better of GRR and OLH."""
    size = math.prod(each.size for each in attributes)
    name = expected_error.choose(name, epsilon, size)
    if name not in mechanisms:
        raise ValueError(
            f"mechanism is {name!r}, expected 'auto' or one of {', '.join(mechanisms)}"
        )
    if size < 2:
        raise ValueError(
            f"attribute {attributes[0].name!r} has one value, so that there is nothing to ask: leave it out"
        )
    return Question(attributes, mechanisms[name](size, epsilon))


def draw(count: int, below: int, rng: Generator) -> NDArray[Any]:
    """Numbers below a small one, evenly up to one part in 2^32/below."""
    words = word_source(rng)(count) >> np.uint64(32)
    return ((words * np.uint64(below)) >> np.uint64(32)).astype(smallest_type(below))


def joint(codes: NDArray[Any], question: Question) -> NDArray[Any]:
    """Codes of the joint values of a question's attributes."""
    cell = np.zeros(len(codes), dtype=np.int64)
    for place, size in enumerate(question.sizes):
        cell = cell * size + codes[:, place]
    return cell


# --- reading reports ------------------------------------------------------------------------------------------------


def report_columns(reports: Any, columns: Sequence[str]) -> Frame:
    """A frame of reports, whose columns are text also where a CSV has nothing but digits."""
    from deptriad.data import column_types, readers

    text = Schema([Attribute(name, [""], missing="error") for name in columns])
    frame = readers.opened(reports, schema=text)
    column_types.require(frame, columns)
    return frame.select(*columns)


def read_columns(reports: Any, questions: Sequence[Question]) -> Iterable[NDArray[Any]]:
    """The reports to some questions that have a column each."""
    from deptriad.data import column_types

    frame = report_columns(reports, [question.name for question in questions])
    types = frame.collect_schema()
    for question in questions:
        name = question.name
        if question.labelled:
            held = column_types.held_by(types[name])
            yield labels_of(frame, report_format.label_attribute(question.attributes[0], held))
        else:
            yield question.read(texts_of(frame, name))


def labels_of(frame: Frame, attribute: Attribute) -> NDArray[Any]:
    """Codes of a column of labels."""
    return Schema([attribute]).encode(frame.select(attribute.name))[:, 0]


def texts_of(frame: Frame, name: str) -> list[Any]:
    """The entries of a column of text."""
    return list(frame.select(name).lazy().collect()[name].to_list())
