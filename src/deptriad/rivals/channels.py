"""Transition matrices p(report | source value): a row for each report, a column for each source value.

They are the ideal ones of the literature, also for a budget of 0 and for one value: ``deptriad.mechanisms`` has chances
rounded towards privacy, by which the measures would differ from their published formulas.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.tables.table import TOLERANCE
from deptriad.utils.arrays import Floats, as_one_budget

MOST_BITS = 16
"""Source values up to which a unary encoding, with 2^b reports, is written out."""


def grr(size: int, epsilon: float) -> Floats:
    """Generalised randomised response: the true value e^ε times as likely as each other one.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.rivals.channels import grr
    >>> grr(3, np.log(2)).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """
    odds = np.exp(-_one(size, epsilon))
    kept = 1.0 / (1.0 + (size - 1) * odds)
    return np.asarray(np.where(np.eye(size, dtype=bool), kept, odds * kept))


def unary(size: int, epsilon: float) -> Floats:
    """Symmetric unary encoding (SUE): one bit for each value, each kept with odds e^(ε/2), all 2^size reports.

    Bit u of a report's number is what it says about value u.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.rivals.channels import unary
    >>> (unary(2, 2 * np.log(2)) * 9).round(6).tolist()  # reports 00, 01, 10, 11
    [[2.0, 2.0], [4.0, 1.0], [1.0, 4.0], [2.0, 2.0]]
    """
    budget = _one(size, epsilon)
    if size > MOST_BITS:
        raise ValueError(
            f"size is {size}, expected at most {MOST_BITS}: a unary encoding has 2^size reports"
        )
    flipped = np.logaddexp(0.0, budget / 2)  # −ln of the probability that a bit is wrong
    if size * flipped > 700.0:
        raise ValueError(
            f"epsilon is {budget:g}, which makes some of the 2^{size} reports less likely than a float can say: "
            "take a smaller epsilon"
        )
    bits = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    # a report is as likely as its number of wrong bits: all set bits, but for the one of the true value
    wrong = bits.sum(axis=1, keepdims=True) + 1 - 2 * bits
    return np.asarray(np.exp(budget / 2 * (size - wrong) - size * flipped))


def as_channel(matrix: ArrayLike, size: int) -> Floats:
    """A checked transition matrix with ``size`` columns."""
    channel = np.asarray(matrix, dtype=np.float64)
    if channel.ndim != 2 or channel.shape[1] != size or not len(channel):
        raise ValueError(
            f"mechanism has shape {channel.shape}, expected a matrix with {size} columns, one for each source value, "
            "and a row for each report"
        )
    if (bad := ~(channel >= 0.0)).any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        raise ValueError(
            f"mechanism has {channel[row, column]} in row {row}, column {column}: expected a number ≥ 0"
        )
    sums = channel.sum(axis=0)
    if (bad := ~(np.abs(sums - 1.0) <= TOLERANCE)).any():
        column = int(np.argmax(bad))
        raise ValueError(
            f"column {column} of mechanism sums to {sums[column]:.12g}, not 1: each column is the distribution of "
            "the report for one source value; is the matrix transposed?"
        )
    return channel


def as_private_channel(matrix: ArrayLike, size: int, epsilon: float) -> Floats:
    """A checked transition matrix that is ε-LDP."""
    channel = as_channel(matrix, size)
    most, least = channel.max(axis=1), channel.min(axis=1)
    smallest = np.finfo(np.float64).tiny  # below it, a probability may have been rounded to 0
    if (bad := least < most * np.exp(-epsilon) * (1.0 - TOLERANCE) - smallest).any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"mechanism({epsilon:g}) is not {epsilon:g}-LDP: report {row} has probabilities from {least[row]:.6g} to "
            f"{most[row]:.6g}; to measure it all the same, pass the matrix itself"
        )
    return channel


def _one(size: int, epsilon: float) -> float:
    if size < 1:
        raise ValueError(f"size is {size}, expected at least 1 source value")
    return as_one_budget(epsilon)
