"""interactions(): where two sources together give away more than the sum of what each does alone (maths §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves import exact as one_table
from deptriad.data.coded_records import (
    Coded,
    budgets_by_column,
    coded_array,
    coded_frame,
    column,
    within_range,
)
from deptriad.data.results import Framed
from deptriad.data.schema import Schema
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.by_name import budgets_for_each
from deptriad.utils.progress import Progress
from deptriad.utils.rounding import ROUNDOFF
from deptriad.utils.text import printable

WORK = 2.0**24
"""Operations up to which all sets of a triple are tried: about 20 ms."""


class Interaction(NamedTuple):
    """Two sources and a target: their joint leakage against the sum of the two."""

    target: str
    source_1: str
    source_2: str
    joint: float
    sum: float
    excess: float
    exact: bool


@dataclass(frozen=True)
class Interactions(Framed):
    """All triples of a target and two sources, those first where the sum of leakages understates the joint one most.

    ``joint`` is rounded down and ``sum`` up, by all that adding the weights may have cost, so a positive ``excess`` is
    a fact. Where ``exact`` is false the alphabets
    were too large to try all sets, and the joint leakage may be larger still. Attributes are kept by their place in
    ``names``.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> coins = pd.DataFrame({"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "same": [1, 0, 0, 1] * 25})
    >>> found = dt.interactions(coins, 1.0, schema=dt.Schema.infer(coins))
    >>> found.understated, len(found)
    (3, 3)
    """

    names: tuple[str, ...]
    triples: Integers
    joint: Floats
    sum: Floats
    exact: Booleans
    kind: str = field(default="pandas", repr=False)

    @property
    def excess(self) -> Floats:
        """Joint leakage less the sum of the two."""
        return self.joint - self.sum

    @property
    def understated(self) -> int:
        """In how many triples the sum lies below the joint leakage."""
        return int((self.excess > 0.0).sum())

    def __len__(self) -> int:
        return len(self.triples)

    def __getitem__(self, row: int) -> Interaction:
        target, first, second = (self.names[place] for place in self.triples[row])
        joint, added = float(self.joint[row]), float(self.sum[row])
        return Interaction(
            target, first, second, joint, added, joint - added, bool(self.exact[row])
        )

    def __iter__(self) -> Iterator[Interaction]:
        return (self[row] for row in range(len(self)))

    def columns(self) -> dict[str, Any]:
        """Columns of the frame, a row for each triple: target, source_1, source_2, joint, sum, excess, exact."""
        names = np.array(self.names, dtype=object)
        columns: dict[str, Any] = {
            name: names[self.triples[:, place]].tolist()
            for place, name in enumerate(("target", "source_1", "source_2"))
        }
        numbers = ("joint", "sum", "excess", "exact")
        return columns | {name: getattr(self, name) for name in numbers}

    def __str__(self) -> str:
        share = f" ({self.understated / len(self):.0%})" if len(self) else ""
        lines = [
            f"In {self.understated:,} of {len(self):,} triples{share} two sources together give away more about the "
            "target than the sum of what each does alone."
        ]
        lines += [_line(self[row]) for row in range(min(10, self.understated))]
        if not self.exact.all():
            lines.append("≥: not all sets were tried, so this may be larger.")
        return "\n".join(lines)


def _line(row: Interaction) -> str:
    target, first, second = map(printable, (row.target, row.source_1, row.source_2))
    sign = "" if row.exact else "≥ "
    return f"  {first} and {second} about {target}: {sign}{row.joint:.3f}, sum {row.sum:.3f}"


def interactions(
    records: Any,
    epsilon: float | Mapping[str, float],
    *,
    targets: Sequence[str] | None = None,
    schema: Schema | None = None,
    weight: str | None = None,
    progress: Progress | None = None,
) -> Interactions:
    """For every target and two sources, their exact joint leakage against the sum of the two that the paper adds.

    Parameters
    ----------
    records
        A local frame, or the path of a .csv or .parquet file.
    epsilon
        Budget of each source: one number, or a mapping from names.
    targets
        Only these; all attributes by default.
    schema, weight
        How records are encoded, by default inferred from them; a column of weights, which is then no attribute.
    progress
        Called with the attributes done and their number.

    Returns
    -------
    Interactions
        The triples that exceed their sum most, first.

    Examples
    --------
    >>> import pandas as pd
    >>> from deptriad.witnesses.interactions import interactions
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "xor": [0, 1, 1, 0]})
    >>> print(interactions(frame, 1.0, targets=["xor"]))
    In 1 of 1 triples (100%) two sources together give away more about the target than the sum of what each does alone.
      a and b about xor: 0.434, sum 0.000
    """
    from deptriad.data.engines import engine_of

    coded, schema = coded_frame(records, schema, weight)
    places = None if targets is None else [schema.index(name) for name in targets]
    budgets = budgets_for_each(epsilon, schema.names)
    return _all_triples(coded, budgets, places, progress, engine_of(records).results)


def interactions_of_codes(
    codes: ArrayLike,
    sizes: Sequence[int],
    budgets: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    targets: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Interactions:
    """``interactions`` on an array of codes: a row for each record, a column for each attribute.

    Examples
    --------
    >>> from deptriad.witnesses.interactions import interactions_of_codes
    >>> xor = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> interactions_of_codes(xor, [2, 2, 2], [1.0, 1.0, 1.0]).understated
    3
    """
    coded = coded_array(codes, sizes, weights, names)
    count = len(coded.names)
    places = None if targets is None else [column(target, count) for target in targets]
    return _all_triples(coded, budgets_by_column(budgets, count), places, progress, "pandas")


def _all_triples(
    coded: Coded,
    budgets: Floats,
    targets: Sequence[int] | None,
    progress: Progress | None,
    kind: str,
) -> Interactions:
    count = len(coded.names)
    asked = np.isin(np.arange(count), range(count) if targets is None else targets)
    additions = _additions(coded)
    joint, exact, single = _counted(coded.compressed(), budgets, asked, progress, additions)
    first, second = np.triu_indices(count, 1)
    target = np.repeat(np.flatnonzero(asked), first.size)
    triples = np.column_stack([target, np.tile(np.column_stack([first, second]).T, asked.sum()).T])
    triples = triples[(triples[:, 0] != triples[:, 1]) & (triples[:, 0] != triples[:, 2])]
    target, first, second = triples.T
    sizes = np.array(coded.sizes)
    # entries off by a relative ρ change ln N/N' by at most 2ρ·(1 − e^−Σε), and a logarithm is off by its rounding
    loss = (2 * (sizes[first] + sizes[second]) + 32 + 6 * additions) * ROUNDOFF
    loss = loss * -np.expm1(-(budgets[first] + budgets[second]))
    found = joint[target, first, second]
    attained = np.maximum(found * (1.0 - 4 * ROUNDOFF) - loss, 0.0)
    added = added_up(single[first, target], single[second, target])
    order = np.argsort(added - attained, kind="stable")
    exact = exact[target, first, second]
    return Interactions(
        coded.names, triples[order], attained[order], added[order], exact[order], kind
    )


def added_up(first: Floats, second: Floats) -> Floats:
    """Sums of two, rounded up; exact where they are floats."""
    total = first + second
    high, low = np.maximum(first, second), np.minimum(first, second)
    return np.asarray(np.where(low > total - high, np.nextafter(total, np.inf), total))


def _counted(
    coded: Coded,
    budgets: Floats,
    asked: Booleans,
    progress: Progress | None,
    additions: int,
) -> tuple[Floats, Booleans, Floats]:
    """Joint leakage by (target, source, source), whether it is exact, and single leakage by (source, target)."""
    from deptriad.witnesses import _joint_kernels

    count = len(coded.names)
    offsets = np.append(0, np.cumsum(coded.sizes))
    columns = np.ascontiguousarray(coded.codes.T)
    places = (coded.codes + offsets[:-1]).astype(np.uint32)
    # two budgets that together leave the float range are lowered, which only lowers the joint leakage
    used = np.minimum(budgets, within_range(np.full(2, np.inf))[0])
    survey = _joint_kernels.Survey(
        columns, places, coded.weights, offsets, np.expm1(used), asked, WORK
    )
    joint = np.zeros((count, count, count))
    exact = np.zeros(joint.shape, dtype=np.bool_)
    pairs = np.zeros((offsets[-1], offsets[-1]))
    found = _joint_kernels.Joints(joint, exact, pairs)
    for i in range(count - 1):
        _joint_kernels.joints(survey, i, found)
        if progress is not None:
            progress(i + 1, count - 1)
    exact &= np.add.outer(budgets - used, budgets - used) == 0.0
    return joint, exact, _single_leakages(pairs, offsets, budgets, asked, additions)


def _additions(coded: Coded) -> int:
    """Roundings in a sum of weights: one for each record, or none where all are multiples of a common power of two."""
    weights = coded.weights[coded.weights > 0.0]
    _, exponent = np.frexp(weights.sum())
    scaled = np.ldexp(weights, 52 - int(exponent))  # whole numbers that sum to less than 2^53
    return 0 if (scaled == np.floor(scaled)).all() else int(weights.size)


def _single_leakages(
    pairs: Floats,
    offsets: Integers,
    budgets: Floats,
    asked: Booleans,
    additions: int,
) -> Floats:
    """Exact leakage of each source alone about each target, rounded up."""
    parts = [slice(start, stop) for start, stop in pairwise(offsets)]
    single = np.zeros((budgets.size, budgets.size))
    for source, target in np.argwhere(~np.eye(budgets.size, dtype=np.bool_) & asked):
        low, high = min(source, target), max(source, target)
        table = pairs[parts[low], parts[high]]
        table = table if target == low else table.T
        table = table[table.sum(axis=1) > 0.0]
        table = np.ascontiguousarray(table / table.sum(axis=1, keepdims=True))
        alone = float(one_table.table_leakage(table, budgets[source]))
        if alone > 0.0 or additions:
            loss = 2 * (4 * additions + table.shape[1] + 4) * ROUNDOFF
            alone -= loss * float(np.expm1(-budgets[source]))
        single[source, target] = min(alone * (1.0 + 4 * ROUNDOFF), budgets[source])
    return single
