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


def excesses(joint: np.ndarray, budgets) -> np.ndarray:
    """E[Π_i e^{ε_i·1{X_i ∈ S_i}} | x] − 1 for each x (first axis) and each product of sets.

    Long floats hold e^2800 and 1e-300 together, and no two numbers are subtracted: all digits are good.
    """
    joint = joint.astype(np.longdouble)
    masses = joint / joint.reshape(len(joint), -1).sum(axis=1).reshape(-1, *[1] * (joint.ndim - 1))
    excess = np.zeros_like(masses)
    for epsilon in budgets:
        inside = np.zeros((*masses.shape[:1], *excess.shape[2:], 1), dtype=np.longdouble)
        for value in np.moveaxis(masses + excess, 1, 0):  # sets without it, then the same with it
            inside = np.concatenate([inside, inside + value[..., None]], axis=-1)
        excess = excess.sum(axis=1)[..., None] + np.expm1(np.longdouble(epsilon)) * inside
        masses = masses.sum(axis=1)[..., None]
    return excess


@oracle.exactly
def exact_mass(row: np.ndarray, sets, budgets) -> Decimal:
    """The same for one x and one product of sets, in 500 digits."""
    powers = [1 + oracle.gain(epsilon) for epsilon in budgets]
    total = Decimal(0)
    for place in zip(*np.nonzero(row), strict=True):
        weight = Decimal(int(row[place]))
        for u, inside, power in zip(place, sets, powers, strict=True):
            if (inside >> int(u)) & 1:
                weight *= power
        total += weight
    return total / Decimal(int(row.sum()))


def largest_ratio(joint: np.ndarray, budgets) -> tuple[np.longdouble, tuple]:
    """By how much the largest likelihood ratio of all products of sets and pairs exceeds 1; the pair, and the sets."""
    excess = excesses(joint, budgets)
    best, found = np.longdouble(0), ()
    for x, y in itertools.permutations(range(len(joint)), 2):
        ratios = (excess[x] - excess[y]) / (1 + excess[y])
        place = int(np.argmax(ratios))
        if not found or ratios.flat[place] > best:
            best, found = ratios.flat[place], (x, y, np.unravel_index(place, ratios.shape))
    return best, found


@oracle.exactly
def joint_leakage(joint: np.ndarray, budgets) -> Decimal:
    """ln of the largest likelihood ratio over all products of sets and pairs: found in floats, valued in 500 digits."""
    _, found = largest_ratio(joint, budgets)
    if not found:
        return Decimal(0)
    x, y, sets = found
    return oracle.log(exact_mass(joint[x], sets, budgets) / exact_mass(joint[y], sets, budgets))


def compared(reported: float, joint: np.ndarray, budgets) -> tuple[bool, float]:
    """Whether a number is no less than the leakage, and the leakage in floats.

    In 500 digits, which take most of the time, only where floats leave a doubt: in long ones, of sums of positive
    numbers, a ratio is off by less than 1e-17 of itself, and its logarithm by less than 1e-15 of the budgets.
    """
    best, _ = largest_ratio(joint, budgets)
    near = float(np.log1p(best))
    if reported > near + 1e-9 * near + 1e-15 * sum(budgets):
        return True, near
    return oracle.is_bound(reported, joint_leakage(joint, budgets)), near


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


def joint_of_all_sizes(rng: np.random.Generator) -> np.ndarray:
    """The same shapes, with cells from 1 to 1e299 or empty: whole numbers of Python's, which know no limit."""
    joint = random_joint(rng, independent=True).astype(object)
    for place in np.ndindex(joint.shape):
        joint[place] = int(rng.integers(10)) * 10 ** int(rng.integers(300))
    for row in joint.reshape(len(joint), -1):
        row[int(rng.integers(len(row)))] += 10 ** int(rng.integers(300))
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
