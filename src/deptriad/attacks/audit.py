"""The audit: no event that an attacker can see may be likelier under one value than its promise allows.

If it was, beyond chance, the promise is broken: the mechanisms spend more than they claim, or the records are others
than the tables say. That no such event was found proves nothing: a better attacker might find one.

How sure that is: events are chosen on some reports, and counted on others of which the choice knew nothing. Given the
records and the events, all counted reports are independent, so that the number of people of value x whose reports show
the event is a sum of independent draws with the mean n_x·p(event | x); its tails are lighter than the binomial's
(Hoeffding 1956), and Clopper and Pearson's ends hold for p(event | x) under the distribution of these very records.
Where tables are given instead, that is so under theirs if the evaluation records were drawn from it, which are all that
is counted then. All events that are counted share the chance of a false alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.attacks.events import Codes, Counted, Cut, Event, choose_reports
from deptriad.attacks.seen import Collected
from deptriad.mechanisms import Mechanism
from deptriad.utils.arrays import Floats, as_share, as_whole
from deptriad.utils.files import spelt
from deptriad.utils.text import printable, rounded_down, rounded_up

LEVEL = 1e-3
"""Chance of a false alarm."""


@dataclass(frozen=True, repr=False)
class Audit:
    """What the most telling event proves, beside what is allowed.

    Parameters
    ----------
    about
        What was audited: an attack on a target, or a mechanism.
    attained
        The ln of a likelihood ratio that is proven, except with a chance of ``level``; 0 where nothing is.
    allowed
        The promise, in nats.
    pair
        The two values of the event; None if it is about all values, or there was nothing to count.
    event
        The event in words, with its counts.
    level
        Chance that a promise which is kept is called broken.
    tested
        How many events were counted.
    """

    about: str
    attained: float
    allowed: float
    pair: tuple[str, str] | None
    event: str
    level: float
    tested: int

    @property
    def holds(self) -> bool:
        """False only where the promise is proven to be broken."""
        return self.attained <= self.allowed

    @property
    def margin(self) -> float:
        """How far what is proven stays below what is allowed; below 0 the promise is broken."""
        return self.allowed - self.attained

    def __repr__(self) -> str:
        numbers = f"attained {rounded_down(self.attained)}, allowed {rounded_up(self.allowed)}"
        said = "holds" if self.holds else f"BROKEN: {self.event}"
        return f"Audit({printable(self.about)}: {numbers}; {said})"

    def facts(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON."""
        return dict(spelt(vars(self) | {"holds": self.holds}))


def _concluded(
    about: str,
    events: Sequence[Event],
    counts: Sequence[Counted],
    labels: Sequence[str],
    allowed: float,
    level: float,
) -> Audit:
    """What counted events prove; they share the level."""
    some = [pair for pair in zip(events, counts, strict=True) if pair[1].n and pair[1].m]
    if not some:
        return Audit(about, 0.0, allowed, None, "there was nothing to count", level, 0)
    share = level / (2 * len(some))
    proven = [count.attained(share) for _, count in some]
    best = int(np.argmax(proven))
    event, count = some[best]
    pair = None if event.pair is None else (labels[event.pair[0]], labels[event.pair[1]])
    one, other = map(printable, pair or ("x", "x'"))
    words = (
        f"{event.words(labels)}: {count.hits:,} of {count.n:,} with {one}, "
        f"{count.others:,} of {count.m:,} with {other}"
    )
    return Audit(about, max(proven[best], 0.0), allowed, pair, words, level, len(some))


def audit_attack(
    target: str,
    labels: Sequence[str],
    cuts: Sequence[Cut],
    ratios: Floats,
    codes: Codes,
    allowed: float,
    level: float = LEVEL,
) -> Audit:
    """Count the chosen events on reports of which neither the attacker nor the choice has seen any."""
    counts = [cut.counted(ratios, codes) for cut in cuts]
    return _concluded(f"attack on {target}", cuts, counts, labels, allowed, level)


def audit_reports(
    about: str,
    mechanism: Mechanism,
    chosen: tuple[NDArray[Any], Codes],
    counted: tuple[NDArray[Any], Codes],
    allowed: float,
    labels: Sequence[str] | None = None,
    level: float = LEVEL,
) -> Audit:
    """Audit one mechanism on reports whose true values are known.

    Parameters
    ----------
    about, labels
        What is audited, and its values; they are numbered by default.
    mechanism
        What reported: it says how its reports are read.
    chosen, counted
        Reports and true values on which events are chosen, and others on which they are counted.
    allowed
        The budget that is claimed.
    level
        Chance of a false alarm.
    """
    names = labels or [str(code) for code in range(mechanism.size)]
    first, second = ((mechanism.marks(reports), values) for reports, values in (chosen, counted))
    events = choose_reports(*first, mechanism)
    counts = [event.counted(*second) for event in events]
    return _concluded(about, events, counts, names, allowed, level)


def audit_questions(
    chosen: Collected, counted: Sequence[Collected], level: float = LEVEL
) -> tuple[Audit, ...]:
    """Audit the mechanism of every question on collected reports; all together share the level."""
    strategy = chosen.strategy
    questions = strategy.questions
    audits = []
    for place, question in enumerate(questions):
        parts = [
            (each.answers.reports[place], each.values(question)[each.answers.rows(question)])
            for each in (chosen, *counted)
        ]
        labels = question.attributes[0].values if len(question.attributes) == 1 else None
        rest = tuple(np.concatenate(each) for each in zip(*parts[1:], strict=True))
        audits.append(
            audit_reports(
                f"{type(question.mechanism).__name__} of {strategy.titles[place]}",
                question.mechanism,
                parts[0],
                (rest[0], rest[1]),
                question.mechanism.epsilon,
                labels,
                level / len(questions),
            )
        )
    return tuple(audits)


def check_mechanism(
    mechanism: Mechanism,
    rng: np.random.Generator | None = None,
    n: int = 200_000,
    level: float = LEVEL,
) -> Audit:
    """Whether a mechanism's reports keep to the budget it claims, as far as n reports can tell.

    Parameters
    ----------
    mechanism
        Any mechanism; ``mechanism.epsilon`` is its claim.
    rng
        Source of chance for the mechanism; by default the operating system's.
    n
        Reports that are drawn, evenly for all values; half of them to choose events.
    level
        Chance that a mechanism which keeps its budget is called broken.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.attacks.audit import check_mechanism
    >>> from deptriad.mechanisms import GRR
    >>> check_mechanism(GRR(3, 1.0), np.random.default_rng(1)).holds
    True
    """
    as_share(level, "level", LEVEL)
    values = np.arange(as_whole(n, "n", 2), dtype=np.int64) % mechanism.size
    reports = mechanism.perturb(values, rng)
    half = n // 2
    return audit_reports(
        repr(mechanism),
        mechanism,
        (reports[:half], values[:half]),
        (reports[half:], values[half:]),
        mechanism.epsilon,
        level=level,
    )
