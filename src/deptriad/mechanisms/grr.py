"""GRR: generalised randomised response, the true value or any other one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.chance import Source, halves
from deptriad.mechanisms.entries import tally
from deptriad.mechanisms.moment_curve import fraction
from deptriad.mechanisms.rational import exp_below
from deptriad.mechanisms.support import Support
from deptriad.utils.arrays import Floats, Integers

FINE = Fraction(1, 1 << 12)
"""Relative change of q and of p − q that 32-bit words may cost before 64-bit ones are taken."""


def lying_cell(size: int, epsilon: float, bits: int) -> int:
    """The least Q such that q = Q/2^bits and p = 1 − (size − 1)q have p ≤ e^ε·q."""
    return math.ceil(Fraction(2**bits) / (exp_below(epsilon) + size - 1))


def two_levels(size: int, cell: int, bits: int) -> tuple[Fraction, Fraction]:
    """The p and q of that Q."""
    q = Fraction(cell, 2**bits)
    return 1 - (size - 1) * q, q


@dataclass(frozen=True)
class GRR(Support):
    """Generalised randomised response: the true value with p = e^ε/(e^ε + b − 1), each other one with q = p/e^ε.

    A report is a code 0 … size − 1, and supports that value. It is cut from one random word w: below size·Q the report
    is ⌊w/Q⌋, above it is the truth, so q is exactly Q/2^32 (or Q/2^64 where 32 bits are too coarse).

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import GRR
    >>> grr = GRR(size=3, epsilon=np.log(2))
    >>> grr.matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    >>> reports = grr.perturb([0, 0, 0, 1, 1, 2] * 10_000, rng=np.random.default_rng(1))
    >>> estimate = grr.estimate(reports)
    >>> estimate.frequencies.round(2), estimate.standard_errors.round(3)
    (array([0.51, 0.34, 0.15]), array([0.008, 0.007, 0.007]))
    """

    names_values: ClassVar[bool] = True
    others_alike: ClassVar[bool] = True

    @property
    def letters(self) -> int:
        """A report is one of the values."""
        return self.size

    @cached_property
    def _cell(self) -> tuple[int, int]:
        """Q and the bits of a word: 32 where that changes next to nothing."""
        short, long = (lying_cell(self.size, self.epsilon, bits) for bits in (32, 64))
        (p, q), (fine_p, fine_q) = two_levels(self.size, short, 32), two_levels(self.size, long, 64)
        near = q <= fine_q * (1 + FINE) and p - q >= (fine_p - fine_q) * (1 - FINE)
        return (short, 32) if near else (long, 64)

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p and q: that a report is the true value, and that it is a given other one."""
        return two_levels(self.size, *self._cell)

    @property
    def levels(self) -> tuple[Fraction, Fraction]:
        """A report's exact likelihood under the value it names, and under another one."""
        return self.probabilities

    def supported(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Which value (column) each report (row) names."""
        return np.asarray(self._checked(reports)[:, None] == np.arange(self.size))

    def support(self, reports: ArrayLike) -> Integers:
        """How many reports name each value."""
        return tally(self._checked(reports), self.size)

    @property
    def _words(self) -> float:
        return self._cell[1] / 64

    def simulate(self, counts: Integers, rng: np.random.Generator) -> Integers:
        """The truth with chance p − q, else any value alike: binomial, then all liars of a line together."""
        p, q = self.probabilities
        true = rng.binomial(counts, float(p - q))
        lies = (counts - true).sum(axis=-1)
        return np.asarray(true + rng.multinomial(lies, np.full(self.size, 1.0 / self.size)))

    def score_range(self, count: int = 1) -> tuple[float, float]:
        """Bounds of the sum of a report's scores over so many values, of which it supports one at most."""
        low, high = super().score_range()
        return low * count, high + (count - 1) * low

    @classmethod
    def closed_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
        """m and dm/dε for many budgets and sizes."""
        return fraction(0.0, 2.0 * (size - 1.0), (size - 1.0) * (size - 2.0), epsilon)

    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        from deptriad.mechanisms._kernels import respond_32, respond_64

        cell, bits = self._cell
        reports = np.empty_like(codes)
        if bits == 32:
            short = halves(words((codes.size + 1) // 2))
            respond_32(codes, short, float(cell), np.uint32(cell * self.size), reports)
        else:
            long = words(codes.size)
            respond_64(codes, long, np.uint64(cell), np.uint64(cell * self.size), reports)
        return reports
