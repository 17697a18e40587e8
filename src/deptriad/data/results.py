"""What results share: entries by name, and frames of the library that the data came in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from deptriad.utils.text import closest


class Framed:
    """A result that is also to be had as a frame."""

    kind: str = "pandas"
    """The library of the frame: that of the data, Polars for lazy frames of Polars, and pandas for DuckDB, Ibis, Spark,
    Dask and files; the first that is installed where that one is not."""

    def columns(self) -> dict[str, Any]:
        """The entries of each column of the frame."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """A frame, of the kind that the data came in where that is known."""
        from deptriad.data.engines import made

        return made(self.columns(), self.kind)


class HasTarget(Protocol):
    """A result about one attribute."""

    @property
    def target(self) -> str:
        """Its name."""


Entry = TypeVar("Entry", bound=HasTarget)
Named = TypeVar("Named")


class ByTarget(Framed, Mapping[str, Entry]):
    """One result for each target, by name."""

    called = ("result", "of")
    """What one of them is called in errors, and how the target's name is joined to it."""

    def __init__(self, entries: Iterable[Entry], kind: str = "pandas") -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            if entry.target in self._entries:
                noun, link = self.called
                raise ValueError(f"got two {noun}s {link} {entry.target!r}, expected one a target")
            self._entries[entry.target] = entry

    def __getitem__(self, target: str) -> Entry:
        return named(self._entries, target, " ".join(self.called))

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def named(entries: Mapping[str, Named], name: str, called: str) -> Named:
    """An entry by its name.

    Raises
    ------
    KeyError
        If there is none, with the name that comes closest.
    """
    if name not in entries:
        raise KeyError(f"there is no {called} {name!r}: {closest(name, list(entries))}")
    return entries[name]


def columns_of(rows: Iterable[Any], fields: Sequence[str]) -> dict[str, list[Any]]:
    """Fields of all rows, column by column.

    >>> columns_of([1 + 2j, 3 + 4j], ["real", "imag"])
    {'real': [1.0, 3.0], 'imag': [2.0, 4.0]}
    """
    every = list(rows)
    return {field: [getattr(row, field) for row in every] for field in fields}
