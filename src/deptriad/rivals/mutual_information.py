"""MI: mutual information of source and target. It bounds nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.measure import Fixed, Measure, Table, known_table
from deptriad.utils.arrays import Floats


def joint_distribution(table: Table, weights: ArrayLike | None = None) -> Floats:
    """p(target, source) from p(source | target) and the weights of the target values.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    weights
        The distribution of the target: one number ≥ 0 for each of its values, divided by their sum, so counts will
        do. The table does not tell it; without it all target values are taken as equally likely.
    """
    conditional = known_table(table)
    rows = len(conditional)
    weight = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape != (rows,):
        raise ValueError(
            f"weights has shape {weight.shape}, expected ({rows},), one for each target value"
        )
    if (bad := ~(weight >= 0.0) | np.isinf(weight)).any():
        raise ValueError(f"weights has {weight[bad][0]}, expected numbers ≥ 0")
    if not weight.any():
        raise ValueError("weights are all 0, expected at least one target value that occurs")
    weight = weight / weight.max()  # their sum might overflow
    return np.asarray(conditional * (weight / weight.sum())[:, None])


def prepare(table: Table, *, weights: ArrayLike | None = None) -> Fixed:
    """Mutual information of source and target in nats, whatever the budget. It bounds nothing.

    It is an average, and privacy is about the worst case: a rare target value that one report reveals hardly
    changes it.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    weights
        The distribution of the target (or its counts); uniform by default.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> round(measures["mi"].measure([[1.0, 0.0], [0.0, 1.0]], 1.0), 6)  # ln 2
    0.693147
    """
    from scipy.special import rel_entr

    joint = joint_distribution(table, weights)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return Fixed(max(0.0, float(rel_entr(joint, independent).sum())))


MEASURE = Measure(
    name="mi",
    title="MI: mutual information, in nats",
    bounds="nothing",
    mechanisms="none, ε is ignored",
    precompute="O(ab)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
