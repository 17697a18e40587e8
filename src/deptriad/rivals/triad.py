"""The Dependency Triad of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptriad.curves.leakage import triad
from deptriad.rivals.measure import Measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.tables.table import Box, Conditional
    from deptriad.utils.arrays import Floats


def measure(table: ArrayLike | Conditional | Box, epsilon: ArrayLike) -> float | Floats:
    """Upper bound on the leakage under any ε-LDP mechanism from (α, β, δ): ``deptriad.triad``.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> round(measures["triad"].measure([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]], 1.0), 6)
    0.664039
    """
    return triad(table).leakage(epsilon)


MEASURE = Measure(
    name="triad",
    title="DT: dependency triad (α, β, δ)",
    measure=measure,
    bounds="the worst case",
    mechanisms="any",
    precompute="O(a²b)",
    query="O(1)",
    memory="O(1)",
    takes_uncertainty=True,
    prepare=triad,
)
