"""What an attacker sees of reports, and how likely each true value makes what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.attacks.attacker import Supports, Tokens

if TYPE_CHECKING:
    from deptriad.collection.question import Question
    from deptriad.collection.strategy import Strategy, Told
    from deptriad.mechanisms import Mechanism
    from deptriad.utils.arrays import Floats

IMPOSSIBLE = -690.0
"""ln of a likelihood that stands for 0: sums of a few stay finite, and far below every other."""


@dataclass(frozen=True)
class Reading:
    """How one question's reports become a token.

    Parameters
    ----------
    mechanism
        What reports the question; None where the truth itself is seen.
    size
        How many true values there are.
    """

    mechanism: Mechanism | None
    size: int

    @property
    def sets(self) -> bool:
        """Whether a report names a set of values; else it is the number of a column of the transition matrix."""
        from deptriad.mechanisms import Support

        return isinstance(self.mechanism, Support)

    @property
    def vocabulary(self) -> int:
        """How many entries a token has."""
        if self.mechanism is None or self.sets:
            return self.size
        return int(self.mechanism.matrix().shape[1])

    def supports(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which entries each report names. What it leaves out, such as the seed of a hash, tells nothing more."""
        if self.mechanism is not None and self.sets:
            return self.mechanism.supported(reports)  # type: ignore[attr-defined, no-any-return]
        return _marked(reports, self.vocabulary)

    def log_likelihoods(self, supports: Supports) -> Floats:
        """ln p(token | value) for each person and value, up to a number for each person; 0 where none was seen."""
        if self.mechanism is None:
            logs = np.where(supports != 0, 0.0, IMPOSSIBLE)
        elif self.sets:
            high, low = self.mechanism.levels  # type: ignore[attr-defined]
            logs = (supports != 0) * float(np.log(float(high / low)))
        else:
            with np.errstate(divide="ignore"):
                table = np.maximum(np.log(self.mechanism.matrix()), IMPOSSIBLE)
            logs = table.T[np.asarray(supports).argmax(axis=1)]
        logs[~supports.any(axis=1)] = 0.0
        return np.asarray(logs)

    def prefers(
        self,
        supports: NDArray[np.bool_],
        rows: NDArray[Any],
        values: NDArray[np.int64],
        others: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Whether each of these rows is likelier under its value than under its other, by what the mechanism claims."""
        if self.mechanism is None or self.sets:
            return np.asarray(supports[rows, values] & ~supports[rows, others])
        told, table = supports[rows].argmax(axis=1), self.mechanism.matrix()
        return np.asarray(table[values, told] > table[others, told])


def _marked(numbers: NDArray[Any], size: int) -> NDArray[np.bool_]:
    """A row of zeros with a one for each number."""
    marks = np.zeros((len(numbers), size), dtype=np.bool_)
    marks[np.arange(len(numbers)), numbers] = True
    return marks


def readings_of(questions: Sequence[Question]) -> dict[str, Reading]:
    """How the reports of each question are read."""
    return {each.name: Reading(each.mechanism, each.mechanism.size) for each in questions}


@dataclass(frozen=True)
class Collected:
    """Records, and what they reported to each question."""

    strategy: Strategy
    codes: NDArray[Any]
    told: Sequence[Told]

    @classmethod
    def of(
        cls, strategy: Strategy, codes: NDArray[Any], rng: np.random.Generator | None
    ) -> Collected:
        """Have the records report, with the very code that a collection uses."""
        return cls(strategy, codes, strategy.tell(codes, rng))

    @cached_property
    def _supports(self) -> list[NDArray[np.bool_]]:
        supports = []
        for question, (rows, reports) in zip(self.strategy.questions, self.told, strict=True):
            reading = Reading(question.mechanism, question.mechanism.size)
            named = np.zeros((len(self.codes), reading.vocabulary), dtype=np.bool_)
            named[rows] = reading.supports(reports)
            supports.append(named)
        return supports

    def tokens(self, hidden: str | None = None) -> Tokens:
        """All reports but those of questions about the hidden attribute; who was asked one of these shows zeros."""
        pairs = zip(self.strategy.questions, self._supports, strict=True)
        seen = [(question.name, own) for question, own in pairs if hidden not in question.names]
        return Tokens(tuple(name for name, _ in seen), tuple(own for _, own in seen))

    def values(self, question: Question) -> NDArray[np.int64]:
        """The true answers to a question."""
        return values_of(self.codes, self.strategy, question)


def values_of(codes: NDArray[Any], strategy: Strategy, question: Question) -> NDArray[np.int64]:
    """The true answers to a question, joint ones as one number."""
    from deptriad.collection.question import joint

    places = [strategy.schema.index(name) for name in question.names]
    return np.asarray(joint(codes[:, places], question), dtype=np.int64)


def truth(strategy: Strategy, codes: NDArray[Any], names: Sequence[str]) -> Tokens:
    """Tokens of the records' true values, as if nothing had been perturbed."""
    schema = strategy.schema
    return Tokens(
        tuple(names),
        tuple(_marked(codes[:, schema.index(name)], schema[name].size) for name in names),
    )
