"""HCC-2: the worst case over all mechanisms, by sorting the ratios of each pair of target values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.measure import Answer, Measure, Table, best_of, for_each_budget, known_table
from deptriad.utils.arrays import Floats


def measure(table: Table, epsilon: ArrayLike) -> Answer:
    """Leakage under the worst ε-LDP mechanism (the paper's CPL*), as the algorithm of its appendix finds it.

    For each ordered pair of target values the source values are sorted by descending ratio of their two
    probabilities; the best set is a prefix. Everything is done anew for each budget: O(a²b log b) a query.
    It is a yardstick, in plain floating point: unlike ``deptriad.leakage`` it is not rounded outward.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    epsilon
        Budget of the mechanism.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> measures["hcc-2"].measure([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [0.1, 1.0, 10.0]).round(6).tolist()
    [0.060574, 0.631163, 1.945521]
    """
    entries = known_table(table)

    def answer(budget: float) -> float:
        return max(_best_prefix(more, entries, budget) for more in entries)

    return for_each_budget(answer, epsilon)


def _best_prefix(more: Floats, others: Floats, epsilon: float) -> float:
    """Largest leakage of one target value over each other one."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # ascending less/more is descending more/less; 0/0, which tells nothing, sorts last
        order = np.argsort(others / more, axis=1)
    less = np.take_along_axis(others, order, axis=1)
    gap = np.cumsum(more[order] - less, axis=1)
    return best_of(gap, np.cumsum(less, axis=1), epsilon)


MEASURE = Measure(
    name="hcc-2",
    title="HCC-2: sorted ratios of every pair",
    bounds="the worst case",
    query="O(a²b log b)",
    at_once=measure,
)
