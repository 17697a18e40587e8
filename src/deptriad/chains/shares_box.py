"""Shares of the values of a chain known up to intervals, and the box of the table back in time (maths §12).

A box of the forward table is none of the table back in time: that depends on the shares, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptriad.chains.stationary import TINY
from deptriad.tables.table import Box
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.rounding import ENTRY, ROUNDOFF

ROUNDS = 200
"""How often intervals of shares are carried on, from no knowledge at all, before they are taken as they stand."""


class Shares(NamedTuple):
    """Intervals of the shares of all values."""

    lower: Floats
    upper: Floats


def around(shares: Floats) -> Shares:
    """Shares that are known but for the rounding of those given."""
    return Shares(shares * (1.0 - ENTRY), np.minimum(shares * (1.0 + ENTRY), 1.0))


def anywhere(forward: Box, steps: int = ROUNDS) -> Shares:
    """Intervals that hold the shares after so many steps or more, whatever they were: the stationary ones, too.

    Each step maps a larger box into a larger one, so that from [0, 1] on they are nested.
    """
    values = forward.shape[0]
    shares = Shares(np.zeros(values), np.ones(values))
    for _ in range(steps):
        onwards = one_step_on(forward, shares)
        onwards = Shares(
            np.maximum(onwards.lower, shares.lower), np.minimum(onwards.upper, shares.upper)
        )
        moved = max(np.abs(new - old).max() for new, old in zip(onwards, shares, strict=True))
        shares = onwards
        if moved < 1e-13:
            break
    return shares


def one_step_on(forward: Box, shares: Shares) -> Shares:
    """Intervals of πP, for π and P in their boxes; π sums to 1, so what is left goes where it counts most, or least."""
    values = forward.shape[0]
    rounding = (2 * values + 8) * ROUNDOFF
    spare = 1.0 - shares.lower.sum()
    most = _filled(shares, forward.upper, max(spare + rounding, 0.0), -1.0)
    least = _filled(shares, forward.lower, max(spare - rounding, 0.0), 1.0)
    there = (shares.upper[:, None] > 0.0) & (forward.upper > 0.0)
    most = _not_lost(most, np.asarray(there.any(axis=0)))
    return Shares(_told(least * (1.0 - rounding)), np.minimum(most * (1.0 + rounding), 1.0))


def _filled(shares: Shares, entries: Floats, spare: float, sign: float) -> Floats:
    """Σ π(z)·entries(z, x) with π at its lower edges, and the spare handed out in the order of sign·entries."""
    order = np.argsort(sign * entries, axis=0)
    worth = np.take_along_axis(entries, order, axis=0)
    room = (shares.upper - shares.lower)[order]
    taken = np.clip(spare - (np.cumsum(room, axis=0) - room), 0.0, room)
    return np.asarray(((shares.lower[order] + taken) * worth).sum(axis=0))


def back_in_time(forward: Box, shares: Shares) -> Box:
    """Box of p(before | now): π⁺P⁺/(π⁺P⁺ + Σ over others of π⁻P⁻), and the same with the signs swapped."""
    least = _told(shares.lower[:, None] * forward.lower)
    most = shares.upper[:, None] * forward.upper
    most = _not_lost(most, (shares.upper[:, None] > 0.0) & (forward.upper > 0.0))
    now, before = most.any(axis=0), most.any(axis=1)
    least, most = least[np.ix_(before, now)].T, most[np.ix_(before, now)].T
    rounding = (most.shape[1] + 8) * ROUNDOFF
    other_least = np.maximum(_others(least) * (1.0 - rounding), 0.0)
    other_most = _others(most) * (1.0 + rounding)
    upper = np.divide(most, most + other_least, out=np.zeros_like(most), where=most > 0.0)
    lower = np.divide(least, least + other_most, out=np.zeros_like(least), where=least > 0.0)
    return Box(lower * (1.0 - rounding), np.minimum(upper * (1.0 + rounding), 1.0))


def _told(least: Floats) -> Floats:
    """Lower edges, 0 where products lose their digits."""
    return np.where(least < TINY, 0.0, least)


def _not_lost(most: Floats, there: Booleans) -> Floats:
    """Upper edges, none so small that products lose their digits, or a value that somebody may have is none."""
    return np.where(there, np.maximum(most, TINY), 0.0)


def _others(weights: Floats) -> Floats:
    """The sum of all other entries of each row; summed from both ends, so that nothing cancels."""
    before, after = np.cumsum(weights, axis=1), np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    others = np.zeros_like(weights)
    others[:, 1:] += before[:, :-1]
    others[:, :-1] += after[:, 1:]
    return others
