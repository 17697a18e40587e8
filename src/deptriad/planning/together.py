"""Together: what reports about the answers of one time tell together, by joint tables and by certificates.

Several reports may be about one attribute, and one may be about several: each is an axis of its own, and where it
stands follows from the record (maths §10.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.planning.history import ANY, Report, Reports
from deptriad.tables.joint import Joint
from deptriad.tables.joint_box import JointBox
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Confidence, Uncertainty, shared
from deptriad.totals.joint import TooManyReports, joint_leakage
from deptriad.totals.totals import target_total
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import sum_up

MOST_CELLS = 10**7
"""Cells of one joint table, and of one laid out with an axis for each report."""

MOST_IN_ALL = 2 * 10**7
"""Cells of all joint tables that are counted for one answer: the smallest are."""

Names = tuple[str, ...]


class Known(NamedTuple):
    """p(rest | target), or its box: a row for each of some values, an axis for each other attribute."""

    values: Integers
    rest: Names
    lower: Floats
    upper: Floats | None


class Together:
    """What reports tell about a target by the tables of an analysis.

    Parameters
    ----------
    analysis
        Its tables of pairs, and the records of its prior.
    wanted
        The targets that will be asked about, each with the attributes that are reported. A level of Confidence is
        shared by all their tables and those of all pairs.
    """

    def __init__(self, analysis: Analysis, wanted: Iterable[tuple[str, Collection[str]]]) -> None:
        self.analysis, self.schema = analysis, analysis.schema
        pairs = {(self._key(names, target), target) for target, names in wanted}
        chosen = self._affordable({key for key, _ in pairs})
        self._joints = self._counted(chosen)
        joint = sum(self._cells(key) for key, _ in pairs if key in self._joints)
        self.uncertainty = self._shared(joint)
        self._known: dict[tuple[Names, str], Known] = {}

    def _key(self, names: Collection[str], target: str) -> Names:
        return tuple(name for name in self.schema.names if name in names or name == target)

    def _cells(self, names: Iterable[str]) -> int:
        return math.prod(self.schema[name].size for name in names)

    def _affordable(self, keys: Iterable[Names]) -> list[Names]:
        """The smallest tables, where there are records to count."""
        prior = self.analysis.prior
        if prior is None or prior.records is None:
            return []
        room, chosen = MOST_IN_ALL // len(prior.sources), []
        for key in sorted(keys, key=lambda each: (self._cells(each), each)):
            if not prior.knows(key):
                continue
            room -= self._cells(key)
            if len(key) > 1 and self._cells(key) <= MOST_CELLS and room >= 0:
                chosen.append(key)
        return chosen

    def _counted(self, keys: Sequence[Names]) -> dict[Names, Joint]:
        prior = self.analysis.prior
        return (
            dict(zip(keys, prior.joints(keys), strict=True)) if keys and prior is not None else {}
        )

    def _shared(self, joint: int) -> Uncertainty | None:
        """The level of Confidence holds for all tables that are used."""
        known, prior = self.analysis.uncertainty, self.analysis.prior
        found: Uncertainty | None = shared(known, prior.cells, joint) if prior else known
        return found

    # --- bounds ---------------------------------------------------------------------------------------------------

    def joint(self, target: str, reports: Reports) -> float | None:
        """The total of a target, exactly for its joint table with all that is reported; None where that is too large.

        Independent reports of the target's own value add up exactly.
        """
        own, others = _own(target, reports)
        others = _merged(others)
        if not others:
            return sum_up(own)
        laid_out = self._laid_out(target, others)
        if laid_out is None:
            return None
        budgets = [each.epsilon for each in others]
        try:
            told = joint_leakage(laid_out, budgets, [each.mechanism for each in others])
        except TooManyReports:
            return None
        return sum_up([*own, told])

    def certified(
        self, target: str, reports: Reports, source_of: Callable[[Report], Hashable]
    ) -> float:
        """A bound for every joint distribution with the same tables; reports of one source are one of all their ε.

        A report of several attributes as one value is a source where their joint table is known, and otherwise counted
        in full.
        """
        own, others = _own(target, reports)
        tables: dict[str, Conditional | Box] = {}
        budgets: dict[str, list[float]] = {}
        ways: dict[str, str] = {}
        numbers: dict[Hashable, str] = {}  # in place of names, of which two may read alike
        for report in others:
            source = numbers.setdefault(source_of(report), str(len(numbers)))
            table = tables[source] if source in tables else self._table(target, report)
            if table is None:
                own.append(report.epsilon)
                continue
            tables[source] = table
            ways[source] = report.mechanism if source not in budgets else ANY
            budgets.setdefault(source, []).append(report.epsilon)
        summed = {source: sum_up(each) for source, each in budgets.items()}
        return target_total(tables, summed, sum_up(own), target, mechanisms=ways or None).certified

    # --- tables ---------------------------------------------------------------------------------------------------

    def _table(self, target: str, report: Report) -> Conditional | Box | None:
        """p(what is reported | target)."""
        if len(report.names) == 1:
            return self.analysis.table(report.names[0], target, allowed=self.uncertainty)
        laid_out = self._laid_out(target, (report,))
        if laid_out is None:
            return None
        values = self._given(target, report.names).values
        labels = tuple(self.schema[target].values[value] for value in values)
        about: Any = {"target": target, "source": " & ".join(report.names), "target_values": labels}
        if isinstance(laid_out, JointBox):
            return Box(laid_out.flat.lower, laid_out.flat.upper, **about)
        return Conditional(laid_out, **about)

    def _given(self, target: str, names: Collection[str]) -> Known:
        """The joint table of some attributes, seen from the target."""
        key = self._key(names, target)
        if (key, target) not in self._known:
            self._known[key, target] = self._seen_from(self._joints[key], target)
        return self._known[key, target]

    def _seen_from(self, joint: Joint, target: str) -> Known:
        labels = self.schema[target].values
        rest = tuple(name for name in joint.names if name != target)
        rows = np.array([labels.index(value) for value in joint.target_values(target)])
        if self.uncertainty is None:
            return Known(rows, rest, joint.given(target), None)
        if isinstance(self.uncertainty, Confidence):  # values that nobody has are rows, too
            every = np.ones(len(labels), dtype=bool)
            rows = np.flatnonzero(joint.protected.get(target, every))
        box = joint.box(self.uncertainty, target)
        return Known(rows, rest, box.lower, box.upper)

    def _laid_out(self, target: str, reports: Reports) -> Floats | JointBox | None:
        """p(true values of all reports | target), with an axis for each report."""
        names = {name for report in reports for name in report.names}
        if self._key(names, target) not in self._joints:
            return None
        sizes = [self._cells(report.names) for report in reports]
        known = self._given(target, names)
        if len(known.values) * math.prod(sizes) > MOST_CELLS:
            return None
        places = self._places(target, known, reports)
        lower = _spread(known.lower, places, sizes)
        if known.upper is None:
            return lower
        return JointBox(lower, _spread(known.upper, places, sizes))

    def _places(self, target: str, known: Known, reports: Reports) -> Integers:
        """Where each cell of a table goes in one with an axis for each report, its row aside."""
        axes = [known.values, *(np.arange(self.schema[name].size) for name in known.rest)]
        code = dict(zip((target, *known.rest), np.ix_(*axes), strict=True))
        place = np.zeros(known.lower.shape, dtype=np.int64)
        for report in reports:
            for name in report.names:
                place = place * self.schema[name].size + code[name]
        return place.reshape(len(place), -1)


def _spread(cells: Floats, places: Integers, sizes: Sequence[int]) -> Floats:
    """Cells at their places; no two of a row are at one, since each attribute is part of a report."""
    rows = len(cells)
    found = np.zeros((rows, math.prod(sizes)))
    found[np.arange(rows)[:, None], places] = cells.reshape(rows, -1)
    return found.reshape(rows, *sizes)


def _own(target: str, reports: Reports) -> tuple[list[float], Reports]:
    """ε of reports of the target by itself, and of nothing known, which are counted in full; and the other reports."""
    full = [report.epsilon for report in reports if report.names in ((), (target,))]
    return full, tuple(report for report in reports if report.names not in ((), (target,)))


def _merged(reports: Reports) -> Reports:
    """Reports by any mechanism of the same value are one of all their ε."""
    some: dict[Names, list[Report]] = {}
    for report in reports:
        if report.mechanism == ANY:
            some.setdefault(report.names, []).append(report)
    named = tuple(report for report in reports if report.mechanism != ANY)
    merged = (
        each[0]._replace(epsilon=sum_up(report.epsilon for report in each))
        for each in some.values()
    )
    return (*named, *merged)
