"""Likelihoods of all reports under the likeliest and the unlikeliest tables of a box (maths §10.3)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from deptriad.tables.table import Box, Conditional
from deptriad.totals.favoured_sets import Replies
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ENTRY, ROUNDOFF, widening

TINY = 1e-300
"""More than underflow can take from a sum of likelihoods: those are at least 1."""

AT_ONCE = 5 * 10**6
"""Numbers held at once, about."""


Matches = tuple[bool, ...]
"""Of which attributes a report favours the value that a record has."""


class Known(NamedTuple):
    """What is known of a joint table: the edges of its cells, and what rows have to hand out or must take back.

    A row's mass on a set S of cells is at most min(upper(S), lower(S) + spare) and at least
    max(lower(S), upper(S) − surplus). Of a table that is certain both edges are the table, and nothing is left.
    """

    lower: Floats
    upper: Floats
    spare: Floats
    surplus: Floats
    certain: bool

    @property
    def rows_are_equal(self) -> bool:
        """Whether all rows are known, and the same: then nothing is told."""
        return self.certain and bool((self.lower == self.lower[0]).all())

    def as_one_axis(self) -> Known:
        """All attributes as one."""
        rows = len(self.lower)
        return self._replace(lower=self.lower.reshape(rows, -1), upper=self.upper.reshape(rows, -1))

    def without(self, axes: Sequence[int]) -> tuple[Known, float]:
        """Summed over some axes (0 is the first after the target's), with the relative error of that."""
        lower, upper, operations = self.lower, self.upper, 0
        for axis in sorted(axes, reverse=True):
            operations += lower.shape[axis + 1]
            lower, upper = lower.sum(axis=axis + 1), upper.sum(axis=axis + 1)
        return self._replace(lower=lower, upper=upper), operations * ROUNDOFF

    def as_table(self, slack: float) -> Conditional | Box:
        """The table, or its box, with the cells of a row in a line."""
        one = self.as_one_axis()
        if self.certain and not slack:
            return Conditional(one.lower)
        return Box(one.lower * (1.0 - slack), np.minimum(one.upper * (1.0 + slack), 1.0))

    def blocks(self, numbers: int) -> Iterator[tuple[slice, Known]]:
        """Some rows at a time, for so many numbers a row."""
        rows = max(AT_ONCE // max(numbers, 1), 1)
        for begin in range(0, len(self.lower), rows):
            part = slice(begin, begin + rows)
            edges = (self.lower[part], self.upper[part], self.spare[part], self.surplus[part])
            yield part, Known(*edges, self.certain)


def by_matches(
    known: Known, epsilon: Floats, reports: list[Replies], slack: float, logarithms: bool
) -> float:
    """The leakage where every report favours a set: what counts is the mass on each kind of match.

    Of the kinds of matches the heavier have larger likelihoods, the same for all reports; the largest likelihood
    fills the row from the heaviest down, the least from the lightest up.
    """
    finite = _finite(epsilon)
    matches = sorted(kinds_of_match(epsilon), key=_falling(finite))
    slack += (sum(known.lower.shape[1:]) + 8 * len(matches) + 32) * ROUNDOFF + ENTRY
    number = math.prod(each.number for each in reports)
    high, low = np.empty((len(known.lower), number)), np.empty((len(known.lower), number))
    combined = _log_sums(finite, matches) if logarithms else _sums(epsilon, matches)
    for rows, part in known.blocks(number * len(matches)):
        above, below = (
            _masses(edge, reports, epsilon, matches) for edge in (part.upper, part.lower)
        )
        most = np.minimum(above, below + part.spare[:, None]) * (1.0 + slack)
        least = np.maximum(below, above * (1.0 - slack) - part.surplus[:, None]) * (1.0 - slack)
        high[rows], low[rows] = combined(np.minimum(most, 1.0)), combined(least)
    if not logarithms:
        return _leakage(high * (1.0 + slack) + TINY, low * (1.0 - slack), 1.0)
    worst = max(float(np.max(most - least)) for most, least in _different(high, low))
    if np.isinf(epsilon).any() and worst > finite.max() / 2.0:
        return math.inf
    return worst + 8 * slack * (float(high.max()) + 1.0)


def kinds_of_match(epsilon: Floats) -> list[Matches]:
    """One of each kind of match: attributes of one budget count alike, so that only how many match makes a difference.

    >>> len(kinds_of_match(np.array([1.0, 2.0, 3.0]))), len(kinds_of_match(np.array([1.0, 1.0, 1.0])))
    (8, 4)
    """
    every = itertools.product((True, False), repeat=len(epsilon))
    return list({tuple(np.sort(epsilon[list(one)]).tolist()): one for one in every}.values())


def _falling(epsilon: Floats) -> Callable[[Matches], float]:
    return lambda matches: -math.fsum(epsilon[list(matches)])


def _masses(
    edge: Floats, reports: list[Replies], epsilon: Floats, matches: list[Matches]
) -> Floats:
    """For all kinds of match but the last, all rows and reports: an edge summed over cells that match so or more."""
    budgets, alike = np.unique(epsilon, return_inverse=True)
    # further first axes, one for each budget: how many attributes of it match
    of_kind = edge[(None,) * len(budgets)]
    for place, (each, axis) in enumerate(zip(reports, alike.tolist(), strict=True)):
        before, after = np.split(of_kind.shape, [len(budgets) + 1 + place])
        line = of_kind.reshape(-1, after[0], math.prod(after[1:]))
        inside, outside = (
            np.moveaxis((sets @ line).reshape(*before, each.number, *after[1:]), axis, 0)
            for sets in (each.listed.astype(np.float64), (~each.listed).astype(np.float64))
        )
        # one more match, or as many as before
        kinds = [outside[:1], inside[:-1] + outside[1:], inside[-1:]]
        of_kind = np.concatenate([np.moveaxis(kind, 0, axis) for kind in kinds], axis)
    counts = [[sum(epsilon[list(one)] == budget) for budget in budgets] for one in matches[:-1]]
    flat = of_kind.reshape(*of_kind.shape[: len(budgets)], len(edge), -1)
    return np.asarray(np.cumsum(flat[tuple(np.array(counts).T)], axis=0))


def _sums(epsilon: Floats, matches: list[Matches]) -> Callable[[Floats], Floats]:
    """From masses to M − 1, the excess over the likelihood of no match: Σ (falls of the excess) × mass."""
    gains, heights = np.expm1(epsilon), []
    for match in matches:
        height = 0.0
        for gain, one in zip(gains, match, strict=True):
            height = height + gain * (1.0 + height) if one else height
        heights.append(height)
    falls = np.maximum(-np.diff(heights), 0.0)
    return lambda masses: np.asarray(np.tensordot(falls, masses, 1))


def _log_sums(epsilon: Floats, matches: list[Matches]) -> Callable[[Floats], Floats]:
    """The same in logarithms, ln M, for budgets whose likelihoods no float can hold."""
    logs = np.array([math.fsum(epsilon[list(match)]) for match in matches])
    with np.errstate(divide="ignore"):
        falls = logs[:-1] + np.log(-np.expm1(np.diff(logs)))

    def combined(masses: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            terms = falls[:, None, None] + np.log(np.maximum(masses, 0.0))
        return np.asarray(np.logaddexp(np.logaddexp.reduce(terms, axis=0), 0.0))

    return combined


def _finite(epsilon: Floats) -> Floats:
    """Infinite budgets as ones that dwarf the sum of all others, and ln of the least entry there is."""
    large = 4.0 * (float(epsilon[np.isfinite(epsilon)].sum()) + 1000.0)
    return np.where(np.isinf(epsilon), large, epsilon)


def by_cells(known: Known, epsilon: Floats, reports: list[Replies], slack: float) -> float:
    """The leakage for likelihoods of any number of levels: report by report, the cells sorted by their likelihood."""
    known = known.as_one_axis()
    cells = known.lower.shape[1]
    slack += (4 * cells + 8 * len(reports) + 32) * ROUNDOFF + ENTRY
    lines = [each.as_likelihoods(float(e)) for each, e in zip(reports, epsilon, strict=True)]
    worst = 0.0
    for chosen in itertools.product(*lines):
        likelihood = np.ones(1)
        for one in chosen:
            likelihood = np.multiply.outer(likelihood, one).reshape(-1)
        order = np.argsort(-likelihood)
        falls = -np.diff(likelihood[order], append=0.0)
        above, below = (np.cumsum(edge[:, order], axis=1) for edge in (known.upper, known.lower))
        most = np.minimum(above, below + known.spare[:, None])
        least = np.maximum(below, above * (1.0 - slack) - known.surplus[:, None])
        high, low = np.minimum(most, 1.0) @ falls * (1.0 + slack), least @ falls * (1.0 - slack)
        if high.max() > 0.0:  # a report that can be
            worst = max(worst, _leakage(high[:, None] + TINY, low[:, None], 0.0))
    return worst


# --- two different rows -----------------------------------------------------------------------------------------


def _leakage(high: Floats, low: Floats, base: float) -> float:
    """ln max over reports and rows x ≠ x' of (base + high)/(base + low), rounded up."""
    worst = 0.0
    for most, least in _different(high, low):
        with np.errstate(divide="ignore"):
            worst = max(worst, float(np.max((most - least) / (base + least))))
    return math.log1p(worst * widening(8)) * widening(4)


def _different(high: Floats, low: Floats) -> Iterator[tuple[Floats, Floats]]:
    """For each report (column) the largest of ``high`` and the least of ``low`` in two different rows: two choices.

    Either the row of the largest and the best other one, or the row of the least and the best other one.
    """
    columns = np.arange(high.shape[1])
    top, bottom = high.argmax(axis=0), low.argmin(axis=0)
    others = low.copy()
    others[top, columns] = math.inf
    yield high[top, columns], others.min(axis=0)
    others = high.copy()
    others[bottom, columns] = -math.inf
    yield others.max(axis=0), low[bottom, columns]
