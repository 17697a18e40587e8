"""ITS: the leakage of two-level mechanisms, GRR or full unary encoding."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals import hcc_2
from deptriad.rivals.measure import Answer, Measure, Table, known_table, leakage_of
from deptriad.utils.arrays import as_budget, scalar_or_array


def measure(
    table: Table, epsilon: ArrayLike, *, mechanism: Literal["grr", "unary"] = "grr"
) -> Answer:
    """Leakage of a mechanism whose reports have two levels of probability, e^ε to 1.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    epsilon
        Budget of the mechanism.
    mechanism
        "grr": a report of generalised randomised response favours one source value u, so the leakage is
        ``ln max_u (1 + t·max_x P[x, u]) / (1 + t·min_x P[x, u])`` with t = e^ε − 1, in O(ab).
        "unary": the bits of a full unary-encoding report that are set, symmetric or optimised, may favour any set of
        source values. That is the worst case over all mechanisms (the paper's CPL*); the best set of each pair of
        target values is found as HCC-2 does, in O(a²b log b). A single bit of it leaks less.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> its, table = measures["its"].measure, [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]]
    >>> round(its(table, 1.0), 6), round(its(table, 1.0, mechanism="unary"), 6)
    (0.364572, 0.569445)
    """
    if mechanism == "unary":
        return hcc_2.measure(table, epsilon)
    if mechanism != "grr":
        raise ValueError(f"mechanism is {mechanism!r}, expected 'grr' or 'unary'")
    budget = as_budget(epsilon)[..., None]
    entries = known_table(table)
    most, least = entries.max(axis=0), entries.min(axis=0)
    value = leakage_of(most - least, least, budget)
    return scalar_or_array(np.asarray(value.max(axis=-1)))


MEASURE = Measure(
    name="its",
    title="ITS: two-level mechanisms",
    bounds="the actual leakage of one mechanism",
    mechanisms="GRR (default) or full unary encoding",
    query="O(ab)",
    at_once=measure,
)
