"""What a strategy allows: the most that the reports an attacker sees can tell about the target, in nats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.analysis import Analysis
from deptriad.collection.question import Question
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.strategy import Strategy
from deptriad.mechanisms import GRR
from deptriad.tables.table import Conditional
from deptriad.totals.joint import joint_leakage
from deptriad.totals.shared_target import Table
from deptriad.totals.totals import target_total
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import printable

MOST_CELLS = 1 << 22
"""Cells of a joint table that is worth counting."""


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

    def joint(self, questions: Sequence[Question], target: str) -> Floats | None:
        """How many records have which value of the target and which answers, an axis each; None for a huge table."""
        return _joint(self.strategy, self.codes, np.ones(len(self.codes)), questions, target)


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

    def joint(self, questions: Sequence[Question], target: str) -> Floats | None:
        """The same of the prior's own records; None where it has none, or they are not taken as they are."""
        prior, schema = self.analysis.prior, self.strategy.schema
        if prior is None or prior.records is None or len(prior.sources) > 1:
            return None
        names = list(dict.fromkeys([target, *(name for each in questions for name in each.names)]))
        sizes = (schema[name].size for name in names)
        if self.analysis.uncertainty is not None or math.prod(sizes) > MOST_CELLS:
            return None
        if not prior.knows(names):
            return None
        counts = np.asarray(prior.joint(names).counts, dtype=np.float64)
        cells = np.argwhere(counts)
        codes = np.zeros((len(cells), len(schema)), dtype=np.int64)
        codes[:, [schema.index(name) for name in names]] = cells
        return _joint(self.strategy, codes, counts[tuple(cells.T)], questions, target)


def _joint(
    strategy: Strategy,
    codes: NDArray[Any],
    weights: Floats,
    questions: Sequence[Question],
    target: str,
) -> Floats | None:
    """The weight of all records with a value of the target and some answers, an axis each; None for a huge table."""
    shape = strategy.schema[target].size, *(each.mechanism.size for each in questions)
    if math.prod(shape) > MOST_CELLS:
        return None
    own = codes[:, strategy.schema.index(target)].astype(np.int64)
    answers = [strategy.values(each, codes) for each in questions]
    cells = np.ravel_multi_index((own, *answers), shape)
    return np.bincount(cells, weights, minlength=math.prod(shape)).astype(float).reshape(shape)


Tables = OfRecords | OfAnalysis
"""Where the tables p(answer | target) come from."""


def allowed(strategy: Strategy, target: str, own: bool, tables: Tables) -> Allowed:
    """The bound about one target, from what the strategy claims to spend.

    Who is asked which view does not depend on the record, so that no ratio is above the largest of a view's. Where all
    that is seen of a view is by GRR and the records are known, that is exact (maths §10.3). Else it is the certified
    total (maths §5) where a view asks attributes each by itself; of one value for all of them, the leakage of that.
    With fakes only one report is true, and the likelihood of anything seen is a mean over which it is.

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
    certified = [_of_view(strategy, places, found, target) for places in shown if places]
    exact = [_exactly(strategy, places, tables, target) for places in shown if places]
    nats = [min(each) for each in zip(certified, exact, strict=True)]
    most = "" if len(views) == 1 else "the largest of all views: "
    what = "the certified total of what is seen"
    if nats and max(nats) < max(certified):
        what = "the total of what is seen, exact for GRR"
    elif all(len(view) < 2 for view in views):
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


def _exactly(strategy: Strategy, places: list[int], tables: Tables, target: str) -> float:
    """What reports of one view tell if all are by GRR, from joint counts; ∞ where that is not known."""
    questions = [strategy.questions[place] for place in places]
    if any(type(each.mechanism) is not GRR for each in questions):
        return math.inf
    counts = tables.joint(questions, target)
    budgets = [each.mechanism.epsilon for each in questions]
    return math.inf if counts is None else joint_leakage(counts, budgets)


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
