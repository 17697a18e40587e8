"""A pilot of few records: how often, and by how much, a plan from half of them breaks a promise on the other half.

Both halves are noisy, and each has fewer records than the pilot: what is found is rather too much than too little for
the plan from all of them. It is an estimate; Confidence boxes give a guarantee.
"""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.analyze import analyze
from deptriad.analysis.prior import Prior
from deptriad.data import engines
from deptriad.data.attribute import Attribute
from deptriad.data.results import Framed, columns_of
from deptriad.data.schema import Schema
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import aligned, printable, rounded_up

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

FACT = "halves"
"""Where a plan's facts have it."""

SEED = 20261118
"""The halves are the same every time, so that plans are."""


class Half(NamedTuple):
    """Of one plan from half of the records: the attribute whose total is furthest above its promise, or nearest."""

    attribute: str
    total: float
    promise: float

    @property
    def excess(self) -> float:
        """How far the total is above the promise; below 0 the promise was kept."""
        return self.total - self.promise


@dataclass(frozen=True, repr=False)
class Pilot(Framed):
    """What became of plans from one half of the records on the other; prints as a sentence and a table.

    Examples
    --------
    >>> found = Pilot((Half("age", 3.25, 3.0), Half("sex", 2.5, 3.0)))
    >>> found.broken, found.worst.attribute
    (0.5, 'age')
    >>> found
    of 2 plans made from one half of the records and checked on the other, 1 breaks a promise: by 0.250 (age)
    attribute  total  promise
    age        3.250        3  BROKEN
    sex        2.500        3
    """

    halves: tuple[Half, ...]

    @property
    def broken(self) -> float:
        """The share of the plans that break a promise."""
        return sum(half.excess > 0.0 for half in self.halves) / len(self.halves)

    @property
    def worst(self) -> Half:
        """The one that is furthest above its promise, or nearest to it."""
        return max(self.halves, key=lambda half: half.excess)

    @property
    def median(self) -> float:
        """How far the plan in the middle is above its promise; 0 if it keeps it."""
        return max(statistics.median(half.excess for half in self.halves), 0.0)

    @property
    def words(self) -> str:
        """All of it in a sentence."""
        over = sum(half.excess > 0.0 for half in self.halves)
        said = f"of {len(self.halves)} plans made from one half of the records and checked on the other, "
        if not over:
            return said + "none breaks a promise"
        most = f"by {rounded_up(self.worst.excess)} ({printable(self.worst.attribute)})"
        if over == 1:
            return f"{said}1 breaks a promise: {most}"
        return f"{said}{over} break a promise: the median by {rounded_up(self.median)}, the worst {most}"

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each plan."""
        return columns_of(self.halves, (*Half._fields, "excess"))

    def __repr__(self) -> str:
        rows: list[tuple[str, ...]] = [("attribute", "total", "promise", "")]
        for half in self.halves:
            said = "BROKEN" if half.excess > 0.0 else ""
            rows.append(
                (printable(half.attribute), rounded_up(half.total), f"{half.promise:g}", said)
            )
        return "\n".join([self.words, *aligned(rows)])

    @property
    def fact(self) -> list[list[Any]]:
        """As it stands in the file of a plan."""
        return [list(half) for half in self.halves]

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Pilot | None:
        """From the facts of a plan; None if it was not tried."""
        given = facts.get(FACT)
        if given is None:
            return None
        if not (isinstance(given, list) and given and all(map(_is_half, given))):
            raise ValueError(
                f"its facts have {given!r} as {FACT}, expected [attribute, total, promise] each"
            )
        return cls(tuple(Half(*each) for each in given))


def _is_half(given: Any) -> bool:
    return (
        isinstance(given, list)
        and len(given) == 3
        and isinstance(given[0], str)
        and all(isinstance(each, float) and math.isfinite(each) for each in given[1:])
    )


def tried(
    plan: Plan, analysis: Analysis | Schema, times: int, planned: Callable[[Analysis], Plan]
) -> Plan:
    """The same plan, with what became of plans that ``planned`` makes of one half of its records, on the other half."""
    promises = np.array([plan.total[name] for name in plan.names])
    uncertainty = analysis.uncertainty if isinstance(analysis, Analysis) else None
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few records, which is what is tried
        for one, other in _halves(analysis, times):
            totals = totals_on(planned(analyze(one, uncertainty)), other)
            worst = int(np.argmax(totals - promises))
            found.append(Half(plan.names[worst], float(totals[worst]), float(promises[worst])))
    return replace(plan, facts=plan.facts | {FACT: Pilot(tuple(found)).fact})


def totals_on(plan: Plan, prior: Prior) -> Floats:
    """The largest total of all views about each attribute, by tables that are taken as they are."""
    from deptriad.planning.guard import Guard
    from deptriad.planning.told import Tables

    analysis = analyze(prior)
    if plan.guarantee in ("paired", "pairwise"):
        totals = analysis.totals(plan.budgets)
        return np.array([getattr(totals[name], plan.guarantee) for name in plan.names])
    tables = Tables(prior) if plan.guarantee == "joint" else None
    promises = np.array([plan.total[name] for name in plan.names])
    guard = Guard(prior.schema, promises, analysis, tables)
    return np.asarray(np.max([guard.totals(view) for view in plan.views], axis=0))


def _halves(analysis: Analysis | Schema, times: int) -> Iterator[tuple[Prior, Prior]]:
    """Priors from two random halves of the records, again and again."""
    prior = analysis.prior if isinstance(analysis, Analysis) else None
    kept = prior.records.kept if prior is not None and prior.records is not None else None
    if prior is None or kept is None:
        raise InvalidValue(
            *(
                Parameter("halves"),
                f" is {times}, but there are no records of one group to halve ",
            ),
            "in memory: make the prior with Prior.from_data of a local frame or a file, and without by=",
        )
    codes, weights = kept
    if codes.shape[1] < 4:
        raise InvalidValue(
            Parameter("halves"), f" is {times}, but there are {codes.shape[1]} records"
        )
    chance = np.random.default_rng(SEED)
    for _ in range(times):
        some = np.zeros(codes.shape[1], dtype=bool)
        some[chance.permutation(some.size)[: some.size // 2]] = True
        yield _part(prior, codes, weights, some), _part(prior, codes, weights, ~some)


def _part(prior: Prior, codes: Any, weights: Floats, some: Booleans) -> Prior:
    """The prior of some records, whose values are called by their codes."""
    schema = Schema(
        [Attribute(each.name, list(range(each.size)), missing="error") for each in prior.schema]
    )
    columns = {name: column[some] for name, column in zip(prior.names, codes, strict=True)}
    weight = None
    if prior.counts.weighted:
        weight = "weight" + "_" * max(map(len, prior.names))
        columns[weight] = weights[some]
    frame = engines.made(columns, prior.kind)
    found = Prior.from_data(frame, schema, weight, min_records=prior.min_records)
    labels = {each.name: each.values for each in prior.schema}
    gone = {(name, str(labels[name].index(value))) for name, value in prior.dropped}
    return replace(found, dropped=frozenset(gone))
