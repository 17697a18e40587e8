"""The recursion over time: B_1 = ε_1, B_t = ε_t + L(B_{t−1}) (maths §12)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deptriad.chains.passage import Passage
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import sum_up


def followed(budgets: Floats, passages: Iterable[Passage], most: float) -> Floats:
    """The bound at each time, that time's release included; none above ``most``, which must be a bound on all.

    Where neither the passage nor the bound changes any more, nothing has to be computed anew.
    """
    bounds = np.empty(budgets.size)
    bounds[0] = bound = min(float(budgets[0]), most)
    last: Passage | None = None
    known, told = -1.0, 0.0
    for time, (epsilon, passage) in enumerate(
        zip(budgets[1:].tolist(), passages, strict=False), start=1
    ):
        if passage is not last or bound != known:
            last, known, told = passage, bound, passage.leakage(bound)
        bounds[time] = bound = min(sum_up([epsilon, told]), most)
    return bounds
