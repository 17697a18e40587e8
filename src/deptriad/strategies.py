"""Strategies: what is asked of each user, with which mechanism and budget, and what can be estimated from it.

``Separate`` (a plan), ``Split``, ``Sample`` and ``SampleWithFakes`` share one interface, ``Strategy``.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptriad.answers import Answers, Records
from deptriad.lines import Floats, as_whole
from deptriad.mechanisms import Mechanism, Support
from deptriad.mechanisms.base import _one_budget
from deptriad.mechanisms.entries import smallest_type
from deptriad.questions import (
    Generator,
    Question,
    draw,
    joint,
    labels_of,
    mechanism_of,
    opened,
    read_columns,
    read_labels,
    read_texts,
    texts_of,
)
from deptriad.schema import Attribute, Schema, closest
from deptriad.spelling import Column, Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

VIEW, REPORT = "view", "report"
"""The columns of ``Sample``: what was asked, and the answer."""


class Shares(NamedTuple):
    """Unbiased shares, the variances of their errors, and the number of reports behind them."""

    frequencies: Floats
    variances: Floats
    n: int


class Told(NamedTuple):
    """Which of the records were asked a question, and their reports as its mechanism gives them."""

    rows: NDArray[np.intp]
    reports: NDArray[Any]


@dataclass(frozen=True)
class Strategy(ABC):
    """What is asked of each user. ``questions`` are all there are; who is asked which is up to the strategy."""

    schema: Schema

    @property
    @abstractmethod
    def questions(self) -> tuple[Question, ...]:
        """All questions."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """What all reports of a user together may tell about the whole record."""

    @cached_property
    def released(self) -> Schema:
        """The attributes that some question asks for."""
        asked = {name for question in self.questions for name in question.names}
        return self.schema.only(*(name for name in self.schema.names if name in asked))

    @cached_property
    def fingerprint(self) -> str:
        """The same for two strategies exactly when reports of one are reports of the other."""
        told = [
            type(self).__name__,
            [[each.name, list(each.values)] for each in self.schema],
            [
                [list(each.names), type(each.mechanism).__name__, each.mechanism.epsilon.hex()]
                for each in self.questions
            ],
        ]
        return sha256(json.dumps(told).encode("ascii")).hexdigest()

    @abstractmethod
    def tell(self, codes: NDArray[Any], rng: Generator = None) -> list[Told]:
        """Reports of records given as codes, a column for each attribute of the schema: an entry for each question."""

    @abstractmethod
    def report(self, codes: NDArray[Any], rng: Generator = None) -> dict[str, Column]:
        """The same as columns to write."""

    @abstractmethod
    def answers(self, reports: Any, names: Sequence[str]) -> list[Answers]:
        """What a frame of reports says about some attributes."""

    @abstractmethod
    def relevant(self, parts: Sequence[Answers], names: Sequence[str]) -> list[Answers]:
        """The same from answers to all questions, as a simulation has them."""

    @abstractmethod
    def shares(self, answers: Sequence[Answers], names: Sequence[str]) -> Shares:
        """Estimates from those answers: an axis for each attribute, in the order of the names."""

    def asked(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of attributes to estimate, checked."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        known = {name: None for question in self.questions for name in question.names}
        if not wanted:
            raise ValueError("attributes is empty, expected the name of at least one")
        for name in wanted:
            if name not in self.schema:
                raise ValueError(
                    f"there is no attribute {name!r}: {closest(name, self.schema.names)}"
                )
            if name not in known:
                raise ValueError(
                    f"there are no reports of {name!r}, since its budget is 0: estimate others, or give it a budget"
                )
        if len(set(wanted)) < len(wanted):
            raise ValueError(f"attributes is {list(wanted)}, expected each name once")
        return wanted


# --- every question to everybody --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ToAll(Strategy):
    """Everybody reports every attribute, each by its own mechanism: a column for each."""

    @property
    def epsilon(self) -> float:
        """The sum of all budgets."""
        return math.fsum(question.mechanism.epsilon for question in self.questions)

    def tell(self, codes: NDArray[Any], rng: Generator = None) -> list[Told]:
        """Everybody's reports to every question."""
        everybody = np.arange(len(codes))
        return [
            Told(
                everybody,
                question.mechanism.perturb(codes[:, self.schema.index(question.name)], rng),
            )
            for question in self.questions
        ]

    def report(self, codes: NDArray[Any], rng: Generator = None) -> dict[str, Column]:
        """A column for each attribute that has a mechanism."""
        return _columns(self.questions, self.tell(codes, rng))

    def answers(self, reports: Any, names: Sequence[str]) -> list[Answers]:
        """The reports of these attributes, record by record."""
        own = [self._question(name) for name in names]
        columns = tuple(read_columns(reports, own))
        return [Records(tuple(each.mechanism for each in own), columns, len(columns[0]))]

    def relevant(self, parts: Sequence[Answers], names: Sequence[str]) -> list[Answers]:
        """The counts of these attributes' reports."""
        places = [self.questions.index(self._question(name)) for name in names]
        return [parts[0].only(places)]  # type: ignore[union-attr]

    def shares(self, answers: Sequence[Answers], names: Sequence[str]) -> Shares:
        """Mode-wise inversion: means of products of scores (maths §7)."""
        one, two = ([power] * len(names) for power in (1, 2))
        return _shares(answers[0].sums(one), answers[0].sums(two), answers)

    def _question(self, name: str) -> Question:
        return next(question for question in self.questions if question.name == name)


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
        own = {
            name: mechanism_of(
                plan.mechanisms[name], float(plan.budgets[name]), schema[name].size, name
            )
            for name in schema.names
            if plan.budgets[name] > 0.0
        }
        return cls(schema, own)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each attribute that is asked, in the order of the schema."""
        return tuple(
            Question((each,), self.by[each.name]) for each in self.schema if each.name in self.by
        )


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
        object.__setattr__(self, "total", _one_budget(self.total))
        if not self.questions:
            raise ValueError("the schema has no attributes to ask for")

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each attribute."""
        part = self.total / len(self.schema)
        while Fraction(part) * len(self.schema) > Fraction(
            self.total
        ):  # the parts must not add up to more
            part = math.nextafter(part, 0.0)
        return tuple(
            Question((each,), mechanism_of(self.mechanism, part, each.size, each.name))
            for each in self.schema
        )


# --- one question to each ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample(Strategy):
    """One question to each user, drawn evenly, with the full budget: an attribute, or k of them as one value (RS).

    Reports have two columns, ``view`` with the names of the attributes that were asked, and ``report``. A view does not
    depend on the record, so that it tells nothing.

    Parameters
    ----------
    schema, total, mechanism
        As for ``Split``; the mechanism reports joint values where k is above 1.
    k
        Attributes that are asked together; there are C(d, k) views. Marginals of up to k attributes can be estimated.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"]) for name in ("a", "b", "c")])
    >>> [question.name for question in Sample(schema, 1.0, k=2).questions]
    ['a & b', 'a & c', 'b & c']
    """

    total: float
    mechanism: str = "auto"
    k: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", _one_budget(self.total))
        if as_whole(self.k, "k", 1) > len(self.schema):
            raise ValueError(f"k is {self.k}, expected at most the {len(self.schema)} attributes")
        names = [question.name for question in self.questions]
        if len(set(names)) < len(names):
            raise ValueError(f"two views are called alike: {names}; rename attributes with ' & '")

    @property
    def epsilon(self) -> float:
        """The full budget."""
        return self.total

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each view."""
        return tuple(
            Question(
                view,
                mechanism_of(
                    self.mechanism, self.total, math.prod(each.size for each in view), view[0].name
                ),
            )
            for view in combinations(self.schema.attributes, self.k)
        )

    def tell(self, codes: NDArray[Any], rng: Generator = None) -> list[Told]:
        """Of every view the records that were drawn for it, and their reports."""
        asked = draw(len(codes), len(self.questions), rng)
        told = []
        for place, question in enumerate(self.questions):
            rows = np.flatnonzero(asked == place)
            own = [self.schema.index(name) for name in question.names]
            values = joint(codes[rows][:, own], question)
            told.append(Told(rows, question.mechanism.perturb(values, rng)))
        return told

    def report(self, codes: NDArray[Any], rng: Generator = None) -> dict[str, Column]:
        """The columns ``view`` and ``report``."""
        asked = np.empty(len(codes), dtype=smallest_type(len(self.questions)))
        texts = np.empty(len(codes), dtype=object)
        told = zip(self.questions, self.tell(codes, rng), strict=True)
        for place, (question, (rows, reports)) in enumerate(told):
            column = question.column(reports)
            asked[rows] = place
            texts[rows] = column.texts() if isinstance(column, Labels) else column.astype("U")
        return {VIEW: Labels(asked, tuple(each.name for each in self.questions)), REPORT: texts}

    def answers(self, reports: Any, names: Sequence[str]) -> list[Answers]:
        """The reports of all views with these attributes."""
        views = [question.name for question in self.questions]
        frame = opened(reports, [VIEW, REPORT])
        asked = labels_of(frame, Attribute(VIEW, views, missing="error"))
        told = np.array(texts_of(frame, REPORT), dtype=object)
        found: list[Answers] = []
        for place in self._places(names):
            question, own = self.questions[place], told[asked == place].tolist()
            read = read_labels(question, own) if question.labelled else read_texts(question, own)
            found.append(Records((question.mechanism,), (read,), len(asked)))
        return found

    def relevant(self, parts: Sequence[Answers], names: Sequence[str]) -> list[Answers]:
        """The answers to all views with these attributes."""
        return [parts[place] for place in self._places(names)]

    def shares(self, answers: Sequence[Answers], names: Sequence[str]) -> Shares:
        """Means of scores over the users of all views with these attributes, each user counting alike."""
        views = [self.questions[place] for place in self._places(names)]
        sums = [_view_sums(each, view, names) for each, view in zip(answers, views, strict=True)]
        one, two = (np.sum([part[which] for part in sums], axis=0) for which in (0, 1))
        return _shares(one, two, answers)

    def _places(self, names: Sequence[str]) -> list[int]:
        """Views with all these attributes."""
        if len(names) > self.k:
            raise ValueError(
                f"{' & '.join(names)} were never asked together: Sample has k = {self.k}, expected k ≥ {len(names)} "
                "for their marginal"
            )
        views = enumerate(self.questions)
        return [place for place, question in views if set(names) <= set(question.names)]


def _view_sums(answers: Answers, view: Question, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Sums of scores and of their squares over a view's users, for the marginal of some of its attributes."""
    order = [list(view.names).index(name) for name in names]
    if len(names) == len(view.names):
        one, two = (answers.sums([power]).reshape(view.sizes) for power in (1, 2))
        return one.transpose(order), two.transpose(order)
    both = [np.zeros([view.sizes[axis] for axis in order]) for _ in range(2)]
    for counts, scores in answers.scored():
        own = summed_scores(scores, view.sizes, order)
        for power, total in enumerate(both, 1):
            total += np.tensordot(counts, own**power, axes=(0, 0))
    return both[0], both[1]


def summed_scores(scores: Floats, sizes: Sequence[int], order: Sequence[int]) -> Floats:
    """Scores of joint values (rows: reports) summed to those of some attributes, in this order."""
    every = scores.reshape(-1, *sizes)
    others = tuple(axis + 1 for axis in range(len(sizes)) if axis not in order)
    ranks = [sorted(order).index(axis) + 1 for axis in order]
    return np.asarray(every.sum(axis=others).transpose([0, *ranks]))


# --- fakes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SampleWithFakes(Strategy):
    """One attribute, drawn evenly, with ε' = ln(d(e^ε − 1) + 1); for the others a fake, and nobody says which (RS+FD).

    A fake is the report of a value drawn evenly (for GRR that is an even report). Only one-way marginals can be
    estimated: of two attributes at most one report is true.

    ``total`` is ε as published: with GRR and attributes of equal size, it bounds what changing ONE of them changes.
    It is no bound for a whole record, nor for one attribute among smaller ones: ``epsilon`` is, and that is ε', which
    is attained where all reports agree with one record and none with the other. Compare with that in mind.

    Parameters
    ----------
    schema, total, mechanism
        As for ``Split``; the mechanism must be one whose reports support values: not the staircase.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"]) for name in ("a", "b", "c")])
    >>> fakes = SampleWithFakes(schema, 1.0)
    >>> fakes.total, round(fakes.epsilon, 4)
    (1.0, 1.8172)
    """

    total: float
    mechanism: str = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", _one_budget(self.total))
        for question in self.questions:
            if not isinstance(question.mechanism, Support):
                raise ValueError(
                    f"mechanism is {self.mechanism!r}, expected one whose reports support values, such as 'grr'"
                )

    @property
    def epsilon(self) -> float:
        """ε', the budget of the attribute that is drawn, and what all reports together may tell about a record."""
        count = len(self.schema)
        if self.total > 700.0:
            return self.total + math.log(count)
        return math.log1p(count * math.expm1(self.total))

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each attribute."""
        return tuple(
            Question((each,), mechanism_of(self.mechanism, self.epsilon, each.size, each.name))
            for each in self.schema
        )

    def tell(self, codes: NDArray[Any], rng: Generator = None) -> list[Told]:
        """Everybody's reports to every question, true or fake."""
        everybody = np.arange(len(codes))
        drawn = draw(len(codes), len(self.questions), rng)
        told = []
        for place, question in enumerate(self.questions):
            fakes = draw(len(codes), question.mechanism.size, rng)
            values = np.where(drawn == place, codes[:, place], fakes)
            told.append(Told(everybody, question.mechanism.perturb(values, rng)))
        return told

    def report(self, codes: NDArray[Any], rng: Generator = None) -> dict[str, Column]:
        """A column for each attribute, true or fake."""
        return _columns(self.questions, self.tell(codes, rng))

    def answers(self, reports: Any, names: Sequence[str]) -> list[Answers]:
        """The reports of this attribute."""
        question = self.questions[self._place(names)]
        (column,) = read_columns(reports, [question])
        return [Records((question.mechanism,), (column,), len(column))]

    def relevant(self, parts: Sequence[Answers], names: Sequence[str]) -> list[Answers]:
        """The answers about this attribute."""
        return [parts[self._place(names)]]

    def shares(self, answers: Sequence[Answers], names: Sequence[str]) -> Shares:
        """From scores z that would be right without fakes: d·z − c is right with them.

        A fake supports a value with chance r = (p + (b − 1)q)/b, so that its z has the mean 1/b; d − 1 of d reports are
        fakes, and c = (d − 1)/b. For GRR this is (c·d·b − n(d − 1 + q·b))/(n·b·(p − q)), c being counts (maths §7).
        """
        count = len(self.questions)
        less = (count - 1) / self.questions[self._place(names)].mechanism.size
        first, square = answers[0].sums([1]), answers[0].sums([2])
        one = count * first - less * answers[0].n
        two = count**2 * square - 2 * count * less * first + less**2 * answers[0].n
        return _shares(one, two, answers)

    def _place(self, names: Sequence[str]) -> int:
        if len(names) > 1:
            raise ValueError(
                f"{' & '.join(names)} cannot be estimated together with SampleWithFakes: at most one of a user's "
                "reports is true; estimate one attribute at a time, or collect with Sample(…, k=2)"
            )
        return self.schema.index(names[0])


def as_strategy(strategy: Any) -> Strategy:
    """A strategy as it is; a plan, or anything else with schema, budgets and mechanisms, as ``Separate``."""
    if isinstance(strategy, Strategy):
        return strategy
    if all(hasattr(strategy, name) for name in ("schema", "budgets", "mechanisms")):
        return Separate.of(strategy)
    raise ValueError(
        f"strategy is a {type(strategy).__name__}, expected a plan, Split, Sample, SampleWithFakes or Separate"
    )


def _columns(questions: Sequence[Question], told: Sequence[Told]) -> dict[str, Column]:
    """A column for each question that everybody was asked."""
    pairs = zip(questions, told, strict=True)
    return {question.name: question.column(each.reports) for question, each in pairs}


def _shares(one: Floats, two: Floats, answers: Sequence[Answers]) -> Shares:
    """Means of scores, with the variance of their distance from the shares among all users.

    Of n users asked, each score has the mean 1{value}, so their squared errors sum to Σ score² − Σ 1{value}; that n
    were drawn out of all of them adds f(1 − f)(1/n − 1/all).
    """
    n = sum(each.n for each in answers)
    if n == 0:
        raise ValueError("there are no reports of these attributes, expected at least one")
    share = one / n
    noise = np.maximum(two / n - share, 0.0)
    inside = np.clip(share, 0.0, 1.0)
    drawn = inside * (1.0 - inside) * max(1.0 / n - 1.0 / answers[0].among, 0.0)
    return Shares(share, noise / n + drawn, n)
