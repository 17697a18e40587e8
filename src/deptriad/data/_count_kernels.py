"""The compiled loop that counts by group and weight: codes of a batch in, contingency tables of all pairs out.

Codes lie attribute by attribute, so that a pair reads two short runs of memory. Each pair owns its cells, so threads
share the pairs and nothing else. Tables are laid end to end: all single attributes, then all pairs i < j.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.compiled import compiled
from deptriad.utils.threads import in_blocks


class Pairs(NamedTuple):
    """Of every pair its two rows of codes, its width and where its cells start."""

    firsts: Integers
    seconds: Integers
    widths: Integers
    starts: Integers


@compiled()
def _weighted_pairs(codes, pairs, sources, weight, records, weights, start, stop):
    """Records by group, and their weights where there are any."""
    weighted = weight.size > 0
    for pair in range(start, stop):
        first, second = codes[pairs.firsts[pair]], codes[pairs.seconds[pair]]
        width, begin = np.int64(pairs.widths[pair]), pairs.starts[pair]
        for k in range(first.size):
            cell = begin + first[k] * width + second[k]
            records[sources[k], cell] += 1
            if weighted:
                weights[sources[k], cell] += weight[k]


def count_weighted(
    codes: NDArray[Any],
    pairs: Pairs,
    sources: Integers,
    weight: Floats,
    records: Integers,
    weights: Floats,
) -> None:
    """Add a batch to the cells of every pair of its group, and its weights likewise."""
    count = pairs.firsts.size
    arguments = codes, pairs, sources, weight, records, weights
    in_blocks(_weighted_pairs, count, codes.shape[1] * count, *arguments)
