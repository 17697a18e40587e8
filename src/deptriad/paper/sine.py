"""The paper's synthetic tables, target = sin(2π·source) + noise: exactly, or counted from drawn records.

The paper says the noise is N(0, 2) and does not say how the target is cut. The tables its authors published with their
program show it. The source takes the values 0, 1/n, …, (n−1)/n, equally often. The target's place is n·(target + ½),
cut to a whole number towards zero, and records outside 0 … n−1 are dropped. So the first target value is twice as wide
as the others: cutting towards zero takes the places (−1, 0) into it too. The noise has the deviation 1.5 (in the table
of 100 values 1), not 2 and not √2: with 50 million records (5 million at 10 and 100 values) χ² of the five tables is
0.93 to 1.18 times its degrees of freedom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats

DEVIATION = 1.5
"""Of the noise, as published up to 50 values."""

RECORDS = 50_000_000
"""How many records most of the published tables were counted from."""

MADE = (
    "sine tables made as the authors' published ones turn out to be: source values k/n, target cut at ½ to both sides "
    "of 0 into steps of 1/n, the first twice as wide, noise of deviation 1.5"
)
"""For the items that use these tables."""


def chances(size: int, deviation: float = DEVIATION) -> Floats:
    """p(target | source): a row for each target value, a column for each source value; less than 1 in all.

    Examples
    --------
    >>> from deptriad.paper import sine
    >>> sine.chances(4).sum(axis=0).round(3).tolist()
    [0.322, 0.248, 0.322, 0.275]
    """
    from scipy.stats import norm

    if size < 2:
        raise ValueError(f"size is {size}, expected at least 2 values")
    centre = np.sin(2.0 * np.pi * np.arange(size) / size)
    edges = np.arange(size + 1) / size - 0.5
    edges[0] -= 1.0 / size  # cut towards zero: the place before the first falls into it
    return np.diff(norm.cdf((edges[:, None] - centre) / deviation), axis=0)


def table(size: int, deviation: float = DEVIATION) -> Floats:
    """p(source | target) as the law of the records has it, without drawing any.

    Examples
    --------
    >>> from deptriad.paper import sine
    >>> sine.table(4)[0].round(4).tolist()
    [0.2744, 0.1767, 0.2744, 0.2744]
    """
    joint = chances(size, deviation)
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def drawn(
    size: int,
    rng: np.random.Generator,
    records: int = RECORDS,
    deviation: float = DEVIATION,
) -> Floats:
    """p(source | target) counted from drawn records, as the published tables are.

    Parameters
    ----------
    size
        Number of values of both attributes.
    rng
        Chance.
    records
        How many are drawn, equally many for each source value.
    deviation
        Of the noise.
    """
    chance = chances(size, deviation)
    with_dropped = np.vstack([chance, 1.0 - chance.sum(axis=0)])
    counts = rng.multinomial(records // size, with_dropped.T)[:, :-1].T
    totals = counts.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        raise ValueError(f"{records} records leave a target value of {size} unseen: take more")
    return np.asarray(counts / totals)
