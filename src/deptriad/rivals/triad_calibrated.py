"""(α, β, δ) calibrated at a budget ε₀."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptriad.curves.leakage import triad
from deptriad.rivals.measure import Measure, known_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.curves.triad import Triad
    from deptriad.tables.table import Conditional
    from deptriad.utils.arrays import Floats

CALIBRATE_AT = 0.1
"""Budget ε₀ of calibration unless another is given."""


def prepare(table: ArrayLike | Conditional, *, calibrate_at: float = CALIBRATE_AT) -> Triad:
    """The triad that is exact at ε₀."""
    return triad(known_table(table), calibrate_at=calibrate_at)


def measure(
    table: ArrayLike | Conditional, epsilon: ArrayLike, *, calibrate_at: float = CALIBRATE_AT
) -> float | Floats:
    """Upper bound on the leakage under any ε-LDP mechanism for budgets ε ≥ ε₀ only; exact at ε₀.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    epsilon
        Budget of the mechanism. Below ``calibrate_at`` the answer is an estimate, not a bound.
    calibrate_at
        The budget ε₀.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> calibrated, table = measures["triad-calibrated"].measure, [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]]
    >>> round(calibrated(table, 1.0), 6), round(calibrated(table, 1.0, calibrate_at=1.0), 6)
    (0.661925, 0.631163)
    """
    return prepare(table, calibrate_at=calibrate_at).leakage(epsilon)


MEASURE = Measure(
    name="triad-calibrated",
    title="Triad (α, β, δ) calibrated at ε₀",
    measure=measure,
    bounds="the worst case",
    mechanisms="any, for ε ≥ ε₀",
    precompute="O(a²b)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
