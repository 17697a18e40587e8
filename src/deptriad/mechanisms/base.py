"""Mechanism: what a mechanism must say, and what it may."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.chance import Source, word_source
from deptriad.mechanisms.entries import blocks, checked, marked, smallest_type, tally
from deptriad.mechanisms.moment_curve import moment_curve
from deptriad.mechanisms.rational import log_above
from deptriad.utils.arrays import Floats, Integers, as_positive_budget, as_probability, as_whole

Reports = NDArray[np.unsignedinteger[Any]]

MOST_REPORTS = 1 << 16
"""Different reports up to which a transition matrix is written out."""

IMPOSSIBLE = -690.0
"""ln of a likelihood that stands for 0: sums of a few stay finite, and far below every other."""


def telling(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Each different set (row) once, without those of none or of all values."""
    size = sets.sum(axis=1)
    return np.unique(sets[(size > 0) & (size < sets.shape[1])], axis=0)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of all values, their standard errors, and the number of reports behind them.

    The frequencies are unbiased, so single ones may be below 0. The standard errors are about the share among those who
    reported; where these are a sample themselves, its own error √(f(1 − f)/n) comes on top.

    Examples
    --------
    >>> from deptriad.mechanisms import GRR
    >>> found = GRR(3, 2.0).estimate([0] * 60 + [1] * 30 + [2] * 10)
    >>> found.n, found.frequencies.round(2).tolist(), found.standard_errors.round(2).tolist()
    (100, [0.73, 0.28, -0.01], [0.06, 0.05, 0.05])
    """

    frequencies: Floats
    standard_errors: Floats
    n: int


@dataclass(frozen=True)
class Mechanism(ABC):
    """A randomised report of one of ``size`` values, ε-locally differentially private.

    A mechanism must say how a report is drawn (``_report``), how it looks (``letters`` where it is a number, else
    ``_report_format``), what it costs (``worst_ratio``), how likely it is (``matrix``) and what it tells about each
    value (``scores``). For two large families most of that is said already: ``support.Support``, whose reports support
    values, and ``channel.Tabled``, with a table of chances. All else has a default, to be replaced where there is a
    quicker or a closer way: how reports are estimated from, written, simulated, seen by an attacker and planned with.
    So a mechanism is one file, and an entry in ``deptriad.mechanisms.mechanisms``.

    Parameters
    ----------
    size
        Number of values, at least 2; their codes are 0 … size − 1.
    epsilon
        The budget: no report is more than e^ε times as likely under one value as under another, in exact arithmetic.
        Finite and above 0; at 0 reports would say nothing, at infinity they would be the truth. Thresholds have up to
        64 bits, so above ε ≈ 44 the realised budget no longer grows.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import mechanisms
    >>> mechanism = mechanisms["grr"](size=3, epsilon=2.0)
    >>> reports = mechanism.perturb([0, 0, 1, 2], rng=np.random.default_rng(1))
    >>> reports.tolist(), mechanism.estimate(reports).n
    ([0, 0, 1, 2], 4)
    """

    size: int
    epsilon: float

    names_values: ClassVar[bool] = False
    """Whether a report is the code of one of the values, and so is written as its label."""
    others_alike: ClassVar[bool] = False
    """Whether it then says the same of all other values: its scores are the two ends of ``score_range``."""

    @property
    def law(self) -> str:
        """A word for how reports come about; with the size and the budget it says whose reports are whose."""
        return type(self).__name__

    sets: ClassVar[bool] = False
    """Whether what an attacker sees of a report is a set of values; else it is the report's number."""

    most_values: ClassVar[float] = math.inf
    """The largest size there can be."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_whole(self.size, "size", 2))
        object.__setattr__(self, "epsilon", as_positive_budget(self.epsilon, "epsilon"))

    # --- what a mechanism must say ---

    @abstractmethod
    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        """Reports of one block of checked codes."""

    @property
    @abstractmethod
    def worst_ratio(self) -> Fraction | float:
        """Exactly the largest ratio of a report's probabilities under two values; at most e^ε."""

    @abstractmethod
    def matrix(self) -> Floats:
        """p(report | value): a row for each value, a column for each report.

        Transposed, it is what ``deptriad.rivals.measures["hcc-1"]`` takes as ``mechanism``.
        """

    @abstractmethod
    def scores(self, reports: ArrayLike) -> Floats:
        """For each report (row) an unbiased estimate of "the value is u" for all u; ``estimate`` is their mean."""

    @property
    def letters(self) -> int:
        """How many different reports there are, if a report is one number below that; else 0."""
        return 0

    @property
    def _report_format(self) -> tuple[tuple[int, ...], type[np.unsignedinteger[Any]]]:
        """Shape and type of one report."""
        if not self.letters:
            name = type(self).__name__
            raise NotImplementedError(f"{name} says neither letters nor _report_format")
        return (), smallest_type(self.letters)

    # --- reports ---

    @property
    def _words(self) -> float:
        """Random words that a record takes, about."""
        return 1.0

    def _checked(self, reports: ArrayLike) -> NDArray[Any]:
        """Reports, if they can be of this mechanism."""
        return checked(reports, "reports", self._report_format[0], self.letters or None)

    def accepted(self, reports: ArrayLike) -> NDArray[Any]:
        """Reports, if each of them can be one of this mechanism: what a collector asks of all that arrives."""
        return self._checked(reports)

    @property
    def realised_epsilon(self) -> float:
        """The budget really spent, ln of ``worst_ratio`` rounded up; below ``epsilon`` by what rounding cost."""
        return log_above(self.worst_ratio)

    def perturb(self, codes: ArrayLike, rng: np.random.Generator | None = None) -> Reports:
        """One report for each code.

        Parameters
        ----------
        codes
            Whole numbers 0 … size − 1, of any length; anything else, a missing value's code too, is refused.
        rng
            ``numpy.random.default_rng(seed)`` for a simulation that can be repeated, on any platform; by default the
            operating system's secure source.

        Returns
        -------
        array
            A report for each row: a number, or a row of numbers; what they mean is up to the mechanism.
        """
        words = word_source(rng)
        values = checked(codes, "codes", (), self.size)
        shape, kind = self._report_format
        reports = np.empty((len(values), *shape), dtype=kind)
        for part in blocks(len(values), self._words):
            reports[part] = self._report(values[part].astype(np.uint32), words)
        return reports

    @property
    def _written(self) -> np.dtype[Any]:
        """How a number of a report is written: four bytes, or as many as it has where it is one of a row."""
        shape, kind = self._report_format
        return np.dtype(kind if shape else np.uint32).newbyteorder(">")

    def to_bytes(self, reports: NDArray[Any]) -> NDArray[np.uint8]:
        """A row of bytes for each report, the most significant one of a number first: as files hold it."""
        rows = reports.reshape(len(reports), *(self._report_format[0] or (1,)))
        return rows.astype(self._written, copy=False).view(np.uint8)

    def from_bytes(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """The reports of such rows."""
        shape, kind = self._report_format
        numbers = np.ascontiguousarray(rows).view(self._written)
        return numbers.astype(kind, copy=False) if shape else numbers[:, 0].astype(np.int64)

    # --- estimates ---

    @property
    def alphabet(self) -> NDArray[Any] | None:
        """All different reports, in the order of the columns of ``matrix``; None if there are too many."""
        return np.arange(self.letters) if self.letters else None

    def listed(self) -> NDArray[Any]:
        """The same, or an error."""
        reports = self.alphabet
        if reports is None:
            raise ValueError(f"{self!r} has too many different reports to list")
        return reports

    @cached_property
    def weights(self) -> Floats:
        """The scores of all different reports (rows)."""
        return self.scores(self.listed())

    def score_range(self, count: int = 1) -> tuple[float, float]:
        """Bounds of the sum of a report's scores over so many different values."""
        return float(self.weights.min()) * count, float(self.weights.max()) * count

    def estimate(self, reports: ArrayLike) -> Estimate:
        """Unbiased frequencies of all values, with standard errors (maths §7)."""
        every = self._checked(reports)
        if not len(every):
            raise ValueError("reports is empty, expected at least one: nothing can be estimated")
        frequencies = self._frequencies(every)
        errors = np.sqrt(self._variance(frequencies) / len(every))
        return Estimate(frequencies, errors, len(every))

    def _frequencies(self, reports: NDArray[Any]) -> Floats:
        """The mean of their scores."""
        if self.letters:
            return np.asarray(tally(reports, self.letters) / len(reports) @ self.weights)
        parts = blocks(len(reports), self.size)
        sums = [self.scores(reports[part]).sum(axis=0) for part in parts]
        return np.asarray(np.sum(sums, axis=0) / len(reports))

    def variance(self, n: int, frequency: ArrayLike) -> float | Floats:
        """Exact variances of the estimated shares of all values, from the shares of all values among n records."""
        share = as_probability(frequency, "frequency")
        if share.shape != (self.size,):
            raise ValueError(
                f"frequency has shape {share.shape}, expected ({self.size},): the variance of one share depends on "
                "the shares of all values"
            )
        return self._variance(share) / as_whole(n, "n", 1)

    def _variance(self, share: Floats) -> Floats:
        """Of one record: Σ f·(E[score²] − E[score]²), where E[score] is 1 for the true value and 0 for others."""
        return np.asarray(np.maximum(share @ (self.matrix() @ self.weights**2) - share, 0.0))

    # --- bounds on what reports tell ---

    def favoured(self) -> NDArray[np.bool_] | None:
        """The sets of values (rows) that reports can favour; None if they are too many to list, so that any set may be.

        The likelihood of a report is a mixture of two-level ones, of the sets on which it is at least so high
        (maths §10). Sets of none or of all values tell nothing and are left out.
        """
        columns = self.matrix().T
        sets = [columns >= level[:, None] for level in columns.T]
        return telling(np.concatenate(sets))

    # --- what is kept of reports ---

    def kept(self, reports: ArrayLike) -> NDArray[Any]:
        """What estimates need of each report (row): sums of it over users, of products over questions, are enough.

        Ones and zeros wherever that can be, so that the sums are whole numbers: one for the report's number. By default
        the scores, their squares, and a one.
        """
        if self.letters:
            return marked(self._checked(reports), self.letters)
        scores = self.scores(reports)
        return np.column_stack([scores, scores**2, np.ones(len(scores))])

    def kept_sum(self, reports: ArrayLike) -> NDArray[Any]:
        """The sum of that over all reports."""
        every = self._checked(reports)
        if self.letters:
            return tally(every, self.letters)
        parts = [self.kept(every[part]).sum(axis=0) for part in blocks(len(every), self.size)]
        return np.asarray(np.sum(parts, axis=0) if parts else np.zeros(self.kept_size))

    @property
    def kept_size(self) -> int:
        """How many numbers are kept of a report."""
        return self.letters or 2 * self.size + 1

    def counted(self, kept: NDArray[Any]) -> NDArray[Any]:
        """How many reports there are, from sums of what is kept of them along the last axis."""
        return np.asarray(kept.sum(axis=-1) if self.letters else kept[..., -1])

    def scored(self, kept: Floats, power: int) -> Floats:
        """Sums of scores to a power of 0, 1 or 2, from such sums."""
        if self.letters:
            return np.asarray(kept @ self.weights**power)
        if power == 0:
            return np.repeat(kept[..., -1:], self.size, axis=-1)
        return np.asarray(kept[..., (power - 1) * self.size : power * self.size])

    def kept_means(self) -> Floats:
        """The mean of what is kept of a report, a row for each value."""
        matrix = self.matrix()
        return matrix if self.letters else np.asarray(matrix @ self.kept(self.listed()))

    # --- what reports cannot be ---

    def kept_chances(self) -> tuple[Floats, Floats] | None:
        """The least and the largest chance of each one that is kept, whatever the value is; None if not ones are kept.

        Users report by themselves, so how many ones there are lies, by its law, between two binomial numbers.
        """
        if not self.letters:
            return None
        matrix = self.matrix()
        return matrix.min(axis=0), matrix.max(axis=0)

    def signs(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Marks of each report (row) whose chances do not depend on the value, ``sign_chances``: none by default."""
        return np.zeros((len(self._checked(reports)), 0), dtype=np.bool_)

    def sign_chances(self) -> Floats:
        """The chance of each of these marks."""
        return np.zeros(0)

    # --- simulations ---

    def simulate(self, counts: Integers, rng: np.random.Generator) -> Integers:
        """Counts of values along the last axis become counts of reports, in the order of ``alphabet``."""
        total = np.zeros((*counts.shape[:-1], len(self.listed())), dtype=np.int64)
        for value, row in enumerate(self.matrix()):
            total += rng.multinomial(counts[..., value], row / row.sum())
        return total

    # --- what an attacker sees ---

    @property
    def vocabulary(self) -> int:
        """How many entries a report may name: its number by default, values where it is a set."""
        return self.letters

    def marks(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which entries each report names. What that leaves out, such as the seed of a hash, tells nothing more."""
        return marked(self._checked(reports), self.letters)

    def log_likelihoods(self, marks: NDArray[Any]) -> Floats:
        """ln p(marks | value) for each person and value, up to a number for each person; 0 where none was seen."""
        with np.errstate(divide="ignore"):
            table = np.maximum(np.log(self.matrix()), IMPOSSIBLE)
        logs = table.T[marks.argmax(axis=1)]
        logs[~marks.any(axis=1)] = 0.0
        return np.asarray(logs)

    def prefers(
        self, marks: NDArray[np.bool_], values: Integers, others: Integers
    ) -> NDArray[np.bool_]:
        """Whether each person's marks are likelier under its value than under its other one, by what is claimed."""
        told, table = marks.argmax(axis=1), self.matrix()
        return np.asarray(table[values, told] > table[others, told])

    # --- plans ---

    @classmethod
    def closed_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats] | None:
        """m and dm/dε of ``moment`` in closed form, for many budgets and sizes; None if there is none."""
        return None

    @classmethod
    def moment(cls, epsilon: float, size: int) -> float:
        """m = E Σ_v z(v)² of one report's scores z, whatever the true value is, or under the worst (maths §7)."""
        closed = cls.closed_moment(np.array([epsilon]), np.array([size]))
        return cls(size, epsilon)._moment() if closed is None else float(closed[0][0])

    def _moment(self) -> float:
        return float((self.matrix() @ (self.weights**2).sum(axis=1)).max())

    @classmethod
    def smooth_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
        """m and dm/dε of many attributes, smooth in ε also where the mechanism turns on whole numbers."""
        closed = cls.closed_moment(epsilon, size)
        if closed is not None:
            return closed
        pairs = zip(epsilon, size, strict=True)
        found = [moment_curve(cls.moment, int(count))(budget) for budget, count in pairs]
        value, slope = np.array(found).reshape(-1, 2).T
        return value, slope
