"""HadamardResponse: a column of a Hadamard matrix in which the row of the true value is positive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.chance import Source
from deptriad.mechanisms.entries import tally
from deptriad.mechanisms.moment_curve import fraction
from deptriad.mechanisms.rational import exp_below
from deptriad.mechanisms.support import Support
from deptriad.utils.arrays import Floats, Integers


@dataclass(frozen=True)
class HadamardResponse(Support):
    """Hadamard response (Acharya, Sun and Zhang 2019): value u is row u + 1 of a Hadamard matrix of K > size columns.

    The report is the number y of a column: one of the K/2 where that row is +1 with p = e^ε/(e^ε + 1), one of the
    others else. It supports all values whose row is +1 in it, so q = ½. The entry of row r in column y is −1 to the
    number of bits that r and y share. Reports are small and estimates quick; for ε well above 1, other mechanisms are
    more accurate.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import HadamardResponse
    >>> hadamard = HadamardResponse(size=3, epsilon=np.log(3))
    >>> (hadamard.matrix() * 8).round(6).tolist()
    [[3.0, 1.0, 3.0, 1.0], [3.0, 3.0, 1.0, 1.0], [3.0, 1.0, 1.0, 3.0]]
    >>> reports = hadamard.perturb([0, 0, 0, 1, 1, 2] * 10_000, rng=np.random.default_rng(1))
    >>> hadamard.estimate(reports).frequencies.round(2)
    array([0.48, 0.33, 0.17])
    """

    @property
    def columns(self) -> int:
        """Number of columns K, the least power of two above the size."""
        return 1 << self.size.bit_length()

    @property
    def letters(self) -> int:
        """A report is one of the columns."""
        return self.columns

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p and q = ½: that a report supports the true value, and that it supports a given other one."""
        base = exp_below(self.epsilon)
        return Fraction(math.floor(2**64 * base / (base + 1)), 2**64), Fraction(1, 2)

    @property
    def levels(self) -> tuple[Fraction, Fraction]:
        """A report's exact likelihood under a value it supports and under one it does not."""
        p, _ = self.probabilities
        return p * 2 / self.columns, (1 - p) * 2 / self.columns

    def supported(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Which values (columns) each report (row) supports."""
        rows = np.arange(1, self.size + 1)
        return _even(self._checked(reports).astype(np.int64)[:, None] & rows)

    def support(self, reports: ArrayLike) -> Integers:
        """How many reports support each value: (n + entry of the transformed histogram)/2."""
        counts = tally(self._checked(reports), self.columns)
        width = 1
        while width < self.columns:  # the fast Walsh–Hadamard transform
            pairs = counts.reshape(-1, 2, width)
            counts = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
            width *= 2
        counts = counts.ravel()
        return np.asarray((counts[0] + counts[1 : self.size + 1]) // 2)

    @property
    def _words(self) -> float:
        return 2.0

    @classmethod
    def closed_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
        """m and dm/dε for many budgets and sizes."""
        return fraction(size - 1.0, 2.0 * size + 2.0, size - 1.0, epsilon)

    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        kept = words(codes.size) < np.uint64(int(self.probabilities[0] * 2**64))
        columns = words(codes.size) & np.uint64(self.columns - 1)
        rows = codes.astype(np.int64) + 1
        # to move a column to the other half, turn one bit that it shares with the row
        wrong = _even(columns & rows.astype(np.uint64)) != kept
        return np.asarray(columns ^ np.where(wrong, rows & -rows, 0).astype(np.uint64))


def _even(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.bitwise_count(numbers) % 2 == 0)
