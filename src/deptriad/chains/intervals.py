"""Intervals of probabilities from transitions, valid although the number of visits is itself left to chance.

A value's visits, in the order of time, are followed by independent draws from its row; but how many visits there are
depends on what was drawn before, so the binomial intervals for a fixed number do not apply. These hold for all numbers
of visits at once (Ville's inequality for Robbins' mixture of likelihood ratios), and so for the one that occurred.
"""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Floats, Integers

HALVINGS = 200
"""Enough to bring an end to its last bit, also close to 0."""


def share_intervals(counts: Integers, miss: float) -> tuple[Floats, Floats]:
    """Lower and upper ends for every entry of the rows' distributions, each pair wrong with probability ≤ ``miss``.

    A true share p stays inside while Beta(½, ½)-mixed likelihood / likelihood(p) < 1/miss.

    >>> lower, upper = share_intervals(np.array([[50, 50]]), 0.05)
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([[0.338, 0.338]], [[0.662, 0.662]])
    """
    from scipy.special import betaln, xlog1py, xlogy

    hits = counts.astype(np.float64)
    others = hits.sum(axis=1, keepdims=True) - hits
    least = betaln(hits + 0.5, others + 0.5) - betaln(0.5, 0.5) + np.log(miss)
    with np.errstate(invalid="ignore"):
        middle = np.where(hits + others > 0.0, hits / (hits + others), 0.5)

    def end(outside: float) -> Floats:
        """The last place that is out, going from one end of [0, 1] to the share that was seen."""
        out, inside = np.full(hits.shape, outside), middle
        for _ in range(HALVINGS):
            place = (out + inside) / 2.0
            stays = xlogy(hits, place) + xlog1py(others, -place) > least
            out, inside = np.where(stays, out, place), np.where(stays, place, inside)
        return out

    lower, upper = end(0.0) * (1.0 - 1e-12), end(1.0) * (1.0 + 1e-12)
    return lower, np.minimum(upper, 1.0)
