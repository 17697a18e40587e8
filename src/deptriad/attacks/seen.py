"""What an attacker sees of reports, and how likely each true value makes what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deptriad.attacks.attacker import Tokens
from deptriad.collection.question import Question
from deptriad.collection.strategy import Answers, Strategy
from deptriad.mechanisms.base import IMPOSSIBLE
from deptriad.mechanisms.entries import marked
from deptriad.utils.arrays import Floats


class Reading(Protocol):
    """How what is seen of an answer speaks for its true value: every mechanism, and ``Truth``."""

    @property
    def size(self) -> int:
        """How many true values there are."""
        ...

    def log_likelihoods(self, marks: NDArray[Any]) -> Floats:
        """ln p(marks | value) for each person and value, up to a number for each person; 0 where none was seen."""
        ...


@dataclass(frozen=True)
class Truth:
    """A question whose true answers are seen."""

    size: int

    def log_likelihoods(self, marks: NDArray[Any]) -> Floats:
        """0 for the true value, and next to impossible for others; 0 where none was seen."""
        logs = np.where(marks != 0, 0.0, IMPOSSIBLE)
        logs[~marks.any(axis=1)] = 0.0
        return logs


@dataclass(frozen=True)
class Collected:
    """Records, and what they reported to each question."""

    strategy: Strategy
    codes: NDArray[Any]
    answers: Answers

    @classmethod
    def of(
        cls, strategy: Strategy, codes: NDArray[Any], rng: np.random.Generator | None
    ) -> Collected:
        """Have the records report, with the very code that a collection uses."""
        return cls(strategy, codes, strategy.tell(codes, rng))

    @cached_property
    def _supports(self) -> list[NDArray[np.bool_]]:
        supports = []
        pairs = zip(self.strategy.questions, self.answers.reports, strict=True)
        for question, reports in pairs:
            mechanism = question.mechanism
            named = np.zeros((len(self.codes), mechanism.vocabulary), dtype=np.bool_)
            named[self.answers.rows(question)] = mechanism.marks(reports)
            supports.append(named)
        return supports

    def tokens(self, hidden: str | None = None) -> Tokens:
        """All reports but those of questions about the hidden attribute; who was asked others shows zeros.

        What a view asks does not depend on the record, and shows in which tokens are no zeros.
        """
        asked, titles = self.strategy.questions, self.strategy.titles
        seen = [place for place, question in enumerate(asked) if hidden not in question.names]
        return Tokens(
            tuple(titles[place] for place in seen), tuple(self._supports[place] for place in seen)
        )

    def values(self, question: Question) -> NDArray[np.int64]:
        """The true answers to a question."""
        return self.strategy.values(question, self.codes)


def truth(strategy: Strategy, codes: NDArray[Any], names: Sequence[str]) -> Tokens:
    """Tokens of the records' true values, as if nothing had been perturbed."""
    schema = strategy.schema
    values = (marked(codes[:, schema.index(name)], schema[name].size) for name in names)
    return Tokens(tuple(names), tuple(values))
