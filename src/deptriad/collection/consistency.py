"""Marginals that agree with each other: every common margin is the same, and no share is below 0.

A table over the attributes w is the sum of parts, one for each s ⊆ w: the margin over s, centred along each of its
axes, spread evenly over the others. Parts of different s are at right angles to each other, and tables agree exactly
when they have the same part s wherever they have s at all. So weighted least squares on common margins has a closed
form: each part is a mean. The estimate of the marginal s itself has all that reports tell about the part s, as it has
every view that any larger marginal has, at the best weights: the unbiased tables that agree take their parts from it.
The nearest tables that agree and are nowhere below 0, by a distance in which each table counts by its precision, are
found by projecting back and forth (Dykstra).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from deptriad.collection.post_processing import norm_sub
from deptriad.utils.arrays import Floats

Names = tuple[str, ...]
Tables = dict[Names, Floats]

ROUNDS = 500
"""Projections back and forth, at most."""

CLOSE = 1e-7
"""What is below 0 by no more than that is mended by mixing in so much of the uniform distribution."""


def parts_needed(marginals: Iterable[Names]) -> list[Names]:
    """All parts of some marginals, each once, small ones first; attributes in the order of the marginal."""
    found: dict[frozenset[str], Names] = {}
    for names in marginals:
        for size in range(1, len(names) + 1):
            for some in combinations(names, size):
                found.setdefault(frozenset(some), some)
    return sorted(found.values(), key=len)


def agreeing(direct: Mapping[Names, Floats], marginals: Iterable[Names]) -> Tables:
    """Tables of marginals, each part from the estimate of its own marginal: unbiased where these are."""
    own = {frozenset(names): (names, _part(table, names, names)) for names, table in direct.items()}
    sizes = {
        name: size
        for names, table in direct.items()
        for name, size in zip(names, table.shape, strict=True)
    }
    return {names: _table(own, names, sizes) for names in marginals}


def nearest(tables: Tables, precision: Mapping[Names, float]) -> Tables:
    """The nearest tables that agree and are nowhere below 0; those given agree already, and each sums to 1."""
    now, lent = dict(tables), {names: np.zeros(table.shape) for names, table in tables.items()}
    for _ in range(ROUNDS):
        if min(table.min() for table in now.values()) >= -CLOSE:
            break
        inside = {names: norm_sub(now[names] + lent[names]) for names in now}
        lent = {names: now[names] + lent[names] - inside[names] for names in now}
        now = _averaged(inside, precision)  # an affine set needs no memory
    below = max(0.0, *(-table.min() * table.size for table in now.values()))
    mixed = {names: (table + below / table.size) / (1.0 + below) for names, table in now.items()}
    return {names: np.maximum(table, 0.0) for names, table in mixed.items()}


def _averaged(tables: Tables, precision: Mapping[Names, float]) -> Tables:
    """The nearest tables that agree: part s of table w counts by its precision over its number of cells."""
    found: dict[frozenset[str], tuple[Names, Floats]] = {}
    sizes = {
        name: size
        for names, table in tables.items()
        for name, size in zip(names, table.shape, strict=True)
    }
    for some in parts_needed(tables):
        having = [names for names in tables if set(some) <= set(names)]
        weights = [precision[names] / tables[names].size for names in having]
        parts = [_part(tables[names], names, some) for names in having]
        found[frozenset(some)] = (some, np.asarray(np.average(parts, axis=0, weights=weights)))
    return {names: _table(found, names, sizes) for names in tables}


def _part(table: Floats, names: Names, some: Names) -> Floats:
    """The margin over some attributes, in their order, centred along each axis."""
    margin = table.sum(axis=tuple(axis for axis, name in enumerate(names) if name not in some))
    kept = [name for name in names if name in some]
    margin = margin.transpose([kept.index(name) for name in some])
    for axis in range(margin.ndim):
        margin = margin - margin.mean(axis=axis, keepdims=True)
    return np.asarray(margin)


def _table(
    parts: Mapping[frozenset[str], tuple[Names, Floats]], names: Names, sizes: Mapping[str, int]
) -> Floats:
    """The sum of all parts of a marginal, each spread evenly over the attributes it has not; in all 1."""
    shape = [sizes[name] for name in names]
    table = np.full(shape, 1.0 / math.prod(shape))
    for size in range(1, len(names) + 1):
        for some in combinations(names, size):
            own, part = parts[frozenset(some)]
            laid = part.transpose([own.index(name) for name in some])
            wide = [sizes[name] if name in some else 1 for name in names]
            table = table + laid.reshape(wide) * (part.size / table.size)
    return table
