"""What a strategy allows: the most that the reports an attacker sees can tell about the target, in nats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.analysis import Analysis
from deptriad.attacks.seen import values_of
from deptriad.collection.question import Question
from deptriad.collection.strategy import Strategy
from deptriad.tables.table import Conditional
from deptriad.totals.shared_target import Table
from deptriad.totals.totals import target_total
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
        cells = own * size + values_of(self.codes, self.strategy, question)
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

    Where everybody answers everything it is the certified total (maths §5). Where only one report is true, which one
    does not depend on the record: the likelihood of anything seen is a mean over that, so that no ratio is above the
    largest of a single question's leakages.

    Parameters
    ----------
    strategy, target
        What is collected, and what is attacked.
    own
        Whether the attacker sees reports of the target itself.
    tables
        Where the tables come from.
    """
    others = [question for question in strategy.questions if target not in question.names]
    mine = [question for question in strategy.questions if target in question.names]
    found = {question.name: tables.table(question, target) for question in others}
    covered = _covered(strategy, target, found)
    source = tables.why
    if isinstance(tables, OfAnalysis) and not covered.all():
        values = strategy.schema[target].values
        left = (printable(value) for value, known in zip(values, covered, strict=True) if not known)
        source += f", which says nothing about the values {', '.join(left)}"
    if strategy.true_reports != "all":
        nats = max(
            [0.0]
            + [_alone(question, found[question.name]) for question in others]
            + [question.mechanism.epsilon for question in mine if own]
        )
        return Allowed(nats, f"the largest leakage of one question, {source}", covered)
    known = {name: table for name, table in found.items() if table is not None}
    if len(known) < len(others):
        return Allowed(strategy.epsilon, "all that a record may spend", covered)
    spent = math.fsum(question.mechanism.epsilon for question in mine) if own else 0.0
    nats = _together({each.name: each.mechanism.epsilon for each in others}, known, spent, target)
    return Allowed(nats, f"the certified total of what is seen, {source}", covered)


def _alone(question: Question, table: Table | None) -> float:
    """The leakage of one question."""
    epsilon = question.mechanism.epsilon
    if table is None:
        return epsilon
    return _together({question.name: epsilon}, {question.name: table}, 0.0, table.target)


def _together(
    budgets: dict[str, float], tables: dict[str, Table], own: float, target: str
) -> float:
    """The certified total; ∞ where a mechanism may rule a value out."""
    if not math.isfinite(math.fsum(budgets.values()) + own):
        return math.inf
    return target_total(tables, budgets, own, target).certified


def _covered(strategy: Strategy, target: str, tables: dict[str, Any]) -> NDArray[np.bool_]:
    """Which values of the target have a row in all tables; without tables, all."""
    values = strategy.schema[target].values
    covered = np.ones(len(values), dtype=np.bool_)
    for table in tables.values():
        if table is not None and table.target_values is not None:
            covered &= np.isin(values, table.target_values)
    return covered
