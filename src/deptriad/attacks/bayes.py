"""Bayes: the adversary of the paper's threat model, who knows the mechanisms and how answers are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deptriad.attacks.attacker import Tokens
from deptriad.attacks.seen import Reading
from deptriad.utils.arrays import Floats
from deptriad.utils.progress import Progress

MOST_RECORDS = 1 << 13
"""Different training records that are compared with each report; of more, a random part is: on the 14 attributes of
the Adult census half of them guess as well as all."""

BLOCK = 1 << 22
"""Comparisons at a time: 16 MiB."""

SEEN = 1 << 27
"""Entries of all tokens of the people who are looked at together: 128 MiB."""


@dataclass(frozen=True)
class Bayes:
    """The posterior of the target, from the mechanisms and the training records' distribution.

    Where a view has several questions the prior is the joint distribution of the training records, to which one
    imagined record is added: it is spread over all combinations as if the answers were independent given the target,
    each with its share (again with one imagined record, spread evenly), so that no probability is 0.
    Where only one report is true, p(answer | target) of each question is all there is to know, and the posterior is
    exact from these.

    Parameters
    ----------
    readings
        How the reports of each question are read.
    values
        The training records' true answers to each question, in the order of the records that ``fit`` gets.
    fakes
        Where all but one report of a person are fakes, how many questions there are, hidden ones included; else 0.
    implied
        Of questions about the target itself, the target's value in each answer.
    together
        Questions that have others beside them in their view; by default all have.
    """

    readings: Mapping[str, Reading]
    values: Mapping[str, NDArray[np.int64]]
    fakes: int = 0
    implied: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    together: frozenset[str] | None = None

    name: ClassVar[str] = "bayes"

    def fit(
        self,
        tokens: Tokens,
        target: NDArray[np.int64],
        size: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Posterior:
        """Count the training records; the tokens only say which questions are seen."""
        names = tokens.names
        readings = tuple(self.readings[name] for name in names)
        values = [self.values[name] for name in names]
        implied = [self.implied.get(name) for name in names]
        shares = (np.bincount(target, minlength=size) + 1.0 / size) / (len(target) + 1.0)
        tables = tuple(
            _shared(target, size, own, reading.size, through)
            for own, reading, through in zip(values, readings, implied, strict=True)
        )
        beside = frozenset(names) if self.together is None else self.together
        several = [place for place, name in enumerate(names) if name in beside and not self.fakes]
        known = None
        if several:
            own = [values[place] for place in several]
            known = _Known.of(own, [readings[place] for place in several], target, rng)
        return Posterior(readings, np.log(shares), tables, self.fakes, known, several)


def _shared(
    target: NDArray[np.int64],
    size: int,
    values: NDArray[np.int64],
    count: int,
    implied: NDArray[np.int64] | None = None,
) -> Floats:
    """p(answer | target), a row for each target value; one imagined record has all answers, by their shares."""
    table = np.bincount(target * count + values, minlength=size * count).reshape(size, count)
    overall = np.tile((table.sum(axis=0) + 1.0 / count) / (len(target) + 1.0), (size, 1))
    if implied is not None:
        overall[implied != np.arange(size)[:, None]] = 0.0
        overall /= overall.sum(axis=1, keepdims=True)
    return np.asarray((table + overall) / (table.sum(axis=1, keepdims=True) + 1.0))


@dataclass(frozen=True, eq=False)
class _Known:
    """Different training records by target value: their answers as zeros and ones, and ln of their numbers."""

    marks: NDArray[np.float32]
    logs: NDArray[np.float32]
    groups: NDArray[np.float32]
    present: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        values: list[NDArray[np.int64]],
        readings: list[Reading],
        target: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> _Known:
        rows = np.column_stack([target, *values])
        different, numbers = np.unique(rows, axis=0, return_counts=True)
        if len(different) > MOST_RECORDS:
            some = np.sort(rng.choice(len(rows), MOST_RECORDS, replace=False))
            different, numbers = np.unique(rows[some], axis=0, return_counts=True)
        sizes = [reading.size for reading in readings]
        starts = np.cumsum([0, *sizes[:-1]])
        marks = np.zeros((sum(sizes), len(different)), dtype=np.float32)
        for place, start in enumerate(starts):
            marks[start + different[:, place + 1], np.arange(len(different))] = 1.0
        present = np.unique(different[:, 0])
        groups = (different[:, :1] == present).astype(np.float32)
        logs = np.log(numbers).astype(np.float32)
        return cls(marks, logs, groups, present)

    def joint(self, logs: Floats, size: int) -> Floats:
        """ln Σ of number · likelihood over the records of each target value."""
        found = np.full((len(logs), size), -np.inf)
        narrow = logs.astype(np.float32)
        step = max(1, BLOCK // len(self.logs))
        for start in range(0, len(logs), step):
            fits = narrow[start : start + step] @ self.marks
            fits += self.logs
            most = fits.max(axis=1, keepdims=True)
            fits -= most
            np.exp(fits, out=fits)
            sums = (fits @ self.groups).astype(np.float64)
            with np.errstate(divide="ignore"):
                found[start : start + step, self.present] = np.log(sums) + most
        return found


@dataclass(frozen=True, eq=False)
class Posterior:
    """What Bayes makes of tokens."""

    readings: tuple[Reading, ...]
    prior: Floats
    tables: tuple[Floats, ...]
    fakes: int
    known: _Known | None
    several: list[int]

    def log_posterior(self, tokens: Tokens) -> Floats:
        """ln of each value's probability, a row for each person."""
        step = max(1, SEEN // max(sum(tokens.sizes), 1))
        starts = range(0, max(len(tokens), 1), step)
        return np.concatenate(
            [self._of_different(tokens.rows(slice(start, start + step))) for start in starts]
        )

    def _of_different(self, tokens: Tokens) -> Floats:
        """The same; people with the same tokens are looked at once."""
        packed = np.packbits(np.concatenate(tokens.supports, axis=1) != 0, axis=1)
        whole = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
        _, chosen, place = np.unique(whole, return_index=True, return_inverse=True)
        return np.asarray(self._posterior(tokens.rows(chosen))[place])

    def _posterior(self, tokens: Tokens) -> Floats:
        told = self.prior + (self._among_fakes(tokens) if self.fakes else self._one_by_one(tokens))
        if self.known is not None:  # one imagined record beside those that are known
            pairs = [(self.readings[place], tokens.supports[place]) for place in self.several]
            # of those whose view has one question all is known by its table
            some = np.logical_or.reduce([supports.any(axis=1) for _, supports in pairs])
            logs = [reading.log_likelihoods(supports[some]) for reading, supports in pairs]
            marks = np.concatenate(logs, axis=1)
            told[some] = np.logaddexp(told[some], self.known.joint(marks, len(self.prior)))
        most = told.max(axis=1, keepdims=True)
        total = np.log(np.exp(told - most).sum(axis=1, keepdims=True)) + most
        return np.asarray(told - total)

    def _one_by_one(self, tokens: Tokens) -> Floats:
        """What all reports tell if they are independent given the target; a question tells of those who answered it."""
        seen = np.zeros((len(tokens), len(self.prior)))
        every = zip(self.readings, tokens.supports, self.tables, strict=True)
        for reading, supports, table in every:
            asked = np.flatnonzero(supports.any(axis=1))
            if asked.size:
                seen[asked] += _log_mean(reading.log_likelihoods(supports[asked]), table)
        return seen

    def _among_fakes(self, tokens: Tokens) -> Floats:
        """ln of the mean over which report is the true one; a hidden one tells nothing.

        p(all reports | x) is Π of the fakes' p(report), times the mean of p(report | x)/p(report as a fake).
        """
        ratios = []
        for reading, supports, table in zip(
            self.readings, tokens.supports, self.tables, strict=True
        ):
            values = reading.log_likelihoods(supports)
            fake = np.full((1, values.shape[1]), 1.0 / values.shape[1])
            ratios.append(_log_mean(values, table) - _log_mean(values, fake))
        hidden = np.zeros((self.fakes - len(ratios), *ratios[0].shape))
        every = np.concatenate([np.stack(ratios), hidden])
        most = every.max(axis=0)
        return np.asarray(np.log(np.exp(every - most).mean(axis=0)) + most)


def _log_mean(logs: Floats, table: Floats) -> Floats:
    """ln Σ over answers of p(answer | target) · likelihood, for each person and target value."""
    most = logs.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - most) @ table.T) + most)
