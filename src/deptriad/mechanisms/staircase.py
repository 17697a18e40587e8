"""Staircase: the true value plus staircase noise, clamped to the alphabet; for ordered values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from deptriad.mechanisms.chance import Words
from deptriad.mechanisms.channel import WHOLE, Tabled
from deptriad.mechanisms.rational import exp_below


@dataclass(frozen=True)
class Staircase(Tabled):
    """Staircase mechanism (Geng and Viswanath 2014) for ordered values: near values are likelier than far ones.

    Noise i has probability a for ``|i| < step``, a·e^−ε from there to ``|i| < size − 1``, and so on down by e^−ε for
    every further size − 1. What falls off an end of the alphabet is reported as that end (clamped): all outputs beyond
    it together keep the ratio e^ε, which truncating and renormalising would not. A report is a code 0 … size − 1.

    The step is the one nearest to the optimum for the mean of ``|i|``, (size − 1)/(1 + e^(ε/2)), whose matrix can be
    inverted.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import Staircase
    >>> staircase = Staircase(size=5, epsilon=1.0)
    >>> staircase.step, staircase.matrix()[2].round(3).tolist()
    (2, [0.304, 0.131, 0.131, 0.131, 0.304])
    >>> reports = staircase.perturb([0, 1, 1, 1, 2, 3, 4, 4, 4, 4] * 20_000, rng=np.random.default_rng(1))
    >>> staircase.estimate(reports).frequencies.round(1)
    array([0.1, 0.3, 0.1, 0.1, 0.4])
    """

    names_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._heights[0] <= self._heights[1]:
            raise ValueError(
                f"epsilon is {self.epsilon:g}, too small for {self.size} values: rounded to 63 bits towards privacy, "
                "the steps would be level; take a larger epsilon"
            )

    @cached_property
    def step(self) -> int:
        """Values on each side, the true one included, that the upper step covers."""
        reach = self.size - 1
        best = reach / (1 + exp_below(self.epsilon / 2))
        return min(filter(self._tells_all, range(1, reach + 1)), key=lambda step: abs(step - best))

    def _tells_all(self, step: int) -> bool:
        """Whether the matrix has an inverse: a band of 2·step − 1 ones does where it fits the alphabet like this."""
        return (self.size - 1) % (2 * step - 1) == 0 or (self.size - 2) % (2 * step - 1) == 0

    @cached_property
    def _heights(self) -> tuple[int, int]:
        """Counts of noise on the upper and on the lower step: the largest that keep e^ε exactly.

        An end of the alphabet at distance d gets T(d) = (1 + P(0))/2 − Σ_{i<d} P(i), which makes all rows sum to one if
        the upper height is even; it falls with d, so that T(0) ≤ e^ε·T(size − 1) is all there is to check.
        """
        base, reach = exp_below(self.epsilon), self.size - 1
        slots = 2 * self.step * base + 2 * (reach - self.step) - (base - 1)
        high = math.floor(WHOLE * (base - 1) / slots) // 2 * 2
        while high > 0:
            low = math.ceil(high / base)
            end = (WHOLE + high) // 2
            if end <= base * (end - self.step * high - (reach - self.step) * low):
                return high, low
            high -= 2
        return 0, 0

    @cached_property
    def _counts(self) -> Words:
        high, low = self._heights
        distance = np.arange(self.size)
        noise = np.where(distance < self.step, np.uint64(high), np.uint64(low))
        nearer = np.cumsum(noise, dtype=np.uint64) - noise
        ends = np.uint64((WHOLE + high) // 2) - nearer
        counts = noise[np.abs(distance[:, None] - distance)]
        counts[:, 0], counts[:, -1] = ends, ends[::-1]
        return np.asarray(counts)
