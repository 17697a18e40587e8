"""Mechanism: what every mechanism offers. Support: those whose report supports some of the values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.mechanisms.chance import Source, word_source
from deptriad.mechanisms.entries import blocks, checked, some
from deptriad.mechanisms.rational import log_above
from deptriad.utils.arrays import Floats, Integers, as_probability, as_whole, scalar_or_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Reports = NDArray[np.unsignedinteger[Any]]

MOST_REPORTS = 1 << 16
"""Different reports up to which a transition matrix is written out."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of all values, their standard errors, and the number of reports behind them.

    The frequencies are unbiased, so single ones may be below 0. The standard errors are about the share among those who
    reported; where these are a sample themselves, its own error √(f(1 − f)/n) comes on top.
    """

    frequencies: Floats
    standard_errors: Floats
    n: int


@dataclass(frozen=True)
class Mechanism(ABC):
    """A randomised report of one of ``size`` values, ε-locally differentially private.

    Parameters
    ----------
    size
        Number of values, at least 2; their codes are 0 … size − 1.
    epsilon
        The budget: no report is more than e^ε times as likely under one value as under another, in exact arithmetic.
        Finite and above 0; at 0 reports would say nothing, at infinity they would be the truth. Thresholds have up to
        64 bits, so above ε ≈ 44 the realised budget no longer grows.
    """

    size: int
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_whole(self.size, "size", 2))
        object.__setattr__(self, "epsilon", _one_budget(self.epsilon))

    @abstractmethod
    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        """Reports of one block of checked codes."""

    @property
    @abstractmethod
    def _report_format(self) -> tuple[tuple[int, ...], type[np.unsignedinteger[Any]]]:
        """Shape and type of one report."""

    @property
    def _words(self) -> float:
        """Random words that a record takes, about."""
        return 1.0

    @property
    @abstractmethod
    def worst_ratio(self) -> Fraction | float:
        """Exactly the largest ratio of a report's probabilities under two values; at most e^ε."""

    @abstractmethod
    def scores(self, reports: ArrayLike) -> Floats:
        """For each report (row) an unbiased estimate of "the value is u" for all u; ``estimate`` is their mean."""

    @abstractmethod
    def estimate(self, reports: ArrayLike) -> Estimate:
        """Unbiased frequencies of all values, with standard errors."""

    @abstractmethod
    def variance(self, n: int, frequency: ArrayLike) -> float | Floats:
        """Exact variance of the estimated share of a value that a share ``frequency`` of n records has."""

    @abstractmethod
    def matrix(self) -> Floats:
        """p(report | value): a row for each value, a column for each report.

        Transposed, it is what ``deptriad.rivals.measures["hcc-1"]`` takes as ``mechanism``.
        """

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
        """
        words = word_source(rng)
        values = checked(codes, "codes", (), self.size)
        shape, kind = self._report_format
        reports = np.empty((len(values), *shape), dtype=kind)
        for part in blocks(len(values), self._words):
            reports[part] = self._report(values[part].astype(np.uint32), words)
        return reports


@dataclass(frozen=True)
class Support(Mechanism):
    """A mechanism whose report supports some values: each one alike, but for the true one, which it does more often."""

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

    @abstractmethod
    def supported(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Which values (columns) each report (row) supports."""

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

    def estimate(self, reports: ArrayLike) -> Estimate:
        """Unbiased frequencies (c/n − q)/(p − q) of all values, with standard errors (maths §7)."""
        every = self._checked(reports)
        n = some(every)
        frequencies = self._unbiased(self.support(every) / n)
        return Estimate(frequencies, np.sqrt(self._variance(frequencies) / n), n)

    def variance(self, n: int, frequency: ArrayLike) -> float | Floats:
        """Exact variance of the estimated share of a value that a share ``frequency`` of n records has."""
        share = as_probability(frequency, "frequency")
        return scalar_or_array(np.asarray(self._variance(share) / as_whole(n, "n", 1)))

    def _unbiased(self, share: NDArray[Any]) -> Floats:
        p, q = self.probabilities
        return np.asarray((share - float(q)) / float(p - q))

    def _variance(self, share: Floats) -> Floats:
        """Of one record: f·p(1 − p) + (1 − f)·q(1 − q), scaled; linear in f, so an unbiased f̂ gives it unbiased."""
        p, q = self.probabilities
        kept, lost = (float(chance * (1 - chance) / (p - q) ** 2) for chance in (p, q))
        return np.asarray(np.maximum(share * kept + (1.0 - share) * lost, 0.0))

    def _checked(self, reports: ArrayLike) -> Reports:
        return checked(reports, "reports", self._report_format[0])


def _one_budget(epsilon: Any) -> float:
    try:
        budget = float(epsilon)
    except (TypeError, ValueError):
        raise ValueError(f"epsilon is {epsilon!r}, expected one number above 0") from None
    if not 0.0 < budget < math.inf:
        why = (
            "at 0 reports say nothing"
            if budget == 0.0
            else "a mechanism needs a budget it can keep"
        )
        raise ValueError(f"epsilon is {epsilon!r}, expected a finite number above 0: {why}")
    return budget
