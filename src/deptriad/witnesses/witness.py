"""witness(): a lower bound, with its proof, on what all other attributes together give away about one (maths §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deptriad.data.coded_records import (
    Coded,
    budgets_by_column,
    coded_array,
    coded_frame,
    column,
    within_range,
)
from deptriad.data.schema import Schema
from deptriad.utils.arrays import Floats, as_whole
from deptriad.utils.by_name import budgets_for_each
from deptriad.utils.errors import refuse_other
from deptriad.utils.progress import Progress
from deptriad.witnesses.attained import checksum, log_ratio, random_half
from deptriad.witnesses.result import Witness
from deptriad.witnesses.search import best_sets

STARTS = 32
"""Random starts for a pair of target values: on hard face attributes they mostly, not always, reach what 200 do."""


def witness(
    records: Any,
    epsilon: float | Mapping[str, float],
    target: str,
    *,
    schema: Schema | None = None,
    weight: str | None = None,
    starts: int = STARTS,
    split: Literal["half"] | None = "half",
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Witness:
    """What all other attributes, released together, give away about a target at least, with the sets that prove it.

    The paper's sum of pairwise leakages is no upper bound; where this exceeds it, here is the proof. The target's own
    report comes on top: its ε adds to the leakage.

    Parameters
    ----------
    records
        A local frame, or the path of a .csv or .parquet file.
    epsilon
        Budget of each source: one number, or a mapping from names; 0 for what is not released.
    target
        The attribute to be protected.
    schema
        How records are encoded; inferred from them by default.
    weight
        A column of weights, which is then no attribute.
    starts
        Random starts of the search for each promising pair of target values.
    split
        "half": find the sets on one random half of the records, and report what they give on the other too, since few
        records can be told apart by chance alone. None: use all records.
    rng
        Source of chance; by default the operating system's.
    progress
        Called with the ascents done and their number.

    Returns
    -------
    Witness
        The sets, the pair of target values, and the leakage that the records attain.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad.witnesses.witness import witness
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "xor": [0, 1, 1, 0]})
    >>> found = witness(frame, 1.0, "xor", split=None)
    >>> round(found.leakage, 4), round(float(dt.leakage([[0.5, 0.5], [0.5, 0.5]], 1.0)), 4)
    (0.4338, 0.0)
    """
    coded, schema = coded_frame(records, schema, weight)
    place = schema.index(target)
    budgets = budgets_for_each(epsilon, schema.names, [target])
    return _found(coded, budgets, place, starts, split, rng, progress, schema, weight)


def witness_of_codes(
    codes: ArrayLike,
    sizes: Sequence[int],
    budgets: ArrayLike,
    target: int,
    weights: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    labels: Sequence[Sequence[str]] | None = None,
    starts: int = STARTS,
    split: Literal["half"] | None = "half",
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Witness:
    """``witness`` on an array of codes: a row for each record, a column for each attribute.

    Parameters
    ----------
    codes, sizes, weights
        Codes 0 … size − 1 of each attribute, how many values it has, and a weight for each record.
    budgets
        One for each attribute; that of the target is not used.
    target
        Column of the attribute to be protected.
    names, labels
        Names of the attributes and of their values.
    starts, split, rng, progress
        As for ``witness``.

    Examples
    --------
    >>> from deptriad.witnesses.witness import witness_of_codes
    >>> xor = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> found = witness_of_codes(xor, sizes=[2, 2, 2], budgets=[1.0, 1.0, 0.0], target=2, split=None)
    >>> round(found.leakage, 4)
    0.4338
    """
    coded = coded_array(codes, sizes, weights, names, labels)
    place = column(target, len(coded.names))
    array = budgets_by_column(budgets, len(coded.names))
    return _found(coded, array, place, starts, split, rng, progress)


def _found(
    coded: Coded,
    budgets: Floats,
    target: int,
    starts: int,
    split: Literal["half"] | None,
    rng: np.random.Generator | None,
    progress: Progress | None,
    schema: Schema | None = None,
    weight: str | None = None,
) -> Witness:
    as_whole(starts, "starts", 1)
    refuse_other(split, ("half", None), "split")
    if not isinstance(rng, np.random.Generator | None):
        raise ValueError(f"rng is {rng!r}, expected a numpy.random.Generator or None")
    seed = int((rng or np.random.default_rng()).integers(2**63))
    budgets = np.where(np.arange(budgets.size) == target, 0.0, budgets)
    used = within_range(budgets)
    part, other = coded, None
    if split == "half":
        half = random_half(coded, target, seed)
        part, other = coded.only(half), coded.only(~half)
    pair, sets = best_sets(part, used, target, starts, np.random.default_rng([seed, 1]), progress)
    leakage = max(log_ratio(part, used, sets, target, pair), 0.0)
    sources = [i for i in range(len(coded.names)) if i != target]
    return Witness(
        leakage=leakage,
        held_out=log_ratio(other, used, sets, target, pair) if other is not None else None,
        overall=log_ratio(coded, used, sets, target, pair) if other is not None else leakage,
        target=coded.names[target],
        pair=pair,
        pair_labels=(coded.labels[target][pair[0]], coded.labels[target][pair[1]]),
        epsilon={coded.names[i]: float(budgets[i]) for i in sources},
        sets={coded.names[i]: sets[i] for i in sources},
        set_labels={coded.names[i]: tuple(coded.labels[i][u] for u in sets[i]) for i in sources},
        names=coded.names,
        records=len(coded.codes),
        split=split,
        seed=seed,
        starts=starts,
        schema=schema,
        weight=weight,
        weighted=bool((coded.weights != coded.weights[0]).any()),
        checksum=checksum(coded),
    )
