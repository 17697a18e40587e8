"""Six kinds of dependence, as the words of the paper's section VI-F suggest them: it gives no generator.

Each makes p(source | target) with ``size`` values of both attributes. D(c) stands for a draw from the symmetric
Dirichlet distribution with all parameters c, over all source values unless said otherwise; a background is a share of
each row's mass over all source values. There are two sets, because what is found depends on it. "extreme" was written
first, from the paper's words alone: backgrounds are D(1), so some entries are tiny and ratios go up to e^12 to e^30.
Its errors keep growing up to ε = 10, unlike the paper's, so "moderate" was written after that was seen: backgrounds are
uniform and ratios end near e^3 to e^8, but for the two kinds of nearly fixed values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats

Maker = Callable[[int, np.random.Generator, bool], "Floats"]


def low_entropy(size: int, rng: np.random.Generator, extreme: bool) -> Floats:
    """Rows D(0.01) with a background of 10⁻⁶; extreme: single source values drawn at random instead of D(0.01)."""
    if extreme:
        return _above(np.eye(size)[rng.integers(size, size=size)], 1e-6, rng, extreme)
    return _above(rng.dirichlet(np.full(size, 0.01), size=size), 1e-6, rng, extreme)


def sparse_concentrated(size: int, rng: np.random.Generator, extreme: bool) -> Floats:
    """Rows D(1) over 5 % of the source values, drawn for each row; background 0.05, extreme: 0.1."""
    rows = _spread(size, max(2, size // 20), rng)
    return _above(rows, 0.1 if extreme else 0.05, rng, extreme)


def many_to_one(size: int, rng: np.random.Generator, extreme: bool) -> Floats:
    """Each target value goes to one of a tenth of the source values; background 10⁻⁶, D(1) in both sets."""
    images = rng.integers(max(2, size // 10), size=size)
    return _above(np.eye(size)[images], 1e-6, rng, True)


def one_to_many(size: int, rng: np.random.Generator, extreme: bool) -> Floats:
    """Rows D(1) over 20 % of the source values, drawn for each row; background 0.01."""
    return _above(_spread(size, max(2, size // 5), rng), 0.01, rng, extreme)


def near_monotone(size: int, rng: np.random.Generator, extreme: bool) -> Floats:
    """Rows ∝ exp(c·x·u + 0.05·z): x and u equally spaced in [−1, 1], z normal, c uniform in [1, 4], extreme: [4, 8]."""
    place = np.linspace(-1.0, 1.0, size)
    strength = rng.uniform(4.0, 8.0) if extreme else rng.uniform(1.0, 4.0)
    weight = np.exp(strength * np.outer(place, place) + 0.05 * rng.normal(size=(size, size)))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def limited_tail(size: int, rng: np.random.Generator, extreme: bool) -> Floats:
    """Rows D(5) over the first fifth of the source values, and a tail of mass uniform in [0.001, 0.05] over the rest.

    The tail is D(5), extreme: D(1).
    """
    body = max(2, size // 5)
    tail = rng.uniform(0.001, 0.05, size=(size, 1))
    inner = rng.dirichlet(np.full(body, 5.0), size=size)
    outer = rng.dirichlet(np.full(size - body, 1.0 if extreme else 5.0), size=size)
    return np.hstack([(1.0 - tail) * inner, tail * outer])


def _spread(size: int, support: int, rng: np.random.Generator) -> Floats:
    """Rows with a random support of so many source values, D(1) on it."""
    rows = np.zeros((size, size))
    for row in rows:
        row[rng.choice(size, support, replace=False)] = rng.dirichlet(np.ones(support))
    return rows


def _above(rows: Floats, share: float, rng: np.random.Generator, uneven: bool) -> Floats:
    """Rows above a background of a share of their mass: uniform, or D(1) for each row."""
    count = rows.shape[1]
    background = rng.dirichlet(np.ones(count), size=len(rows)) if uneven else 1.0 / count
    return np.asarray((1.0 - share) * rows + share * background)


SETS = ("moderate", "extreme")

REGIMES: dict[str, Maker] = {
    "low entropy": low_entropy,
    "sparse concentrated": sparse_concentrated,
    "many to one": many_to_one,
    "one to many": one_to_many,
    "near monotone": near_monotone,
    "limited tail": limited_tail,
}
"""In the order of the paper's table."""
