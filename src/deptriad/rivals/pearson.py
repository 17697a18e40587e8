"""PCC: Pearson's correlation coefficient of integer codes. It bounds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deptriad.rivals.measure import Fixed, Measure
from deptriad.rivals.mutual_information import joint_distribution

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deptriad.tables.table import Conditional
    from deptriad.utils.arrays import Floats


def prepare(table: ArrayLike | Conditional, *, weights: ArrayLike | None = None) -> Fixed:
    """The correlation, which no budget changes."""
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


def measure(
    table: ArrayLike | Conditional, epsilon: ArrayLike, *, weights: ArrayLike | None = None
) -> float | Floats:
    """Pearson's correlation of the codes 0, 1, 2, … of the two attributes, in [−1, 1]. It bounds nothing.

    It depends on the order in which the values are listed, and it is 0 for many attributes that determine each
    other. Where one attribute has a single value that occurs, it is 0 by convention.

    Parameters
    ----------
    table
        p(source | target), a row for each target value.
    epsilon
        Not used, but checked; the result has its shape.
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
    return prepare(table, weights=weights).leakage(epsilon)


MEASURE = Measure(
    name="pcc",
    title="PCC: correlation of integer codes",
    measure=measure,
    bounds="nothing",
    mechanisms="none, ε is ignored",
    precompute="O(ab)",
    query="O(1)",
    memory="O(1)",
    prepare=prepare,
)
