"""OUE: optimised unary encoding."""

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
class OUE(Unary):
    """Optimised unary encoding: the true bit is set with p = ½, each other one with q = 1/(e^ε + 1).

    A report is a row of ⌈size/8⌉ bytes, see ``BitReports``.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import OUE
    >>> oue = OUE(size=3, epsilon=1.0)
    >>> [round(float(chance), 6) for chance in oue.probabilities]
    [0.5, 0.268941]
    >>> reports = oue.perturb([0, 0, 0, 1, 1, 2] * 10_000, rng=np.random.default_rng(1))
    >>> reports.shape, reports.dtype, oue.estimate(reports).frequencies.round(2)
    ((60000, 1), dtype('uint8'), array([0.51, 0.33, 0.17]))
    """

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact p = ½ and q, with (1 − q)/q ≤ e^ε."""
        return Fraction(1, 2), Fraction(math.ceil(WORD / (exp_below(self.epsilon) + 1)), WORD)

    @classmethod
    def closed_moment(cls, epsilon: Floats, size: Floats) -> tuple[Floats, Floats]:
        """m and dm/dε for many budgets and sizes."""
        return fraction(1.0, 2.0 + 4.0 * (size - 1.0), 1.0, epsilon)
