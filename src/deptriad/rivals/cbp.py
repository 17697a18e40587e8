"""CBP-style: every set of source values in turn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from deptriad.rivals.measure import Answer, Measure, Table, best_of, for_each_budget, known_table
from deptriad.utils.arrays import Floats

MOST_VALUES = 20
"""Source values up to which their 2^b sets are enumerated."""

BLOCK = 12
"""Source values whose sets are taken together."""


def measure(table: Table, epsilon: ArrayLike) -> Answer:
    """Leakage by enumeration of all 2^b sets of source values, CBP-style.

    The algorithm published as CBP is not available, so this is what is known of it: two levels of probability, e^ε
    to 1, as those of GRR, and an enumeration. Every set S is favoured in turn, and the answer is
    ``ln max_S (1 + t·max_x P(S | x)) / (1 + t·min_x P(S | x))``: the worst case by its very definition (the paper's
    CPL*). GRR itself favours single values only, and may leak less.

    Parameters
    ----------
    table
        p(source | target), a row for each target value; at most 20 columns.
    epsilon
        Budget of the mechanism.

    Raises
    ------
    ValueError
        If there are more than 20 source values: it takes all 2^b sets of them.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> round(measures["cbp"].measure([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]], 1.0), 6)
    0.569445
    """
    entries = known_table(table)
    size = entries.shape[1]
    if size > MOST_VALUES:
        raise ValueError(
            f"cbp got {size} source values, expected at most {MOST_VALUES}: it enumerates all 2^{size} sets of them; "
            "measures['exact'] gives the same leakage for any number"
        )

    def answer(budget: float) -> float:
        return max(best_of(most - least, least, budget) for most, least in _extreme_masses(entries))

    return for_each_budget(answer, epsilon)


def _extreme_masses(table: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Largest and smallest probability of every set of source values over target values, a block of sets at a time."""
    within, between = _set_masses(table[:, :BLOCK]), _set_masses(table[:, BLOCK:])
    for offset in between.T:
        mass = within + offset[:, None]
        yield mass.max(axis=0), mass.min(axis=0)


def _set_masses(table: Floats) -> Floats:
    """P(S | x) for each x and each set S of columns; bit u of the position says whether u is in S."""
    mass = np.zeros((len(table), 1))
    for column in table.T:
        mass = np.concatenate([mass, mass + column[:, None]], axis=1)
    return mass


MEASURE = Measure(
    name="cbp",
    title="Subset enumeration, CBP-style",
    bounds="the worst case",
    mechanisms="any (published for GRR)",
    query="O(a 2^b)",
    at_once=measure,
)
