"""Counts: every pairwise contingency table of a dataset, from any frame or engine."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema
from deptriad.utils import files
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.batches import Batch
    from deptriad.data.column_types import Frame
    from deptriad.utils.arrays import Floats, Integers
    from deptriad.utils.progress import Progress

ALL = "all"
"""The one source of counts that were not made by source."""

MOST_CELLS = 1 << 27
"""Cells of all tables of all sources together: 1 GiB of counts."""

FORMAT, VERSION = "deptriad counts", 1


@dataclass(frozen=True)
class Layout:
    """Where the tables of all single attributes and of all pairs lie in one array."""

    sizes: tuple[int, ...]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """First and second attribute of each table; a single attribute is paired with itself."""
        places = range(len(self.sizes))
        return [(i, i) for i in places] + list(combinations(places, 2))

    @cached_property
    def starts(self) -> Integers:
        """Where each table begins, and where the last one ends."""
        cells = [self.sizes[i] * (self.sizes[j] if i != j else 1) for i, j in self.pairs]
        return np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        """Number of the table of a pair i ≤ j."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    @property
    def cells(self) -> int:
        """Cells of all tables."""
        return int(self.starts[-1])

    @cached_property
    def arrays(self) -> tuple[Integers, Integers, Integers, Integers]:
        """First and second rows, widths and starts, as the kernel takes them.

        The second row of a single attribute is a row of zeros after the last attribute.
        """
        zeros = len(self.sizes)
        firsts, seconds = np.array(self.pairs, dtype=np.int64).T.copy()
        seconds[:zeros] = zeros
        widths = np.array([*self.sizes, 1], dtype=np.int64)[seconds]
        return firsts, seconds, widths, self.starts

    def table(self, cells: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
        """The table of two different attributes, one for its rows and one for its columns."""
        low, high = sorted((rows, columns))
        place = self.place[low, high]
        flat = cells[..., self.starts[place] : self.starts[place + 1]]
        table = flat.reshape(*cells.shape[:-1], self.sizes[low], self.sizes[high])
        return table if rows == low else np.swapaxes(table, -1, -2)

    def single(self, cells: NDArray[Any], attribute: int) -> NDArray[Any]:
        """The counts of one attribute."""
        return cells[..., self.starts[attribute] : self.starts[attribute + 1]]


@dataclass(frozen=True)
class Counter:
    """The work of one process: batches of codes in; records, weights and refused values by attribute out."""

    layout: Layout
    sources: int
    by: bool
    weighted: bool

    def __call__(self, batches: Iterator[Batch]) -> list[NDArray[Any]]:
        """Count all batches."""
        from deptriad.data import _count_kernels
        from deptriad.data.encoding import ABSENT, UNSEEN

        number = len(self.layout.sizes)
        records, weights, refused = self.nothing()
        for batch in batches:
            codes = _stacked(batch[:number])
            source = np.ascontiguousarray(batch[number], np.int64) if self.by else _NO_CODES
            weight = np.ascontiguousarray(batch[-1], np.float64) if self.weighted else _NO_WEIGHTS
            if codes.min(initial=0) < 0:
                refused[:2] += [(codes[:number] == bad).sum(axis=1) for bad in (UNSEEN, ABSENT)]
            refused[2, 0] += (~((weight >= 0.0) & (weight < np.inf))).sum()
            refused[3, 0] += (source < 0).sum()
            if refused.any():
                continue  # nothing is counted that will not be used
            if not (self.by or self.weighted):
                _count_kernels.count(codes, self.layout.arrays, records[0])
                continue
            source = source if self.by else np.zeros(codes.shape[1], dtype=np.int64)
            _count_kernels.count_weighted(
                codes, self.layout.arrays, source, weight, records, weights
            )
        return [records.ravel(), weights.ravel(), refused.ravel()]

    def nothing(self) -> tuple[Integers, Floats, Integers]:
        """No records and no weights; and no refused values: undeclared, missing, bad weights, unknown sources."""
        cells = self.sources, self.layout.cells
        refused = np.zeros((4, len(self.layout.sizes)), dtype=np.int64)
        return np.zeros(cells, np.int64), np.zeros(cells if self.weighted else (0, 0)), refused


_NO_CODES: Integers = np.zeros(0, dtype=np.int64)
_NO_WEIGHTS: Floats = np.zeros(0)


def _stacked(columns: Batch) -> NDArray[Any]:
    """Codes attribute by attribute, and a row of zeros."""
    codes = np.zeros((len(columns) + 1, len(columns[0])), dtype=np.result_type(*columns))
    for row, column in zip(codes, columns, strict=False):
        row[:] = column
    return codes


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How many records have each value, and each pair of values of two attributes; by source where there are several.

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

    def __post_init__(self) -> None:
        if not self.sources or len(set(self.sources)) < len(self.sources):
            raise ValueError(
                f"sources are {list(self.sources)}, expected distinct names, at least one"
            )
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
            A column such as the state: each of its values becomes a source with counts of its own.
        query
            SQL over a file, whose rows are called ``data``.
        progress
            Called with the number of records counted so far, and None.
        """
        from deptriad.data import column_types, readers

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
        column_types.require(
            frame, [*schema.names, *([by] if by else []), *([weight] if weight else [])]
        )
        sources = _sources(frame, by)
        layout = Layout(schema.sizes)
        _refuse_size(schema, layout.cells * (sources.size if sources else 1))
        counts = cls._counted(frame, schema, weight, sources, layout, progress)
        if not counts.records:
            raise ValueError(f"{readers.name_of(data)} has no records, expected at least one")
        return counts

    @classmethod
    def _counted(
        cls,
        frame: Frame,
        schema: Schema,
        weight: str | None,
        sources: Attribute | None,
        layout: Layout,
        progress: Progress | None,
    ) -> Self:
        from deptriad.data import encoding, engines

        number = sources.size if sources else 1
        encode = encoding.Encoder(schema, sources, weight)
        count = Counter(layout, number, sources is not None, weight is not None)
        parts = (
            engines.results(frame, encode, count, progress)
            if engines.streams(frame)
            else iter([_grouped(encode(frame), count, progress)])
        )
        cells, weights, refused = count.nothing()
        for records, sums, bad in parts:
            if not np.isfinite(sums).all():
                raise ValueError(
                    f"the weights in {weight!r} are too large to add up: scale them down"
                )
            cells += records.reshape(cells.shape)
            weights += sums.reshape(weights.shape)
            refused += bad.reshape(refused.shape)
        engines.refuse_codes(frame, schema, refused[:2])
        if refused[2, 0]:
            raise ValueError(
                f"the weight column {weight!r} has {refused[2, 0]:,} values that are missing, negative or infinite, "
                "expected numbers ≥ 0"
            )
        if refused[3, 0]:
            raise ValueError(
                f"{refused[3, 0]:,} values of {sources.name if sources else ''!r} were not there when the sources were "
                "looked up: the data changes while it is read, as a query with random() does; make a copy first"
            )
        names = sources.values if sources else (ALL,)
        order = sorted(
            range(number), key=names.__getitem__
        )  # the order in which sums have them, too
        return cls(
            schema,
            tuple(names[place] for place in order),
            cells[order],
            weights[order] if weight else None,
            sources.name if sources else None,
        )

    def _check_margins(self) -> None:
        """Every table must have the counts of its two attributes as margins."""
        for i, j in self.layout.pairs:
            if i != j:
                table = self.layout.table(self.cells, i, j)
                for place, axis in ((i, -1), (j, -2)):
                    if not np.array_equal(
                        table.sum(axis=axis), self.layout.single(self.cells, place)
                    ):
                        names = self.schema.names
                        raise ValueError(
                            f"its tables of {names[i]!r} and {names[j]!r} do not add up"
                        )

    @property
    def weighted(self) -> bool:
        """Whether there are weights beside the numbers of records."""
        return self.weights is not None

    @property
    def records(self) -> int:
        """How many records were counted."""
        return int(self.layout.single(self.cells, 0).sum())

    def table(self, source: str, target: str, weighted: bool = True) -> NDArray[Any]:
        """Counts of two attributes over all sources: rows for target values, columns for source values."""
        return np.asarray(self.tables(source, target, weighted).sum(axis=0))

    def tables(self, source: str, target: str, weighted: bool = True) -> NDArray[Any]:
        """The same, source by source."""
        rows, columns = self.schema.index(target), self.schema.index(source)
        if rows == columns:
            raise ValueError(f"source and target are both {source!r}, expected two attributes")
        return self.layout.table(self._numbers(weighted), rows, columns)

    def single(self, name: str, weighted: bool = True) -> NDArray[Any]:
        """Counts of one attribute over all sources."""
        return np.asarray(self.singles(name, weighted).sum(axis=0))

    def singles(self, name: str, weighted: bool = True) -> NDArray[Any]:
        """The same, source by source."""
        return self.layout.single(self._numbers(weighted), self.schema.index(name))

    def _numbers(self, weighted: bool) -> NDArray[Any]:
        return self.weights if weighted and self.weights is not None else self.cells

    def __getitem__(self, source: str) -> Counts:
        place = place_of(source, self.sources, "source")
        weights = None if self.weights is None else self.weights[place : place + 1]
        return Counts(self.schema, (source,), self.cells[place : place + 1], weights, self.by)

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.schema != other.schema:
            raise ValueError(
                f"the counts have different schemas ({_difference(self.schema, other.schema)}), so they do not add up"
            )
        if self.weighted != other.weighted:
            raise ValueError(
                "one of the counts has weights and the other has none: they do not add up"
            )
        if self.by != other.by:
            raise ValueError(
                f"the counts are by {self.by!r} and by {other.by!r}, expected the same column: they do not add up"
            )
        sources = tuple(sorted({*self.sources, *other.sources}))
        cells = np.zeros((len(sources), self.layout.cells), dtype=np.int64)
        weights = np.zeros(cells.shape) if self.weighted else None
        for counts in (self, other):
            places = [sources.index(source) for source in counts.sources]
            cells[places] += counts.cells
            if weights is not None and counts.weights is not None:
                weights[places] += counts.weights
        return Counts(self.schema, sources, cells, weights, self.by)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            (self.schema, self.sources, self.by) == (other.schema, other.sources, other.by)
            and np.array_equal(self.cells, other.cells)
            and self.weighted == other.weighted
            and (self.weights is None or np.array_equal(self.weights, other.weights))  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Counts({self.summary})"

    @property
    def summary(self) -> str:
        """How much was counted, in a few words."""
        by = "" if self.sources == (ALL,) else f", {len(self.sources)} sources"
        weights = ", weighted" if self.weighted else ""
        return f"{self.records:,} records, {len(self.schema)} attributes{by}{weights}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file: the schema and the sources as JSON, the counts as arrays; no pickle."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "sources": list(self.sources),
            "by": self.by,
            "weighted": self.weighted,
            "schema": self.schema.to_json(),
        }
        arrays = {"cells": self.cells} | ({} if self.weights is None else {"weights": self.weights})
        with files.whole(path) as partial, partial.open("wb") as file:
            np.savez_compressed(
                file, about=np.array(json.dumps(about)), allow_pickle=False, **arrays
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an .npz file, everything checked; a file with pickled objects is refused."""
        try:
            with (
                open(path, "rb") as file,
                np.load(io.BytesIO(file.read()), allow_pickle=False) as held,
            ):
                about = files.parse_json(str(held["about"]), FORMAT, VERSION, str(path))
                cells = held["cells"]
                weights = held["weights"] if about["weighted"] else None
            schema = Schema.from_json(about["schema"], f"the schema in {path}")
            sources = tuple(str(source) for source in about["sources"])
            by = about["by"]
            if not (by is None or isinstance(by, str)):
                raise ValueError(f'its "by" is {by!r}, expected a name')
            counts = cls(schema, sources, cells, weights, by)
            counts._check_margins()
            return counts
        except (
            zipfile.BadZipFile,
            zlib.error,
            KeyError,
            EOFError,
            TypeError,
            AttributeError,
        ) as error:
            raise ValueError(f"{path} is not a whole file of counts: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not a file of counts: {error}") from None


def _grouped(codes: Frame, count: Counter, progress: Progress | None) -> list[NDArray[Any]]:
    """What ``Counter`` returns, by one group-by for each table: for engines that cannot stream."""
    from deptriad.data import engines
    from deptriad.data.encoding import ABSENT, UNSEEN

    names = codes.collect_schema().names()
    layout, number = count.layout, len(count.layout.sizes)
    records, weights, refused = count.nothing()
    for done, ((i, j), start) in enumerate(zip(layout.pairs, layout.starts[:-1], strict=True), 1):
        keys = dict.fromkeys(
            [names[i], names[j], *(names[number : number + 1] if count.by else [])]
        )
        group = engines.grouped(codes, list(keys), names[-1] if count.weighted else None)
        first, second = group[names[i]], group[names[j]] if i != j else 0
        if i == j:
            refused[:2, i] = [group["records"][first == bad].sum() for bad in (UNSEEN, ABSENT)]
            refused[2, 0] += int(group["refused"].sum()) if count.weighted else 0
        source = group[names[number]] if count.by else np.zeros(len(first), dtype=np.int64)
        refused[3, 0] += group["records"][source < 0].sum()
        if min(np.min(code, initial=0) for code in (first, second, source)) < 0:
            continue
        cell = start + first * (layout.sizes[j] if i != j else 1) + second
        np.add.at(records, (source, cell), group["records"])
        if count.weighted:
            np.add.at(weights, (source, cell), group["weights"])
        if progress:
            progress(done, len(layout.pairs))
    return [records.ravel(), weights.ravel(), refused.ravel()]


def _sources(frame: Frame, by: str | None) -> Attribute | None:
    """The values of the column that tells sources apart, as an attribute."""
    from deptriad.data import value_counts

    if by is None:
        return None
    tally = next(value_counts.tallies(frame, [by]))
    if tally.trouble or not tally.values:
        raise ValueError(
            f"column {by!r} cannot tell sources apart: {tally.trouble or 'all its values are missing'}"
        )
    values = sorted(tally.values)
    return Attribute(by, values, missing="category" if tally.missing else "error")


def _refuse_size(schema: Schema, cells: int) -> None:
    if cells > MOST_CELLS:
        largest = max(schema, key=lambda attribute: attribute.size)
        raise InvalidValue(
            f"the tables would have {cells:,} cells, expected at most {MOST_CELLS:,}: {largest.name!r} has "
            f"{largest.size:,} values; declare fewer and set ",
            *(Parameter("unseen", "'other'"), ", or bin them"),
        )


def _difference(one: Schema, two: Schema) -> str:
    """The first thing in which two schemas differ."""
    if one.names != two.names:
        odd: Sequence[str] = sorted({*one.names} ^ {*two.names})
        return f"{odd[0]!r} is in one only" if odd else "their attributes are in another order"
    name = next(mine.name for mine, other in zip(one, two, strict=True) if mine != other)
    return f"in {name!r}"
