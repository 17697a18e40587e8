"""Every leakage measure of the paper behind one signature: ``measures[name].measure(table, epsilon, ...)``.

The table is p(source | target), a row for each target value: an array-like or a Conditional.

>>> from deptriad.rivals import measures
>>> table = [[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.5, 0.3]]
>>> for name, rival in measures.items():
...     print(f"{name:18} {rival.measure(table, 1.0):.3f} bounds {rival.bounds}")
mi                 0.198 bounds nothing
pcc                0.539 bounds nothing
its                0.462 bounds the actual leakage of one mechanism
cbp                0.569 bounds the worst case
hcc-1              0.462 bounds the actual leakage of one mechanism
hcc-2              0.569 bounds the worst case
ltm                0.569 bounds the worst case
triad              0.599 bounds the worst case
triad-uncalibrated 0.637 bounds the worst case
triad-calibrated   0.597 bounds the worst case
exact              0.569 bounds the worst case
"""

from collections.abc import Mapping
from types import MappingProxyType

from deptriad.rivals import (
    cbp,
    exact,
    hcc_1,
    hcc_2,
    its,
    ltm,
    mutual_information,
    pearson,
    triad,
    triad_calibrated,
    triad_uncalibrated,
)
from deptriad.rivals.measure import Measure

__all__ = ["Measure", "measures"]

_EACH = (
    mutual_information,
    pearson,
    its,
    cbp,
    hcc_1,
    hcc_2,
    ltm,
    triad,
    triad_uncalibrated,
    triad_calibrated,
    exact,
)

measures: Mapping[str, Measure] = MappingProxyType(
    {module.MEASURE.name: module.MEASURE for module in _EACH}
)
"""The measures by name, in the order of the paper's tables; ours last."""
