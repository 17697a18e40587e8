"""The exact profile of a table: the upper envelope of the lines of all events of all ordered pairs (maths §1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import ROUNDOFF

Line = tuple[float, float]


class _Stretch(NamedTuple):
    """A part of the curve between two lines known to lie on it, and the pairs that may still rise above both."""

    left: Line
    right: Line
    eta_left: float
    eta_right: float
    more: Integers
    less: Integers
    at_left: Floats
    at_right: Floats


def envelope(table: Floats, alpha: float, delta: float) -> tuple[Floats, Floats]:
    """Gaps and masses of the lines that make up the curve for γ ≥ 1, by decreasing mass.

    Where two known lines meet, either some pair rises above them there and gives a new line, or they are
    neighbours. A pair is convex in γ, so it stays below its chord over a stretch: once that passes under the meeting
    point of the two lines, the pair is out for the whole stretch.
    """
    from deptriad.curves import _table_kernels

    rows = table.shape[0]
    if rows < 2 or (alpha == 0.0 and delta == 0.0):
        return np.zeros(1), np.zeros(1)
    more, less = np.divmod(np.arange(rows * rows), rows)
    ordered = more != less
    more, less = more[ordered], less[ordered]
    end = float(np.expm1(alpha)) if alpha < 709.0 else np.finfo(np.float64).max
    gap, lower = _table_kernels.events(table, more, less, 0.0)
    gap_end, lower_end = _table_kernels.events(table, more, less, end)
    first = _highest(gap, lower, 0.0)
    last = (delta, 0.0)
    at_end = np.maximum(gap_end - end * lower_end, 0.0) + 16 * ROUNDOFF * gap_end
    found: list[Line] = [first]
    stack = [_Stretch(first, last, 0.0, end, more, less, gap, at_end)]
    while stack:
        part = stack.pop()
        fall = part.left[1] - part.right[1]
        meet = (part.left[0] - part.right[0]) / fall if fall > 0.0 else part.eta_left
        if not part.eta_left < meet < part.eta_right:  # by a rounding, one line covers the stretch
            found.append(part.right)
            continue
        height = part.right[0] - meet * part.right[1]
        share = (meet - part.eta_left) / (part.eta_right - part.eta_left)
        chord = (1.0 - share) * part.at_left + share * part.at_right
        alive = chord > height
        more, less = part.more[alive], part.less[alive]
        # just past the meeting point, which may be the kink of a heavy value that hides light ones
        gap, lower = _table_kernels.events(table, more, less, meet * (1.0 + 8 * ROUNDOFF))
        stick = gap - meet * lower
        # a rise counts relative to the gap of its own line: events of tiny mass decide at huge budgets
        rise = stick - height - 8 * ROUNDOFF * gap
        best = int(np.argmax(rise)) if rise.size else -1
        if best < 0 or not rise[best] > 0.0:
            found.append(part.right)
            continue
        new = (float(gap[best]), float(lower[best]))
        stick = stick + 16 * ROUNDOFF * gap
        if not part.right[1] < new[1] < part.left[1]:
            found += [new, part.right]
            continue
        stack.append(
            _Stretch(new, part.right, meet, part.eta_right, more, less, stick, part.at_right[alive])
        )
        stack.append(
            _Stretch(part.left, new, part.eta_left, meet, more, less, part.at_left[alive], stick)
        )
    return _ordered(found)


def _highest(gap: Floats, lower: Floats, eta: float) -> Line:
    """The line that is highest at η and, among equals, falls least."""
    stick = gap - eta * lower
    best = np.flatnonzero(stick == stick.max())
    pick = best[np.argmin(lower[best])]
    return float(gap[pick]), float(lower[pick])


def _ordered(found: list[Line]) -> tuple[Floats, Floats]:
    """Lines by decreasing mass; of parallel ones, the highest."""
    highest: dict[float, float] = {}
    for gap, lower in found:
        highest[lower] = max(gap, highest.get(lower, 0.0))
    masses = sorted(highest, reverse=True)
    return np.array([highest[mass] for mass in masses]), np.array(masses)
