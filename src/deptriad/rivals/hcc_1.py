"""HCC-1: the actual leakage of one mechanism, from its transition matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deptriad.rivals.channels import as_channel, as_private_channel, grr
from deptriad.rivals.measure import Fixed, Measure, Prepared, for_each_budget, known_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.tables.table import Conditional
    from deptriad.utils.arrays import Floats

    Mechanism: TypeAlias = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class Family:
    """A table and a mechanism that depends on the budget."""

    table: Floats
    mechanism: Callable[[float], ArrayLike]

    def leakage(self, epsilon: ArrayLike) -> float | Floats:
        """The actual leakage of the mechanism at each budget."""
        return for_each_budget(self._at, epsilon)

    def _at(self, epsilon: float) -> float:
        channel = as_private_channel(self.mechanism(epsilon), self.table.shape[1], epsilon)
        return _actual(self.table, channel, epsilon)


def prepare(table: ArrayLike | Conditional, *, mechanism: Mechanism | None = None) -> Prepared:
    """The leakage of a matrix, from one matrix product; a mechanism that depends on the budget needs one a query."""
    entries = known_table(table)
    if mechanism is None:
        return Family(entries, lambda epsilon: grr(entries.shape[1], epsilon))
    if callable(mechanism):
        return Family(entries, mechanism)
    return Fixed(_actual(entries, as_channel(mechanism, entries.shape[1]), np.inf))


def measure(
    table: ArrayLike | Conditional, epsilon: ArrayLike, *, mechanism: Mechanism | None = None
) -> float | Floats:
    """Actual leakage of a mechanism Q: ``ln max_y max_x M[y, x] / min_x' M[y, x']`` with M = Q Pᵀ.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    epsilon
        Budget at which the mechanism runs. A matrix has its own: then ``epsilon`` only gives the result its shape.
    mechanism
        The transition matrix p(report | source value), with a row for each report; or a function that makes an
        ε-LDP one for a budget. By default generalised randomised response. ``deptriad.rivals.channels`` has
        ``grr`` and ``unary``.

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
    return prepare(table, mechanism=mechanism).leakage(epsilon)


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
    measure=measure,
    bounds="the actual leakage of one mechanism",
    mechanisms="any, by its matrix; GRR by default",
    precompute="–",
    query="O(abm)",
    memory="O(ab)",
    prepare=prepare,
)
