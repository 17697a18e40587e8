"""(α, β, δ) calibrated at a budget ε₀."""

from __future__ import annotations

from deptriad.curves.leakage import triad
from deptriad.curves.triad import Triad
from deptriad.rivals.measure import Measure, Table, known_table


def prepare(table: Table, *, calibrate_at: float = 0.1) -> Triad:
    """Upper bound on the leakage under any ε-LDP mechanism for budgets ε ≥ ε₀ only; exact at ε₀.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    calibrate_at
        The budget ε₀. Below it the answer is an estimate, not a bound.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> calibrated, table = measures["triad-calibrated"].measure, [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]]
    >>> round(calibrated(table, 1.0), 6), round(calibrated(table, 1.0, calibrate_at=1.0), 6)
    (0.661925, 0.631163)
    """
    return triad(known_table(table), calibrate_at=calibrate_at)


MEASURE = Measure(
    name="triad-calibrated",
    title="Triad (α, β, δ) calibrated at ε₀",
    bounds="the worst case",
    mechanisms="any, for ε ≥ ε₀",
    precompute="O(a²b)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
