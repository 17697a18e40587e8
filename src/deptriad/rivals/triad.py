"""The Dependency Triad of the paper: a bound on the leakage under any ε-LDP mechanism from (α, β, δ).

``deptriad.triad`` makes it, of a table or of a box.

>>> from deptriad.rivals import measures
>>> round(measures["triad"].measure([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]], 1.0), 6)
0.664039
"""

from deptriad.curves.leakage import triad
from deptriad.rivals.measure import Measure

MEASURE = Measure(
    name="triad",
    title="DT: dependency triad (α, β, δ)",
    bounds="the worst case",
    precompute="O(a²b)",
    query="O(1)",
    memory="O(1)",
    takes_uncertainty=True,
    prepare=triad,
)
