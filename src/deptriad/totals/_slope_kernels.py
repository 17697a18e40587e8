"""The compiled loop behind slopes: the reference form with exact derivatives by every budget (maths §5, §8).

A row is what all sources say about one pair (x, x') of values of one target. The reference form is the least, over
shares λ, of a sum of largest terms: a saddle. Where the least λ_i lies at a kink, its two terms count in the mixture
whose slope by λ_i is the common price of λ (the envelope theorem of saddles). So a row is kept as a, λ, two points for
each source and how much the first one counts; with these held it is a smooth function of the budgets that has the
bound's own value and slopes where it was made.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._point_kernels import BY_ZERO
from deptriad.totals._search_kernels import mass_at, masses_of, tilted
from deptriad.totals._term_kernels import HUGE
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled


class HeldRows(NamedTuple):
    """Rows with all their choices held: row r has entries ``first[r]`` to ``first[r + 1]``, each of one attribute."""

    first: Integers
    attribute: Integers
    a: Floats
    ratio: Floats  # of the share to the budget, where the row was made
    points: Floats
    part: Floats


@compiled(**BY_ZERO)
def reference_rows(rows, epsilon):
    """The reference form of each row with all its choices held, and its slopes by all budgets.

    Shares follow the budgets, λ_i = r_i·ε_i/Σ r_j·ε_j. W(min(u, v)) = min(W(u), W(v)), since W increases.
    """
    first, attribute, a, ratio, points, part = rows
    values, slopes = np.zeros(first.size - 1), np.zeros((first.size - 1, epsilon.size))
    for r in range(first.size - 1):
        start, stop = first[r], first[r + 1]
        size = stop - start
        here = attribute[start:stop]
        some = epsilon[here]
        masses = masses_of(a[start:stop], some, -1)
        whole = masses.mass[-1]
        own, pull = np.empty(size), np.zeros((2, size))
        reached, by_share, slope = np.empty((2, size)), np.zeros(size), np.zeros(size)
        scale = (ratio[start:stop] * some).sum()
        total, mean, drift = masses.top + math.log(whole), 0.0, 0.0
        for i in range(size):
            e = start + i
            own[i] = mass_at(a[e], masses) / whole
            share, strength = ratio[e] * some[i] / scale, scale / ratio[e]
            for side in range(2):
                weight = part[e] if side == 0 else 1.0 - part[e]
                reached[side, i] = own[i]
                if weight == 0.0:
                    continue
                b, high = points[e, 2 * side], points[e, 2 * side + 1]
                reached[side, i] = mass_at(high, masses) / whole
                q = min(max(reached[side, i] - own[i], -1.0), 1.0)
                tilt, push = tilted(strength, q)
                total += weight * (share * tilt - some[i] * b)
                slope[i] += weight * (push - b)
                by_share[i] += weight * (tilt - strength * push)
                c = math.expm1(min(strength, HUGE)) if q > 0.0 else -math.expm1(-strength)
                pull[side, i] = weight * share / (1.0 / c + q) if c > 0.0 else 0.0
                drift += pull[side, i] * q
            mean += share * by_share[i]
        for j in range(size):
            moved = own[j] * (1.0 - drift)
            for i in range(size):
                under = min(own[i], own[j])
                moved += pull[0, i] * (min(reached[0, i], own[j]) - under)
                moved += pull[1, i] * (min(reached[1, i], own[j]) - under)
            slope[j] += moved + ratio[start + j] / scale * (by_share[j] - mean)
        values[r] = total
        for j in range(size):
            slopes[r, here[j]] = slope[j]
    return values, slopes
