"""Sums: all that is remembered of reports, however many there are. They are filled batch by batch, and add up.

A report of mechanism j has an unbiased score for each value. Users' reports are independent given their values, so a
product of scores, one for each question, is unbiased for "the values are u, v, …": all estimates are made of sums of
such products, and of their squares. What a mechanism keeps of a report (``Mechanism.kept``) is linear in its scores and
in their squares, so sums of products of what is kept are enough (maths §7). They are whole numbers wherever ones and
zeros are kept, so that batches, partitions and the order of rows change no digit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.mechanisms import Mechanism
from deptriad.mechanisms.entries import blocks
from deptriad.utils.arrays import Floats

if TYPE_CHECKING:
    from deptriad.collection.question import Question

Terms = Callable[[Floats], list[Floats]]
"""From scores of some attributes' values (first axis: reports) to what is summed over reports."""


Reports = Sequence[NDArray[Any]]
"""Of the same users, to each of some questions."""

Times = Floats | None
"""How often each user counts; None is once."""


class Told(NamedTuple):
    """Which users answered a question, and their reports."""

    rows: NDArray[np.bool_]
    reports: NDArray[Any]


@dataclass(eq=False)
class Sums(ABC):
    """What reports to some questions of the same users sum to.

    ``places`` are those of the questions in their strategy, ``n`` counts users who answered, ``among`` all of them.
    Each user counts as often as the survey weight to the ``power`` says; to the power 0 that is once.
    """

    places: tuple[int, ...]
    mechanisms: tuple[Mechanism, ...]
    power: int = field(default=0, kw_only=True)
    n: float = field(default=0, init=False)
    among: float = field(default=0, init=False)

    @abstractmethod
    def __post_init__(self) -> None:
        """Empty sums."""

    def counted(
        self, told: Mapping[int, Told], among: int, weights: Floats | None = None
    ) -> tuple[Reports, Times]:
        """Count the users who told something to each question: their reports, and how often each of them counts."""
        own = [told[place] for place in self.places]
        everyone = own[0].rows
        for each in own[1:]:
            everyone = everyone & each.rows
        reports = [
            each.reports
            if len(each.reports) == everyone.sum()
            else each.reports[everyone[each.rows]]
            for each in own
        ]
        if not self.power or weights is None:
            self.count(len(reports[0]), among)
            return reports, None
        times = weights**self.power
        self.count(float(times[everyone].sum()), float(times.sum()))
        return reports, times[everyone]

    def count(self, n: float, among: float) -> None:
        """So many users more."""
        self.n += n
        self.among += among

    def arrays(self) -> list[NDArray[Any]]:
        """All that was summed; none of the arrays is empty."""
        return [np.array([self.n, self.among]), *self._held()]

    def absorb(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Add what others of the same kind have summed; arrays may have lost their shape on the way."""
        self.count(*arrays[0].tolist())
        pairs = zip(self._held(), arrays[1:], strict=True)
        self._hold([own + more.reshape(own.shape) for own, more in pairs])

    @abstractmethod
    def _add(self, reports: Reports, weights: Times, second: Times = None) -> None:
        """The reports themselves; with weights, each so often, and in terms of second order as ``second`` says."""

    @abstractmethod
    def _held(self) -> list[NDArray[Any]]: ...

    @abstractmethod
    def _hold(self, arrays: list[NDArray[Any]]) -> None: ...


class Tally(Sums):
    """Sums of products of what is kept of the reports, an axis for each question."""

    def __post_init__(self) -> None:
        shape = [mechanism.kept_size for mechanism in self.mechanisms]
        self.total: NDArray[Any] = np.zeros(shape, dtype=np.int64)

    def sums(self, powers: Sequence[int]) -> Floats:
        """Σ over users of the products of scores, each to its power; an axis of values for each question."""
        found = self.total.astype(np.float64)
        for mechanism, power in zip(self.mechanisms, powers, strict=True):
            # the first axis goes, and comes back as the last: after all of them the order is as it was
            found = mechanism.scored(np.moveaxis(found, 0, -1), power)
        return found

    def only(self, axes: Sequence[int]) -> Tally:
        """Of some of the questions, in this order."""
        places = tuple(self.places[axis] for axis in axes)
        own = Tally(places, tuple(self.mechanisms[axis] for axis in axes))
        own.count(self.n, self.among)
        total = self.total
        for axis in sorted(set(range(total.ndim)) - set(axes), reverse=True):
            total = self.mechanisms[axis].counted(np.moveaxis(total, axis, -1))
        own.total = total.transpose([sorted(axes).index(axis) for axis in axes])
        return own

    def up_to_two(self) -> list[Tally]:
        """Of every question, and of every two."""
        axes = range(len(self.mechanisms))
        return [self.only(some) for size in (1, 2) for some in combinations(axes, size)]

    def add_table(self, table: NDArray[Any], rows: Sequence[NDArray[Any] | None]) -> None:
        """As many reports as a table says, given what is kept of those of each place along an axis (None: as it is)."""
        self.total = self.total + turned(table, rows)

    def _add(self, reports: Reports, weights: Times, second: Times = None) -> None:
        every = list(zip(self.mechanisms, reports, strict=True))
        if weights is None and len(every) == 1:
            self.total = self.total + every[0][0].kept_sum(every[0][1])
        elif all(mechanism.letters for mechanism in self.mechanisms):
            checked = tuple(each._checked(told).astype(np.int64) for each, told in every)
            cells = np.ravel_multi_index(checked, self.total.shape)
            if weights is None and self.total.size > len(cells):
                np.add.at(self.total.reshape(-1), cells, 1)
            else:
                found = np.bincount(cells, weights, minlength=self.total.size)
                self.total = self.total + found.reshape(self.total.shape)
        else:
            self._add_products(reports, weights)

    def _add_products(self, reports: Sequence[NDArray[Any]], weights: Floats | None) -> None:
        shape = self.total.shape
        for part in blocks(len(reports[0]), math.prod(shape[:-1]) + shape[-1]):
            pairs = zip(self.mechanisms, reports, strict=True)
            kept = [mechanism.kept(told[part]) for mechanism, told in pairs]
            exact = weights is None and all(each.dtype == np.bool_ for each in kept)
            # of so few ones and zeros even short floats sum exactly
            kept = [each.astype(np.float32 if exact else np.float64) for each in kept]
            first = reduce(_row_products, kept[:-1], np.ones((len(kept[-1]), 1), kept[-1].dtype))
            last = kept[-1] if weights is None else kept[-1] * weights[part, None]
            found = (first.T @ last).reshape(shape)
            self.total = self.total + (found.astype(np.int64) if exact else found)

    def _held(self) -> list[NDArray[Any]]:
        return [self.total]

    def _hold(self, arrays: list[NDArray[Any]]) -> None:
        [self.total] = arrays


@dataclass(eq=False)
class TermSums(Sums):
    """Sums of terms of the scores of some attributes of one question, which are sums of scores of its joint values.

    The first ``linear`` terms are of first order in the scores, all others of second.
    """

    view: Question
    names: Sequence[str]
    terms: Terms
    linear: int

    @classmethod
    def of(
        cls,
        place: int,
        view: Question,
        names: Sequence[str],
        terms: Terms,
        linear: int,
        power: int = 0,
    ) -> TermSums:
        """Of the question at a place."""
        return cls((place,), (view.mechanism,), view, names, terms, linear, power=power)

    def __post_init__(self) -> None:
        self.tally = Tally(self.places, self.mechanisms)
        nobody = self._summed(np.zeros((0, self.view.mechanism.size)))
        self.others = [term.sum(axis=0) for term in self.terms(nobody)]

    def count(self, n: float, among: float) -> None:
        """So many users more."""
        super().count(n, among)
        self.tally.count(n, among)

    def found(self) -> list[Floats]:
        """The sums of all terms."""
        mechanism = self.view.mechanism
        if not mechanism.letters:
            return self.others
        whole = TermSums.of(self.places[0], self.view, self.names, self.terms, self.linear)
        if mechanism.others_alike:
            whole._add_margin(self.tally.total)
        else:
            whole.add_scored(mechanism.listed(), self.tally.total)
        return [one + two for one, two in zip(self.others, whole.others, strict=True)]

    def add_scored(self, reports: NDArray[Any], times: NDArray[Any]) -> None:
        """Reports, each so many times."""
        for part in blocks(len(reports), self.view.mechanism.size):
            self.add_scores(self.view.mechanism.scores(reports[part]), times[part], times[part])

    def _add_margin(self, counts: NDArray[Any]) -> None:
        """So many reports of each value, of which scores tell only whether they name a value of the attributes."""
        [table] = self._summed(counts)
        times, every = table.ravel(), np.arange(table.size)
        no, yes = self.view.mechanism.score_range(counts.size // table.size)
        for part in blocks(len(every), len(every)):
            scores = np.where(every[part, None] == every, yes, no)
            self._add_terms(scores.reshape(-1, *table.shape), times[part], times[part])

    def add_scores(self, scores: Floats, first: NDArray[Any], second: NDArray[Any] | None) -> None:
        """Scores, each so many times in terms of first and of second order; in the first only, without a second."""
        self._add_terms(self._summed(scores), first, second)

    def _add_terms(self, scores: Floats, first: NDArray[Any], second: NDArray[Any] | None) -> None:
        for place, term in enumerate(self.terms(scores)):
            times = first if place < self.linear else second
            if times is not None:
                self.others[place] = self.others[place] + np.tensordot(times, term, axes=(0, 0))

    def _add(self, reports: Reports, weights: Times, second: Times = None) -> None:
        if weights is None or second is None:
            if self.view.mechanism.letters:
                self.tally._add(reports, weights)
            else:
                _add_terms_of([(self, weights)], reports[0])
            return
        for part in blocks(len(weights), self.view.mechanism.size):
            scores = self.view.mechanism.scores(reports[0][part])
            self.add_scores(scores, weights[part], second[part])

    def _summed(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Of joint values (rows: reports) to those of the attributes, an axis for each."""
        order = [self.view.names.index(name) for name in self.names]
        others = tuple(axis + 1 for axis in range(len(self.view.sizes)) if axis not in order)
        ranks = [sorted(order).index(axis) + 1 for axis in order]
        every = scores.reshape(-1, *self.view.sizes).sum(axis=others)
        return np.asarray(every.transpose([0, *ranks]))

    def _held(self) -> list[NDArray[Any]]:
        return [self.tally.total, *self.others]

    def _hold(self, arrays: list[NDArray[Any]]) -> None:
        self.tally.total, *self.others = arrays


class Signs(Sums):
    """How many reports to a question have each of the marks that do not depend on the value."""

    def __post_init__(self) -> None:
        self.total = np.zeros(len(self.mechanisms[0].sign_chances()), dtype=np.int64)

    def _add(self, reports: Reports, weights: Times, second: Times = None) -> None:
        for part in blocks(len(reports[0]), len(self.total) + 1):
            self.total += self.mechanisms[0].signs(reports[0][part]).sum(axis=0)

    def _held(self) -> list[NDArray[Any]]:
        return [self.total]

    def _hold(self, arrays: list[NDArray[Any]]) -> None:
        [self.total] = arrays


def add_told(
    every: Iterable[Sums], told: Mapping[int, Told], among: int, weights: Floats | None = None
) -> None:
    """Add to sums what users told to each question; ``among`` counts those who were asked something else, too.

    What a report without a number supports takes long to find: of each question once for all sums of terms.
    """
    alike = defaultdict(list)
    for sums in every:
        reports, times = sums.counted(told, among, weights)
        if isinstance(sums, TermSums) and not sums.mechanisms[0].letters:
            alike[sums.places[0]].append((sums, times))
        else:
            sums._add(reports, times)
    for place, together in alike.items():
        _add_terms_of(together, told[place].reports)


def _add_terms_of(every: Sequence[tuple[TermSums, Times]], reports: NDArray[Any]) -> None:
    """Add reports to sums of terms of one question, with how often each user counts there."""
    mechanism, once = every[0][0].mechanisms[0], np.ones(len(reports))
    kept = mechanism.kept_sum(reports)
    for sums, times in every:
        if times is None:
            sums.tally.total = sums.tally.total + kept
        else:
            sums.tally._add([reports], times)
    for part in blocks(len(reports), mechanism.size):
        scores = mechanism.scores(reports[part])
        for sums, times in every:
            own = (once if times is None else times)[part]
            sums.add_scores(scores, own, own)


def turned(table: NDArray[Any], rows: Sequence[NDArray[Any] | None]) -> NDArray[Any]:
    """A table whose axes are each multiplied by a matrix, mode by mode; None leaves an axis as it is."""
    for matrix in rows:
        table = np.moveaxis(table, 0, -1) if matrix is None else np.tensordot(table, matrix, (0, 0))
    return table


def _row_products(one: Floats, two: Floats) -> Floats:
    """For each row all products of an entry of one with an entry of the other."""
    return np.asarray((one[:, :, None] * two[:, None, :]).reshape(len(one), -1))
