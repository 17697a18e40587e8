"""Attribute: one column of a survey, and the values it is declared to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from deptriad.data.categories import (
    Kind,
    Value,
    bin_labels,
    checked_categories,
    checked_edges,
    kind_of,
    labels,
)
from deptriad.utils import files
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import brief, printable, shortened

OTHER, MISSING = "(other)", "(missing)"
"""Labels of the values that are not declared one by one."""

MOST_VALUES = 32_767
"""As many values as the codes of an attribute can tell apart."""


@dataclass(frozen=True)
class Attribute:
    """One column: the values it may take, in the order of their codes.

    Parameters
    ----------
    name
        The column.
    categories
        Its values: all text, all numbers or all booleans.
    edges
        Or, for a number, where its bins begin and end: k + 1 increasing edges for k bins. A bin holds its lower edge,
        the last one its upper edge too. Infinite edges leave the outer bins open.
    missing
        What becomes of a missing value: "category" counts it as a value of its own, "other" with the undeclared ones,
        "error" refuses it.
    unseen
        What becomes of an undeclared value: "error" refuses it, "other" counts all of them as one value.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Attribute("age", edges=[0, 18, 65, float("inf")]).values
    ('[0, 18)', '[18, 65)', '≥ 65', '(missing)')
    """

    name: str
    categories: Sequence[Value] | None = None
    edges: Sequence[float] | None = None
    missing: Literal["category", "other", "error"] = "category"
    unseen: Literal["error", "other"] = "error"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"an attribute is named {self.name!r}, expected text")
        if (self.categories is None) == (self.edges is None):
            raise ValueError(f"attribute {self.name!r} needs either categories or edges, not both")
        if self.categories is not None:
            object.__setattr__(self, "categories", checked_categories(self.name, self.categories))
        else:
            object.__setattr__(self, "edges", checked_edges(self.name, self.edges))
        has = f"attribute {self.name!r} has "
        for policy, known in (("missing", "'category', 'other'"), ("unseen", "'other'")):
            if repr(getattr(self, policy)) not in (*known.split(", "), "'error'"):
                what = Parameter(policy, repr(getattr(self, policy)))
                raise InvalidValue(has, what, f", expected {known} or 'error'")
        if self.missing == "other" and self.unseen != "other":
            what, needed = Parameter("missing", "'other'"), Parameter("unseen", "'other'")
            raise InvalidValue(has, what, ", which needs ", needed)
        for label, policy in zip(self.values[self.declared :], self._policies, strict=True):
            if self.categories is not None and label in self.categories:
                raise InvalidValue(
                    f"attribute {self.name!r} has the category {label!r}, which reads like its {policy} values: rename "
                    "it in the data, or set ",
                    Parameter(policy, "'error'"),
                )
        if self.size > MOST_VALUES:
            raise InvalidValue(
                f"attribute {self.name!r} has {self.size:,} values, expected at most {MOST_VALUES:,}: bin a number, or "
                "declare the frequent ones and set ",
                Parameter("unseen", "'other'"),
            )

    @property
    def kind(self) -> Kind:
        """What its column holds: "text", "number", "boolean", or numbers to be put into "bins"."""
        if self.categories is None:
            return "bins"
        return kind_of(self.categories[0])

    @property
    def held(self) -> str:
        """The same, where numbers to be put into bins are numbers."""
        return "number" if self.kind == "bins" else self.kind

    @property
    def declared(self) -> int:
        """How many categories or bins are declared; the codes of (other) and (missing) come after them."""
        return len(self.categories) if self.categories is not None else len(self.edges or ()) - 1

    @cached_property
    def values(self) -> tuple[str, ...]:
        """A label for each code: the categories or bins, then (other), then (missing), where there are such."""
        own = bin_labels(self.edges or ()) if self.categories is None else labels(self.categories)
        further = {"unseen": OTHER, "missing": MISSING}
        return own + tuple(further[policy] for policy in self._policies)

    @property
    def _policies(self) -> tuple[str, ...]:
        """The policies that give it one more value each."""
        return ("unseen",) * (self.unseen == "other") + ("missing",) * (self.missing == "category")

    @property
    def size(self) -> int:
        """How many values it can take."""
        return self.declared + (self.unseen == "other") + (self.missing == "category")

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a schema."""
        key = "edges" if self.categories is None else "categories"
        own = {"name": self.name, key: files.spelt(getattr(self, key))}
        return own | {"missing": self.missing, "unseen": self.unseen}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """From the JSON of a schema; an error says what is wrong with it."""
        if not isinstance(content, dict):
            raise ValueError(f'an attribute is {brief(content)}, expected an object: {{"name": …}}')
        named = f"attribute {content.get('name')!r}"
        allowed = ("name", "categories", "edges", "missing", "unseen")
        files.refuse_misfits(content, named, allowed, lists=("categories", "edges"))
        if "name" not in content:
            raise ValueError(f"an attribute has no name: {brief(content)}")
        if "edges" in content:
            content = content | {"edges": [files.unspelt(edge) for edge in content["edges"]]}
        return cls(**content)

    def __repr__(self) -> str:
        return f"Attribute({printable(self.name)}: {shortened(self.values)})"
