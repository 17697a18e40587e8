"""Where a chain comes from and goes to: shares of its values, with a proved relative error (maths §12)."""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.rounding import ENTRY, ROUNDOFF
from deptriad.utils.text import brief

TINY = 1e-280
"""Below this, products of shares and probabilities would lose their digits."""


def reached(table: Floats, start: Booleans) -> Integers:
    """The values that a chain can come to from those it may start with, themselves included."""
    found = start.copy()
    while (more := found | (table[found] > 0.0).any(axis=0)).sum() > found.sum():
        found = more
    return np.flatnonzero(found)


def recurrent(table: Floats) -> Integers:
    """The values that a chain never leaves for good: it must have one such set, and no two apart."""
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(table > 0.0, directed=True, connection="strong")
    leaves = (table > 0.0) & (group[:, None] != group[None, :])
    closed = sorted(set(group.tolist()) - set(group[leaves.any(axis=1)].tolist()))
    if len(closed) > 1:
        one, two = (np.flatnonzero(group == number).tolist() for number in closed[:2])
        raise ValueError(
            f"the chain never leaves values {brief(one)}, nor values {brief(two)}, so where it stays depends on where "
            "it started: give initial as a distribution, or as None where it is unknown"
        )
    return np.flatnonzero(group == closed[0])


def stationary(table: Floats) -> tuple[Floats, float]:
    """Shares π with πP = π of a table whose values all reach each other, and a bound on |ln| of the relative error.

    The elimination of Grassmann, Taksar and Heyman only adds, multiplies and divides numbers ≥ 0, so no digit cancels.
    The bound is on the error of each ratio π(x)/π(x'), which is what tables back in time are made of. It follows from
    the tree theorem: a ratio of two shares is a ratio of sums of products of k − 1 entries, for k values, so entries
    off by a factor e^θ move it by e^{2(k−1)θ} at most.
    """
    values = table.shape[0]
    rest, out = table.copy(), np.ones(values)
    error = 2.0 * (values - 1) * ENTRY
    with np.errstate(under="raise"):
        try:
            for last in range(values - 1, 0, -1):
                out[last] = rest[last, :last].sum()
                share = rest[last, :last] / out[last]
                rest[:last, :last] += rest[:last, last, None] * share
                # each entry is now off by a sum, a quotient, a product and an addition
                error += 2.0 * (last - 1) * (last + 4) * ROUNDOFF
            shares = np.ones(values)
            for value in range(1, values):
                shares[value] = shares[:value] @ rest[:value, value] / out[value]
                error += 2.0 * (value + 4) * ROUNDOFF
            shares /= shares.sum()
        except FloatingPointError:
            shares = np.zeros(values)
    if not shares.min() > TINY:
        raise ValueError(
            f"some values have a stationary share below {TINY}, which floats cannot follow: merge values that hardly "
            "ever occur, or give initial=None"
        )
    return shares, error * (1.0 + 1e-6)
