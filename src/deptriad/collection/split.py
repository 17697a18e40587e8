"""Separate and Split: every question to everybody, each attribute by a mechanism of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.collection.learnt_prior import Pairs, product_sums
from deptriad.collection.question import Generator, Question, question_by
from deptriad.collection.score_sums import Answers
from deptriad.collection.strategy import Shares, Strategy, Told, shares_of
from deptriad.data.schema import Schema
from deptriad.mechanisms import Mechanism
from deptriad.utils.arrays import as_positive_budget


@dataclass(frozen=True)
class _ToAll(Strategy):
    """Everybody reports every attribute, each by its own mechanism: a column for each."""

    @property
    def epsilon(self) -> float:
        """The sum of all budgets."""
        return math.fsum(question.mechanism.epsilon for question in self.questions)

    def tell(self, codes: NDArray[Any], rng: Generator = None) -> list[Told]:
        """Everybody's reports to every question."""
        everybody, place = np.arange(len(codes)), self.schema.index
        return [
            Told(everybody, question.mechanism.perturb(codes[:, place(question.name)], rng))
            for question in self.questions
        ]

    def relevant(self, parts: Sequence[Answers], names: Sequence[str]) -> list[Answers]:
        """The counts of these attributes' reports."""
        places = [self.questions.index(self._question(name)) for name in names]
        return [parts[0].only(places)]  # type: ignore[union-attr]

    def shares(self, answers: Sequence[Answers], names: Sequence[str]) -> Shares:
        """Mode-wise inversion: means of products of scores (maths §7)."""
        one, two = ([power] * len(names) for power in (1, 2))
        return shares_of(answers[0].sums(one), answers[0].sums(two), answers)

    def pairs(self, reports: Any) -> Pairs:
        """What a prior is learnt from: products of two scores."""
        names = self.released.names
        (answers,) = self.read(reports, names)
        return {
            pair: product_sums(answers.only([names.index(name) for name in pair]), pair)  # type: ignore[union-attr]
            for pair in permutations(names, 2)
        }


@dataclass(frozen=True)
class Separate(_ToAll):
    """Every attribute by a mechanism of its own; those without one are not asked.

    Parameters
    ----------
    schema
        The attributes.
    by
        A mechanism for each attribute that is asked, of its size; ``Separate.of(plan)`` makes those of a plan.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> from deptriad.mechanisms import GRR, OUE
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"]), dt.Attribute("smokes", ["no", "yes"])])
    >>> both = Separate(schema, {"sex": GRR(3, 1.0), "smokes": OUE(3, 2.0)})
    >>> round(both.epsilon, 6)
    3.0
    """

    by: Mapping[str, Mechanism]

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", dict(self.by))
        for name, mechanism in self.by.items():
            size = self.schema[name].size
            if mechanism.size != size:
                raise ValueError(
                    f"the mechanism of {name!r} is for {mechanism.size} values, expected {size}: {self.schema[name]!r}"
                )
        if not self.by:
            raise ValueError("no attribute has a mechanism, expected at least one")

    @classmethod
    def of(cls, plan: Any) -> Separate:
        """The mechanisms of anything with a schema, budgets and mechanisms by name; a budget of 0 is not asked."""
        schema: Schema = plan.schema
        asked = [name for name in schema.names if plan.budgets[name] > 0.0]
        ways = ((plan.mechanisms[name], float(plan.budgets[name]), schema[name]) for name in asked)
        own = [question_by(*way) for way in ways]
        return cls(schema, {question.name: question.mechanism for question in own})

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each attribute that is asked, in the order of the schema."""
        asked = [each for each in self.schema if each.name in self.by]
        return tuple(Question((each,), self.by[each.name]) for each in asked)


@dataclass(frozen=True)
class Split(_ToAll):
    """Every attribute with an equal part of the budget (SPL).

    Parameters
    ----------
    schema
        The attributes.
    total
        What all reports of a user together may tell: ε of the whole record.
    mechanism
        A key of ``deptriad.mechanisms.mechanisms``, or "auto" for the better of GRR and OLH at that budget.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"]), dt.Attribute("smokes", ["no", "yes"])])
    >>> Split(schema, total=3.0).questions[0].mechanism
    GRR(size=3, epsilon=1.5)
    """

    total: float
    mechanism: str = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", as_positive_budget(self.total, "total"))
        if not self.questions:
            raise ValueError("the schema has no attributes to ask for")

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each attribute."""
        part = self.total / len(self.schema)
        # the parts must not add up to more
        while Fraction(part) * len(self.schema) > Fraction(self.total):
            part = math.nextafter(part, 0.0)
        return tuple(question_by(self.mechanism, part, each) for each in self.schema)


def as_strategy(strategy: Any) -> Strategy:
    """A strategy as it is; a plan, or anything else with schema, budgets and mechanisms, as ``Separate``."""
    if isinstance(strategy, Strategy):
        return strategy
    if all(hasattr(strategy, name) for name in ("schema", "budgets", "mechanisms")):
        return Separate.of(strategy)
    raise ValueError(
        f"strategy is a {type(strategy).__name__}, expected a plan, Split, Sample, SampleWithFakes or Separate"
    )
