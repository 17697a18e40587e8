"""SampleWithFakes: one true report from each user, hidden among fakes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.collection.question import Generator, Question, question_by
from deptriad.collection.score_sums import Tally, TermSums
from deptriad.collection.strategy import Answers, Strategy
from deptriad.collection.weighted_means import Summed
from deptriad.mechanisms import Support
from deptriad.mechanisms.chance import word_source
from deptriad.mechanisms.entries import smallest_type
from deptriad.utils.arrays import as_positive_budget


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
    >>> fakes = dt.SampleWithFakes(schema, 1.0)
    >>> fakes.total, round(fakes.epsilon, 4)
    (1.0, 1.8172)
    """

    total: float
    mechanism: str = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", as_positive_budget(self.total, "total"))
        if not all(isinstance(question.mechanism, Support) for question in self.questions):
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
        return tuple(question_by(self.mechanism, self.epsilon, each) for each in self.schema)

    @property
    def _kind(self) -> str:
        return type(self).__name__

    def tell(self, codes: NDArray[Any], rng: Generator = None) -> Answers:
        """Everybody's reports to every question, true or fake."""
        drawn = _draw(len(codes), len(self.questions), rng)
        answers = Answers(np.zeros(len(codes), dtype=np.intp), [])
        for place, question in enumerate(self.questions):
            fakes = _draw(len(codes), question.mechanism.size, rng)
            values = np.where(drawn == place, self.values(question, codes), fakes)
            answers.reports.append(question.mechanism.perturb(values, rng))
        return answers

    def asking(self, names: Sequence[str]) -> list[int]:
        """No two reports of a person are true."""
        return [0] if len(names) == 1 else []

    def _summed(self, sums: Tally | TermSums, names: Sequence[str]) -> Summed:
        """From scores z that would be right without fakes: d·z − c is right with them.

        A fake supports a value with chance r = (p + (b − 1)q)/b, so that its z has the mean 1/b; d − 1 of d reports are
        fakes, and c = (d − 1)/b. For GRR this is (c·d·b − n(d − 1 + q·b))/(n·b·(p − q)), c being counts (maths §7).
        """
        n, among, one, two = super()._summed(sums, names)
        count = len(self.questions)
        less = (count - 1) / self.schema[names[0]].size
        squares = count**2 * two - 2 * count * less * one + less**2 * n
        return Summed(n, among, count * one - less * n, squares)

    def _apart(self, names: Sequence[str]) -> str:
        return (
            f"{' & '.join(names)} cannot be estimated together with SampleWithFakes: at most one of a user's "
            "reports is true; estimate one attribute at a time, or collect with Sample(…, k=2)"
        )


def _draw(count: int, below: int, rng: Generator) -> NDArray[Any]:
    """Numbers below a small one, evenly up to one part in 2^32/below."""
    words = word_source(rng)(count) >> np.uint64(32)
    return ((words * np.uint64(below)) >> np.uint64(32)).astype(smallest_type(below))
