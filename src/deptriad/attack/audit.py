"""The audit: no event that an attacker can see may be likelier under one value than its promise allows.

If it was, beyond chance, the promise is broken: the mechanisms spend more than they claim, or the records are others
than the tables say. That no such event was found proves nothing: a better attacker might find one.

How sure that is: events are chosen on some reports, and counted on others of which the choice knew nothing. Given the
records and the events, all counted reports are independent, so that the number of people of value x whose reports show
the event is a sum of independent draws with the mean n_x·p(event | x); its tails are lighter than the binomial's
(Hoeffding 1956), and Clopper and Pearson's ends hold for p(event | x) under the distribution of these very records.
All events that are counted share the chance of a false alarm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.attack.seen import Collected, Reading
from deptriad.text import printable, rounded_down, rounded_up

if TYPE_CHECKING:
    from deptriad.lines import Floats
    from deptriad.mechanisms import Mechanism

LEVEL = 1e-3
"""Chance of a false alarm."""

TESTED = 8
"""Events that are counted, those that looked most telling: more would cost each of them certainty."""

THRESHOLDS = 64
"""Places at which the ratio of a pair may be cut."""

CAUTION = 4.0
"""Standard errors that are taken off a ratio when events are chosen."""

HAIR = 1e-4
"""A threshold is put so much below a ratio: equal reports, summed in another order, stay on the same side."""


@dataclass(frozen=True)
class Counted:
    """An event with its counts: ``hits`` of ``n`` people of value ``pair[0]``, ``others`` of ``m`` of ``pair[1]``."""

    pair: tuple[int, int]
    hits: int
    n: int
    others: int
    m: int
    cut: float = math.nan

    def attained(self, level: float) -> float:
        """ln of the likelihood ratio that is proven, each of the two shares at the given level."""
        lower, upper = ends(self.hits, self.n, level)[0], ends(self.others, self.m, level)[1]
        return math.log(lower / upper) if lower > 0.0 else -math.inf


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
        The two values of the event; None if there was nothing to count.
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
        return {
            "about": self.about,
            "holds": self.holds,
            "attained": self.attained,
            "allowed": self.allowed if math.isfinite(self.allowed) else "inf",
            "pair": None if self.pair is None else list(self.pair),
            "event": self.event,
            "level": self.level,
            "tested": self.tested,
        }


def worst(audits: Sequence[Audit]) -> Audit:
    """The audit that comes closest to breaking its promise, or breaks it most."""
    return min(audits, key=lambda audit: audit.margin)


def ends(hits: Any, of: Any, level: float) -> tuple[Any, Any]:
    """Clopper and Pearson's lower and upper end of a share, each wrong with a chance of at most ``level``.

    >>> low, high = ends(5, 10, 0.025)
    >>> round(float(low), 4), round(float(high), 4)
    (0.1871, 0.8129)
    """
    from scipy.special import betainccinv, betaincinv

    hits, of = np.asarray(hits, dtype=float), np.asarray(of, dtype=float)
    with np.errstate(invalid="ignore"):
        lower = np.where(hits > 0, betaincinv(hits, of - hits + 1.0, level), 0.0)
        upper = np.where(hits < of, betainccinv(hits + 1.0, of - hits, level), 1.0)
    return lower[()], upper[()]


def _promising(hits: Any, n: Any, others: Any, m: Any) -> Floats:
    """About how large a ratio an event is going to prove: its logarithm less some standard errors."""
    hits, others = np.asarray(hits) + 0.5, np.asarray(others) + 0.5
    ratio = np.log(hits / (np.asarray(n) + 1.0)) - np.log(others / (np.asarray(m) + 1.0))
    return np.asarray(ratio - CAUTION * np.sqrt(1.0 / hits + 1.0 / others))


# --- events of an attacker --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """The event "the attacker's posterior raises the odds of ``pair[0]`` over ``pair[1]`` by e^``at`` or more"."""

    pair: tuple[int, int]
    at: float

    def counted(self, ratios: Floats, target: NDArray[np.int64]) -> Counted:
        """How often it occurs under either value."""
        x, other = self.pair
        shown = ratios[:, x] - ratios[:, other] >= self.at
        mine, theirs = target == x, target == other
        return Counted(
            self.pair,
            int(np.count_nonzero(shown & mine)),
            int(np.count_nonzero(mine)),
            int(np.count_nonzero(shown & theirs)),
            int(np.count_nonzero(theirs)),
            self.at,
        )


def ratios_of(posterior: Floats, prior: Floats) -> Floats:
    """ln of posterior over prior, kept finite."""
    return np.clip(posterior, -1e6, 0.0) - prior


def choose_cuts(ratios: Floats, target: NDArray[np.int64], covered: NDArray[np.bool_]) -> list[Cut]:
    """The most telling event of each pair of values, the best of these; by records with reports of their own."""
    rows = {int(x): ratios[target == x] for x in np.flatnonzero(covered)}
    found = []
    for x, mine in rows.items():
        for other, theirs in rows.items():
            if x != other and len(mine) and len(theirs):
                found.append(_best_cut((x, other), mine, theirs))
    found.sort(key=lambda each: -each[0])
    return [cut for _, cut in found[:TESTED]]


def _best_cut(pair: tuple[int, int], mine: Floats, theirs: Floats) -> tuple[float, Cut]:
    """Where to cut one pair's ratio, and what that promises."""
    own = np.sort(mine[:, pair[0]] - mine[:, pair[1]])
    other = np.sort(theirs[:, pair[0]] - theirs[:, pair[1]])
    places = np.unique(np.linspace(0, len(own) - 1, THRESHOLDS).astype(int))
    cuts = own[places] - HAIR
    hits = len(own) - np.searchsorted(own, cuts)
    others = len(other) - np.searchsorted(other, cuts)
    promising = _promising(hits, len(own), others, len(other))
    best = int(np.argmax(promising))
    return float(promising[best]), Cut(pair, float(cuts[best]))


def audit_attack(
    target: str,
    labels: Sequence[str],
    cuts: Sequence[Cut],
    ratios: Floats,
    codes: NDArray[np.int64],
    allowed: float,
    level: float = LEVEL,
) -> Audit:
    """Count the chosen events on reports of which neither the attacker nor the choice has seen any."""
    counted = [cut.counted(ratios, codes) for cut in cuts]

    def words(each: Counted) -> str:
        x, other = (printable(labels[code]) for code in each.pair)
        return f"the attacker raises the odds of {x} over {other} by e^{each.cut:.3g} or more"

    return _audit(f"attack on {target}", counted, labels, words, allowed, level)


def _audit(
    about: str,
    counted: Sequence[Counted],
    labels: Sequence[str],
    words: Any,
    allowed: float,
    level: float,
) -> Audit:
    counted = [each for each in counted if each.n and each.m]
    if not counted:
        return Audit(about, 0.0, allowed, None, "there was nothing to count", level, 0)
    share = level / (2 * len(counted))
    proven = [each.attained(share) for each in counted]
    best = int(np.argmax(proven))
    one = counted[best]
    x, other = (labels[code] for code in one.pair)
    event = (
        f"{words(one)}: {one.hits:,} of {one.n:,} with {printable(x)}, "
        f"{one.others:,} of {one.m:,} with {printable(other)}"
    )
    return Audit(about, max(proven[best], 0.0), allowed, (x, other), event, level, len(counted))


# --- events of a mechanism by itself ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Report:
    """The event "the report names ``entry``", for one that names sets "and not ``pair[1]``"."""

    pair: tuple[int, int]
    entry: int
    sets: bool

    def counted(self, supports: NDArray[np.bool_], values: NDArray[np.int64]) -> Counted:
        x, other = self.pair
        shown = supports[:, self.entry]
        if self.sets:
            shown = shown & ~supports[:, other]
        mine, theirs = values == x, values == other
        return Counted(
            self.pair,
            int(np.count_nonzero(shown & mine)),
            int(np.count_nonzero(mine)),
            int(np.count_nonzero(shown & theirs)),
            int(np.count_nonzero(theirs)),
            float(self.entry),
        )


def _choose_reports(
    supports: NDArray[np.bool_], values: NDArray[np.int64], size: int, sets: bool
) -> list[_Report]:
    """The most telling event of each pair of values, the best of these."""
    n = np.bincount(values, minlength=size)
    if sets:  # x is named and x' is not: the ratio of a set's two likelihoods
        hits, others = np.zeros((size, size)), np.zeros((size, size))
        for x in range(size):
            own = supports[values == x]
            hits[x] = (~own[own[:, x]]).sum(axis=0)
            others[:, x] = own[~own[:, x]].sum(axis=0)
        entries = np.repeat(np.arange(size)[:, None], size, axis=1)
        best = _promising(hits, n[:, None], others, n)
    else:
        told = np.stack([supports[values == x].sum(axis=0) for x in range(size)])
        best, entries = np.full((size, size), -np.inf), np.zeros((size, size), dtype=int)
        for x in range(size):
            every = _promising(told[x], n[x], told, n[:, None])
            entries[x], best[x] = every.argmax(axis=1), every.max(axis=1)
    best[np.diag_indices(size)] = -np.inf
    best[(n == 0)[:, None] | (n == 0)] = -np.inf
    order = np.argsort(-best, axis=None)[:TESTED]
    pairs = [divmod(int(place), size) for place in order if np.isfinite(best.flat[place])]
    return [_Report(pair, int(entries[pair]), sets) for pair in pairs]


def audit_reports(
    about: str,
    reading: Reading,
    chosen: tuple[NDArray[Any], NDArray[np.int64]],
    counted: tuple[NDArray[Any], NDArray[np.int64]],
    allowed: float,
    labels: Sequence[str] | None = None,
    level: float = LEVEL,
) -> Audit:
    """Audit one mechanism on reports whose true values are known.

    Parameters
    ----------
    about, labels
        What is audited, and its values; they are numbered by default.
    reading
        How reports are read.
    chosen, counted
        Reports and true values on which events are chosen, and others on which they are counted.
    allowed
        The budget that is claimed.
    level
        Chance of a false alarm.
    """
    names = labels or [str(code) for code in range(reading.size)]
    first, second = ((reading.supports(reports), values) for reports, values in (chosen, counted))
    events = _choose_reports(*first, reading.size, reading.sets)

    def words(each: Counted) -> str:
        named = printable(names[int(each.cut)]) if reading.sets else f"number {each.cut:.0f}"
        rest = f" and not {printable(names[each.pair[1]])}" if reading.sets else ""
        return f"the report names {named}{rest}"

    found = [event.counted(*second) for event in events]
    return _audit(about, found, names, words, allowed, level)


def audit_questions(
    chosen: Collected, counted: Sequence[Collected], level: float = LEVEL
) -> tuple[Audit, ...]:
    """Audit the mechanism of every question on collected reports; all together share the level."""
    strategy = chosen.strategy
    questions = strategy.questions
    audits = []
    for place, question in enumerate(questions):
        parts = [
            (each.told[place].reports, each.values(question)[each.told[place].rows])
            for each in (chosen, *counted)
        ]
        labels = question.attributes[0].values if len(question.attributes) == 1 else None
        rest = tuple(np.concatenate(each) for each in zip(*parts[1:], strict=True))
        audits.append(
            audit_reports(
                f"{type(question.mechanism).__name__} of {question.name}",
                Reading(question.mechanism, question.mechanism.size),
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
    >>> from deptriad.mechanisms import GRR
    >>> check_mechanism(GRR(3, 1.0), np.random.default_rng(1)).holds
    True
    """
    values = np.arange(n, dtype=np.int64) % mechanism.size
    reports = mechanism.perturb(values, rng)
    half = n // 2
    return audit_reports(
        repr(mechanism),
        Reading(mechanism, mechanism.size),
        (reports[:half], values[:half]),
        (reports[half:], values[half:]),
        mechanism.epsilon,
        level=level,
    )
