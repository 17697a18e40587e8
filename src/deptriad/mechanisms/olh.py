"""OLH: optimised local hashing, randomised response on a hash of the value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.base import Reports
from deptriad.mechanisms.chance import Source, Words
from deptriad.mechanisms.entries import blocks, checked
from deptriad.mechanisms.grr import lying_cell, two_levels
from deptriad.mechanisms.oue import OUE
from deptriad.mechanisms.rational import exp_below
from deptriad.mechanisms.support import Support
from deptriad.utils.arrays import Floats, Integers

NOISELESS = 300.0
"""Budgets above this have the least error to the last digit."""

MOST_CELLS = 1 << 12
"""Digits a hash may have: beyond, only the error that is negligible already would shrink further."""

WRITTEN = np.dtype([("seed", ">u8"), ("digit", ">u2")])
"""A report as files hold it."""


FIELD = 20
"""A hash has so many bits: it is an element of the field GF(2^20) = GF(2)[t]/(t^20 + t^3 + 1)."""

MODULUS = (1 << FIELD) | 0b1001

LOW = np.uint64((1 << FIELD) - 1)


def _times_t(element: Words) -> Words:
    """An element times t."""
    doubled = element << np.uint64(1)
    return doubled ^ ((doubled >> np.uint64(FIELD)) * np.uint64(MODULUS))


def bit_hashes(seeds: Words, bits: int) -> list[Words]:
    """What each bit of a code adds to its hash: a·t^2i + b·t^i for the bit i; the seed has a, b and c, 20 bits each."""
    linear, square = (seeds >> np.uint64(FIELD)) & LOW, (seeds >> np.uint64(2 * FIELD)) & LOW
    found = []
    for _ in range(bits):
        found.append(square ^ linear)
        linear, square = _times_t(linear), _times_t(_times_t(square))
    return found


def digits(codes: NDArray[np.uint32], seeds: Words, cells: int) -> NDArray[np.uint32]:
    """The hashes of codes, each by the function of its own seed (they broadcast).

    A code x, of at most 16 bits, is an element of the field, and its hash is a·x² + b·x + c. So hashes are uniform for
    each code, and independent for any three (a polynomial of degree 2 takes any values at three places, by one choice
    of a, b and c): sums over the values of other attributes have no more error than the whole (maths §11). Squares add
    up in this field, (x + y)² = x² + y², so that the hash is the sum of what each bit of x adds.
    """
    mixed = seeds & LOW
    for bit, adds in enumerate(bit_hashes(seeds, int(np.max(codes, initial=0)).bit_length())):
        mixed = mixed ^ adds * ((codes >> np.uint32(bit)) & np.uint32(1)).astype(np.uint64)
    return np.asarray((mixed * np.uint64(cells)) >> np.uint64(FIELD)).astype(np.uint32)


@dataclass(frozen=True)
class OLH(Support):
    """Optimised local hashing: the value is hashed to g = round(e^ε) + 1 digits, the digit told by randomised response.

    A report is a row of two numbers, the seed of the hash function (64 random bits; 60 are used) and the digit; it
    supports all values with that digit. For at most 65,536 values; g is at most 4096.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import OLH
    >>> olh = OLH(size=3, epsilon=1.0)
    >>> olh.cells, [round(float(chance), 6) for chance in olh.probabilities]
    (4, [0.475367, 0.25])
    >>> reports = olh.perturb([0, 0, 0, 1, 1, 2] * 10_000, rng=np.random.default_rng(1))
    >>> reports[0].tolist(), olh.estimate(reports).frequencies.round(2)
    ([9441442522235856127, 0], array([0.49, 0.33, 0.16]))
    """

    most_values: ClassVar[float] = 1 << 16

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > self.most_values:
            raise ValueError(
                f"size is {self.size}, expected at most {self.most_values} values for OLH: take OUE"
            )

    @property
    def law(self) -> str:
        """With the hash: reports that were hashed otherwise are no reports of it."""
        return "OLH by a polynomial of degree 2"

    @cached_property
    def cells(self) -> int:
        """Number of digits g."""
        return min(round(exp_below(self.epsilon)) + 1, MOST_CELLS)

    @cached_property
    def levels(self) -> tuple[Fraction, Fraction]:
        """A digit's exact likelihood, its seed given, under a value that has it and under one that has not."""
        return two_levels(self.cells, lying_cell(self.cells, self.epsilon, 64), 64)

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p and q: that a report supports the true value, and that it supports a given other one.

        Digits stand for ⌊2^20/g⌋ or one more of the 2^20 hashes, so two values share one with a chance C just above
        1/g, and q is the lower level plus C times the difference of the two.
        """
        high, low = self.levels
        least, more = divmod(1 << FIELD, self.cells)
        collisions = more * (least + 1) ** 2 + (self.cells - more) * least**2
        return high, low + (high - low) * Fraction(collisions, 1 << 2 * FIELD)

    def matrix(self) -> Floats:
        """Refused: there are 2^64 seeds."""
        raise ValueError(
            f"OLH has 2^64 · {self.cells} different reports, too many for a matrix: levels has the two likelihoods "
            "that describe the mechanism"
        )

    def supported(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Which values (columns) each report (row) supports."""
        every = self._checked(reports)
        seeds = every[:, :1]
        hashes = (seeds & LOW).astype(np.uint32)
        for adds in bit_hashes(seeds, self._bits):  # twice as many values with each bit
            hashes = np.concatenate([hashes, hashes ^ adds.astype(np.uint32)], axis=1)
        told = (hashes[:, : self.size] * np.uint32(self.cells)) >> np.uint32(FIELD)
        return np.asarray(told == every[:, 1:])

    @property
    def _bits(self) -> int:
        """How many bits a code has."""
        return (self.size - 1).bit_length()

    def support(self, reports: ArrayLike) -> Integers:
        """How many reports support each value."""
        from deptriad.mechanisms._kernels import hash_support

        every = self._checked(reports)
        counts = np.zeros(self.size, dtype=np.int64)
        for part in blocks(len(every), 2.0):
            seeds, told = every[part, 0], every[part, 1].astype(np.uint32)
            adds = np.array(bit_hashes(seeds, self._bits), dtype=np.uint32)
            hashes = (seeds & LOW).astype(np.uint32)
            hash_support(hashes, adds, told, np.uint32(self.cells), counts)
        return counts

    def signs(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """The bits of the seed."""
        seeds = np.ascontiguousarray(self._checked(reports)[:, :-1])
        return np.unpackbits(seeds.view(np.uint8), axis=1).view(np.bool_)

    def sign_chances(self) -> Floats:
        """Each is set half of the time."""
        return np.full(64 * (self._report_format[0][0] - 1), 0.5)

    @property
    def _words(self) -> float:
        return 2.0

    @property
    def _report_format(self) -> tuple[tuple[int, ...], type[np.unsignedinteger[Any]]]:
        return (2,), np.uint64

    def to_bytes(self, reports: NDArray[Any]) -> NDArray[np.uint8]:
        """Eight bytes of the seed and two of the digit."""
        rows = np.empty((len(reports), 1), dtype=WRITTEN)
        rows["seed"], rows["digit"] = reports[:, :1], reports[:, 1:]
        return rows.view(np.uint8)

    def from_bytes(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """The reports of such rows."""
        held = np.ascontiguousarray(rows).view(WRITTEN)
        return np.concatenate([held["seed"], held["digit"]], axis=1, dtype=np.uint64)

    @classmethod
    def moment(cls, epsilon: float, size: int) -> float:
        """m. With n = g − 1 and E = e^ε it is 1 + [E(n + 1)² + (b − 1)(E + n)²] / (n(E − 1)²)."""
        epsilon = min(epsilon, NOISELESS)
        others = float(round(np.exp(epsilon)))
        less = np.exp(-epsilon)  # everything is divided by E²
        own = less * (others + 1.0) ** 2 / others
        rest = (size - 1) * (1.0 + others * less) ** 2 / others
        return float(1.0 + (own + rest) / np.expm1(-epsilon) ** 2)

    @classmethod
    def closed_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
        """m and dm/dε as if it could hash to e^ε + 1 digits, which is OUE's."""
        return OUE.closed_moment(epsilon, size)

    def _checked(self, reports: ArrayLike) -> Reports:
        every = checked(reports, "reports", (2,))
        checked(every[:, 1], "digits of reports", (), self.cells)
        return every.astype(np.uint64, copy=False)

    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        from deptriad.mechanisms._kernels import respond_64

        seeds, drawn = words(codes.size), words(codes.size)
        cell = lying_cell(self.cells, self.epsilon, 64)
        told = np.empty_like(codes)
        hashed = digits(codes, seeds, self.cells)
        respond_64(hashed, drawn, np.uint64(cell), np.uint64(cell * self.cells), told)
        return np.stack([seeds, told.astype(np.uint64)], axis=1)
