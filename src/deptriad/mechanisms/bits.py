"""Reports that are sets of values, a bit for each. BitReports: their format. Unary: each bit by itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.base import MOST_REPORTS, Reports
from deptriad.mechanisms.chance import Source
from deptriad.mechanisms.entries import checked, marked, tally
from deptriad.mechanisms.support import Support
from deptriad.utils.arrays import Floats, Integers

WORD = 2**64


@dataclass(frozen=True)
class BitReports(Support):
    """A mechanism whose report is a row of ⌈size/8⌉ bytes: bit u mod 8 of byte u // 8 is set if value u is supported.

    ``numpy.unpackbits(reports, axis=1, count=size, bitorder="little")`` makes it a row of zeros and ones.
    """

    def supported(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Which values (columns) each report (row) supports."""
        every = self._checked(reports)
        return np.unpackbits(every, axis=1, count=self.size, bitorder="little").view(np.bool_)

    def support(self, reports: ArrayLike) -> Integers:
        """How many reports support each value: bytes are counted, then the bits in them."""
        every = self._checked(reports)
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        counts = [tally(every[:, byte], 256) @ bits for byte in range(every.shape[1])]
        return np.concatenate(counts)[: self.size].astype(np.int64)

    @property
    def _groups(self) -> int:
        """Words that hold a bit for each value."""
        return -(-self.size // 64)

    @property
    def _report_format(self) -> tuple[tuple[int, ...], type[np.unsignedinteger[Any]]]:
        return (-(-self.size // 8),), np.uint8

    @property
    def alphabet(self) -> NDArray[Any] | None:
        """All sets, ordered as binary numbers, for up to 16 values."""
        if 2**self.size > MOST_REPORTS:
            return None
        return self._bytes(np.arange(2**self.size, dtype=np.uint64)[:, None])

    def _bytes(self, sets: NDArray[np.uint64]) -> NDArray[np.uint8]:
        return sets.astype("<u8", copy=False).view(np.uint8)[:, : self._report_format[0][0]]

    def _checked(self, reports: ArrayLike) -> Reports:
        every = checked(reports, "reports", self._report_format[0])
        if every.size and every.dtype != np.uint8:
            raise ValueError(f"reports has type {every.dtype}, expected uint8: 8 bits in each")
        spare = 8 * every.shape[1] - self.size
        if spare and every.size and int(every[:, -1].max()) >> (8 - spare):
            row = int(np.argmax(every[:, -1] >> (8 - spare) != 0))
            raise ValueError(
                f"report {row} has a bit set beyond the {self.size} values: is it of another size?"
            )
        return every.astype(np.uint8, copy=False)


@dataclass(frozen=True)
class Unary(BitReports):
    """Unary encoding: the true value's bit is set with chance p, each other one with q, all by themselves."""

    @property
    def levels(self) -> tuple[Fraction, Fraction]:
        """Likelihood of a report under a value whose bit is set and one whose bit is not, up to a common factor."""
        p, q = self.probabilities
        return p * (1 - q), (1 - p) * q

    def matrix(self) -> Floats:
        """p(report | value), size × 2^size: bit u of a column's number is value u. For up to 16 values."""
        if 2**self.size > MOST_REPORTS:
            raise ValueError(
                f"size is {self.size}: 2^{self.size} different reports are too many for a matrix, expected at most "
                "16 values; levels has the two likelihoods that describe the mechanism"
            )
        p, q = map(float, self.probabilities)
        bits = np.arange(2**self.size) >> np.arange(self.size)[:, None] & 1
        others = bits.sum(axis=0) - bits
        rest = q**others * (1.0 - q) ** (self.size - 1 - others)
        return np.asarray(np.where(bits == 1, p, 1.0 - p) * rest)

    def signs(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """How many bits are set: a mark for each number of them."""
        return marked(self.supported(reports).sum(axis=1), self.size + 1)

    def sign_chances(self) -> Floats:
        """One bit is set with chance p and all others with q, whichever is the true one."""
        from scipy.stats import binom

        p, q = map(float, self.probabilities)
        others = binom.pmf(np.arange(self.size), self.size - 1, q)
        return np.convolve(others, [1.0 - p, p])

    @property
    def _words(self) -> float:
        """One for the true bit, and enough to decide 64 others: 7.33 on average."""
        return 1.0 + 7.5 * self._groups

    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        from deptriad.mechanisms._kernels import unary

        keep, add = (np.uint64(int(chance * WORD)) for chance in self.probabilities)
        last = np.uint64(2 ** (self.size - 64 * (self._groups - 1)) - 1)
        sets = np.empty((codes.size, self._groups), dtype=np.uint64)
        done = 0
        while done < codes.size:
            drawn = words(int((codes.size - done) * self._words) + 64 * self._groups + 1)
            done += unary(codes[done:], drawn, keep, add, last, sets[done:])
        return self._bytes(sets)
