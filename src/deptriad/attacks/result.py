"""AttackResult: one attack's score, with all that it has to be compared with. AttackResults: those of many targets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from shutil import get_terminal_size
from typing import Any

from deptriad.attacks.audit import Audit
from deptriad.attacks.lesson import lesson
from deptriad.attacks.score import Score, mean_score
from deptriad.data.results import ByTarget, Framed, columns_of
from deptriad.utils import html_table
from deptriad.utils.files import spelt
from deptriad.utils.text import (
    aligned,
    lines_left,
    narrow,
    printable,
    rounded_down,
    rounded_up,
    times,
)


@dataclass(frozen=True, repr=False)
class AttackResult(Framed):
    """How well an attacker guesses a target from reports, beside guesses without reports, and what is allowed.

    Parameters
    ----------
    target, attacker, own
        Which attribute was guessed, by whom, and whether its own report was seen.
    train, evaluation
        How many records the attacker learnt from, and how many others it was scored on.
    score
        Macro-F1 and accuracy of the attacker.
    balanced
        The same attacker, guessing the value whose odds the reports raised most, however rare it is: less often right,
        but not blind to rare values, as macro-F1 asks.
    majority, proportional
        Scores of guesses that see no report: always the commonest value; each value as often as it occurs.
    ceiling
        Score of the same attacker, trained and scored on the other attributes without any noise; the target's own
        value is never among them. None where it was not asked for.
    allowed, why
        No likelihood ratio about the target, from what the attacker sees, is above e^``allowed``; and why.
    audit
        What the attacker's most telling event proves. ``mechanisms`` has the same of every mechanism by itself.
    level
        Of the intervals.

    Examples
    --------
    >>> import deptriad as dt
    >>> import numpy as np
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "drives": ["no", "yes"] * 50})
    >>> strategy = dt.Split(dt.Schema.infer(frame), 4.0)
    >>> found = dt.attack(frame, strategy, "sex", rng=np.random.default_rng(1))
    >>> found.holds, found.macro_f1 > found.baseline.macro_f1
    (True, True)
    """

    target: str
    attacker: str
    own: bool
    train: int
    evaluation: int
    score: Score
    balanced: Score
    majority: Score
    proportional: Score
    ceiling: Score | None
    allowed: float
    why: str
    audit: Audit
    mechanisms: tuple[Audit, ...]
    level: float = 0.95
    kind: str = field(default="pandas", compare=False)

    @property
    def macro_f1(self) -> float:
        """Macro-F1 of the attacker."""
        return self.score.macro_f1

    @property
    def accuracy(self) -> float:
        """Accuracy of the attacker."""
        return self.score.accuracy

    @property
    def baseline(self) -> Score:
        """The better of the two guesses without reports, by macro-F1."""
        return max(self.majority, self.proportional, key=lambda score: score.macro_f1)

    @property
    def allowed_odds(self) -> float:
        """How many times the reports may raise any odds about the target: e^``allowed``, rounded up."""
        return math.exp(self.allowed) * (1.0 + 4e-16) if self.allowed < 709.0 else math.inf

    @property
    def audits(self) -> tuple[Audit, ...]:
        """Of the attack, and of every mechanism."""
        return self.audit, *self.mechanisms

    @property
    def holds(self) -> bool:
        """False only where an audit, of the attack or of a mechanism, proves a promise broken."""
        return all(audit.holds for audit in self.audits)

    def _scores(self) -> dict[str, Score]:
        guesses = {name: getattr(self, name) for name in GUESSES}
        return {"attack": self.score} | {name: each for name, each in guesses.items() if each}

    def facts(self) -> dict[str, Any]:
        """Plain numbers, lists and text, ready for JSON."""
        every = spelt(vars(self) | {"allowed_odds": self.allowed_odds, "holds": self.holds})
        return {name: value for name, value in every.items() if name != "kind"}

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for the attack and for each guess beside it."""
        every = self._scores()
        return {"guess": list(every)} | _columns(every.values())

    def _repr_html_(self) -> str:
        return html_table.text(repr(self))

    def __repr__(self) -> str:
        seen = "all reports" if self.own else "the other reports"
        rows = [("", "macro-F1", "accuracy")]
        rows += [(name, *score.words) for name, score in self._scores().items()]
        audits = (self.audit, *(audit for audit in self.mechanisms if not audit.holds))
        return "\n".join(
            [
                f"Attack on {printable(self.target)} by {printable(self.attacker)}, from {seen}: "
                f"{self.train:,} records to learn from, {self.evaluation:,} others to guess",
                *aligned(rows),
                f"allowed: {_nats(self.allowed)}: {self.why}",
                *(_audit_words(audit) for audit in audits),
                *lesson([self]),
            ]
        )


GUESSES = ("balanced", "majority", "proportional", "ceiling")
"""What an attack is compared with, in the order of the table."""


def _nats(number: float) -> str:
    """A bound and what it does to odds."""
    if not math.isfinite(number):
        return "odds may rise without limit"
    return f"odds may rise {times(number)} times ({rounded_up(number)} nats)"


def _audit_words(audit: Audit) -> str:
    proven, limit = rounded_down(audit.attained), rounded_up(audit.allowed)
    if audit.holds:
        return f"audit: holds, {proven} nats are proven to be attained"
    return (
        f"AUDIT FAILED, {printable(audit.about)}: {proven} nats are proven, {limit} allowed: {audit.event}; the "
        "mechanisms spend more than they claim, or the records are others than the tables say"
    )


def _columns(scores: Iterable[Score]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for score in scores:
        for name in ("macro_f1", "accuracy"):
            low, high = getattr(score, f"{name}_interval")
            columns.setdefault(name, []).append(getattr(score, name))
            columns.setdefault(f"{name}_from", []).append(low)
            columns.setdefault(f"{name}_to", []).append(high)
    return columns


class AttackResults(ByTarget[AttackResult]):
    """Attacks on many targets, by name; prints as a table.

    One perturbation and one split of the records serve all of them.
    """

    called = ("attack", "on")

    def __init__(self, results: Iterable[AttackResult], kind: str = "pandas") -> None:
        super().__init__(results, kind)
        if not self:
            raise ValueError("there are no results, expected at least one")

    @cached_property
    def score(self) -> Score:
        """The mean over all targets."""
        return mean_score(result.score for result in self.values())

    @property
    def aia(self) -> float:
        """The paper's AIA: the mean macro-F1 over all targets; ``score`` has its interval."""
        return self.score.macro_f1

    @cached_property
    def baseline(self) -> Score:
        """The mean over all targets of the better guess without reports."""
        return mean_score(result.baseline for result in self.values())

    @cached_property
    def ceiling(self) -> Score | None:
        """The mean over all targets of what the same attacker makes of data without noise."""
        every = [each.ceiling for each in self.values() if each.ceiling is not None]
        return mean_score(every) if len(every) == len(self) else None

    @property
    def _audits(self) -> list[Audit]:
        return [audit for each in self.values() for audit in each.audits]

    @property
    def audit(self) -> Audit:
        """The audit, of an attack or of a mechanism, that comes closest to breaking its promise, or breaks it most."""
        return min(self._audits, key=lambda audit: audit.margin)

    @property
    def holds(self) -> bool:
        """False only where some audit proves a promise broken."""
        return all(result.holds for result in self.values())

    def facts(self) -> dict[str, Any]:
        """Plain numbers, lists and text, ready for JSON."""
        scores = {"aia": self.score} | {guess: getattr(self, guess) for guess in BESIDE}
        return dict(spelt(scores | {"holds": self.holds, "targets": list(self.values())}))

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each target."""
        every = list(self.values())
        columns: dict[str, list[Any]] = {"target": list(self)}
        columns |= _columns(each.score for each in every)
        for guess, name in product(BESIDE, ("macro_f1", "accuracy")):
            scores = [getattr(each, guess) for each in every]
            columns[f"{guess}_{name}"] = [getattr(score, name, math.nan) for score in scores]
        columns |= columns_of(every, ["allowed"])
        columns |= columns_of((each.audit for each in every), ["attained"])
        return columns | columns_of(every, ["holds"])

    def rows(self, intervals: bool = True) -> list[tuple[str, ...]]:
        """The cells of the table that is printed: two headings, the targets, their mean."""
        found: list[tuple[str, ...]] = list(HEADINGS)
        for name, each in self.items():
            said = "holds" if each.audit.holds else "BROKEN"
            compared = _compared(each, intervals)
            found.append((printable(name), *compared, f"×{times(each.allowed)}", said))
        return [*found, ("mean (AIA)", *_compared(self, intervals), "", "")]

    def table(self, width: int) -> list[str]:
        """The lines of the table: with intervals where there is room for them."""
        whole = aligned(self.rows())
        return whole if max(map(len, whole)) <= width else narrow(self.rows(False), width)

    @cached_property
    def balanced(self) -> Score:
        """The mean over all targets of the guess of the value whose odds rose most."""
        return mean_score(result.balanced for result in self.values())

    @cached_property
    def majority(self) -> Score:
        """The mean over all targets of always guessing the commonest value."""
        return mean_score(result.majority for result in self.values())

    def notes(self) -> list[str]:
        """What is to be known beside the table."""
        one = next(iter(self.values()))
        seen = "all reports" if one.own else "the reports of the other attributes"
        failed = dict.fromkeys(_audit_words(audit) for audit in self._audits if not audit.holds)
        return [
            f"{printable(one.attacker)} guesses each target from {seen}; {one.train:,} records to learn from, "
            f"{one.evaluation:,} others to guess; {one.level:g} intervals in brackets, if the screen is wide enough",
            *lesson(self.values()),
            *failed,
        ]

    def _repr_html_(self) -> str:
        first, *rest = self.notes()
        return html_table.table(self.rows(), [first], rest, headings=len(HEADINGS))

    def __repr__(self) -> str:
        first, *rest = self.notes()
        table = self.table(get_terminal_size().columns)
        most = max(lines_left([first, *rest]) - len(HEADINGS) - 4, LEAST_SHOWN)
        if (more := len(self) - most) > 0:
            table[len(HEADINGS) + most : -1] = [f"and {more} more: to_frame() has all of them"]
        return "\n".join([first, *table, *rest])


def _compared(each: AttackResult | AttackResults, intervals: bool) -> tuple[str, ...]:
    """What the attacker reaches, each beside the better guess without reports; and the ceiling."""
    macro_f1 = each.score.words[0] if intervals else f"{each.score.macro_f1:.3f}"
    return (
        f"{each.score.accuracy:.3f} ({each.majority.accuracy:.3f})",
        f"{macro_f1} ({each.baseline.macro_f1:.3f})",
        f"{each.balanced.macro_f1:.3f}",
        "" if each.ceiling is None else f"{each.ceiling.macro_f1:.3f}",
    )


HEADINGS = (
    ("", "accuracy", "macro-F1", "", "", "odds", ""),
    ("target", "(commonest)", "(baseline)", "balanced", "ceiling", "allowed", "audit"),
)

LEAST_SHOWN = 8
"""Targets that are printed on any screen."""

BESIDE = ("balanced", "majority", "baseline", "ceiling")
"""Guesses beside the attack in the frame of many."""
