"""Schema: the attributes of a survey. Nothing is inferred from data unless one asks for it by name."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from shutil import get_terminal_size
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deptriad.data.attribute import Attribute
from deptriad.data.origin import Origin
from deptriad.utils import files
from deptriad.utils.errors import InvalidValue, Note, Parameter
from deptriad.utils.text import closest, cut, place_of, printable, shortened

FORMAT, VERSION = "deptriad schema", 1

LEAST_SHOWN = 18
"""Attributes that are printed on any screen."""


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
    origin: Origin | None = field(default=None, compare=False)

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
        columns = [attribute.source for attribute in self]
        if len(set(columns)) < len(self):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise ValueError(f"the schema has two attributes of the column {twice!r}, expected one")

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
        """Place of an attribute, from 0.

        Raises
        ------
        ValueError
            There is none of that name; the message says which comes closest.
        """
        return place_of(name, self.names)

    def only(self, *names: str | Sequence[str]) -> Schema:
        """These attributes alone, in this order: ``only("sex", "age")`` or ``only(["sex", "age"])``."""
        return self.of([self[name] for name in _listed(names)])

    def without(self, *names: str | Sequence[str]) -> Schema:
        """All attributes but these."""
        gone = {self[name].name for name in _listed(names)}
        return self.of([attribute for attribute in self if attribute.name not in gone])

    def changed(self, name: str, /, **fields: Any) -> Schema:
        """The schema with other fields of one attribute, such as its labels or groups.

        Examples
        --------
        >>> import deptriad as dt
        >>> schema = dt.Schema([dt.Attribute("EDU", ["1", "2", "3"], missing="error")])
        >>> schema.changed("EDU", name="school", labels={"1": "none"}, groups={"some": ["2", "3"]})
        Schema of 1 attribute
          school (EDU): none, some
        """
        found = self[name]
        unknown = [field for field in fields if field not in found.__dataclass_fields__]
        if unknown:
            raise ValueError(
                f"an attribute has no field {unknown[0]!r}: "
                f"{closest(unknown[0], list(found.__dataclass_fields__))}"
            )
        after = replace(found, **{"column": found.source} | fields)
        return self.of([after if attribute is found else attribute for attribute in self])

    def of(self, attributes: Sequence[Attribute]) -> Schema:
        """A schema of other attributes with the notes and the origin of this one."""
        return Schema(attributes, self.notes, self.origin)

    def __repr__(self) -> str:
        plural = "s" if len(self) > 1 else ""
        origin = f", {self.origin}" if self.origin else ""
        lines = [f"Schema of {len(self)} attribute{plural}{origin}"]
        screen = get_terminal_size()
        most = max(screen.lines - 4, LEAST_SHOWN)
        for each in self.attributes[:most]:
            column = "" if each.source == each.name else f" ({printable(each.source)})"
            line = f"  {printable(each.name)}{column}: {shortened(each.values)}"
            lines.append(cut(line, max(screen.columns, 40)))
        if len(self) > most:
            lines.append(f"  and {len(self) - most} more")
        return "\n".join(lines)

    @classmethod
    def infer(
        cls,
        data: Any,
        bins: int | Mapping[str | None, int] = 10,
        binning: Literal["quantile", "width"] = "quantile",
        max_categories: int = 30,
        columns: Sequence[str] | str | None = None,
        without: Sequence[str] | str = (),
        query: str | None = None,
        edges: Mapping[str, Sequence[float]] | None = None,
        public: bool | None = None,
    ) -> Self:
        """Propose a schema from PUBLIC data: categories and bins are themselves information about the records.

        Parameters
        ----------
        data
            A frame of any supported engine, or a path; never the records that are to be protected.
        bins, binning
            How many bins a number gets that has more values than ``max_categories``: of equal counts ("quantile") or
            of equal width ("width"). The outer ones are open. A mapping gives the bins of some columns, whatever the
            number of their values, and of all others by the key None, 10 without it.
        max_categories
            Text with more values than this keeps the most frequent ones; the rest goes to (other).
        columns, without
            Only these columns, all by default; and none of those. One name may be given as text.
        query
            SQL over a file, whose rows are called ``data``.
        edges
            Where the bins of some columns begin and end.
        public
            Whether the data is public, which ``origin`` keeps; of data that is not, no counts are kept.

        Returns
        -------
        A schema of all columns that can be attributes. Why others cannot, and what was cut short, is kept in
        ``notes``, and said in a warning for each kind of it. ``origin`` says what it was inferred from.

        Raises
        ------
        ValueError
            There are no records, or no column can be an attribute.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"sex": ["male", "female", None], "rooms": [3, 4, 3]})
        >>> dt.Schema.infer(frame, public=True)
        Schema of 2 attributes, inferred from a frame, 3 records, public: yes
          sex: female, male, (missing)
          rooms: 3, 4
        """
        from deptriad.data.readers import name_of
        from deptriad.data.schema_inference import Wanted, proposed

        wanted = Wanted(bins, binning, max_categories, edges or {}, public is not False)
        attributes, notes, records = proposed(data, wanted, columns, without, query)
        name = name_of(data)
        return cls(
            attributes, notes, Origin("a frame" if name == "the data" else name, records, public)
        )

    def encode(self, data: Any) -> NDArray[np.int16]:
        """Codes of all records.

        Parameters
        ----------
        data
            A local frame, or a file. Columns that are no attributes are not looked at.

        Returns
        -------
        A row for each record, in the order of the rows, and a column for each attribute: the place of its value in
        ``Attribute.values``.

        Raises
        ------
        ValueError
            A value is undeclared or missing where the schema refuses that; the message names some of them.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> schema = dt.Schema([dt.Attribute("sex", ["female", "male"])])
        >>> schema.encode(pd.DataFrame({"sex": ["male", None, "female"]})).tolist()
        [[1], [2], [0]]
        """
        from deptriad.data.encoding import encoded

        return encoded(data, self)

    def to_json(self, counts: bool = True) -> str:
        """The text of its file, with or without about how many records have each value."""
        return files.readable(self._content(counts))

    def _content(self, counts: bool = False) -> dict[str, Any]:
        """As JSON; plans and analyses hold no counts, not even rounded ones."""
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        content |= {"origin": self.origin.to_dict(counts)} if self.origin else {}
        content["attributes"] = [attribute.to_dict(counts) for attribute in self]
        return content | ({"notes": list(self.notes)} if self.notes else {})

    @classmethod
    def from_json(cls, text: str, name: str = "the schema") -> Self:
        """From the text of its file; an error says what is wrong with it, and calls it by ``name``."""
        return cls._from_content(files.parse_json(text, FORMAT, VERSION, name), name)

    @classmethod
    def _from_content(cls, content: Mapping[str, Any], name: str) -> Self:
        allowed = ("format", "version", "origin", "attributes", "notes")
        files.refuse_misfits(content, name, allowed, lists=("attributes", "notes"))
        try:
            each = [Attribute.from_dict(attribute) for attribute in content.get("attributes", [])]
            origin = Origin.from_dict(content["origin"]) if "origin" in content else None
            return cls(each, [str(note) for note in content.get("notes", [])], origin)
        except (TypeError, ValueError) as error:
            raise InvalidValue(f"{name}: ", error) from None

    def save(self, path: str | os.PathLike[str], counts: bool = True) -> None:
        """Write a JSON file to read and edit by hand, with or without about how many records have each value."""
        files.write_json(path, self._content(counts))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a JSON file, everything checked."""
        return cls._from_content(files.read_json(path, FORMAT, VERSION), str(path))


def _listed(names: Sequence[str | Sequence[str]]) -> list[str]:
    """Names that were given one by one, or as a list."""
    return [name for each in names for name in ((each,) if isinstance(each, str) else tuple(each))]


def taken_as_public(
    data: Any, without: Sequence[str] | str = (), query: str | None = None
) -> Schema:
    """A schema inferred where none was given, with a warning: never without a word."""
    said = (
        "no schema was given, so the values of each column are taken from the data itself, which is right for public "
        "data only: pass "
    )
    warnings.warn(Note(said, Parameter("schema", "Schema.infer(data)"), " to say so"), stacklevel=3)
    return Schema.infer(data, without=without, query=query)
