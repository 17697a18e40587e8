"""SUE: symmetric unary encoding (basic one-time RAPPOR)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deptriad.mechanisms.bits import WORD, Unary
from deptriad.mechanisms.moment_curve import fraction
from deptriad.mechanisms.rational import exp_below
from deptriad.utils.arrays import Floats


@dataclass(frozen=True)
class SUE(Unary):
    """Symmetric unary encoding: every bit is told rightly with p = e^(ε/2)/(e^(ε/2) + 1), the other way with q = 1 − p.

    A report is a row of ⌈size/8⌉ bytes, see ``BitReports``.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import SUE
    >>> sue = SUE(size=2, epsilon=2 * np.log(2))
    >>> (sue.matrix() * 9).round(6).tolist()  # reports 00, 01, 10, 11
    [[2.0, 4.0, 1.0, 2.0], [2.0, 1.0, 4.0, 2.0]]
    >>> reports = sue.perturb([0, 1, 1, 1], rng=np.random.default_rng(1))
    >>> np.unpackbits(reports, axis=1, count=2, bitorder="little").tolist()
    [[1, 0], [1, 1], [1, 1], [1, 0]]
    """

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p = 1 − q and q, with ((1 − q)/q)² ≤ e^ε."""
        q = Fraction(math.ceil(WORD / (exp_below(self.epsilon / 2) + 1)), WORD)
        return 1 - q, q

    @classmethod
    def closed_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
        """m and dm/dε for many budgets and sizes."""
        value, slope = fraction(0.0, size, 0.0, 0.5 * epsilon)
        return value, 0.5 * slope
