"""PCC: Pearson's correlation coefficient of integer codes. It bounds nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.measure import Fixed, Measure, Table
from deptriad.rivals.mutual_information import joint_distribution
from deptriad.utils.arrays import Floats


def prepare(table: Table, *, weights: ArrayLike | None = None) -> Fixed:
    """Pearson's correlation of the codes 0, 1, 2, … of the two attributes, in [−1, 1]. It bounds nothing.

    It depends on the order in which the values are listed, and it is 0 for many attributes that determine each
    other. Where one attribute has a single value that occurs, it is 0 by convention.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    weights
        The distribution of the target (or its counts); uniform by default.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> pcc = measures["pcc"].measure
    >>> round(pcc([[0.9, 0.1], [0.2, 0.8]], 1.0), 6)
    0.703526
    >>> round(pcc([[0, 1, 0], [1, 0, 0], [0, 1, 0]], 1.0), 6)  # and yet the source tells a lot
    0.0
    """
    joint = joint_distribution(table, weights)
    target = _centred(joint.sum(axis=1))
    source = _centred(joint.sum(axis=0))
    spread = np.sqrt(joint.sum(axis=1) @ target**2) * np.sqrt(joint.sum(axis=0) @ source**2)
    if spread == 0.0:
        return Fixed(0.0)
    return Fixed(float(np.clip(target @ joint @ source / spread, -1.0, 1.0)))


def _centred(probability: Floats) -> Floats:
    """The codes 0, 1, 2, … less their mean."""
    codes = np.arange(probability.size)
    return codes - probability @ codes


MEASURE = Measure(
    name="pcc",
    title="PCC: correlation of integer codes",
    bounds="nothing",
    mechanisms="none, ε is ignored",
    precompute="O(ab)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
