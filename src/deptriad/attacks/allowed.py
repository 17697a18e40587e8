"""What a strategy allows: the most that the reports an attacker sees can tell about the target, in nats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.analysis import Analysis
from deptriad.collection.question import Question
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.strategy import Strategy
from deptriad.tables.table import Conditional
from deptriad.totals.shared_target import Table
from deptriad.totals.totals import target_total
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import printable


@dataclass(frozen=True)
class Allowed:
    """A bound on ln of every likelihood ratio about the target, why it is one, and for which of its values."""

    nats: float
    why: str
    covered: NDArray[np.bool_]


@dataclass(frozen=True)
class OfRecords:
    """The tables of all records that are attacked."""

    strategy: Strategy
    codes: NDArray[Any]
    why: str = "by these records' own tables"

    def table(self, question: Question, target: str) -> Table | None:
        """p(answer | target) among the records; values that no record has are left out."""
        aim = self.strategy.schema[target]
        size = question.mechanism.size
        own = self.codes[:, self.strategy.schema.index(target)].astype(np.int64)
        cells = own * size + self.strategy.values(question, self.codes)
        counts = np.bincount(cells, minlength=aim.size * size).reshape(aim.size, size)
        rows = np.flatnonzero(counts.sum(axis=1))
        return Conditional(
            counts[rows] / counts[rows].sum(axis=1, keepdims=True),
            target=target,
            source=question.name,
            target_values=[aim.values[row] for row in rows],
        )


@dataclass(frozen=True)
class OfAnalysis:
    """The tables, or boxes, of an analysis that is given."""

    strategy: Strategy
    analysis: Analysis
    why: str = "by the analysis that was given"

    def __post_init__(self) -> None:
        for each in self.strategy.released:
            if each.name not in self.analysis.schema:
                raise ValueError(
                    f"the analysis lacks {each.name!r}, which is collected: analyse all attributes"
                )
            if self.analysis.schema[each.name].values != each.values:
                raise ValueError(
                    f"{each.name!r} has other values in the analysis than in the strategy: use one schema for both"
                )

    def table(self, question: Question, target: str) -> Table | None:
        """The table of one attribute; those of several together are not known."""
        if len(question.names) > 1:
            return None
        return self.analysis.table(question.name, target)


Tables = OfRecords | OfAnalysis
"""Where the tables p(answer | target) come from."""


def allowed(strategy: Strategy, target: str, own: bool, tables: Tables) -> Allowed:
    """The bound about one target, from what the strategy claims to spend.

    Who is asked which view does not depend on the record, so that no ratio is above the largest of a view's. Where a
    view asks attributes each by itself, it is the certified total (maths §5); of one value for all of them, the leakage
    of that. With fakes only one report is true, and the likelihood of anything seen is a mean over which it is.

    Parameters
    ----------
    strategy, target
        What is collected, and what is attacked.
    own
        Whether the attacker sees reports of the target itself.
    tables
        Where the tables come from.
    """
    seen = [own or target not in question.names for question in strategy.questions]
    found = [
        tables.table(question, target) if shown and question.names != (target,) else None
        for question, shown in zip(strategy.questions, seen, strict=True)
    ]
    covered = _covered(strategy, target, found)
    source = tables.why
    if isinstance(tables, OfAnalysis) and not covered.all():
        values = strategy.schema[target].values
        left = (printable(value) for value, known in zip(values, covered, strict=True) if not known)
        source += f", which says nothing about the values {', '.join(left)}"
    views: Any = strategy.places
    if isinstance(strategy, SampleWithFakes):
        views = [(place,) for place in range(len(strategy.questions))]
    shown = [[place for place in view if seen[place]] for view in views]
    nats = [_of_view(strategy, places, found, target) for places in shown if places]
    most = "" if len(views) == 1 else "the largest of all views: "
    what = "the certified total of what is seen"
    if all(len(view) < 2 for view in views):
        most, what = "", "the largest leakage of one question"
    return Allowed(max([0.0, *nats]), f"{most}{what}, {source}", covered)


def _of_view(
    strategy: Strategy, places: list[int], found: list[Table | None], target: str
) -> float:
    """The most that some reports of one view tell: the certified total; of what no table is known, its budget."""
    budgets = {place: strategy.questions[place].mechanism.epsilon for place in places}
    known = {str(place): found[place] for place in places if found[place] is not None}
    rest = sum_up(budget for place, budget in budgets.items() if str(place) not in known)
    return _together({name: budgets[int(name)] for name in known}, known, rest, target)  # type: ignore[arg-type]


def _together(
    budgets: dict[str, float], tables: dict[str, Table], own: float, target: str
) -> float:
    """The certified total; ∞ where a mechanism may rule a value out."""
    if not math.isfinite(math.fsum(budgets.values()) + own):
        return math.inf
    if not tables:
        return own
    return target_total(tables, budgets, own, target).certified


def _covered(strategy: Strategy, target: str, tables: list[Table | None]) -> NDArray[np.bool_]:
    """Which values of the target have a row in all tables; without tables, all."""
    values = strategy.schema[target].values
    covered = np.ones(len(values), dtype=np.bool_)
    for table in tables:
        if table is not None and table.target_values is not None:
            covered &= np.isin(values, table.target_values)
    return covered
