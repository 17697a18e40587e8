"""What it means for a number to bound the truth."""

import oracle
from drawn import (
    Known,
)


def assert_bound(known: Known, reported: float, truth_of) -> None:
    """Reported is not below the truth, whichever table the floats stand for (maths.md §9)."""
    for reading, table in oracle.readings(known.exact).items():
        truth = truth_of(table)
        assert oracle.is_bound(reported, truth), f"{reading}: {reported!r} is below {truth}"


def capped(points, epsilon):
    """The truth, which ε caps: raw floats may sum to a hair more than 1."""
    return min(oracle.leakage(points, epsilon), oracle.decimal(epsilon))
