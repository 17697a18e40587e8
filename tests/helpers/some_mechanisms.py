"""Mechanisms, sizes and budgets that tests try, and words that are known beforehand."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from deptriad.mechanisms import Staircase, mechanisms

BUDGETS = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
SIZES = [2, 3, 4, 7, 10, 50, 64, 65, 130, 1000]
KINDS = list(mechanisms.values())
SUPPORT_KINDS = [kind for kind in KINDS if kind is not Staircase]
CHANNEL = [[0.5, 0.2, 0.2, 0.1], [0.2, 0.5, 0.1, 0.2], [0.3, 0.2, 0.4, 0.1]]


def make_all(size, epsilon):
    return [kind(size, epsilon) for kind in KINDS]


def named(mechanism):
    return repr(mechanism)


def tape(words):
    """A source that gives the words listed, in order."""
    left = iter(words)
    return lambda count: np.array([next(left, 0) for _ in range(count)], dtype=np.uint64)


def exp_below(epsilon):
    """A rational below e^ε, by twice as many digits as the package has."""
    with localcontext() as context:
        context.prec = 120
        return Fraction(Decimal(epsilon).exp()) * (1 - Fraction(1, 10**110))


def largest_ratio(matrix):
    return max(max(column) / min(column) for column in zip(*matrix, strict=True))
