"""Answers: reports of the same users to the same questions, as records or as counts, and sums of their scores.

A report of mechanism j has an unbiased score for each value. Users' reports are independent given their values, so a
product of scores, one for each question, is unbiased for "the values are u, v, …": all estimates are made of sums of
such products, and of their squares. Over a finite alphabet of reports such a sum is a product with one matrix after
another, mode by mode (maths §7).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.mechanisms import Mechanism
from deptriad.mechanisms.entries import blocks
from deptriad.utils.arrays import Floats

if TYPE_CHECKING:
    from deptriad.collection.strategy import Strategy

MOST_CELLS = 1 << 24
"""Cells of a table of counts that is worth writing out: 128 MiB."""


@dataclass(frozen=True, eq=False)
class ReportCounts:
    """How many users gave which combination of reports: an axis for each question, over the alphabet of its reports.

    ``among`` is how many users there are in all, with those who were asked something else.
    """

    mechanisms: tuple[Mechanism, ...]
    counts: NDArray[Any]
    among: int

    @property
    def n(self) -> int:
        """Number of users who were asked."""
        return int(self.counts.sum())

    def only(self, places: Sequence[int]) -> ReportCounts:
        """The answers to some of the questions, in this order."""
        others = tuple(axis for axis in range(self.counts.ndim) if axis not in places)
        order = [sorted(places).index(place) for place in places]
        counts = self.counts.sum(axis=others).transpose(order)
        return ReportCounts(tuple(self.mechanisms[place] for place in places), counts, self.among)

    def sums(self, powers: Sequence[int]) -> Floats:
        """Σ over users of the products of scores, each to its power; an axis of values for each question."""
        found: Floats = self.counts.astype(np.float64)
        for mechanism, power in zip(self.mechanisms, powers, strict=True):
            # the first axis goes, and comes back as the last: after all of them the order is as it was
            found = np.tensordot(found, mechanism.weights**power, axes=(0, 0))
        return found

    def scored(self) -> Iterator[tuple[Floats, Floats]]:
        """How often each report to the one question came, and its scores."""
        yield self.counts.astype(np.float64), self.mechanisms[0].weights


@dataclass(frozen=True, eq=False)
class Records:
    """Every user's reports, an array for each question."""

    mechanisms: tuple[Mechanism, ...]
    reports: tuple[NDArray[Any], ...]
    among: int

    @property
    def n(self) -> int:
        """Number of users who were asked."""
        return len(self.reports[0])

    def only(self, places: Sequence[int]) -> Records:
        """The answers to some of the questions, in this order."""
        mechanisms = tuple(self.mechanisms[place] for place in places)
        return Records(mechanisms, tuple(self.reports[place] for place in places), self.among)

    def sums(self, powers: Sequence[int]) -> Floats:
        """Σ over users of the products of scores, each to its power; an axis of values for each question."""
        if (counts := self._counted()) is not None:
            return counts.sums(powers)
        sizes = [mechanism.size for mechanism in self.mechanisms]
        total = np.zeros((math.prod(sizes[:-1]), sizes[-1]))
        for part in blocks(self.n, math.prod(sizes[:-1]) + sizes[-1]):
            pairs = zip(self.mechanisms, self.reports, powers, strict=True)
            scores = [mechanism.scores(each[part]) ** power for mechanism, each, power in pairs]
            first = reduce(_row_products, scores[:-1], np.ones((len(scores[-1]), 1)))
            total += first.T @ scores[-1]
        return total.reshape(sizes)

    def scored(self) -> Iterator[tuple[Floats, Floats]]:
        """How often each report to the one question came, and its scores; or once each, block by block."""
        if (counts := self._counted()) is not None:
            yield from counts.scored()
            return
        (mechanism,), (reports,) = self.mechanisms, self.reports
        for part in blocks(self.n, mechanism.size):
            scores = mechanism.scores(reports[part])
            yield np.ones(len(scores)), scores

    def _counted(self) -> ReportCounts | None:
        """The same as counts, where all reports are numbers and their combinations few."""
        shape = [mechanism.letters for mechanism in self.mechanisms]
        if 0 in shape or math.prod(shape) > MOST_CELLS:
            return None
        every = zip(self.mechanisms, self.reports, strict=True)
        checked = tuple(mechanism._checked(each).astype(np.int64) for mechanism, each in every)
        cell = np.ravel_multi_index(checked, shape)
        counts = np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
        return ReportCounts(self.mechanisms, counts, self.among)


@dataclass(frozen=True, eq=False)
class SupportCounts:
    """How many reports to one question support each value: all that its estimate needs."""

    mechanism: Mechanism
    support: NDArray[Any]
    n: int
    among: int

    def sums(self, powers: Sequence[int]) -> Floats:
        """Σ over users of the scores to a power."""
        no, yes = (score ** powers[0] for score in self.mechanism.score_range())
        return np.asarray(self.support * yes + (self.n - self.support) * no)

    def scored(self) -> Iterator[tuple[Floats, Floats]]:
        """Refused: which values are supported together is not known."""
        raise ValueError(
            f"a simulation with {type(self.mechanism).__name__} has counts of supported values only: estimate exactly "
            "the attributes of a view, or simulate with mechanism='grr'"
        )


Answers = ReportCounts | Records | SupportCounts


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Counts of reports, which ``estimate`` takes in place of a frame of them."""

    strategy: Strategy
    parts: tuple[Answers, ...]
    users: int

    def require(self, strategy: Strategy) -> None:
        """Refuse to be read as reports of another strategy: estimates would be biased."""
        if self.strategy.fingerprint != strategy.fingerprint:
            raise ValueError(
                f"the reports were simulated with another {type(self.strategy).__name__} than this "
                f"{type(strategy).__name__}: pass the strategy they were made with"
            )

    def __repr__(self) -> str:
        return f"Simulation({type(self.strategy).__name__}, {self.users:,} users)"


def summed_scores(scores: Floats, sizes: Sequence[int], order: Sequence[int]) -> Floats:
    """Scores of joint values (rows: reports) summed to those of some attributes, in this order."""
    every = scores.reshape(-1, *sizes)
    others = tuple(axis + 1 for axis in range(len(sizes)) if axis not in order)
    ranks = [sorted(order).index(axis) + 1 for axis in order]
    return np.asarray(every.sum(axis=others).transpose([0, *ranks]))


def _row_products(one: Floats, two: Floats) -> Floats:
    """For each row all products of an entry of one with an entry of the other."""
    return np.asarray((one[:, :, None] * two[:, None, :]).reshape(len(one), -1))
