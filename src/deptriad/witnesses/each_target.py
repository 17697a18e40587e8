"""A witness about each attribute in turn: what plans, the page and the command line look for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deptriad.data.coded_records import Coded
from deptriad.utils.progress import Progress
from deptriad.witnesses.result import Witness
from deptriad.witnesses.witness import witness_of_codes

if TYPE_CHECKING:
    from deptriad.analysis.analysis import Analysis


def witness_each(
    coded: Coded,
    budgets: Mapping[str, float],
    analysis: Analysis | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> dict[str, Witness]:
    """What the other attributes of records give away about each, at least.

    Parameters
    ----------
    coded
        The records.
    budgets
        One for each attribute.
    analysis
        Only records whose target value has a row in its tables: no certificate covers a value that was dropped.
    rng
        Source of chance of the searches; by default the operating system's.
    progress
        Called with the number of targets done, and of all.
    """
    each = [float(budgets[name]) for name in coded.names]
    found = {}
    for place, target in enumerate(coded.names):
        some = coded
        if analysis is not None:
            some = coded.only(np.isin(coded.codes[:, place], _covered(analysis, target)))
        found[target] = witness_of_codes(
            *(some.codes, some.sizes, each, place, some.weights),
            names=some.names,
            labels=some.labels,
            rng=rng,
        )
        if progress:
            progress(place + 1, len(each))
    return found


def _covered(analysis: Analysis, target: str) -> Sequence[int]:
    """Codes of the target values that the tables have a row for."""
    source = next(name for name in analysis.names if name != target)
    rows = analysis.table(source, target).target_values or ()
    return [code for code, value in enumerate(analysis.schema[target].values) if value in rows]
