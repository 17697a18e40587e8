"""attained(): what the sets of a witness give on records, so that its number can be checked (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from deptriad.data.coded_records import Coded, coded_array, coded_frame, within_range
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.errors import refuse_other
from deptriad.utils.rounding import ROUNDOFF
from deptriad.witnesses.result import Witness

Part = Literal["found", "held out", "all"]


def attained(
    records: Any, witness: Witness, part: Part = "found", weights: ArrayLike | None = None
) -> float:
    """ln of the likelihood ratio that a witness's sets have on records: the same number as reported, or on others.

    Parameters
    ----------
    records
        The records the witness comes from, in the same order, or, with ``part="all"``, any others with the same
        attributes: a frame, or an array of codes if the witness was found on one.
    witness
        The sets, the pair and the budgets.
    part
        "found", the records on which the sets were found (``leakage``); "held out", the other half; "all".
    weights
        Weights of codes, needed if the witness was found with some; those of a frame are in its column.

    Returns
    -------
    float
        The log-likelihood ratio of the witness's sets on these records, rounded down.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.witnesses.attained import attained
    >>> from deptriad.witnesses.witness import witness_of_codes
    >>> codes = np.random.default_rng(1).integers(0, 2, size=(100, 4))
    >>> found = witness_of_codes(codes, [2] * 4, [1.0] * 4, target=0)
    >>> attained(codes, found) == found.leakage, attained(codes, found, "held out") == found.held_out
    (True, True)
    """
    refuse_other(part, get_args(Part), "part")
    if part == "held out" and witness.split is None:
        raise ValueError("the witness was found on all records, so none were held out")
    coded = _coded_again(records, witness, weights)
    target = witness.names.index(witness.target)
    if part != "all":
        _check_same(coded, witness)
    if part != "all" and witness.split == "half":
        half = random_half(coded, target, witness.seed)
        coded = coded.only(half if part == "found" else ~half)
    budgets = np.array([witness.epsilon.get(name, 0.0) for name in witness.names])
    sets = [witness.sets.get(name, ()) for name in witness.names]
    return log_ratio(coded, within_range(budgets), sets, target, witness.pair)


def _coded_again(records: Any, witness: Witness, weights: ArrayLike | None) -> Coded:
    """Records with the attributes of a witness."""
    if witness.schema is not None:
        if weights is not None:
            where = f"come from column {witness.weight!r}" if witness.weight else "had none"
            raise ValueError(f"got weights, but those of the witness {where}: expected none")
        return coded_frame(records, witness.schema, witness.weight)[0]
    if witness.weighted and weights is None:
        raise ValueError("the records of the witness had weights, expected some: pass weights=")
    codes = np.asarray(records)
    sizes: list[int] = []
    if codes.ndim == 2 and codes.dtype.kind in "biu":
        if codes.shape[1] != len(witness.names):
            raise ValueError(
                f"the codes have {codes.shape[1]} columns, expected {len(witness.names)}: {list(witness.names)}"
            )
        sizes = (np.max(codes, axis=0, initial=0).astype(np.int64) + 1).tolist()
    return coded_array(codes, sizes, weights, witness.names)


def _check_same(coded: Coded, witness: Witness) -> None:
    """The halves are those of the same records."""
    if len(coded.codes) != witness.records:
        raise ValueError(
            f"got {len(coded.codes):,} records, but the witness was found on {witness.records:,}: "
            "pass part='all' for other records"
        )
    if checksum(coded) != witness.checksum:
        raise ValueError(
            "these are not the records the witness was found on, or not in the same order: "
            "pass part='all' for other records"
        )


def checksum(coded: Coded) -> int:
    """A checksum of all codes, whatever type they are kept in."""
    return crc32(np.ascontiguousarray(coded.codes, dtype=np.int32).tobytes())


def random_half(coded: Coded, target: int, seed: int) -> Booleans:
    """A random half of the records that have weight: of each target value, half of its records."""
    order = np.random.default_rng([seed, 0]).permutation(len(coded.codes))
    order = order[coded.weights[order] > 0.0]
    by_value = order[np.argsort(coded.codes[order, target], kind="stable")]
    half = np.zeros(len(coded.codes), dtype=np.bool_)
    half[by_value[::2]] = True
    return half


def log_ratio(
    coded: Coded,
    budgets: Floats,
    sets: Sequence[tuple[int, ...]],
    target: int,
    pair: tuple[int, int],
) -> float:
    """ln E[Π e^{ε_i 1{X_i ∈ S_i}} | x] / E[… | x'], rounded down; NaN where a value has no records."""
    used = [i for i, values in enumerate(sets) if values]
    if not used:
        return 0.0
    lifts = [_lift(coded.only(coded.codes[:, target] == x), budgets, sets, used) for x in pair]
    if any(math.isnan(lift) for lift in lifts):
        return math.nan
    above, below = lifts
    value = math.log1p((above - below) / (1.0 + below))
    # a sum of k budgets is off by k roundings, its exponential by as much times the sum, all else by a few
    loss = ((len(used) + 2) * (float(budgets[used].sum()) + 1.0) + 16) * ROUNDOFF
    slack = loss * (above / (1.0 + above) + below / (1.0 + below)) + 8 * ROUNDOFF * abs(value)
    return value - slack


def _lift(
    coded: Coded, budgets: Floats, sets: Sequence[tuple[int, ...]], used: Sequence[int]
) -> float:
    """E[Π e^{ε_i 1{X_i ∈ S_i}}] − 1 over the records, to a few roundings even where budgets are tiny."""
    total = math.fsum(coded.weights)
    if total == 0.0:
        return math.nan
    loudness = np.zeros(len(coded.codes))
    for i in used:
        gain = np.zeros(max(coded.sizes[i], max(sets[i]) + 1))
        gain[list(sets[i])] = budgets[i]
        loudness += gain[coded.codes[:, i]]
    return math.fsum(coded.weights * np.expm1(loudness)) / total
