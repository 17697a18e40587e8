"""Field: what attacks on several targets share, the split of the records and their reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.analysis import Analysis
from deptriad.attacks.allowed import OfAnalysis, OfRecords, Tables
from deptriad.attacks.audit import LEVEL, Audit, audit_questions
from deptriad.attacks.bayes import Bayes
from deptriad.attacks.seen import Collected, Truth
from deptriad.collection.question import Question
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.strategy import Strategy
from deptriad.utils.arrays import as_whole


@dataclass(frozen=True, eq=False)
class Field:
    """What all targets share: the records of both parts with their reports, and the audits of the mechanisms.

    The training records report three times: for the attacker to learn from, to choose events for the audit, and to
    count these together with the evaluation records. So the events are counted on all records, whose tables say what
    is allowed, and on reports that neither the attacker nor the choice of events has seen.
    """

    codes: NDArray[Any]
    learnt: Collected
    chosen: Collected
    scored: Collected
    counted: Collected
    mechanisms: tuple[Audit, ...]
    seed: int

    @classmethod
    def of(
        cls,
        asked: Strategy,
        codes: NDArray[Any],
        train: float,
        sample: int | None,
        rng: np.random.Generator | None,
    ) -> Field:
        """Split the records at random, and have them report."""
        chance = np.random.default_rng() if rng is None else rng
        if sample is not None and as_whole(sample, "sample", 2) < len(codes):
            codes = codes[chance.choice(len(codes), sample, replace=False)]
        if len(codes) < 2:
            raise ValueError(
                f"there are {len(codes)} records, expected at least 2: to learn and to guess"
            )
        order = chance.permutation(len(codes))
        first = min(max(round(train * len(codes)), 1), len(codes) - 1)
        known, other = codes[order[:first]], codes[order[first:]]
        learnt, chosen, scored, counted = (
            Collected.of(asked, part, rng) for part in (known, known, other, known)
        )
        mechanisms = audit_questions(chosen, [scored, counted], LEVEL / 2)
        seed = int(chance.integers(2**63))
        return cls(codes, learnt, chosen, scored, counted, mechanisms, seed)

    @property
    def asked(self) -> Strategy:
        """What is collected."""
        return self.learnt.strategy

    def bayes(self, target: str, truly: Sequence[str] | None) -> Bayes:
        """Bayes, who sees reports; or the true values of some attributes other than the target."""
        schema, codes = self.asked.schema, self.learnt.codes.astype(np.int64)
        if truly is not None:
            return Bayes(
                {name: Truth(schema[name].size) for name in truly},
                {name: codes[:, schema.index(name)] for name in truly},
            )
        asked = dict(zip(self.asked.titles, self.asked.questions, strict=True))
        together = [len(self.asked.places[each.view]) > 1 for each in asked.values()]
        fakes = isinstance(self.asked, SampleWithFakes)
        return Bayes(
            {title: each.mechanism for title, each in asked.items()},
            {title: self.learnt.values(each) for title, each in asked.items()},
            len(asked) if fakes else 0,
            {
                title: _implied(each, target)
                for title, each in asked.items()
                if target in each.names
            },
            frozenset(title for title, several in zip(asked, together, strict=True) if several),
        )

    def tables(self, analysis: Analysis | None) -> Tables:
        """Whose tables say what is allowed."""
        if analysis is None:
            return OfRecords(self.asked, self.codes)
        return OfAnalysis(self.asked, analysis)


def _implied(question: Question, target: str) -> NDArray[np.int64]:
    """The target's value in each answer to a question about it."""
    answers = np.unravel_index(np.arange(math.prod(question.sizes)), question.sizes)
    return np.asarray(answers[question.names.index(target)], dtype=np.int64)
