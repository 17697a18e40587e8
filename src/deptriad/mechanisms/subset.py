"""SubsetSelection: a random set of values, the true one in it more often than any other."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.base import MOST_REPORTS
from deptriad.mechanisms.bits import WORD, BitReports
from deptriad.mechanisms.chance import Source
from deptriad.mechanisms.rational import exp_below
from deptriad.utils.arrays import Floats


@dataclass(frozen=True)
class SubsetSelection(BitReports):
    """Subset selection: a set of ω = max(1, round(b/(e^ε + 1))) values.

    With p = ω·e^ε/(ω·e^ε + b − ω) it is the true value and ω − 1 others, else ω others, all sets alike. A report is
    a row of ⌈size/8⌉ bytes, see ``BitReports``.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import SubsetSelection
    >>> subset = SubsetSelection(size=10, epsilon=1.0)
    >>> subset.width, [round(float(chance), 6) for chance in subset.probabilities]
    (3, [0.538102, 0.273544])
    >>> reports = subset.perturb([0] * 5_000 + [9] * 5_000, rng=np.random.default_rng(1))
    >>> np.flatnonzero(subset.supported(reports[:1])).tolist()
    [0, 1, 8]
    """

    @cached_property
    def width(self) -> int:
        """Number of values ω in a report."""
        return max(1, round(self.size / (exp_below(self.epsilon) + 1)))

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p and q: that the true value is in the set, and that a given other one is."""
        weight = self.width * exp_below(self.epsilon)
        p = Fraction(math.floor(WORD * weight / (weight + self.size - self.width)), WORD)
        return p, (self.width - p) / (self.size - 1)

    @property
    def levels(self) -> tuple[Fraction, Fraction]:
        """A set's exact likelihood under a value in it and under one that is not, up to the number of sets."""
        p, _ = self.probabilities
        return p / self.width, (1 - p) / (self.size - self.width)

    def accepted(self, reports: ArrayLike) -> NDArray[Any]:
        """Reports whose sets all have as many values as they must."""
        every = super().accepted(reports)
        if (wrong := ~self.signs(every)[:, 0]).any():
            row = int(np.argmax(wrong))
            count = int(np.bitwise_count(every[row]).sum())
            raise ValueError(
                f"report {row} is a set of {count} values, expected {self.width}: is it of another budget?"
            )
        return every

    def matrix(self) -> Floats:
        """p(report | value), a column for each set, ordered as binary numbers; for up to 65,536 sets."""
        count = math.comb(self.size, self.width)
        if count > MOST_REPORTS:
            raise ValueError(
                f"{count} different sets of {self.width} of {self.size} values are too many for a matrix, expected at "
                f"most {MOST_REPORTS}: levels has the two likelihoods that describe the mechanism"
            )
        inside = self._all_sets().T
        # with a given value; of those without, b/ω − 1 times as many
        sets = math.comb(self.size - 1, self.width - 1)
        high, low = (float(level * self.width / sets) for level in self.levels)
        return np.where(inside, high, low)

    def _all_sets(self) -> NDArray[np.bool_]:
        """A row for each set, ordered as binary numbers: listed by their largest value first."""
        chosen = sorted(itertools.combinations(range(self.size), self.width), key=lambda s: s[::-1])
        sets = np.zeros((len(chosen), self.size), dtype=bool)
        sets[np.arange(len(chosen))[:, None], np.asarray(chosen)] = True
        return sets

    def favoured(self) -> NDArray[np.bool_] | None:
        """All sets of so many values; None if they are too many to list."""
        return self._all_sets() if math.comb(self.size, self.width) <= MOST_REPORTS else None

    def signs(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Whether a set has as many values as all must have."""
        return np.asarray(self.supported(reports).sum(axis=1, keepdims=True) == self.width)

    def sign_chances(self) -> Floats:
        """It always has."""
        return np.ones(1)

    @property
    def alphabet(self) -> NDArray[Any] | None:
        """All sets of so many values, for up to 16."""
        every = super().alphabet
        return None if every is None else every[self.supported(every).sum(axis=1) == self.width]

    @property
    def _words(self) -> float:
        """One to decide, then half a one for each draw."""
        return float(1 + -(-(self.width + 1) // 2))

    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        from deptriad.mechanisms._kernels import subsets

        keep, row = np.uint64(int(self.probabilities[0] * WORD)), int(self._words)
        sets = np.empty((codes.size, self._groups), dtype=np.uint64)
        left = np.arange(codes.size)
        while left.size:  # a second time only for the one record in millions with a rejected draw
            part = np.empty((left.size, self._groups), dtype=np.uint64)
            done = np.empty(left.size, dtype=np.bool_)
            drawn = words(left.size * row).reshape(left.size, row)
            subsets(codes[left], drawn, keep, self.size, self.width, part, done)
            sets[left] = part
            left = left[~done]
        return self._bytes(sets)
