"""Budgets in exact arithmetic: e^ε as a rational just below it, ln as a float just above it."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 60
"""Decimal digits of e^ε: far more than 64 random bits can tell apart."""

LARGEST = 64.0
"""Budget beyond which e^ε exceeds 2^64 many times over, and no threshold changes any more."""


def exp_below(epsilon: float) -> Fraction:
    """A rational below e^ε by a few parts in 10^60 (above ε = 64, one below e^64: still below).

    >>> float(exp_below(1.0)), exp_below(1.0) < Fraction(2718281828459045235360288, 10**24)
    (2.718281828459045, True)
    """
    epsilon = min(epsilon, LARGEST)
    with localcontext() as context:
        context.prec = DIGITS
        # exp is correctly rounded, so its lower neighbour is below the truth
        below = Fraction(Decimal(epsilon).exp().next_minus())
    # 1 + ε is nearer where ε is next to nothing
    return max(below, 1 + Fraction(epsilon))


def log_above(ratio: Fraction | float) -> float:
    """The least float known to be at or above ln(ratio), for a ratio of at least 1.

    >>> log_above(Fraction(1)), log_above(Fraction(2)) >= math.log(2)
    (0.0, True)
    """
    if ratio == 1 or ratio == math.inf:
        return 0.0 if ratio == 1 else math.inf
    ratio = Fraction(ratio)
    with localcontext() as context:
        context.prec = DIGITS
        value = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
    return math.nextafter(float(value), math.inf)
