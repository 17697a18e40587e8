"""Strategy: the interface of all that can be asked of each user, and what can be estimated from it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.collection.learnt_prior import Pairs, ReportsPrior
from deptriad.collection.question import Generator, Question, read_columns
from deptriad.collection.report_format import Column
from deptriad.collection.report_mark import refuse_foreign
from deptriad.collection.score_sums import Answers, Records, Simulation
from deptriad.data.schema import Schema
from deptriad.utils.arrays import Floats

TrueReports = Literal["all", "one", "fakes"]


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

    true_reports: ClassVar[TrueReports] = "all"
    """Which of the questions a user answers truly: all, one and no other, or one while the rest are fakes."""

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

    def report(self, codes: NDArray[Any], rng: Generator = None) -> dict[str, Column]:
        """The same as columns to write: one for each question."""
        pairs = zip(self.questions, self.tell(codes, rng), strict=True)
        return {question.name: question.column(told.reports) for question, told in pairs}

    def answers(self, reports: Any, names: Sequence[str]) -> list[Answers]:
        """What a frame of reports says about some attributes, record by record."""
        own = [self._question(name) for name in names]
        columns = tuple(read_columns(reports, own))
        return [Records(tuple(each.mechanism for each in own), columns, len(columns[0]))]

    def _question(self, name: str) -> Question:
        return next(question for question in self.questions if question.name == name)

    @abstractmethod
    def relevant(self, parts: Sequence[Answers], names: Sequence[str]) -> list[Answers]:
        """The same from answers to all questions, as a simulation has them."""

    @abstractmethod
    def shares(self, answers: Sequence[Answers], names: Sequence[str]) -> Shares:
        """Estimates from those answers: an axis for each attribute, in the order of the names."""

    def read(self, reports: Any, names: Sequence[str]) -> list[Answers]:
        """What reports (a frame, a file or a ``Simulation``) of this very strategy say about some attributes."""
        if isinstance(reports, Simulation):
            reports.require(self)
            return self.relevant(reports.parts, names)
        refuse_foreign(reports, self)
        return self.answers(reports, names)

    def prior(self, reports: Any, min_records: int = 20) -> ReportsPrior:
        """A prior learnt from reports that were collected so, for all attributes that are asked.

        Parameters
        ----------
        reports
            A frame or a file of reports, or a ``Simulation``.
        min_records
            Values with fewer people than that, by the estimate, are listed as thin.

        Raises
        ------
        ValueError
            If attributes are never truly reported together (k = 1, or with fakes): then nothing can be learnt about
            how they depend on each other.

        Examples
        --------
        >>> import numpy as np
        >>> import deptriad as dt
        >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
        >>> split = dt.Split(schema, total=4.0)
        >>> reports = dt.simulate([[40_000, 10_000], [5_000, 45_000]], split, np.random.default_rng(1))
        >>> prior = split.prior(reports)
        >>> prior.table("b", "a").table.round(2).tolist()
        [[0.8, 0.2], [0.1, 0.9]]
        >>> box = prior.box("b", "a", dt.Confidence(0.95))
        >>> box.lower.round(2).tolist(), box.upper.round(2).tolist()
        ([[0.79, 0.19], [0.09, 0.89]], [[0.81, 0.21], [0.11, 0.91]])
        """
        names = self.released.names
        if len(names) < 2:
            raise ValueError(f"the reports have one attribute, {names[0]!r}, expected two or more")
        return ReportsPrior.of(self.released, self.pairs(reports), min_records)

    def pairs(self, reports: Any) -> Pairs:
        """What a prior is learnt from, for each ordered pair of attributes that are asked."""
        raise ValueError(
            f"{type(self).__name__} never has two true reports of one user, so that nothing can be learnt about how "
            "attributes depend on each other: collect with Split, a plan, or Sample(…, k=2)"
        )

    def asked(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of attributes to estimate, checked."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if not wanted:
            raise ValueError("attributes is empty, expected the name of at least one")
        for name in wanted:
            if self.schema[name].name not in self.released:
                raise ValueError(
                    f"there are no reports of {name!r}, since its budget is 0: estimate others, or give it a budget"
                )
        if len(set(wanted)) < len(wanted):
            raise ValueError(f"attributes is {list(wanted)}, expected each name once")
        return wanted


def shares_of(one: Floats, two: Floats, answers: Sequence[Answers]) -> Shares:
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
