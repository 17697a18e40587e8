"""The exact leakage and its curve: the measure of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptriad.curves.leakage import leakage, profile
from deptriad.rivals.measure import Measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.tables.table import Box, Conditional
    from deptriad.utils.arrays import Floats


def measure(table: ArrayLike | Conditional | Box, epsilon: ArrayLike) -> float | Floats:
    """Leakage under the worst ε-LDP mechanism (the paper's CPL*), rounded outward: ``deptriad.leakage``.

    Exact for a table, certified for a box. It needs neither a sort nor a preparation: O(a²b) for one budget.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> round(measures["exact"].measure([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]], 1.0), 6)
    0.631163
    """
    return leakage(table, epsilon)


MEASURE = Measure(
    name="exact",
    title="Exact leakage and its profile",
    measure=measure,
    bounds="the worst case",
    mechanisms="any",
    precompute="O(a²bk)",
    query="O(k)",
    memory="O(k)",
    takes_uncertainty=True,
    prepare=profile,
)
