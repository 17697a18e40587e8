"""The truth about reports of several attributes, slowly: every report of every mechanism, from the joint table itself.

A report's likelihood under a record is a product over the attributes; its likelihood under a target value is the mean
of that over the records with this value, or the largest and the least mean that a box of tables allows. Whole numbers,
fractions and 500 digits; nothing is shared with the package.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np

import oracle


@oracle.exactly
def two_levels(sets, epsilon: float) -> list[list[Decimal]]:
    """For each set (a row of truth values) the likelihood of a report that favours it, under every value."""
    high = oracle.exp(epsilon)
    return [[high if inside else Decimal(1) for inside in row] for row in sets]


def all_sets(size: int) -> list[tuple[bool, ...]]:
    """All sets of so many values."""
    return list(itertools.product((False, True), repeat=size))


def singles(size: int) -> list[list[bool]]:
    """The sets of one value."""
    return np.eye(size, dtype=bool).tolist()


@oracle.exactly
def leakage(table, channels) -> Decimal:
    """ln of the largest ratio of a report's likelihoods under two rows; rows are counts."""
    rows = [{place: Decimal(int(row[place])) for place in _cells(row)} for row in table]
    worst = Decimal(1)
    for report in itertools.product(*channels):
        likelihoods = []
        for row in rows:
            mass = sum(mass * _likelihood(report, place) for place, mass in row.items())
            likelihoods.append(mass / sum(row.values()))
        worst = max(worst, max(likelihoods) / min(likelihoods))
    return worst.ln()


@oracle.exactly
def box_leakage(lower, upper, channels) -> Decimal:
    """The same, the largest that two different rows of a box of tables allow."""
    worst = Decimal(1)
    for report in itertools.product(*channels):
        ends = [_ends(low, high, report) for low, high in zip(lower, upper, strict=True)]
        for (_, most), (least, _) in itertools.permutations(ends, 2):
            worst = max(worst, most / least)
    return worst.ln()


def _ends(lower, upper, report) -> tuple[Decimal, Decimal]:
    """The least and the largest mean likelihood of a row, cell by cell: what is left goes to the best cells first."""
    cells = sorted(np.ndindex(lower.shape), key=lambda place: _likelihood(report, place))
    means = []
    for order in (cells, cells[::-1]):
        left = 1 - sum(Fraction(lower[place]) for place in cells)
        mean = Decimal(0)
        for place in order:
            more = min(left, Fraction(upper[place]) - Fraction(lower[place]))
            left -= more
            mean += oracle.decimal(Fraction(lower[place]) + more) * _likelihood(report, place)
        means.append(mean)
    return means[0], means[1]


def _likelihood(report, place) -> Decimal:
    product = Decimal(1)
    for line, u in zip(report, place, strict=True):
        product *= line[u]
    return product


def _cells(row):
    return [tuple(int(u) for u in place) for place in np.argwhere(row > 0)]


def random_counts(rng: np.random.Generator, most: int = 4, cells: int = 150) -> np.ndarray:
    """Counts with a target along the first axis and one to ``most`` attributes; dense, sparse or lopsided."""
    while True:
        shape = rng.integers(2, 5, rng.integers(1, most + 1) + 1)
        if np.prod(shape) <= cells:
            break
    counts = rng.integers(0, int(rng.choice([3, 10, 1000])), shape)
    if rng.random() < 0.4:
        counts[rng.random(counts.shape) < 0.5] = 0
    counts.reshape(shape[0], -1)[:, rng.integers(np.prod(shape[1:]))] += 1  # no empty row
    return counts


def random_budgets(rng: np.random.Generator, number: int) -> list[float]:
    """From next to nothing to large, now and then all the same."""
    budgets = 10.0 ** rng.uniform(-6, 1.5, number)
    return [float(e) for e in (budgets if rng.random() < 0.7 else np.full(number, budgets[0]))]
