"""Attribute: one column of a survey, and the values it is declared to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, Self

from deptriad.data.categories import (
    Kind,
    Value,
    bin_labels,
    checked_categories,
    checked_edges,
    checked_groups,
    checked_labels,
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
        What it is called in everything that is shown; the column of the data, too, unless ``column`` says another.
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
    column
        The column of the data, where that has another name.
    labels
        What to call a value or bin in everything that is shown, by what it is called otherwise.
    groups
        Sets of categories that count as one value, by what to call each: 51 states as a few regions. A category in
        none of them stays a value of its own.
    counts
        About how many records have each value, by its label; for those who edit the schema, and used for nothing.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Attribute("age", edges=[0, 18, 65, float("inf")], labels={"[0, 18)": "child"}).values
    ('child', '[18, 65)', '≥ 65', '(missing)')
    >>> dt.Attribute("region", ["ME", "NH", "TX"], groups={"North": ["NH", "ME"]}, column="state", missing="error")
    Attribute(region: North, TX)
    """

    name: str
    categories: Sequence[Value] | None = None
    edges: Sequence[float] | None = None
    missing: Literal["category", "other", "error"] = "category"
    unseen: Literal["error", "other"] = "error"
    column: str | None = None
    labels: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    groups: Mapping[str, Sequence[Value]] | Sequence[tuple[str, Sequence[Value]]] = ()
    counts: Mapping[str, int] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"an attribute is named {self.name!r}, expected text")
        if (self.categories is None) == (self.edges is None):
            raise ValueError(f"attribute {self.name!r} needs either categories or edges, not both")
        if self.categories is not None:
            object.__setattr__(self, "categories", checked_categories(self.name, self.categories))
        else:
            object.__setattr__(self, "edges", checked_edges(self.name, self.edges))
        if self.column == self.name:
            object.__setattr__(self, "column", None)
        if not isinstance(self.column, str | None):
            raise ValueError(
                f"attribute {self.name!r} is of the column {self.column!r}, expected text"
            )
        object.__setattr__(
            self, "groups", checked_groups(self.name, self.groups, self.categories or ())
        )
        has = f"attribute {self.name!r} has "
        for policy, known in (("missing", "'category', 'other'"), ("unseen", "'other'")):
            if repr(getattr(self, policy)) not in (*known.split(", "), "'error'"):
                what = Parameter(policy, repr(getattr(self, policy)))
                raise InvalidValue(has, what, f", expected {known} or 'error'")
        if self.missing == "other" and self.unseen != "other":
            what, needed = Parameter("missing", "'other'"), Parameter("unseen", "'other'")
            raise InvalidValue(has, what, ", which needs ", needed)
        own = tuple(label for label, _ in self._plain)
        object.__setattr__(self, "labels", checked_labels(self.name, self.labels, own))
        for label, policy in zip(self.values[self.declared :], self._policies, strict=True):
            if label in self.values[: self.declared]:
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
        return len(self._plain)

    @property
    def source(self) -> str:
        """The column of the data."""
        return self.column or self.name

    @property
    def _groups(self) -> tuple[tuple[str, tuple[Value, ...]], ...]:
        return self.groups  # type: ignore[return-value]  # as it is kept

    @property
    def _labels(self) -> tuple[tuple[str, str], ...]:
        return self.labels  # type: ignore[return-value]  # as it is kept

    @cached_property
    def _plain(self) -> tuple[tuple[str, tuple[Value, ...]], ...]:
        """Of each declared code what it is called without ``labels``, and its categories, if it has any."""
        if self.categories is None:
            return tuple((label, ()) for label in bin_labels(self.edges or ()))
        group_of = {value: name for name, values in self._groups for value in values}
        members = {name: tuple(values) for name, values in self._groups}
        own = zip(labels(self.categories), self.categories, strict=True)
        found: dict[tuple[str, bool], tuple[Value, ...]] = {}
        for label, value in own:
            if value in group_of:
                found.setdefault((group_of[value], True), members[group_of[value]])
            else:
                found[label, False] = (value,)
        return tuple((label, values) for (label, _), values in found.items())

    @cached_property
    def codes(self) -> tuple[int, ...]:
        """The code of each category; of bins, of each bin."""
        if self.categories is None:
            return tuple(range(self.declared))
        place = {value: code for code, (_, values) in enumerate(self._plain) for value in values}
        return tuple(place[value] for value in self.categories)

    def keeping(self, codes: Sequence[int], **changes: Any) -> Attribute:
        """The attribute with some of its categories or groups only, and other fields changed."""
        kept = {value for code in codes for value in self._plain[code][1]}
        names = {self._plain[code][0] for code in codes}
        return replace(
            self,
            categories=[value for value in self.categories or () if value in kept],
            groups=[each for each in self._groups if each[0] in names],
            labels=[each for each in self._labels if each[0] in names],
            **changes,
        )

    @cached_property
    def values(self) -> tuple[str, ...]:
        """A label for each code: the categories, groups or bins, then (other), then (missing), where there are such."""
        shown = dict(self._labels)
        own = tuple(shown.get(label, label) for label, _ in self._plain)
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

    def to_dict(self, counts: bool = True) -> dict[str, Any]:
        """As in the JSON of a schema, with its ``counts``; or as in that of a plan, without."""
        key = "edges" if self.categories is None else "categories"
        own: dict[str, Any] = {"name": self.name}
        own |= {} if self.source == self.name else {"column": self.source}
        own |= {key: files.spelt(getattr(self, key))}
        own |= {"missing": self.missing, "unseen": self.unseen}
        own |= {
            what: dict(given) for what in ("labels", "groups") if (given := getattr(self, what))
        }
        if not counts and (self.labels or self.groups):  # clients of a plan need not work them out
            own |= {"values": list(self.values), "codes": list(self.codes)}
        return own | ({"counts": dict(self.counts)} if counts and self.counts else {})

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """From the JSON of a schema; an error says what is wrong with it."""
        if not isinstance(content, dict):
            raise ValueError(f'an attribute is {brief(content)}, expected an object: {{"name": …}}')
        named = f"attribute {content.get('name')!r}"
        told = {what: content[what] for what in ("values", "codes") if what in content}
        content = {key: value for key, value in content.items() if key not in told}
        allowed = [each.name for each in fields(cls)]
        files.refuse_misfits(content, named, allowed, lists=("categories", "edges"))
        for what in ("labels", "groups", "counts"):
            if not isinstance(content.get(what, {}), dict):
                raise ValueError(f"{named} has {what} {brief(content[what])}, expected an object")
        if "name" not in content:
            raise ValueError(f"an attribute has no name: {brief(content)}")
        if "edges" in content:
            content = content | {"edges": [files.unspelt(edge) for edge in content["edges"]]}
        found = cls(**content)
        for what, given in told.items():
            if given != list(getattr(found, what)):
                raise ValueError(
                    f"{named} has {what} {brief(given)}, which do not follow from its groups and labels: leave them out"
                )
        return found

    def __repr__(self) -> str:
        return f"Attribute({printable(self.name)}: {shortened(self.values)})"
