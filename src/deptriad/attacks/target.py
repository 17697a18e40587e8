"""One attack: an attacker is trained, scored, compared and audited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.analysis import Analysis
from deptriad.attacks import score
from deptriad.attacks.allowed import Allowed, allowed
from deptriad.attacks.attacker import Attacker, Fitted, Tokens
from deptriad.attacks.audit import LEVEL, Audit, audit_attack
from deptriad.attacks.events import choose_cuts, ratios_of
from deptriad.attacks.field import Field
from deptriad.attacks.result import AttackResult
from deptriad.attacks.score import Score
from deptriad.attacks.seen import Collected, truth
from deptriad.utils.arrays import Floats

STEPS = 100
"""Steps of ``progress`` for one attacker that is trained."""


@dataclass(frozen=True, eq=False)
class Target:
    """One target among so many, and how it is attacked."""

    field: Field
    target: str
    own: bool
    attacker: str | Attacker
    analysis: Analysis | None
    ceiling: bool
    level: float
    among: int

    @property
    def place(self) -> int:
        """Column of the target."""
        return self.field.asked.schema.index(self.target)

    @property
    def size(self) -> int:
        """How many values it has."""
        return self.field.asked.schema[self.target].size

    def true(self, part: Collected) -> NDArray[np.int64]:
        """Its true values among some records."""
        return part.codes[:, self.place].astype(np.int64)

    def seen(self, part: Collected) -> Tokens:
        """What the attacker sees of them."""
        return part.tokens(None if self.own else self.target)

    def result(self, show: Callable[[int], None], kind: str) -> AttackResult:
        """Train, score, compare and audit; ``show`` is called with the steps done."""
        field = self.field
        rng = np.random.default_rng([field.seed, self.place])
        bound = allowed(field.asked, self.target, self.own, field.tables(self.analysis))
        machine = self._attacker()
        fitted = self._fit(machine, self.seen(field.learnt), rng, show)
        told = self._told(fitted, self.seen(field.scored))
        true = self.true(field.scored)
        shares = np.bincount(self.true(field.learnt), minlength=self.size)
        records = np.bincount(true, minlength=self.size)
        blind = [
            score.blind(records, guess(shares), self.level, rng)
            for guess in (score.majority, score.proportional)
        ]
        # before the ceiling: fit() may return the attacker itself, which then is trained anew
        prior = np.log((shares + 1.0 / self.size) / (shares.sum() + 1.0))
        audit = self._audit(fitted, told, prior, bound)
        return AttackResult(
            target=self.target,
            attacker=machine.name,
            own=self.own,
            train=len(field.learnt.codes),
            evaluation=len(true),
            score=self._scored(told, true, rng),
            balanced=self._scored(told - prior, true, rng),
            majority=blind[0],
            proportional=blind[1],
            ceiling=self._top(rng, lambda done: show(done + STEPS)) if self.ceiling else None,
            allowed=bound.nats,
            why=bound.why,
            audit=audit,
            mechanisms=field.mechanisms,
            level=self.level,
            kind=kind,
        )

    def _fit(
        self,
        machine: Attacker,
        tokens: Tokens,
        rng: np.random.Generator,
        show: Callable[[int], None],
    ) -> Fitted:
        show(0)

        def progress(done: int, total: int | None) -> None:
            show(int(STEPS * done / max(total or 1, 1)))

        return machine.fit(tokens, self.true(self.field.learnt), self.size, rng, progress)

    def _told(self, fitted: Fitted, tokens: Tokens) -> Floats:
        told = np.asarray(fitted.log_posterior(tokens), dtype=np.float64)
        if told.shape != (len(tokens), self.size) or np.isnan(told).any():
            raise ValueError(
                f"log_posterior gave shape {told.shape}{' with NaN' if np.isnan(told).any() else ''}, expected "
                f"({len(tokens)}, {self.size}): a row for each person, a column for each value"
            )
        return told

    def _scored(self, told: Floats, true: NDArray[np.int64], rng: np.random.Generator) -> Score:
        cells = score.confusion(true, told.argmax(axis=1), self.size)
        return score.scored(cells, self.level, rng)

    def _top(self, rng: np.random.Generator, show: Callable[[int], None]) -> Score | None:
        """The same attacker on the true values of the other attributes; None if there are no others."""
        asked = self.field.asked
        names = [name for name in asked.released.names if name != self.target]
        if not names:
            return None
        machine = self._attacker(names)
        fitted = self._fit(machine, truth(asked, self.field.learnt.codes, names), rng, show)
        told = self._told(fitted, truth(asked, self.field.scored.codes, names))
        return self._scored(told, self.true(self.field.scored), rng)

    def _audit(self, fitted: Fitted, told: Floats, prior: Floats, bound: Allowed) -> Audit:
        """Count events on all records where their own tables say what is allowed.

        Given tables are of people like these: what was learnt of the training records themselves says nothing about
        them, so that events are counted on the evaluation records only.
        """
        field = self.field
        first = ratios_of(self._told(fitted, self.seen(field.chosen)), prior)
        cuts = choose_cuts(first, self.true(field.chosen), bound.covered)
        ratios, true = ratios_of(told, prior), self.true(field.scored)
        if self.analysis is None:
            again = ratios_of(self._told(fitted, self.seen(field.counted)), prior)
            ratios = np.concatenate([ratios, again])
            true = np.concatenate([true, self.true(field.counted)])
        labels = field.asked.schema[self.target].values
        return audit_attack(
            self.target, labels, cuts, ratios, true, bound.nats, LEVEL / 2 / self.among
        )

    def _attacker(self, truly: Sequence[str] | None = None) -> Attacker:
        """The attacker by name; Bayes is given what it must know."""
        if not isinstance(self.attacker, str):
            return self.attacker
        if self.attacker == "boosting":
            from deptriad.attacks.boosting import Boosting

            return Boosting()
        if self.attacker == "tabtransformer":
            from deptriad.attacks.tabtransformer import TabTransformer

            return TabTransformer()
        return self.field.bayes(self.target, truly)
