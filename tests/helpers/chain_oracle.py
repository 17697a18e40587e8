"""The truth about releases over time, slowly: all sequences of events, in rational arithmetic or 500 digits.

A report favours a set of values: its likelihood is 1 + t on the set and 1 off it (maths.md §10), and every ε-LDP
report is a mixture of such ones. Given the answer at one time, reports before, at and after it are independent, so
that the largest ratio for two answers is a product of three, each found by trying every sequence of sets.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import oracle

Table = list[list[Fraction]]


def shares_over_time(forward: Table, initial: list[Fraction], times: int) -> list[list[Fraction]]:
    shares = [initial]
    for _ in range(times - 1):
        now = shares[-1]
        shares.append(
            [sum(p * row[x] for p, row in zip(now, forward, strict=True)) for x in range(len(now))]
        )
    return shares


def stationary(forward: Table) -> list[Fraction] | None:
    """π with πP = π, by elimination; None where it is not the only one."""
    size = len(forward)
    rows = [[forward[z][x] - (z == x) for z in range(size)] + [Fraction(0)] for x in range(size)]
    rows[-1] = [Fraction(1)] * (size + 1)
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for r in range(size):
            if r != column and rows[r][column]:
                rows[r] = [
                    a - rows[r][column] * b for a, b in zip(rows[r], rows[column], strict=True)
                ]
    return [row[-1] for row in rows]


def back(forward: Table, before: list[Fraction], now: list[Fraction]) -> Table:
    """p(before | now); a row of zeros for a value that nobody has."""
    size = len(now)
    return [
        [before[z] * forward[z][x] / now[x] if now[x] else Fraction(0) for z in range(size)]
        for x in range(size)
    ]


def subsets(size: int):
    return list(itertools.product((0, 1), repeat=size))


def _seen_through(tables, gains, possible):
    """Largest ratio for each ordered pair of answers of reports behind some tables, the nearest table first.

    Likelihoods of the farthest report are carried towards the answer; ``possible`` are the values at each place.
    """
    size = len(possible)
    best = {pair: Decimal(1) for pair in itertools.permutations(range(size), 2)}
    if not tables:
        return best
    exact = [[[oracle.decimal(entry) for entry in row] for row in table] for table in tables]
    for sets in itertools.product(subsets(size), repeat=len(tables)):
        likelihood = [Decimal(1)] * size
        for table, chosen, gain in zip(exact[::-1], sets, gains[::-1], strict=True):
            favoured = [
                one * (1 + gain * inside) for one, inside in zip(likelihood, chosen, strict=True)
            ]
            likelihood = [
                sum(p * one for p, one in zip(row, favoured, strict=True)) for row in table
            ]
        for x, other in best:
            if possible[x] and possible[other]:
                best[x, other] = max(best[x, other], likelihood[x] / likelihood[other])
    return best


@oracle.exactly
def told(
    forward: Table, initial: list[Fraction], epsilons: list[float], at: int
) -> dict[str, Decimal]:
    """What reports up to a time (from 0), from it on, and all together tell at most about the answer then."""
    shares = shares_over_time(forward, initial, len(epsilons))
    gains = [oracle.gain(epsilon) for epsilon in epsilons]
    possible = [share > 0 for share in shares[at]]
    backwards = [back(forward, shares[t - 1], shares[t]) for t in range(at, 0, -1)]
    past = _seen_through(backwards, gains[:at][::-1], possible)
    future = _seen_through([forward] * (len(epsilons) - 1 - at), gains[at + 1 :], possible)
    pairs = [pair for pair in past if possible[pair[0]] and possible[pair[1]]]
    if not pairs:
        return dict.fromkeys(("backward", "forward", "total"), Decimal(0))
    own = 1 + gains[at]
    return {
        "backward": max(past[pair] * own for pair in pairs).ln(),
        "forward": max(future[pair] * own for pair in pairs).ln(),
        "total": max(past[pair] * own * future[pair] for pair in pairs).ln(),
    }
