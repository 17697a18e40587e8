"""HCC-1: the actual leakage of one mechanism, from its transition matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.channels import as_channel, as_private_channel, grr
from deptriad.rivals.measure import (
    Answer,
    Fixed,
    Measure,
    Prepared,
    Table,
    for_each_budget,
    known_table,
)
from deptriad.utils.arrays import Floats


@dataclass(frozen=True, eq=False)
class Family:
    """A table and a mechanism that depends on the budget."""

    table: Floats
    mechanism: Callable[[float], ArrayLike]

    def leakage(self, epsilon: ArrayLike) -> Answer:
        """The actual leakage of the mechanism at each budget."""
        return for_each_budget(self._at, epsilon)

    def _at(self, epsilon: float) -> float:
        channel = as_private_channel(self.mechanism(epsilon), self.table.shape[1], epsilon)
        return _actual(self.table, channel, epsilon)


def prepare(
    table: Table, *, mechanism: ArrayLike | Callable[[float], ArrayLike] | None = None
) -> Prepared:
    """Actual leakage of a mechanism Q: ``ln max_y max_x M[y, x] / min_x' M[y, x']`` with M = Q Pᵀ.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    mechanism
        The transition matrix p(report | source value), with a row for each report: one matrix product says it all, and
        a budget only gives the result its shape. Or a function that makes an ε-LDP one for a budget, which takes a
        product a query; by default generalised randomised response. ``deptriad.rivals.channels`` has ``grr`` and
        ``unary``.

    Raises
    ------
    ValueError
        If the matrix does not fit the table, or if that of a function is not ε-LDP.

    Examples
    --------
    >>> from deptriad.rivals import channels, measures
    >>> hcc_1, table = measures["hcc-1"].measure, [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]]
    >>> round(hcc_1(table, 1.0), 6)
    0.364572
    >>> round(hcc_1(table, 1.0, mechanism=lambda epsilon: channels.unary(4, epsilon)), 6)
    0.569445
    >>> round(hcc_1(table, 1.0, mechanism=[[0.8, 0.8, 0.2, 0.2], [0.2, 0.2, 0.8, 0.8]]), 6)
    0.753772
    """
    entries = known_table(table)
    if mechanism is None:
        return Family(entries, lambda epsilon: grr(entries.shape[1], epsilon))
    if callable(mechanism):
        return Family(entries, mechanism)
    return Fixed(_actual(entries, as_channel(mechanism, entries.shape[1]), np.inf))


def _actual(table: Floats, channel: Floats, epsilon: float) -> float:
    """The most that a report's likelihood varies. Reports that never occur are left out."""
    likelihood = channel @ table.T
    occurs = likelihood.max(axis=1) > 0.0
    most = np.log(likelihood[occurs].max(axis=1))
    with np.errstate(divide="ignore"):
        ratio = most - np.log(likelihood[occurs].min(axis=1))
    # a row of an ε-LDP matrix is nowhere below e^−ε times its largest entry, even where that rounds to 0
    ceiling = epsilon + most - np.log(channel[occurs].max(axis=1))
    return float(np.minimum(ratio, ceiling).max(initial=0.0))


MEASURE = Measure(
    name="hcc-1",
    title="HCC-1: from the transition matrix",
    bounds="the actual leakage of one mechanism",
    mechanisms="any, by its matrix; GRR by default",
    query="O(abm)",
    prepare=prepare,
)
