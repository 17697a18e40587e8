"""Back in time: the passage from each time to the next one, for each thing that may be known of the start (maths §12).

The table back in time is p(x before | x now) = π(x before)·P(x before, x)/π(x). It depends on the shares π at
that time, so a start that is not the stationary one has a table for each time, until the start is forgotten.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np

from deptriad.chains import shares_box
from deptriad.chains.passage import NOTHING_LOST, ByTable, Passage, Unknown
from deptriad.chains.recursion import followed
from deptriad.chains.stationary import TINY, stationary
from deptriad.curves.exact import table_profile
from deptriad.curves.leakage import profile
from deptriad.curves.profile import Profile
from deptriad.tables.table import Box, Conditional
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ENTRY, ROUNDOFF, widening

FORGOTTEN = 1e-8
"""Shares within this of the stationary ones, relatively, are taken as those, and the rest is granted."""

MOST_TABLES = 256
"""How many times have a table of their own, at most, before a limit grants what is not forgotten by then."""

MOST_BOXES = 12
"""The same where the forward table is a box, whose profiles take longer."""


class Back(Protocol):
    """The passages of all times."""

    def passages(self) -> Iterator[Passage]:
        """From the first time to the second, from the second to the third, and so on without end."""

    def limit(self, epsilon: float) -> float:
        """The supremum of the bounds over all time, with one budget."""

    def most(self, epsilon: float, times: int) -> float:
        """The same, or ∞ where so few times do without it."""

    @property
    def threshold(self) -> float:
        """The budget below which there is a limit."""


class Same:
    """One passage for all times."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage

    def passages(self) -> Iterator[Passage]:
        """It, again and again."""
        return itertools.repeat(self.passage)

    def limit(self, epsilon: float) -> float:
        """Its limit."""
        return self.passage.limit(epsilon)

    def most(self, epsilon: float, times: int) -> float:
        """Its limit, too."""
        return self.limit(epsilon)

    @property
    def threshold(self) -> float:
        """Its threshold."""
        return self.passage.threshold


class Changing:
    """A passage for each time, each worked out once, from a source that never ends."""

    def __init__(
        self,
        source: Iterator[Passage],
        most: int,
        later: Callable[[], Passage] = lambda: NOTHING_LOST,
    ) -> None:
        self._source, self._most, self._later = source, most, later
        self._found: list[Passage] = []

    def _at(self, step: int) -> Passage:
        while len(self._found) <= step:
            self._found.append(next(self._source))
        return self._found[step]

    def passages(self) -> Iterator[Passage]:
        """From each time to the next; the same object once nothing changes any more."""
        return map(self._at, itertools.count())

    def limit(self, epsilon: float) -> float:
        """The largest bound before nothing changes any more, or the limit from then on."""
        steps, later = self._settled
        early = followed(np.full(steps + 1, epsilon), self.passages(), math.inf)
        return max(later.limit(epsilon), float(early.max()))

    def most(self, epsilon: float, times: int) -> float:
        """The limit, unless every one of so few times has a passage of its own, which is then followed."""
        if times <= self._most and not self._settles(times):
            return math.inf
        return self.limit(epsilon)

    def _settles(self, step: int) -> bool:
        return self._at(step) is self._at(step + 1)

    @cached_property
    def _settled(self) -> tuple[int, Passage]:
        """How many passages come before the one that holds for all times from then on; and that one."""
        for step in range(self._most):
            if self._settles(step):
                return step, self._at(step)
        return self._most, self._later()

    @property
    def threshold(self) -> float:
        """That of the passage which holds in the end."""
        return self._settled[1].threshold


# --- tables that are known ------------------------------------------------------------------------------------------


def from_stationary(table: Floats) -> Same:
    """The passage of a chain that has been going on for ever; all values of the table reach each other."""
    if (table == table[0]).all():  # nothing is remembered from one time to the next
        return Same(ByTable(Profile(np.zeros(1), np.zeros(1))))
    shares, error = stationary(table)
    return Same(_passage(table, shares, error))


def from_initial(table: Floats, initial: Floats) -> Changing:
    """The passages of a chain with a given start, from which all values of the table can be reached."""
    shares = partial(_shares_over_time, table, initial)
    settled = _stationary_or_none(table)
    return Changing(
        _tables_over_time(table, shares(), settled),
        MOST_TABLES,
        lambda: _what_remains(table, shares(), settled),
    )


class Known(NamedTuple):
    """Shares, and how much the logarithm of a ratio of two of them may be off."""

    shares: Floats
    error: float


def _shares_over_time(table: Floats, initial: Floats) -> Iterator[Known]:
    shares, error = initial, 2.0 * ENTRY
    while True:
        yield Known(shares, error)
        shares = shares @ table
        error += 2.0 * ((table.shape[0] + 4) * ROUNDOFF + ENTRY)


def _tables_over_time(
    table: Floats, times: Iterator[Known], settled: Known | None
) -> Iterator[Passage]:
    """A table for each time, while the shares at that time are still told from the stationary ones."""
    for now in times:
        if settled and (apart := _apart(now, settled)) <= FORGOTTEN + 2.0 * settled.error:
            yield from itertools.repeat(_passage(table, settled.shares, settled.error + apart))
        found = _passage(table, *now)
        if found is NOTHING_LOST:  # nor can any later shares be followed
            yield from itertools.repeat(found)
        yield found


def _what_remains(table: Floats, times: Iterator[Known], settled: Known | None) -> Passage:
    """The stationary table with what the start still adds after MOST_TABLES times."""
    if settled is None:
        return NOTHING_LOST
    apart = _apart(next(itertools.islice(times, MOST_TABLES, None)), settled)
    return _passage(table, settled.shares, settled.error + apart) if apart < 1.0 else NOTHING_LOST


def _stationary_or_none(table: Floats) -> Known | None:
    """Shares that the chain tends to, where it has any that are positive everywhere."""
    from scipy.sparse.csgraph import connected_components

    if connected_components(table > 0.0, directed=True, connection="strong")[0] > 1:
        return None
    try:
        return Known(*stationary(table))
    except ValueError:
        return None


def _apart(now: Known, settled: Known) -> float:
    """ln of the largest over the smallest π_t(x)/π(x), rounded up, now and at all later times.

    Such a ratio is an average of those one time before, so their range never widens.
    """
    if not now.shares.min() > 0.0:
        return math.inf
    ratio = now.shares / settled.shares
    apart = math.log(ratio.max() / ratio.min()) * widening(4) + 8 * ROUNDOFF
    return apart + now.error + settled.error


def _passage(table: Floats, shares: Floats, error: float) -> Passage:
    """Through p(before | now) ∝ shares(before)·table(before, now); values that nobody has are left out."""
    weight = shares[:, None] * table
    if weight[(shares[:, None] > 0.0) & (table > 0.0)].min() < TINY:
        return NOTHING_LOST
    now = np.flatnonzero(weight.any(axis=0))
    before = np.flatnonzero(weight.any(axis=1))
    rows = weight[np.ix_(before, now)].T
    back = rows / rows.sum(axis=1, keepdims=True)
    slack = error + 2.0 * ENTRY + 2 * (before.size + 4) * ROUNDOFF
    return ByTable(table_profile(np.ascontiguousarray(back)), slack)


# --- a start that is unknown ----------------------------------------------------------------------------------------


def from_anywhere(forward: Conditional | Box) -> Same:
    """The passage that holds whatever the shares are, at any time."""
    if isinstance(forward, Box):
        return Same(Unknown(_diameter(forward.lower, forward.upper)))
    return Same(Unknown(_diameter(forward.table, forward.table)))


def _diameter(lower: Floats, upper: Floats) -> float:
    """Δ = ln max P(i, x)P(j, x')/(P(j, x)P(i, x')) over x ≠ x' that can be reached, rounded up."""
    there = upper.any(axis=0)
    lower, upper = lower[:, there], upper[:, there]
    if lower.shape[1] < 2 or lower.shape[0] < 2:
        return 0.0
    if not lower.all():
        return math.inf
    widest = 0.0
    for row in range(len(lower) - 1):
        one, other = upper[row] / lower[row + 1 :], upper[row + 1 :] / lower[row]
        widest = max(widest, float(_best_two(one, other).max()))
    return widest * (1.0 + 16 * ROUNDOFF) + 4 * ENTRY if widest > 0.0 else 0.0


def _best_two(one: Floats, other: Floats) -> Floats:
    """ln of the largest one[x]·other[x'] with x ≠ x', row by row; logarithms of ratios, so that no digit is lost."""
    rows = np.arange(len(one))
    at, beside = one.argmax(axis=1), other.argmax(axis=1)
    best = np.log(one[rows, at]) + np.log(other[rows, beside])
    for row in np.flatnonzero(at == beside):
        x = at[row]
        rest = np.arange(one.shape[1]) != x
        best[row] = max(
            np.log(one[row, x]) + np.log(other[row, rest].max()),
            np.log(one[row, rest].max()) + np.log(other[row, x]),
        )
    return np.asarray(best)


# --- boxes ----------------------------------------------------------------------------------------------------------


def from_box(forward: Box, initial: Floats | None) -> Back:
    """The passages through boxes of the table back in time, from a start or (None) for ever stationary."""
    if initial is None:
        return Same(_box_passage(forward, shares_box.anywhere(forward)))
    return Changing(_boxes_over_time(forward, initial), MOST_BOXES + 1)


def _boxes_over_time(forward: Box, initial: Floats) -> Iterator[Passage]:
    shares = shares_box.around(initial)
    for _ in range(MOST_BOXES):
        yield _box_passage(forward, shares)
        shares = shares_box.one_step_on(forward, shares)
    yield from itertools.repeat(_box_passage(forward, shares_box.anywhere(forward, MOST_BOXES)))


def _box_passage(forward: Box, shares: shares_box.Shares) -> Passage:
    return ByTable(profile(shares_box.back_in_time(forward, shares)))


def counted(back: Conditional | Box) -> Same:
    """The passage through a table back in time that is given, and the same at all times."""
    return Same(ByTable(profile(back)))
