"""Events that two values may make more or less likely: chosen on some reports, counted on others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.mechanisms import Mechanism
from deptriad.tables.uncertainty import share_ends
from deptriad.utils.arrays import Floats
from deptriad.utils.text import printable

Pair = tuple[int, int]
Codes = NDArray[np.int64]
Marks = NDArray[np.bool_]

TESTED = 8
"""Events that are counted, those that looked most telling: more would cost each of them certainty."""

THRESHOLDS = 64
"""Places at which the ratio of a pair may be cut."""

MOST_VALUES = 64
"""Values of a target whose pairs are looked at, the commonest: of rare ones little could be proven."""

MOST_REPORTED = 512
"""The same for the reports of a mechanism, which take less time."""

CAUTION = 4.0
"""Standard errors that are taken off a ratio when events are chosen."""

HAIR = 1e-4
"""A threshold is put so much below a ratio: equal reports, summed in another order, stay on the same side."""


@dataclass(frozen=True)
class Counted:
    """How often an event occurred: ``hits`` of ``n`` times under one value, ``others`` of ``m`` under the other."""

    hits: int
    n: int
    others: int
    m: int

    @classmethod
    def of(cls, shown: Marks, values: Codes, pair: Pair) -> Counted:
        """From who shows the event, and everybody's values."""
        mine, theirs = (values == value for value in pair)
        numbers = (shown & mine, mine, shown & theirs, theirs)
        return cls(*(int(np.count_nonzero(marks)) for marks in numbers))

    def attained(self, level: float) -> float:
        """ln of the likelihood ratio that is proven, each of the two shares at the given level."""
        lower = share_ends(self.hits, self.n, level)[0]
        upper = share_ends(self.others, self.m, level)[1]
        return math.log(lower / upper) if lower > 0.0 else -math.inf


def _promising(hits: Any, n: Any, others: Any, m: Any) -> Floats:
    """About how large a ratio an event is going to prove: its logarithm less some standard errors."""
    hits, others = np.asarray(hits) + 0.5, np.asarray(others) + 0.5
    ratio = np.log(hits / (np.asarray(n) + 1.0)) - np.log(others / (np.asarray(m) + 1.0))
    return np.asarray(ratio - CAUTION * np.sqrt(1.0 / hits + 1.0 / others))


def _commonest(numbers: NDArray[Any], most: int) -> Codes:
    """The values that occur most, in their order; none that does not occur."""
    return np.sort(np.argsort(-numbers, kind="stable")[: min(most, np.count_nonzero(numbers))])


# --- events of an attacker --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """The event "the attacker's posterior raises the odds of ``pair[0]`` over ``pair[1]`` by e^``at`` or more"."""

    pair: Pair
    at: float

    def counted(self, ratios: Floats, target: Codes) -> Counted:
        """How often it occurs under either value."""
        x, other = self.pair
        return Counted.of(ratios[:, x] - ratios[:, other] >= self.at, target, self.pair)

    def words(self, labels: Sequence[str]) -> str:
        """What it is."""
        x, other = (printable(labels[code]) for code in self.pair)
        return f"the attacker raises the odds of {x} over {other} by e^{self.at:.3g} or more"


def ratios_of(posterior: Floats, prior: Floats) -> Floats:
    """ln of posterior over prior, kept finite."""
    return np.clip(posterior, -1e6, 0.0) - prior


def choose_cuts(ratios: Floats, target: Codes, covered: Marks) -> list[Cut]:
    """The most telling event of each pair of values, the best of these; by records with reports of their own."""
    common = _commonest(np.bincount(target, minlength=len(covered)) * covered, MOST_VALUES)
    rows = {x: ratios[target == x] for x in common.tolist()}
    found = [
        _best_cut((x, other), mine, theirs)
        for x, mine in rows.items()
        for other, theirs in rows.items()
        if x != other
    ]
    found.sort(key=lambda each: -each[0])
    return [cut for _, cut in found[:TESTED]]


def _best_cut(pair: Pair, mine: Floats, theirs: Floats) -> tuple[float, Cut]:
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


# --- events of a mechanism by itself ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """The event "the report names ``entry``", and where ``without`` is given, not that one."""

    pair: Pair
    entry: int
    without: int | None
    sets: bool

    def counted(self, supports: Marks, values: Codes) -> Counted:
        """How often it occurs under either value."""
        shown = supports[:, self.entry]
        if self.without is not None:
            shown = shown & ~supports[:, self.without]
        return Counted.of(shown, values, self.pair)

    def words(self, labels: Sequence[str]) -> str:
        """What it is; entries that are no values have numbers."""
        named = printable(labels[self.entry]) if self.sets else f"number {self.entry}"
        rest = "" if self.without is None else f" and not {printable(labels[self.without])}"
        return f"the report names {named}{rest}"


@dataclass(frozen=True)
class Preferred:
    """The event "the report speaks for a person's value rather than for another person's", over pairs of people.

    Everybody is compared with somebody of another value: once as the one whose value that is, once as the other. A
    promise about each pair is one about their mean, and a mean over all people can be proven where every single value
    has too few of them.
    """

    mechanism: Mechanism
    pair: None = None

    def counted(self, supports: Marks, values: Codes) -> Counted:
        """How often people's reports speak for their own value, and those of others for it rather than for theirs."""
        order = np.argsort(values, kind="stable")
        across = np.roll(order, len(order) // 2)  # who is compared with whom depends on values only
        differ = values[order] != values[across]
        own, other = order[differ], across[differ]
        hits, others = (
            self.mechanism.prefers(supports[rows], values[own], values[other])
            for rows in (own, other)
        )
        return Counted(int(hits.sum()), len(own), int(others.sum()), len(other))

    def words(self, labels: Sequence[str]) -> str:
        """What it is."""
        return "over pairs of values x and x' of all people, the report speaks for x rather than x'"


Event = Cut | Named | Preferred
"""Something that is compared under two values; under many pairs of them where ``pair`` is None."""


def choose_reports(supports: Marks, values: Codes, mechanism: Mechanism) -> list[Named | Preferred]:
    """The most telling events about two values each, and the one about all of them."""
    common = _commonest(np.bincount(values, minlength=mechanism.size), MOST_REPORTED)
    found: list[tuple[float, Named]] = []
    if len(common) > 1:
        own = [supports[values == x] for x in common]
        found = _by_entry(own, common, mechanism.sets)
        if mechanism.sets and np.count_nonzero(supports, axis=1).max(initial=0) > 1:
            found += _by_pair(own, common)
    found.sort(key=lambda each: -each[0])
    return [*(event for _, event in found[: TESTED - 1]), Preferred(mechanism)]


def _by_entry(own: list[Marks], common: Codes, sets: bool) -> list[tuple[float, Named]]:
    """Of each entry the two values that differ most in how often their reports, ``own``, name it."""
    told, n = np.stack([marks.sum(axis=0) for marks in own]), np.array([len(x) for x in own])
    shares = np.log((told + 0.5) / (n[:, None] + 1.0))
    doubts = CAUTION / np.sqrt(told + 0.5)
    most, least = (shares - doubts).argmax(axis=0), (shares + doubts).argmin(axis=0)
    entries = np.arange(told.shape[1])
    promising = _promising(told[most, entries], n[most], told[least, entries], n[least])
    pairs = zip(common[most].tolist(), common[least].tolist(), strict=True)
    return [
        (float(promising[entry]), Named((x, other), entry, None, sets))
        for entry, (x, other) in enumerate(pairs)
        if x != other
    ]


def _by_pair(own: list[Marks], common: Codes) -> list[tuple[float, Named]]:
    """Of each pair of values "the one is named and the other is not": the ratio of a set's two likelihoods."""
    n, size = np.array([len(marks) for marks in own]), len(common)
    hits, others = np.zeros((size, size)), np.zeros((size, size))
    for place, marks in enumerate(own):
        named = marks[:, common]
        hits[place] = (~named[named[:, place]]).sum(axis=0)
        others[:, place] = named[~named[:, place]].sum(axis=0)
    promising = _promising(hits, n[:, None], others, n)
    promising[np.diag_indices(size)] = -np.inf
    best = np.argsort(-promising, axis=None, kind="stable")[: min(TESTED, size * (size - 1))]
    found = []
    for x, other in (divmod(place, size) for place in best.tolist()):
        pair = int(common[x]), int(common[other])
        found.append((float(promising[x, other]), Named(pair, pair[0], pair[1], True)))
    return found
