"""(α, γ, δ): the triad before its calibration."""

from __future__ import annotations

from deptriad.curves.leakage import uncalibrated
from deptriad.curves.triad import Triad
from deptriad.rivals.measure import Measure, Table, known_table


def prepare(table: Table) -> Triad:
    """Upper bound on the leakage under any ε-LDP mechanism from (α, γ, δ), extreme ratios alone.

    Returns
    -------
    The three numbers, as a triad whose ``beta`` plays γ.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> table = [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]]
    >>> round(measures["triad-uncalibrated"].measure(table, 1.0), 6)
    0.795423
    """
    return uncalibrated(known_table(table))


MEASURE = Measure(
    name="triad-uncalibrated",
    title="Uncalibrated triad (α, γ, δ)",
    bounds="the worst case",
    precompute="O(a²b)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
