"""(α, γ, δ): the triad before its calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptriad.curves.leakage import uncalibrated
from deptriad.rivals.measure import Measure, known_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.curves.triad import Triad
    from deptriad.tables.table import Conditional
    from deptriad.utils.arrays import Floats


def prepare(table: ArrayLike | Conditional) -> Triad:
    """The three numbers, as a triad whose ``beta`` plays γ."""
    return uncalibrated(known_table(table))


def measure(table: ArrayLike | Conditional, epsilon: ArrayLike) -> float | Floats:
    """Upper bound on the leakage under any ε-LDP mechanism from (α, γ, δ), extreme ratios alone.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> table = [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]]
    >>> round(measures["triad-uncalibrated"].measure(table, 1.0), 6)
    0.795423
    """
    return prepare(table).leakage(epsilon)


MEASURE = Measure(
    name="triad-uncalibrated",
    title="Uncalibrated triad (α, γ, δ)",
    measure=measure,
    bounds="the worst case",
    mechanisms="any",
    precompute="O(a²b)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
