"""The least E Π (1 + t_i·1_i) of up to three events with given probabilities, as the largest of planes (maths §5).

Over all joint distributions with these probabilities it is a linear program. Its dual asks for numbers p with
p_0 + Σ_{i∈S} p_i ≤ Π_{i∈S} e^{ε_i} − 1 for every set S of events: a polyhedron that does not depend on the
probabilities, whose corners are listed once. Every p that it contains is a bound.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.rounding import ROUNDOFF

MOST = 3
"""Sources whose corners are listed."""


@lru_cache(maxsize=MOST)
def event_sets(size: int) -> Floats:
    """The sets of so many events: row S has a 1 for each event in it."""
    return np.array([[s >> i & 1 for i in range(size)] for s in range(1 << size)], dtype=float)


@lru_cache(maxsize=MOST)
def _bases(size: int) -> tuple[Floats, Integers, Floats]:
    """A row (1, 1_S) for each set S of events; every choice of size + 1 of them that settles p, and its inverse."""
    rows = np.array(
        [[1, *(s >> i & 1 for i in range(size))] for s in range(1 << size)], dtype=float
    )
    chosen = [list(some) for some in combinations(range(1 << size), size + 1)]
    settled = [some for some in chosen if abs(np.linalg.det(rows[some])) > 0.5]
    return rows, np.array(settled), np.linalg.inv(rows[settled])


def planes(epsilon: Floats) -> Floats:
    """Numbers p_0 … p_3, one plane in a row, rounded so that p_0 + Σ p_i·B_i stays below D − 1 in floating point.

    Examples
    --------
    >>> planes(np.log([2.0, 2.0])).round(9).tolist()
    [[-1.0, 2.0, 2.0, 0.0], [0.0, 1.0, 1.0, 0.0]]
    """
    size = len(epsilon)
    rows, settled, inverse = _bases(size)
    height = np.expm1(rows[:, 1:] @ epsilon)
    corners = np.einsum("nij,nj->ni", inverse, height[settled])
    # the least D rises with every B, so corners that fall with one are never needed
    corners = corners[(corners[:, 1:] >= 0.0).all(axis=1)]
    over = (corners @ rows.T - height).max(axis=1)
    corners = corners[over <= 1e-9 * height.max()]
    # roundings of this and of later sums are a part of Σ p_i, which is never below −p_0
    corners[:, 1:] *= 1.0 - (160.0 + 4.0 * epsilon.sum()) * ROUNDOFF
    doubt = (8.0 + 2.0 * epsilon.sum()) * ROUNDOFF * (np.abs(corners) @ rows.T + height)
    corners[:, 0] -= np.maximum((corners @ rows.T - height + doubt).max(axis=1), 0.0)
    corners[:, 0] -= 16 * ROUNDOFF * np.abs(corners[:, 0])
    found = np.zeros((len(corners), 1 + MOST))
    found[:, : size + 1] = corners
    return np.asarray(found[_different(found, height.max())])


def _different(found: Floats, scale: float) -> Integers:
    """One of each: planes that several choices of sets lead to."""
    first: dict[tuple[float, ...], int] = {}
    for place, row in enumerate((found / scale).round(12).tolist()):
        first.setdefault(tuple(row), place)
    return np.array([first[row] for row in sorted(first)], dtype=np.int64)


def avoiding(chances: Floats, epsilon: Floats) -> Floats:
    """The chance of each set of events that the least denominator is attained with, about.

    Only sets that touch the largest plane have any.
    """
    from scipy.optimize import nnls

    size = len(epsilon)
    rows = _bases(size)[0]
    found = planes(epsilon)[:, : size + 1]
    plane = found[np.argmax(found @ np.append(1.0, chances))]
    height = np.expm1(rows[:, 1:] @ epsilon)
    touching = height - rows @ plane <= 1e-9 * height.max()
    result = np.zeros(1 << size)
    result[touching] = nnls(rows[touching].T, np.append(1.0, chances))[0]
    return result


def nested(chances: Floats) -> Floats:
    """The chance of each set of events that are nested: by falling chances they happen one inside the other."""
    result = np.zeros(1 << len(chances))
    happened, left = 0, 1.0
    for i in np.argsort(-chances):
        result[happened], left = left - chances[i], chances[i]
        happened |= 1 << int(i)
    result[happened] = left
    return result
