"""Checks that bad luck may fail: they are made again, on fresh draws, until luck is out of the question."""

from __future__ import annotations

import math
from collections.abc import Callable

NEVER = 1e-11
"""A chance that no test of a lifetime sees."""


def unless_unlucky(check: Callable[[], None], chance: float) -> None:
    """Call a check that fails by bad luck with at most this chance, and fail if it fails every time.

    Each call draws anew from the test's generator, so that n of them all fail by luck with a chance of chance^n, which
    is below 1e-11 here. What is wrong by much more than luck fails every time.
    """
    left = math.ceil(math.log(NEVER) / math.log(chance))
    while True:
        left -= 1
        try:
            return check()
        except AssertionError:
            if not left:
                raise
