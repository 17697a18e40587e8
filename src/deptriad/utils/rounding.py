"""Rounding outward: how a float64 result is made a bound on the real number it stands for.

Two errors are covered (maths §9). Arithmetic: a sum of n positive terms, in whatever order, is off by at
most n roundings. Input: a table reaches us rounded, and its rows sum to one only up to rounding; so every
bound holds for all tables whose entries are within a relative ``ENTRY`` of those given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

ROUNDOFF = 2.0**-53
"""Largest relative error of one rounding to nearest."""

ENTRY = 8 * ROUNDOFF
"""Relative error granted to every entry of a table."""


def widening(operations: int) -> float:
    """Factor that lifts a non-negative result of so many roundings above its true value."""
    return 1.0 + (operations + 4) * ROUNDOFF


def sum_up(terms: Iterable[float]) -> float:
    """The sum, rounded up; exact where it is a float.

    Examples
    --------
    >>> sum_up([0.1, 0.2]), sum_up([0.5, 0.25])
    (0.30000000000000004, 0.75)
    """
    numbers = [float(term) for term in terms]
    try:
        total = math.fsum(numbers)
    except OverflowError:  # positive terms whose sum is beyond the floats
        return math.inf
    if math.isinf(total):
        return total
    return total if math.fsum([*numbers, -total]) <= 0.0 else math.nextafter(total, math.inf)
