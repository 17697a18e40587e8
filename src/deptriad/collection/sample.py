"""Sample: one question to each user, with the full budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deptriad.collection.learnt_prior import Pairs, added, summed_terms, view_sums
from deptriad.collection.question import (
    Generator,
    Question,
    draw,
    joint,
    labels_of,
    question_by,
    report_columns,
    texts_of,
)
from deptriad.collection.report_format import Column, Labels
from deptriad.collection.score_sums import Answers, Records
from deptriad.collection.strategy import Shares, Strategy, Told, TrueReports, shares_of
from deptriad.data.attribute import Attribute
from deptriad.mechanisms.entries import smallest_type
from deptriad.utils.arrays import Floats, as_positive_budget, as_whole

VIEW, REPORT = "view", "report"
"""The columns of ``Sample``: what was asked, and the answer."""


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

    true_reports: ClassVar[TrueReports] = "one"

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", as_positive_budget(self.total, "total"))
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
        views = combinations(self.schema, self.k)
        return tuple(question_by(self.mechanism, self.total, *view) for view in views)

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
        frame = report_columns(reports, [VIEW, REPORT])
        asked = labels_of(frame, Attribute(VIEW, views, missing="error"))
        told = np.array(texts_of(frame, REPORT), dtype=object)
        found: list[Answers] = []
        for place in self._places(names):
            question = self.questions[place]
            read = question.read(told[asked == place].tolist())
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
        return shares_of(one, two, answers)

    def pairs(self, reports: Any) -> Pairs:
        """What a prior is learnt from: scores of joint values, over all views with both attributes."""
        if self.k < 2:
            return super().pairs(reports)
        every = list(zip(self.read(reports, ()), self.questions, strict=True))
        return {
            pair: added([view_sums(*every[place], pair) for place in self._places(pair)], pair)
            for pair in permutations(self.released.names, 2)
        }

    def _places(self, names: Sequence[str]) -> list[int]:
        """Views with all these attributes."""
        if len(names) > self.k:
            raise ValueError(
                f"{' & '.join(names)} were never asked together: Sample has k = {self.k}, expected k ≥ {len(names)} "
                "for their marginal"
            )
        views = enumerate(self.questions)
        return [place for place, question in views if set(names) <= set(question.names)]


def _view_sums(answers: Answers, view: Question, names: Sequence[str]) -> list[Floats]:
    """Sums of scores and of their squares over a view's users, for the marginal of some of its attributes."""
    if len(names) < len(view.names):
        return summed_terms(answers, view, names, lambda scores: [scores, scores**2])
    order = [view.names.index(name) for name in names]
    return [answers.sums([power]).reshape(view.sizes).transpose(order) for power in (1, 2)]
