"""Rounding outward: how a float64 result is made a bound on the real number it stands for.

Two errors are covered (maths §9). Arithmetic: a sum of n positive terms, in whatever order, is off by at
most n roundings. Input: a table reaches us rounded, and its rows sum to one only up to rounding; so every
bound holds for all tables whose entries are within a relative ``ENTRY`` of those given.
"""

from __future__ import annotations

ROUNDOFF = 2.0**-53
"""Largest relative error of one rounding to nearest."""

ENTRY = 8 * ROUNDOFF
"""Relative error granted to every entry of a table."""


def widening(operations: int) -> float:
    """Factor that lifts a non-negative result of so many roundings above its true value."""
    return 1.0 + (operations + 4) * ROUNDOFF
