"""Codes of batches of Arrow by looking values up: each different value is encoded once, not each record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.data.engines import Batch
from deptriad.data.plain_columns import undictionaried
from deptriad.data.readers import opened

if TYPE_CHECKING:
    from deptriad.data.encoding import Encoder

MOST_KNOWN = 4096
"""Different values up to which a column is looked up; one of more is encoded record by record."""


@dataclass
class CodeLookup:
    """From batches of Arrow, of the columns that an encoder reads, to what the encoder makes of them.

    Columns whose attributes differ in nothing but their names are looked up alike: ``like`` has the first of them.
    """

    encode: Encoder
    like: dict[str, str] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, NDArray[Any]] = field(default_factory=dict)
    spread: set[str] = field(default_factory=set)

    def __call__(self, batch: Any) -> Batch:
        """An array for each column: codes, and weights as they are."""
        columns = dict(zip(self.encode.columns, map(undictionaried, batch.columns), strict=True))
        if not (self.like or self.spread):
            self._compare(columns)
        places = self._places(columns)
        if fresh := [name for name, found in places.items() if found is None]:
            self._learn({name: columns[name] for name in fresh})
            places |= self._places({name: columns[name] for name in fresh})
            self.spread |= {name for name in fresh if places[name] is None}
        plain = self._encoded({name: columns[name] for name in columns if name in self.spread})
        return [
            plain[name] if name in plain else self.codes[self.like[name]][places[name]]
            for name in columns
        ]

    def _compare(self, columns: dict[str, Any]) -> None:
        first: dict[Any, str] = {}
        for name, column in columns.items():
            by = self.encode.by if self.encode.by and self.encode.by.name == name else None
            attribute = None if name == self.encode.weight else by or self.encode.schema[name]
            if not attribute or _held(column.type) != attribute.held:
                self.spread.add(name)
                continue
            alike = (
                replace(attribute, name="any", column=None),
                attribute.kind,
                column.type,
                by is None,
            )
            self.like[name] = first.setdefault(alike, name)

    def _places(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Of each column that is looked up the places of its values among the known; None if there are others."""
        import pyarrow.compute as pc

        places = {}
        for name, column in columns.items():
            if name in self.spread:
                continue
            known = self.known.get(self.like[name])
            found = None if known is None else pc.index_in(column, known)
            places[name] = None if found is None or found.null_count else found.to_numpy()
        return places

    def _learn(self, columns: dict[str, Any]) -> None:
        """Encode values that are new, many columns at once."""
        import pyarrow as pa

        fresh: dict[str, list[Any]] = {}
        for name, column in columns.items():
            fresh.setdefault(self.like[name], []).append(column.unique())
        learnt = {}
        for name, parts in fresh.items():
            parts += [self.known[name]] if name in self.known else []
            self.known[name] = learnt[name] = pa.concat_arrays(parts).unique()
            if len(learnt[name]) > MOST_KNOWN:
                self.spread |= {other for other in self.like if self.like[other] == name}
                del learnt[name]
        most = max(map(len, learnt.values()), default=0)
        self.codes |= self._encoded(
            {
                name: values.take(pa.array(np.arange(most) % len(values)))
                for name, values in learnt.items()
            }
        )

    def _encoded(self, columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
        import pyarrow as pa

        if not columns:
            return {}
        coded = self.encode.only(opened(pa.table(columns)), list(columns))
        return {
            name: coded[made].to_numpy() for name, made in zip(columns, coded.columns, strict=True)
        }


def _held(dtype: Any) -> str | None:
    """What a type of Arrow holds, in the words of a schema, where its values can be found among others."""
    from pyarrow import types

    if types.is_integer(dtype) or types.is_float32(dtype) or types.is_float64(dtype):
        return "number"
    if types.is_string(dtype) or types.is_large_string(dtype):
        return "text"
    return "boolean" if types.is_boolean(dtype) else None
