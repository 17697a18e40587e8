"""Questions: what is asked at once, how its answer is drawn, and how its reports are written and read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.collection import report_format
from deptriad.collection.report_format import Column, Labels
from deptriad.data.attribute import Attribute
from deptriad.mechanisms import Mechanism, expected_error, mechanisms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Generator = np.random.Generator | None


@dataclass(frozen=True)
class Question:
    """What is asked at once: one attribute, or several as one joint value; the mechanism that reports it; its view."""

    attributes: tuple[Attribute, ...]
    mechanism: Mechanism
    view: int = 0

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
        """Whether its reports are written as labels, each attribute's in its own column; else as text in the first."""
        return self.mechanism.names_values

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that its reports are written to."""
        return self.names if self.labelled else self.names[:1]

    def values(self, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        """The answers, joint ones as one number, from the codes of the attributes."""
        value = np.zeros(len(codes[self.names[0]]), dtype=np.int64)
        for each in self.attributes:
            value = value * each.size + codes[each.name]
        return value

    def written(self, reports: NDArray[Any]) -> dict[str, Column]:
        """Reports as they are written, by column."""
        if not self.labelled:
            return {self.names[0]: report_format.spelt(self.mechanism, reports)}
        codes = np.unravel_index(reports.astype(np.intp), self.sizes)
        pairs = zip(self.attributes, codes, strict=True)
        return {each.name: Labels(own, each.values) for each, own in pairs}

    def read(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Reports from what was written in its columns: texts, or codes of labels."""
        if not self.labelled:
            return report_format.read(self.mechanism, columns[0], self.names[0])
        pairs = zip(self.attributes, columns, strict=True)
        return self.values({each.name: _codes(each, column) for each, column in pairs})

    def accepted(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The same, if they can be reports of its mechanism."""
        return self.mechanism.accepted(self.read(columns))


def _codes(attribute: Attribute, column: NDArray[Any]) -> NDArray[Any]:
    """Codes of labels, which may be there already."""
    if column.dtype.kind in "iu":
        return column
    codes = {value: code for code, value in enumerate(attribute.values)}
    found = [codes.get(text, -1) for text in column.tolist()]
    if -1 in found:
        raise ValueError(
            f"the report {column[found.index(-1)]!r} of {attribute.name!r} is none of its values: {attribute!r}"
        )
    return np.array(found, dtype=np.int64)


def way_of(name: str, epsilon: float, *attributes: Attribute) -> str:
    """The key of the mechanism that reports attributes at once; "auto" is the better of GRR and OLH."""
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
    return name


def question_by(name: str, epsilon: float, *attributes: Attribute, view: int = 0) -> Question:
    """Ask for attributes by a mechanism's key, or by "auto"."""
    made = mechanisms[way_of(name, epsilon, *attributes)]
    return Question(attributes, made(math.prod(each.size for each in attributes), epsilon), view)
