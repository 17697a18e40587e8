"""What one joint value by GRR tells at most, if of the joint table no more is known than its tables of pairs.

Given a value x of the target, a joint value y has at most the chance min_i p(y_i | x), and at least
Σ_i p(y_i | x) − (k − 1), or 0 (Fréchet). A report of y has a likelihood of 1 + t·p(y | x), so that these two bound
every ratio. A target inside the view is settled by y: under another of its values the report has the likelihood 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.tables.table import Box
from deptriad.tables.uncertainty import Uncertainty
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ENTRY, ROUNDOFF

MOST_CELLS = 400_000
"""Joint values times values of the target up to which they are looked at."""


class Chances(NamedTuple):
    """Of reports of joint values: the most that one value of the target gives, and the least of any other value."""

    most: Floats
    least: Floats

    def told(self, epsilon: float) -> float:
        """ln of the largest ratio of likelihoods, rounded up."""
        gain = math.expm1(epsilon)
        ratio = (1.0 + gain * self.most) / (1.0 + gain * self.least)
        largest = float(ratio.max(initial=1.0)) * (1.0 + 16 * ROUNDOFF)
        return math.log(largest) * (1.0 + 16 * ROUNDOFF)

    def largest_gain(self, promise: float) -> float:
        """The largest e^ε − 1 that tells no more than that."""
        odds = math.exp(promise)
        over = self.most - odds * self.least
        return (odds - 1.0) / largest if (largest := float(over.max(initial=0.0))) > 0.0 else np.inf


def chances(
    analysis: Analysis, names: Sequence[str], target: str, allowed: Uncertainty | None = None
) -> Chances | None:
    """What tables of pairs say about a joint value of some attributes and a target; None if there are too many."""
    others = [name for name in names if name != target]
    tables = [analysis.table(name, target, allowed=allowed) for name in others]
    rows = sorted({value for table in tables for value in table.target_values or ()})
    lower, upper = zip(*(_bounds(table, rows) for table in tables), strict=True)
    if target in names:  # y_i may be chosen one by one
        largest = np.min([each.max(axis=1) for each in upper], axis=0)
        return Chances(largest, np.zeros(largest.shape))
    sizes = [each.shape[1] for each in upper]
    if math.prod(sizes) * len(rows) > MOST_CELLS:
        return None
    most, least = _laid(upper[0], 0, sizes), _laid(lower[0], 0, sizes)
    for axis in range(1, len(sizes)):
        most = np.minimum(most, _laid(upper[axis], axis, sizes))
        least = least + _laid(lower[axis], axis, sizes) - (1.0 + 8 * ROUNDOFF)
    cells = (len(rows), math.prod(sizes))
    most = np.broadcast_to(most, (len(rows), *sizes)).reshape(cells)
    least = np.broadcast_to(np.maximum(least, 0.0), (len(rows), *sizes)).reshape(cells)
    if len(rows) < 2:
        return Chances(np.zeros(0), np.zeros(0))
    # of all other rows the least
    two = np.sort(least, axis=0)[:2]
    lowest = least.argmin(axis=0)[None] == np.arange(len(rows))[:, None]
    return Chances(most.ravel(), np.where(lowest, two[1], two[0]).ravel())


def _bounds(table: object, rows: Sequence[str]) -> tuple[Floats, Floats]:
    """Least and largest chances of each source value, for each row; 0 and 1 where a table lacks it."""
    low, high = (
        (table.lower, table.upper) if isinstance(table, Box) else (table.table, table.table)  # type: ignore[attr-defined]
    )
    known = list(table.target_values or ())  # type: ignore[attr-defined]
    lower, upper = np.zeros((len(rows), low.shape[1])), np.ones((len(rows), low.shape[1]))
    places = [rows.index(value) for value in known]
    lower[places], upper[places] = low * (1.0 - ENTRY), np.minimum(high * (1.0 + ENTRY), 1.0)
    return lower, upper


def _laid(table: Floats, axis: int, sizes: Sequence[int]) -> Floats:
    """A table by target and source value, along the axis of that source."""
    shape = [1] * len(sizes)
    shape[axis] = sizes[axis]
    return table.reshape(len(table), *shape)
