"""The truth about several sources at once, slowly: every product of sets, from the joint distribution itself.

A joint is an array of whole numbers with the target as its first axis and a source on each further one. Each source
is released by a mechanism that answers e^ε times as often inside a set S_i as outside: among all mechanisms with
independent noise these are the worst, since the likelihood ratio is linear-fractional in each (maths.md §5).
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np

import oracle


def tables_of(joint: np.ndarray, names=None) -> dict:
    """p(source | target) for each source, as Conditionals."""
    import deptriad as dt

    sources = range(1, joint.ndim)
    names = names or [f"source {i}" for i in sources]
    found = {}
    for name, i in zip(names, sources, strict=True):
        others = tuple(j for j in sources if j != i)
        counts = joint.sum(axis=others)
        table = oracle.as_floats(
            [[Fraction(int(n), int(row.sum())) for n in row] for row in counts]
        )
        found[name] = dt.Conditional(table, target="target", source=name)
    return found


def set_weights(size: int, epsilon: float) -> np.ndarray:
    """e^{ε·1{u ∈ S}}, one row for each set S."""
    members = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
    return np.where(members == 1, np.exp(epsilon), 1.0)


def event_masses(joint: np.ndarray, budgets) -> np.ndarray:
    """E[Π_i e^{ε_i·1{X_i ∈ S_i}} | x] for each x (first axis) and each product of sets, in floats."""
    masses = joint / joint.reshape(len(joint), -1).sum(axis=1).reshape(-1, *[1] * (joint.ndim - 1))
    for epsilon in budgets:
        masses = np.tensordot(masses, set_weights(masses.shape[1], epsilon), axes=([1], [1]))
    return masses


@oracle.exactly
def exact_mass(row: np.ndarray, sets, budgets) -> Decimal:
    """The same for one x and one product of sets, in 500 digits."""
    powers = [oracle.exp(epsilon) for epsilon in budgets]
    total = Decimal(0)
    for place in zip(*np.nonzero(row), strict=True):
        weight = Decimal(int(row[place]))
        for u, inside, power in zip(place, sets, powers, strict=True):
            if (inside >> int(u)) & 1:
                weight *= power
        total += weight
    return total / Decimal(int(row.sum()))


@oracle.exactly
def joint_leakage(joint: np.ndarray, budgets) -> Decimal:
    """ln of the largest likelihood ratio over all products of sets and pairs: found in floats, valued in 500 digits."""
    masses = np.log(event_masses(joint, budgets)).reshape(len(joint), -1)
    best = max(
        itertools.permutations(range(len(joint)), 2),
        key=lambda pair: (masses[pair[0]] - masses[pair[1]]).max(),
        default=None,
    )
    if best is None:
        return Decimal(0)
    x, y = best
    place = int(np.argmax(masses[x] - masses[y]))
    sets = np.unravel_index(place, [1 << size for size in joint.shape[1:]])
    ratio = exact_mass(joint[x], sets, budgets) / exact_mass(joint[y], sets, budgets)
    return oracle.log(ratio)


# ------------------------------------------------------------------------------------------- joints


def xor(sources: int = 2) -> np.ndarray:
    """Fair coins, and as the target whether an odd number of them shows heads."""
    joint = np.zeros((2,) + (2,) * sources, dtype=np.int64)
    for coins in itertools.product((0, 1), repeat=sources):
        joint[(sum(coins) % 2, *coins)] = 1
    return joint


def random_joint(rng: np.random.Generator, independent: bool = False) -> np.ndarray:
    """2 to 4 sources of 2 or 3 values, 2 or 3 target values; dense, sparse, or a handful of cells."""
    rows, sources = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    shape = tuple(int(size) for size in rng.integers(2, 4, sources))
    if independent:
        joint = np.empty((rows, *shape), dtype=np.int64)
        for x in range(rows):
            cells = np.ones((), dtype=np.int64)
            for size in shape:
                cells = np.multiply.outer(
                    cells, rng.integers(0, 9, size) + np.eye(size, dtype=int)[0]
                )
            joint[x] = cells
        return joint
    kind = rng.choice(["dense", "sparse", "handful", "uneven", "extremal"])
    if kind == "extremal":
        return extremal_joint(rng, rows, shape)
    if kind == "handful":
        joint = np.zeros((rows, *shape), dtype=np.int64)
        for x in range(rows):
            for _ in range(int(rng.integers(1, 4))):
                joint[(x, *(int(rng.integers(size)) for size in shape))] += int(rng.integers(1, 10))
        return joint
    joint = rng.integers(1, 100, (rows, *shape))
    if kind == "sparse":
        joint = joint * (rng.random(joint.shape) < 0.2)
    if kind == "uneven":
        joint = (10.0 ** rng.uniform(0, 6, joint.shape)).astype(np.int64)
    joint[(slice(None), *[0] * sources)] += joint.reshape(rows, -1).sum(axis=1) == 0
    return joint


def extremal_joint(rng: np.random.Generator, rows: int, shape) -> np.ndarray:
    """Given one target value sources rise together, given another one falls as the rest rise: the worst couplings."""
    grain = int(rng.choice([4, 12, 60]))
    joint = np.zeros((rows, *shape), dtype=np.int64)
    for x in range(rows):
        columns = []
        for size in shape:
            draw = np.sort(
                rng.integers(0, size, grain) if rng.random() < 0.7 else np.arange(grain) % size
            )
            how = rng.choice(["rise", "fall", "turn", "mix"])
            if how == "fall":
                draw = draw[::-1]
            elif how == "turn":
                draw = np.roll(draw, int(rng.integers(grain)))
            elif how == "mix":
                draw = rng.permutation(draw)
            columns.append(draw)
        np.add.at(joint[x], tuple(columns), 1)
    return joint
