"""Temporal privacy leakage, as published: the recursion over time with a search for each pair of values at each step.

No ``Measure``: it takes budgets over time, not one budget. Compared with ``deptriad.Chain`` it asks for the tables in
both directions, searches anew at every step, and has its supremum in closed form for one set of values only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.measure import Table, known_table
from deptriad.utils.arrays import Floats, as_budget


def temporal_leakage(forward: Table, backward: Table, epsilons: ArrayLike) -> Floats:
    """What releases with these budgets, one a time, tell about the answer at each time.

    BPL(t) = PL(t) + L(BPL(t − 1)), FPL(t) = PL(t) + L(FPL(t + 1)), TPL = BPL + FPL − PL, in the words of Cao,
    Yoshikawa, Xiao and Xiong (Quantifying Differential Privacy under Temporal Correlations, ICDE 2017). It is a
    yardstick, in plain floating point: unlike ``deptriad.Chain`` it is not rounded outward.

    Parameters
    ----------
    forward, backward
        p(next value | value) and p(value before | value), the same at all times.
    epsilons
        The budgets in order.

    Examples
    --------
    >>> from deptriad.rivals.temporal import temporal_leakage
    >>> table = [[0.9, 0.1], [0.2, 0.8]]
    >>> temporal_leakage(table, table, [0.5, 0.5, 0.5]).round(4).tolist()
    [1.1063, 1.2104, 1.1063]
    """
    budgets = as_budget(epsilons, "epsilons")
    past = _recursion(known_table(backward), budgets.tolist())
    future = _recursion(known_table(forward), budgets[::-1].tolist())[::-1]
    return np.asarray(past + future - budgets)


def _recursion(table: Floats, budgets: Iterable[float]) -> Floats:
    bounds: list[float] = []
    for epsilon in budgets:
        bounds.append(epsilon + (step(table, bounds[-1]) if bounds else 0.0))
    return np.array(bounds)


def step(table: Table, bound: float) -> float:
    """L(bound): for each ordered pair of rows q, d the best set of values, by dropping values until none has to go.

    It starts with all values of q > d and drops those with q/d below the ratio of the set, (1 + tQ)/(1 + tD).
    """
    entries = known_table(table)
    gain = math.expm1(bound)
    return max(
        _one_pair(more, less, gain)
        for first, more in enumerate(entries)
        for second, less in enumerate(entries)
        if first != second
    )


def _one_pair(more: Floats, less: Floats, gain: float) -> float:
    kept = more > less
    while True:
        ratio = (1.0 + gain * more[kept].sum()) / (1.0 + gain * less[kept].sum())
        stays = kept & (more > ratio * less)
        if stays.sum() == kept.sum():
            return math.log(ratio)
        kept = stays


def supremum(upper: float, lower: float, epsilon: float) -> float:
    """The published supremum over time for a set of probability ``upper`` in one row and ``lower`` in another.

    It is that of a chain only where the same set of the same pair of rows is the best one at every step.
    """
    if epsilon == 0.0 or upper <= lower:
        return epsilon
    grown = math.exp(epsilon)
    if lower == 0.0:
        return (
            math.inf
            if grown * upper >= 1.0
            else math.log((1.0 - upper) * grown / (1.0 - upper * grown))
        )
    middle = lower + upper * grown - 1.0
    return math.log(
        (math.sqrt(4.0 * lower * grown * (1.0 - upper) + middle**2) + middle) / (2.0 * lower)
    )
