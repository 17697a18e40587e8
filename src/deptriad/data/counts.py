"""Counts: every pairwise contingency table of a dataset, from any frame or engine."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deptriad.data.joint_counts import JointCounts
from deptriad.data.schema import Schema
from deptriad.data.table_layout import ALL, Layout
from deptriad.utils import files
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.progress import Progress
from deptriad.utils.text import place_of

FORMAT, VERSIONS = "deptriad counts", (1, 2)
"""Version 2 has joint tables, too."""

DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, TypeError, AttributeError)
"""What a file of counts raises that is cut short, or changed."""


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How many records have each value, and each pair of values of two attributes; by group where there are several.

    Counts add up, so they can be made in pieces, on many machines or day by day. They hold no record, yet small
    counts may still point to a person: treat them as you would treat the data.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m", "m"], "smokes": ["no", "no", "yes"]})
    >>> counts = dt.Counts.from_data(frame, dt.Schema.infer(frame))
    >>> counts.table("smokes", "sex").tolist()
    [[1, 0], [1, 1]]
    >>> (counts + counts).records
    6
    """

    schema: Schema
    sources: tuple[str, ...]
    cells: Integers
    weights: Floats | None = None
    by: str | None = None
    joint: JointCounts | None = None

    def __post_init__(self) -> None:
        if not self.sources or len(set(self.sources)) < len(self.sources):
            raise ValueError(f"sources are {list(self.sources)}, expected distinct names, and some")
        shape = len(self.sources), Layout(self.schema.sizes).cells
        for name, kind in (("cells", np.int64), ("weights", np.float64)):
            array = getattr(self, name)
            if array is None and name == "weights":
                continue
            if array.shape != shape or array.dtype != kind:
                raise ValueError(
                    f"{name} are {array.dtype} of shape {array.shape}, expected {np.dtype(kind)} of shape {shape}"
                )
            if not ((array >= 0) & np.isfinite(array)).all():
                raise ValueError(f"{name} has a number below 0 or none, expected counts")
            kept = array.copy()
            kept.flags.writeable = False
            object.__setattr__(self, name, kept)

    @cached_property
    def layout(self) -> Layout:
        """Where each table lies."""
        return Layout(self.schema.sizes)

    @classmethod
    def from_data(
        cls,
        data: Any,
        schema: Schema,
        weight: str | None = None,
        by: str | None = None,
        query: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Count all single attributes and all pairs, where the data lives.

        Parameters
        ----------
        data
            A pandas, Polars, PyArrow, DuckDB, Ibis, PySpark or Dask frame, or the path or glob of CSV or Parquet files.
        schema
            The attributes and their values.
        weight
            A column of survey weights; numbers of records are kept beside the sums of weights.
        by
            A column such as the state: each of its values becomes a group with counts of its own.
        query
            SQL over a file, whose rows are called ``data``.
        progress
            Called with the number of records counted so far, and None.

        Raises
        ------
        ValueError
            A column is absent, holds what its attribute does not declare, or weights are no numbers ≥ 0; there are no
            records, or far too many cells.
        """
        from deptriad.data import readers
        from deptriad.data.column_types import require
        from deptriad.data.counting import counted

        for name, role in ((by, "by"), (weight, "weight")):
            if name is not None and name in schema:
                raise InvalidValue(
                    *(f"column {name!r} is an attribute and ", Parameter(role, "")),
                    f" too: leave it out with schema.without({name!r})",
                )
        if by is not None and by == weight:
            both = (Parameter("by", ""), " and ", Parameter("weight", ""))
            raise InvalidValue(f"column {by!r} is both ", *both, ", expected two columns")
        frame = readers.opened(data, query, schema)
        require(frame, [*schema.names, *(name for name in (by, weight) if name)])
        counts = cls(schema, *counted(frame, schema, weight, by, progress), by)
        if not counts.records:
            raise ValueError(f"{readers.name_of(data)} has no records, expected at least one")
        return counts

    @property
    def weighted(self) -> bool:
        """Whether there are weights beside the numbers of records."""
        return self.weights is not None

    @property
    def records(self) -> int:
        """How many records were counted."""
        return int(self.layout.single(self.cells, 0).sum())

    def table(self, source: str, target: str, weighted: bool = True) -> NDArray[Any]:
        """Counts of two attributes over all groups.

        Parameters
        ----------
        source, target
            The attribute that is released, and the one to be protected.
        weighted
            Sums of weights, where there are any, or numbers of records.

        Returns
        -------
        An array of integers, or of floats where weights are summed: a row for each target value, a column for each
        source value.
        """
        return np.asarray(self.tables(source, target, weighted).sum(axis=0))

    def tables(self, source: str, target: str, weighted: bool = True) -> NDArray[Any]:
        """The same for each group of ``sources``, along the first axis; a view that cannot be written to."""
        rows, columns = self.schema.index(target), self.schema.index(source)
        if rows == columns:
            raise ValueError(f"source and target are both {source!r}, expected two attributes")
        return self.layout.table(self._numbers(weighted), rows, columns)

    def single(self, name: str, weighted: bool = True) -> NDArray[Any]:
        """Counts of one attribute over all sources."""
        return np.asarray(self.singles(name, weighted).sum(axis=0))

    def singles(self, name: str, weighted: bool = True) -> NDArray[Any]:
        """The same for each group of ``sources``, along the first axis; a view that cannot be written to."""
        return self.layout.single(self._numbers(weighted), self.schema.index(name))

    def _numbers(self, weighted: bool) -> NDArray[Any]:
        return self.weights if weighted and self.weights is not None else self.cells

    def __getitem__(self, source: str) -> Counts:
        place = place_of(source, self.sources, "source")
        one = slice(place, place + 1)
        weights = None if self.weights is None else self.weights[one]
        joint = self.joint
        if joint is not None:
            joint = replace(joint, tables=tuple(table[one] for table in joint.tables))
        return Counts(self.schema, (source,), self.cells[one], weights, self.by, joint)

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.schema != other.schema:
            raise ValueError(
                f"the counts have different schemas ({_difference(self.schema, other.schema)}), so they do not add up"
            )
        if self.weighted != other.weighted:
            raise ValueError("one of the counts has weights, the other none: they do not add up")
        if self.by != other.by:
            raise ValueError(
                f"the counts are by {self.by!r} and by {other.by!r}, expected the same column: they do not add up"
            )
        sources = tuple(sorted({*self.sources, *other.sources}))
        cells = np.zeros((len(sources), self.layout.cells), dtype=np.int64)
        weights = np.zeros(cells.shape) if self.weighted else None
        own, more = (
            [sources.index(source) for source in counts.sources] for counts in (self, other)
        )
        for counts, places in ((self, own), (other, more)):
            cells[places] += counts.cells
            if weights is not None and counts.weights is not None:
                weights[places] += counts.weights
        joint = self.joint.plus(other.joint, own, more, len(sources)) if self.joint else None
        return Counts(self.schema, sources, cells, weights, self.by, joint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            (self.schema, self.sources, self.by) == (other.schema, other.sources, other.by)
            and np.array_equal(self.cells, other.cells)
            and np.array_equal(self.weights, other.weights)  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Counts({self.summary})"

    @property
    def summary(self) -> str:
        """How much was counted, in a few words."""
        by = "" if self.sources == (ALL,) else f", {len(self.sources)} groups"
        weights = ", weighted" if self.weighted else ""
        return f"{self.records:,} records, {len(self.schema)} attributes{by}{weights}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file: the schema and the groups as JSON, the counts as arrays; no pickle."""
        about = {
            "format": FORMAT,
            "version": VERSIONS[self.joint is not None],
            "sources": list(self.sources),
            "by": self.by,
            "weighted": self.weighted,
            "schema": self.schema.to_json(),
        }
        arrays = {"cells": self.cells} | ({} if self.weights is None else {"weights": self.weights})
        if self.joint is not None:
            about["joint"] = [list(places) for places in self.joint.sets]
            arrays["joint"] = self.joint.flat()
        text = np.array(json.dumps(about))
        with files.whole(path) as partial, partial.open("wb") as file:
            np.savez_compressed(file, about=text, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an .npz file, everything checked; a file with pickled objects is refused.

        Raises
        ------
        ValueError
            The file is damaged, of another kind, or its tables do not agree with each other.
        """
        try:
            content = io.BytesIO(Path(path).read_bytes())
            with np.load(content, allow_pickle=False) as held:
                about = files.parse_json(str(held["about"]), FORMAT, VERSIONS, str(path))
                cells = held["cells"]
                weights = held["weights"] if about["weighted"] else None
                flat = held["joint"] if about["version"] == 2 else None
            schema = Schema.from_json(about["schema"], f"the schema in {path}")
            if not isinstance(by := about["by"], str | None):
                raise ValueError(f'its "by" is {by!r}, expected a name')
            sources = tuple(map(str, about["sources"]))
            joint = None
            if flat is not None:
                joint = JointCounts.from_flat(schema, about["joint"], flat, len(sources))
            counts = cls(schema, sources, cells, weights, by, joint)
            counts._check_margins()
            return counts
        except DAMAGE as error:
            raise ValueError(f"{path} is not a whole file of counts: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not a file of counts: {error}") from None

    def _check_margins(self) -> None:
        """Every table must have the counts of its two attributes as margins."""
        names = self.schema.names
        for i, j in self.layout.pairs[len(names) :]:
            table = self.layout.table(self.cells, i, j)
            for place, axis in ((i, -1), (j, -2)):
                if (table.sum(axis=axis) != self.layout.single(self.cells, place)).any():
                    raise ValueError(f"its tables of {names[i]!r} and {names[j]!r} do not add up")
        if self.joint is None:
            return
        for name in (names[place] for place in {each for own in self.joint.sets for each in own}):
            (found,) = self.joint.joints([[name]])
            # sums of weights depend on the order of adding
            if not np.allclose(found, self.singles(name), rtol=1e-9, atol=0.0):
                raise ValueError(f"its joint tables of {name!r} do not add up")


def _difference(one: Schema, two: Schema) -> str:
    """The first thing in which two schemas differ."""
    if one.names != two.names:
        odd: Sequence[str] = sorted({*one.names} ^ {*two.names})
        return f"{odd[0]!r} is in one only" if odd else "their attributes are in another order"
    name = next(mine.name for mine, other in zip(one, two, strict=True) if mine != other)
    return f"in {name!r}"
