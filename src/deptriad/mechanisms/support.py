"""Support: mechanisms whose report supports some of the values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.base import Mechanism, telling
from deptriad.mechanisms.entries import blocks
from deptriad.utils.arrays import Floats, Integers, as_probability, as_whole, scalar_or_array


@dataclass(frozen=True)
class Support(Mechanism):
    """A mechanism whose report supports some values: each one alike, but for the true one, which it does more often.

    Beside how a report is drawn and looks it must say ``probabilities``, ``levels`` and what is ``supported``.

    Examples
    --------
    >>> from deptriad.mechanisms import OUE
    >>> truly, falsely = OUE(4, 1.0).probabilities
    >>> f"{float(truly):.3f} {float(falsely):.3f}"
    '0.500 0.269'
    """

    sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        p, q = self.probabilities
        if p <= q:
            raise ValueError(
                f"epsilon is {self.epsilon:g}, too small for {self.size} values: rounded to 64 bits towards privacy, "
                "reports would no longer depend on the value; take a larger epsilon"
            )

    @property
    @abstractmethod
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p and q: that a report supports the true value, and that it supports a given other one."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Fraction, Fraction]:
        """A report's exact likelihood under a value it supports and under one it does not, up to a common factor."""

    @property
    def worst_ratio(self) -> Fraction:
        """Exactly the largest ratio of a report's probabilities under two values; at most e^ε."""
        return self.levels[0] / self.levels[1]

    def matrix(self) -> Floats:
        """p(report | value): a row for each value, a column for each report."""
        high, low = map(float, self.levels)
        return np.where(self.supported(self.listed()).T, high, low)

    @abstractmethod
    def supported(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Which values (columns) each report (row) supports."""

    def favoured(self) -> NDArray[np.bool_] | None:
        """The sets of values (rows) that reports support; None if there are too many reports to list."""
        reports = self.alphabet
        return None if reports is None else telling(self.supported(reports))

    def support(self, reports: ArrayLike) -> Integers:
        """How many reports support each value."""
        every = self._checked(reports)
        counts = np.zeros(self.size, dtype=np.int64)
        for part in blocks(len(every), self.size):
            counts += self.supported(every[part]).sum(axis=0)
        return counts

    def scores(self, reports: ArrayLike) -> Floats:
        """For each report (row) an unbiased estimate of "the value is u" for all u; ``estimate`` is their mean."""
        return self._unbiased(self.supported(reports))

    def score_range(self, count: int = 1) -> tuple[float, float]:
        """Bounds of the sum of a report's scores over so many different values."""
        p, q = map(float, self.probabilities)
        return -q / (p - q) * count, (1.0 - q) / (p - q) * count

    def kept(self, reports: ArrayLike) -> NDArray[Any]:
        """The report's number where it has one; else what it supports, and a one."""
        if self.letters:
            return super().kept(reports)
        supported = self.supported(reports)
        return np.column_stack([supported, np.ones(len(supported), dtype=np.bool_)])

    def kept_sum(self, reports: ArrayLike) -> NDArray[Any]:
        """The sum of that over all reports."""
        if self.letters:
            return super().kept_sum(reports)
        every = self._checked(reports)
        return np.append(self.support(every), len(every))

    @property
    def kept_size(self) -> int:
        """How many numbers are kept of a report."""
        return self.letters or self.size + 1

    def scored(self, kept: Floats, power: int) -> Floats:
        """Sums of scores to a power, from sums of what is kept: they have two levels."""
        if self.letters and not self.others_alike:
            return super().scored(kept, power)
        no, yes = (score**power for score in self.score_range())
        supported = kept if self.letters else kept[..., :-1]
        return np.asarray(supported * (yes - no) + self.counted(kept)[..., None] * no)

    def kept_means(self) -> Floats:
        """The mean of what is kept of a report, a row for each value."""
        if self.letters:
            return super().kept_means()
        p, q = map(float, self.probabilities)
        return np.column_stack([np.where(np.eye(self.size), p, q), np.ones(self.size)])

    def kept_chances(self) -> tuple[Floats, Floats] | None:
        """The least and the largest chance of each one that is kept: two levels again."""
        if self.letters:
            high, low = (np.full(self.letters, float(level)) for level in self.levels)
            return low, high
        p, q = map(float, self.probabilities)
        return np.append(np.full(self.size, q), 1.0), np.append(np.full(self.size, p), 1.0)

    def variance(self, n: int, frequency: ArrayLike) -> float | Floats:
        """Exact variance of the estimated share of a value that a share ``frequency`` of n records has."""
        share = as_probability(frequency, "frequency")
        return scalar_or_array(np.asarray(self._variance(share) / as_whole(n, "n", 1)))

    def _unbiased(self, share: NDArray[Any]) -> Floats:
        p, q = self.probabilities
        return np.asarray((share - float(q)) / float(p - q))

    def _frequencies(self, reports: NDArray[Any]) -> Floats:
        """(c/n − q)/(p − q), c being how many reports support a value."""
        return self._unbiased(self.support(reports) / len(reports))

    def _variance(self, share: Floats) -> Floats:
        """Of one record: f·p(1 − p) + (1 − f)·q(1 − q), scaled; linear in f, so an unbiased f̂ gives it unbiased."""
        p, q = self.probabilities
        kept, lost = (float(chance * (1 - chance) / (p - q) ** 2) for chance in (p, q))
        return np.asarray(np.maximum(share * kept + (1.0 - share) * lost, 0.0))

    def _moment(self) -> float:
        true, other = self._variance(np.array([1.0, 0.0])).tolist()
        return float(1.0 + true + (self.size - 1) * other)

    @property
    def vocabulary(self) -> int:
        """One entry for each value."""
        return self.size

    def marks(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The values that each report supports."""
        return self.supported(reports)

    def log_likelihoods(self, marks: NDArray[Any]) -> Floats:
        """ln p(marks | value) for each person and value, up to a number for each person; 0 where none was seen."""
        high, low = self.levels
        return np.asarray((marks != 0) * float(np.log(float(high / low))))

    def prefers(
        self, marks: NDArray[np.bool_], values: Integers, others: Integers
    ) -> NDArray[np.bool_]:
        """Whether each person's marks have its value and not its other one."""
        people = np.arange(len(marks))
        return np.asarray(marks[people, values] & ~marks[people, others])
