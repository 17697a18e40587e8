"""Leakage under the worst ε-LDP mechanism (the paper's CPL*), rounded outward: ``deptriad.leakage`` and its curve.

Exact for a table, certified for a box. It needs neither a sort nor a preparation: O(a²b) for one budget.

>>> from deptriad.rivals import measures
>>> round(measures["exact"].measure([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]], 1.0), 6)
0.631163
"""

from deptriad.curves.leakage import leakage, profile
from deptriad.rivals.measure import Measure

MEASURE = Measure(
    name="exact",
    title="Exact leakage and its profile",
    bounds="the worst case",
    precompute="O(a²bk)",
    query="O(k)",
    memory="O(k)",
    takes_uncertainty=True,
    prepare=profile,
    at_once=leakage,
)
