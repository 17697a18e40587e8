"""Attribute, Schema: declared categories and bins. Nothing is inferred from data unless one asks for it by name."""

from __future__ import annotations

import difflib
import math
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from deptriad import files
from deptriad.lines import as_whole
from deptriad.text import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.tally import Tally

OTHER, MISSING = "(other)", "(missing)"
"""Labels of the values that are not declared one by one."""

Value = str | float | int | bool
Kind = Literal["text", "number", "boolean", "bins"]

MOST_VALUES = 32_767
"""As many values as the codes of an attribute can tell apart."""

FORMAT, VERSION = "deptriad schema", 1


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
            raise ValueError(
                f"attribute {self.name!r} needs either categories or edges, and not both"
            )
        if self.categories is not None:
            object.__setattr__(self, "categories", _categories(self.name, self.categories))
        else:
            object.__setattr__(self, "edges", _edges(self.name, self.edges))
        if self.missing not in ("category", "other", "error"):
            raise ValueError(
                f"attribute {self.name!r} has missing={self.missing!r}, expected 'category', 'other' or 'error'"
            )
        if self.unseen not in ("error", "other"):
            raise ValueError(
                f"attribute {self.name!r} has unseen={self.unseen!r}, expected 'error' or 'other'"
            )
        if self.missing == "other" and self.unseen != "other":
            raise ValueError(
                f"attribute {self.name!r} has missing='other', which needs unseen='other'"
            )
        for label, policy in zip(self.values[self.declared :], self._policies, strict=True):
            if self.categories is not None and label in self.categories:
                raise ValueError(
                    f"attribute {self.name!r} has the category {label!r}, which reads like its {policy} values: rename "
                    f"it in the data, or set {policy}='error'"
                )
        if self.size > MOST_VALUES:
            raise ValueError(
                f"attribute {self.name!r} has {self.size:,} values, expected at most {MOST_VALUES:,}: bin a number, or "
                "declare the frequent ones and set unseen='other'"
            )

    @property
    def kind(self) -> Kind:
        """What its column holds: "text", "number", "boolean", or numbers to be put into "bins"."""
        if self.categories is None:
            return "bins"
        return _kind(self.categories[0])

    @property
    def declared(self) -> int:
        """How many categories or bins are declared; the codes of (other) and (missing) come after them."""
        return len(self.categories) if self.categories is not None else len(self.edges or ()) - 1

    @cached_property
    def values(self) -> tuple[str, ...]:
        """A label for each code: the categories or bins, then (other), then (missing), where there are such."""
        own = (
            _labels(self.categories)
            if self.categories is not None
            else _bin_labels(self.edges or ())
        )
        labels = {"unseen": OTHER, "missing": MISSING}
        return own + tuple(labels[policy] for policy in self._policies)

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
        own: dict[str, Any] = {"name": self.name}
        if self.categories is not None:
            own["categories"] = list(self.categories)
        else:
            own["edges"] = [edge if math.isfinite(edge) else str(edge) for edge in self.edges or ()]
        return own | {"missing": self.missing, "unseen": self.unseen}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """From the JSON of a schema, everything checked."""
        if not isinstance(content, dict):
            raise ValueError(
                f'an attribute is {_brief(content)}, expected an object such as {{"name": …}}'
            )
        named = f"attribute {content.get('name')!r}"
        allowed = ("name", "categories", "edges", "missing", "unseen")
        if unknown := [key for key in content if key not in allowed]:
            raise ValueError(
                f"{named} has the key {unknown[0]!r}, expected only {', '.join(allowed)}"
            )
        if "name" not in content:
            raise ValueError(f"an attribute has no name: {_brief(content)}")
        for key in ("categories", "edges"):
            if not isinstance(content.get(key, []), list):
                raise ValueError(f"{named} has {key} {_brief(content[key])}, expected a list")
        if "edges" in content:
            spelt = {"inf": math.inf, "-inf": -math.inf}
            edges = [
                spelt.get(edge, edge) if isinstance(edge, str) else edge
                for edge in content["edges"]
            ]
            content = content | {"edges": edges}
        return cls(**content)

    def __repr__(self) -> str:
        return f"Attribute({printable(self.name)}: {_shortened(self.values)})"


@dataclass(frozen=True)
class Schema:
    """The attributes of a survey, in order. Equal schemas give equal codes, whatever the engine or the order of rows.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["female", "male"]), dt.Attribute("age", edges=[0, 18, 120])])
    >>> schema["age"].values
    ('[0, 18)', '[18, 120]', '(missing)')
    """

    attributes: Sequence[Attribute]
    notes: Sequence[str] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "notes", tuple(self.notes))
        for attribute in self.attributes:
            if not isinstance(attribute, Attribute):
                raise ValueError(f"a schema got {attribute!r}, expected only Attribute objects")
        if not self.attributes:
            raise ValueError("a schema got no attributes, expected at least one")
        if len(set(self.names)) < len(self):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ValueError(f"the schema names attribute {twice!r} twice, expected once")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute can take."""
        return tuple(attribute.size for attribute in self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.index(name)]

    def index(self, name: str) -> int:
        """Place of an attribute."""
        if name not in self.names:
            raise ValueError(f"there is no attribute {name!r}: {closest(name, self.names)}")
        return self.names.index(name)

    def only(self, *names: str) -> Schema:
        """These attributes alone, in this order."""
        return Schema([self[name] for name in names], self.notes)

    def without(self, *names: str) -> Schema:
        """All attributes but these."""
        gone = {self[name].name for name in names}
        return Schema([attribute for attribute in self if attribute.name not in gone], self.notes)

    def __repr__(self) -> str:
        lines = [f"Schema of {len(self)} attributes"]
        lines += [f"  {printable(each.name)}: {_shortened(each.values)}" for each in self]
        return "\n".join(lines)

    @classmethod
    def infer(
        cls,
        data: Any,
        bins: int = 10,
        binning: Literal["quantile", "width"] = "quantile",
        max_categories: int = 30,
        columns: Sequence[str] | str | None = None,
        without: Sequence[str] | str = (),
        query: str | None = None,
    ) -> Self:
        """Propose a schema from PUBLIC data: categories and bins are themselves information about the records.

        Parameters
        ----------
        data
            A frame of any supported engine, or a path; never the records that are to be protected.
        bins, binning
            How many bins a number gets that has more values than ``max_categories``: of equal counts ("quantile") or
            of equal width ("width"). The outer ones are open.
        max_categories
            Text with more values than this keeps the most frequent ones; the rest goes to (other).
        columns, without
            Only these columns, all by default; and none of those. One name may be given as text.
        query
            SQL over a file, whose rows are called ``data``.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"sex": ["male", "female", None], "rooms": [3, 4, 3]})
        >>> dt.Schema.infer(frame)
        Schema of 2 attributes
          sex: female, male, (missing)
          rooms: 3, 4
        """
        from deptriad import frames

        as_whole(bins, "bins", 2)
        as_whole(max_categories, "max_categories", 2)
        if binning not in ("quantile", "width"):
            raise ValueError(f"binning is {binning!r}, expected 'quantile' or 'width'")
        columns = [columns] if isinstance(columns, str) else columns
        without = [without] if isinstance(without, str) else without
        frame = frames.opened(data, query=query)
        chosen, notes = [], []
        types = frames.require(frame, [*(columns or ()), *without])
        wanted = [name for name in columns or types if name not in without]
        tallies = list(frames.tallies(frame, wanted, max_categories))
        if tallies and not any(tally.records or tally.trouble for tally in tallies):
            raise ValueError(f"{frames.name_of(data)} has no records, expected at least one")
        for tally in tallies:
            attribute, note = _proposed(tally, bins, binning, max_categories)
            if attribute is not None:
                chosen.append(attribute)
            if note:
                notes.append(note)
                warnings.warn(note, UserWarning, stacklevel=2)
        if not chosen:
            raise ValueError(
                "no column can be an attribute: " + ("; ".join(notes) or "the data has no columns")
            )
        return cls(chosen, notes)

    def encode(self, data: Any) -> NDArray[np.int16]:
        """Codes of all records, a row for each, in the order of the rows.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> schema = dt.Schema([dt.Attribute("sex", ["female", "male"])])
        >>> schema.encode(pd.DataFrame({"sex": ["male", None, "female"]})).tolist()
        [[1], [2], [0]]
        """
        from deptriad import frames

        return frames.encoded(data, self)

    def to_json(self) -> str:
        """The text of its file."""
        return files.readable(self._content())

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        content["attributes"] = [attribute.to_dict() for attribute in self]
        return content | ({"notes": list(self.notes)} if self.notes else {})

    @classmethod
    def from_json(cls, text: str, name: str = "the schema") -> Self:
        """From the text of its file, everything checked."""
        return cls._from_content(files.parse_json(text, FORMAT, VERSION, name), name)

    @classmethod
    def _from_content(cls, content: Mapping[str, Any], name: str) -> Self:
        allowed = ("format", "version", "attributes", "notes")
        if unknown := [key for key in content if key not in allowed]:
            raise ValueError(
                f"{name} has the key {unknown[0]!r}, expected only {', '.join(allowed)}"
            )
        for key in ("attributes", "notes"):
            if not isinstance(content.get(key, []), list):
                raise ValueError(f"{name} has {key} {_brief(content[key])}, expected a list")
        try:
            each = [Attribute.from_dict(attribute) for attribute in content.get("attributes", [])]
            return cls(each, [str(note) for note in content.get("notes", [])])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file to read and edit by hand."""
        files.write_json(path, self._content())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a JSON file, everything checked."""
        return cls._from_content(files.read_json(path, FORMAT, VERSION), str(path))


def taken_as_public(
    data: Any, without: Sequence[str] | str = (), query: str | None = None
) -> Schema:
    """A schema inferred where none was given, with a warning: never without a word."""
    warnings.warn(
        "no schema was given, so the values of each column are taken from the data itself, which is right for public "
        "data only: pass schema=Schema.infer(data), or --schema and a file that `deptriad schema` wrote, to say so",
        UserWarning,
        stacklevel=3,
    )
    return Schema.infer(data, without=without, query=query)


def closest(name: object, names: Sequence[str]) -> str:
    """What to say to someone who typed a name that is not there."""
    near = difflib.get_close_matches(str(name), names, n=1)
    shown = ", ".join(repr(each) for each in names[:20]) + (", …" if len(names) > 20 else "")
    return f"did you mean {near[0]!r}? There are {shown}" if near else f"there are {shown}"


# --- what is declared -----------------------------------------------------------------------------------------


def _kind(value: object) -> Literal["text", "number", "boolean"]:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def _categories(name: str, given: Sequence[Value]) -> tuple[Value, ...]:
    """Distinct categories of one kind as plain Python values; whole numbers as int."""
    if isinstance(given, str | Mapping) or not hasattr(given, "__iter__"):
        raise ValueError(
            f"attribute {name!r} has categories {_brief(given)}, expected a list of values"
        )
    values = tuple(
        value.item() if isinstance(value, np.generic) else value
        for value in (sorted(given) if isinstance(given, set | frozenset) else given)
    )
    if not values:
        raise ValueError(f"attribute {name!r} has no categories, expected at least one")
    for value in values:
        if not isinstance(value, str | int | float) or value != value:
            raise ValueError(
                f"attribute {name!r} has the category {_brief(value)}, expected text, a number or a boolean; missing "
                "values are declared by missing="
            )
        if isinstance(value, float) and math.isinf(value):
            raise ValueError(
                f"attribute {name!r} has the category {value!r}, expected a finite number"
            )
    kinds = {_kind(value): value for value in values}
    if len(kinds) > 1:
        (one, first), (two, second) = list(kinds.items())[:2]
        raise ValueError(
            f"attribute {name!r} mixes {one} ({first!r}) and {two} ({second!r}) in its categories, expected one kind"
        )
    values = tuple(
        int(value) if isinstance(value, float) and value.is_integer() else value for value in values
    )
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise ValueError(f"attribute {name!r} has the category {twice!r} twice, expected once")
    if any(isinstance(value, int) and abs(value) >= 2**53 for value in values):
        raise ValueError(
            f"attribute {name!r} has a category of 2^53 or beyond, where numbers run together: make its column text"
        )
    return values


def _edges(name: str, given: Any) -> tuple[float, ...]:
    try:
        edges = tuple(float(edge) for edge in given)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(
            f"attribute {name!r} has edges {_brief(given)}, expected a list of numbers of ordinary size"
        ) from None
    if any(isinstance(edge, str | bool) for edge in given):
        raise ValueError(
            f"attribute {name!r} has edges {_brief(given)}, expected a list of numbers"
        )
    if len(edges) < 2:
        raise ValueError(
            f"attribute {name!r} has {len(edges)} edges, expected two or more: where each bin begins and the last ends"
        )
    if not all(low < high for low, high in pairwise(edges)):
        raise ValueError(
            f"attribute {name!r} has edges {_brief(list(edges))}, expected increasing numbers"
        )
    return tuple(edge + 0.0 for edge in edges)


def _labels(values: Sequence[Value]) -> tuple[str, ...]:
    """Values in words; floats with twelve digits, or with all of them where those would read alike."""
    labels = [f"{value:.12g}" if isinstance(value, float) else str(value) for value in values]
    times = Counter(labels)
    return tuple(
        repr(value) if isinstance(value, float) and times[label] > 1 else label
        for value, label in zip(values, labels, strict=True)
    )


def _bin_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Bins in words: [18, 65), < 18, ≥ 65; the last one with a closed end."""
    labels = []
    for (low, high), (start, stop) in zip(pairwise(edges), pairwise(_labels(edges)), strict=True):
        last = high == edges[-1]
        if math.isinf(low) and math.isinf(high):
            labels.append("any")
        elif math.isinf(low):
            labels.append(f"{'≤' if last else '<'} {stop}")
        elif math.isinf(high):
            labels.append(f"≥ {start}")
        else:
            labels.append(f"[{start}, {stop}{']' if last else ')'}")
    return tuple(labels)


def _brief(value: object, most: int = 120) -> str:
    """How a message shows a value that may be long."""
    try:
        shown = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        return f"a {type(value).__name__}"
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _shortened(values: Sequence[str]) -> str:
    shown = ", ".join(printable(value) for value in values[:8])
    return shown + (f", … ({len(values)} values)" if len(values) > 8 else "")


# --- what is proposed -----------------------------------------------------------------------------------------


def _proposed(
    tally: Tally, bins: int, binning: str, most: int
) -> tuple[Attribute | None, str | None]:
    """An attribute for a column whose values have been tallied, and what is worth saying about it."""
    name, values = tally.name, tally.values
    left_out = f"column {name!r} is left out"
    if tally.trouble:
        return None, f"{left_out}: {tally.trouble}"
    if not tally.distinct:
        return None, f"{left_out}: all its values are missing"
    if tally.distinct == 1 and not tally.missing:
        return None, f"{left_out}: it is constant ({_brief(values[0])})"
    try:
        if values and isinstance(values[0], str):
            return _proposed_text(tally, most)
        return _proposed_numbers(tally, bins, binning), None
    except ValueError as error:
        return None, f"{left_out}: {error}"


def _proposed_text(tally: Tally, most: int) -> tuple[Attribute, str | None]:
    missing: Literal["category", "error"] = "category" if tally.missing else "error"
    values = [str(value) for value in tally.values]
    if tally.distinct <= most:
        return Attribute(tally.name, sorted(values), missing=missing), None
    # the values come by their frequency; one that reads (other) is counted as just that
    kept = sorted([value for value in values if value != OTHER][: most - 1])
    note = (
        f"column {tally.name!r} has {tally.distinct:,} different values: the {len(kept)} most frequent are kept, the "
        f"other {tally.distinct - len(kept):,} are counted as {OTHER}"
    )
    return Attribute(tally.name, kept, missing=missing, unseen="other"), note


def _proposed_numbers(tally: Tally, bins: int, binning: str) -> Attribute:
    missing: Literal["category", "error"] = "category" if tally.missing else "error"
    given = tally.values if tally.numbers is None else tally.numbers
    numbers = np.asarray(given, dtype=np.float64)
    # from 2^53 on neighbouring numbers run together, so that only bins can tell them apart
    if tally.numbers is None and np.abs(numbers).max() < 2**53:
        return Attribute(tally.name, sorted(tally.values), missing=missing)
    finite = np.isfinite(numbers)
    inner = _inner_edges(numbers[finite], np.asarray(tally.counts)[finite], bins, binning)
    if not inner and not tally.missing:
        raise ValueError("its numbers are infinite or too large to be told apart")
    return Attribute(tally.name, edges=[-math.inf, *inner, math.inf], missing=missing)


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
