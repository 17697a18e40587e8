"""Prior: what is known beforehand about how attributes depend on each other, for every ordered pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.thin_targets import Thin, ThinValue, action, thin_targets, warn_of
from deptriad.data.counts import Counts
from deptriad.data.schema import Schema, taken_as_public
from deptriad.data.thin_values import merged
from deptriad.tables.joint import (
    Joint,
    mean_of_sources,
    refuse_confidence,
    refuse_one_source,
    sums_of_rows,
)
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Absolute, Confidence, Relative, Spread, Uncertainty
from deptriad.utils.arrays import Booleans, Floats, Integers, as_whole
from deptriad.utils.errors import InvalidValue, Parameter, refuse_other
from deptriad.utils.progress import Progress

if TYPE_CHECKING:
    from deptriad.data.joint_counting import Records
    from deptriad.data.joint_counts import JointCounts


@dataclass(frozen=True, eq=False, repr=False)
class Prior:
    """p(source | target) of every ordered pair of attributes, from one source of data or from several.

    Make one with ``from_data`` or ``from_counts``. It must come from public data, or from data whose use for this is
    granted: its tables tell about the people in it. ``chosen`` says whether the values were chosen by looking at the
    same records, by inferring the schema or merging thin values; then Confidence is no guarantee. It is None where the
    schema does not say where it comes from.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 75 + ["yes"] * 25})
    >>> prior = dt.Prior.from_data(frame, schema=dt.Schema.infer(frame))
    >>> prior.table("smokes", "sex")
    Conditional(p(smokes | sex), 2 × 2)
    """

    counts: Counts
    min_records: int = 20
    thin: tuple[ThinValue, ...] = ()
    dropped: frozenset[tuple[str, str]] = frozenset()
    chosen: bool | None = None
    kind: str = field(default="pandas", compare=False)
    records: Records | JointCounts | None = field(default=None, compare=False)

    @classmethod
    def from_data(
        cls,
        data: Any,
        schema: Schema | None = None,
        weight: str | None = None,
        by: str | None = None,
        query: str | None = None,
        min_records: int = 20,
        thin: Thin = "keep",
        progress: Progress | None = None,
    ) -> Self:
        """Count the data and make a prior of the counts.

        Parameters
        ----------
        data, weight, by, query, progress
            As for ``Counts.from_data``.
        schema
            The attributes. Without one it is inferred from the data, which is right for public data only; a warning
            says so.
        min_records, thin
            As for ``from_counts``.
        """
        from deptriad.data.engines import engine_of
        from deptriad.data.joint_counting import Records
        from deptriad.data.readers import opened_once

        chosen = True if schema is None else None
        ready = opened_once(data, query, schema)
        if schema is None:
            apart = [name for name in (weight, by) if name is not None]
            schema = taken_as_public(ready, without=apart)
        counts = Counts.from_data(ready, schema, weight, by, progress=progress)
        if chosen is None and schema.origin:
            chosen = schema.origin.has(ready.name, counts.records)
        prior = cls._made(counts, min_records, thin, chosen, engine_of(data).results)
        return replace(prior, records=Records(ready.frame, prior.counts, weight))

    @classmethod
    def from_counts(cls, counts: Counts, min_records: int = 20, thin: Thin = "keep") -> Self:
        """Make a prior of counts.

        Parameters
        ----------
        counts
            Counts of one group or of several.
        min_records
            With fewer records a target value is thin: its row of every table is hardly known. Where there are several
            groups, at least two of them must have so many.
        thin
            "keep" keeps thin values with a warning; "merge" counts them as (other), or with a neighbouring bin, in the
            schema too; "drop" leaves them out as values to protect. ``prior.thin`` lists them in any case. An (other)
            or (missing) that nobody has is always left out.
        """
        origin = counts.schema.origin
        chosen = origin.has("", counts.records) if origin else None
        prior = cls._made(counts, min_records, thin, chosen)
        return replace(prior, records=prior.counts.joint)

    @classmethod
    def from_reports(
        cls, reports: Any, strategy: Any, min_records: int = 20, **allowed: bool
    ) -> Prior:
        """What a first collection teaches about dependence: a prior from perturbed reports.

        Its Confidence boxes allow for the noise of the mechanisms as well as for sampling.

        Parameters
        ----------
        reports
            A frame or a file of reports.
        strategy
            The plan or strategy that they were collected with: its ``prior`` makes the prior.
        min_records
            Estimated records below which a target value is called thin.
        **allowed
            ``unmarked``, ``seeded`` and ``implausible``, as for ``deptriad.collection.marginal.estimate``.
        """
        if not callable(getattr(strategy, "prior", None)):
            raise ValueError(
                f"strategy is a {type(strategy).__name__}, expected what the reports were collected with: a plan, "
                "Split, Sample(…, k=2) or Separate"
            )
        found: Prior = strategy.prior(reports, min_records, **allowed)
        return found

    @classmethod
    def _made(
        cls,
        counts: Counts,
        min_records: int,
        thin: Thin,
        chosen: bool | None = None,
        kind: str = "pandas",
    ) -> Self:
        as_whole(min_records, Parameter("min_records"), 0)
        refuse_other(thin, get_args(Thin), "thin")
        report: list[ThinValue] = []
        if thin == "merge":
            counts, moved = merged(counts, min_records)
            report = [ThinValue(*each) for each in moved]
            chosen = chosen or bool(moved)
        left = [
            ThinValue(name, value, records, action(value, records, thin))
            for name, value, records in thin_targets(counts, min_records)
        ]
        dropped = {
            (each.attribute, each.value) for each in left if each.action in ("dropped", "left out")
        }
        some = [each for each in left if each.records and each.action == "kept"]
        warn_of(some, min_records, len(counts.sources) > 1)
        return cls(counts, min_records, tuple(report + left), frozenset(dropped), chosen, kind)

    @property
    def schema(self) -> Schema:
        """The attributes; where thin values were merged, after that."""
        return self.counts.schema

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return self.schema.names

    @property
    def sources(self) -> tuple[str, ...]:
        """The groups that the data was counted by; one unless it was counted by a column."""
        return self.counts.sources

    @property
    def cells(self) -> int:
        """Cells of the tables of all ordered pairs together."""
        return sum(source.size * target.size for source, target in permutations(self.schema, 2))

    def __repr__(self) -> str:
        number = len(self.thin)
        thin = f", {number} thin value{'s' * (number > 1)}" if number else ""
        return f"Prior({self.counts.summary}{thin})"

    def table(self, source: str, target: str) -> Conditional:
        """p(source | target): relative frequencies, or their mean over the sources.

        Target values that were dropped, and those without records, have no row.
        """
        used = self._used[self.schema[target].name]
        rows = np.flatnonzero(used.any(axis=0))
        if not rows.size:
            raise InvalidValue(
                f"no value of {target!r} is left to protect: lower ", Parameter("min_records")
            )
        mean = mean_of_sources(self._frequencies(source, target)[:, rows], used[:, rows])
        return Conditional(mean, **self._labels(source, target, rows))

    def box(self, source: str, target: str, uncertainty: Uncertainty) -> Box:
        """All tables that ``uncertainty`` leaves possible.

        The level of Confidence holds for all boxes of the prior at once, unless it says otherwise by its ``cells``. It
        is a guarantee only if the values were not ``chosen`` by looking at the same records.
        """
        if isinstance(uncertainty, Confidence):
            return self._confidence_box(source, target, uncertainty)
        if isinstance(uncertainty, Spread):
            return self._spread_box(source, target, uncertainty)
        if isinstance(uncertainty, Absolute) and np.ndim(uncertainty.delta):
            raise ValueError(
                "delta is an array, expected one number: tables of different pairs have different shapes"
            )
        if isinstance(uncertainty, Relative | Absolute):
            return uncertainty.box(self.table(source, target))
        raise ValueError(
            f"uncertainty is {uncertainty!r}, expected Relative, Absolute, Spread or Confidence, such as Relative(0.1)"
        )

    def knows(self, names: Sequence[str]) -> bool:
        """Whether there are records to count a joint table of, or counts that have it."""
        return self.records is not None and self.records.knows(names)

    def joint(self, names: Sequence[str]) -> Joint:
        """Counts of all combinations of values of some attributes.

        Parameters
        ----------
        names
            Different attributes, which become the axes of the table.

        Raises
        ------
        ValueError
            The prior has no records to count; names are unknown or repeated; or there would be too many cells.
        """
        return self.joints([names])[0]

    def joints(self, tables: Sequence[Sequence[str]]) -> list[Joint]:
        """The same for many tables in one pass over the records.

        The records of a local frame or a file are coded once and kept in memory, where that takes up to 128 MiB; then
        no further table needs another reading.
        """
        if self.records is None:
            raise ValueError(
                "this prior has no records to count a joint table of, only counts of pairs or reports: make it with "
                "Prior.from_data"
            )
        for names in tables:
            if isinstance(names, str):
                raise ValueError(f"names are {names!r}, expected a list of names, as [{names!r}]")
        found = self.records.joints(tables)
        return [self._joint(names, counts) for names, counts in zip(tables, found, strict=True)]

    def _joint(self, names: Sequence[str], counts: NDArray[Any]) -> Joint:
        """Of counts with a first axis for the groups."""
        return Joint(
            tuple(names),
            tuple(self.schema[name].values for name in names),
            counts.sum(axis=0),
            counts if len(self.sources) > 1 else None,
            {name: self._kept[name] for name in names},
            {name: self._used[name] for name in names},
            self.counts.weighted,
        )

    def _confidence_box(self, source: str, target: str, uncertainty: Confidence) -> Box:
        refuse_confidence(self.counts.weighted, len(self.sources))
        if uncertainty.cells is None:
            uncertainty = replace(uncertainty, cells=self.cells)
        rows = self._protected(target)
        number = self.counts.table(source, target)[rows]
        return uncertainty.table_box(number, **self._labels(source, target, rows))

    def _spread_box(self, source: str, target: str, uncertainty: Spread) -> Box:
        refuse_one_source(len(self.sources))
        used = self._used[self.schema[target].name]
        rows = np.flatnonzero(used.any(axis=0))
        labels = self._labels(source, target, rows)
        frequencies = self._frequencies(source, target)[:, rows]
        if used[:, rows].all():
            return uncertainty.box([Conditional(table, **labels) for table in frequencies])
        lower, upper = np.zeros(frequencies.shape[1:]), np.ones(frequencies.shape[1:])
        for place, row in enumerate(rows):
            some = frequencies[used[:, row], place]
            if len(some) > 1:  # what only one group knows is taken as wholly uncertain
                box = uncertainty.box([table[None] for table in some])
                lower[place], upper[place] = box.lower[0], box.upper[0]
        return Box(lower, upper, **labels)

    def _labels(self, source: str, target: str, rows: Integers) -> dict[str, Any]:
        values = self.schema[target].values
        return {
            "target": target,
            "source": source,
            "target_values": tuple(values[row] for row in rows),
            "source_values": self.schema[source].values,
        }

    def _frequencies(self, source: str, target: str) -> Floats:
        """Relative frequencies by group; rows without records are 0."""
        number = self.counts.tables(source, target).astype(np.float64)
        sums = sums_of_rows(number)[..., None]
        return np.asarray(np.divide(number, sums, out=np.zeros(number.shape), where=sums > 0.0))

    def _protected(self, target: str) -> Integers:
        """Target values that were not dropped."""
        return np.flatnonzero(self._kept[self.schema[target].name])

    @cached_property
    def _kept(self) -> dict[str, Booleans]:
        """By attribute: which of its values were not dropped."""
        return {
            each.name: np.array([(each.name, value) not in self.dropped for value in each.values])
            for each in self.schema
        }

    @cached_property
    def _used(self) -> dict[str, Booleans]:
        """By attribute: which groups a value's row is taken from.

        Those with enough records if there are two of them, or one where there is one group; else all that have any.
        """
        used = {}
        for name in self.names:
            records = self.counts.singles(name, weighted=False)
            some = (records > 0) & (self.counts.singles(name) > 0)
            enough = some & (records >= self.min_records)
            alone = enough.sum(axis=0) < min(2, len(records))
            used[name] = np.where(alone, some, enough)
            gone = np.setdiff1d(np.arange(records.shape[1]), self._protected(name))
            used[name][:, gone] = False
        return used

    @property
    def unknown(self) -> tuple[ThinValue, ...]:
        """Values to protect of which there is no record: a row under Confidence only, a wholly uncertain one."""
        return tuple(each for each in self.thin if each.action == "no records")
