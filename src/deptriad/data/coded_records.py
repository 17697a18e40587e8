"""Records as codes, a column for each attribute: what ``witness`` and ``interactions`` work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.data.schema import Schema
from deptriad.utils.arrays import Floats, as_budget, as_numbers

MOST = 600.0
"""Sum of budgets up to which likelihoods stay within the float range, weights of records included."""


@dataclass(frozen=True)
class Coded:
    """Records as codes 0, 1, … of each attribute's values, their weights, and what the codes stand for."""

    codes: NDArray[Any]
    weights: Floats
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(values) for values in self.labels)

    def only(self, rows: NDArray[np.bool_]) -> Coded:
        """Some of the records."""
        return Coded(self.codes[rows], self.weights[rows], self.names, self.labels)

    def compressed(self, first: int = 0) -> Coded:
        """Equal records once, with the sum of their weights; none without weight; ordered by attribute ``first``."""
        codes, weights = self.codes[self.weights > 0.0], self.weights[self.weights > 0.0]
        order = [first, *(i for i in range(len(self.names)) if i != first)]
        keys = _keys(codes, self.sizes, order)
        _, chosen, place = np.unique(keys, return_index=True, return_inverse=True)
        summed: Floats = np.bincount(place, weights, minlength=chosen.size).astype(np.float64)
        return Coded(codes[chosen], summed, self.names, self.labels)


def _keys(codes: NDArray[Any], sizes: Sequence[int], order: Sequence[int]) -> NDArray[np.int64]:
    """One number for each different record, ordered like the records."""
    key = np.zeros(len(codes), dtype=np.int64)
    room = 1
    for i in order:
        if room * sizes[i] > 2**62:  # start again from the ranks, of which there are few
            _, key = np.unique(key, return_inverse=True)
            room = len(codes)
        key = key * sizes[i] + codes[:, i]
        room *= sizes[i]
    return key


# --- making them ----------------------------------------------------------------------------------------------


def coded_array(
    codes: ArrayLike,
    sizes: Sequence[int],
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    labels: Sequence[Sequence[str]] | None = None,
) -> Coded:
    """Check an array of codes; attributes are called 0, 1, … and values likewise unless they have names."""
    array = np.asarray(codes)
    if array.ndim != 2 or array.dtype.kind not in "biu":
        raise ValueError(
            f"codes are of shape {array.shape} and type {array.dtype}, expected whole numbers, "
            "a row for each record and a column for each attribute"
        )
    records, attributes = array.shape
    if len(sizes) != attributes:
        raise ValueError(f"got {len(sizes)} sizes for {attributes} columns of codes")
    if attributes < 2 or records == 0:
        raise ValueError(
            f"got {records} records of {attributes} attributes, expected some records of at least 2"
        )
    for i, size in enumerate(sizes):
        low, high = int(array[:, i].min()), int(array[:, i].max())
        if low < 0 or high >= size:
            bad = low if low < 0 else high
            raise ValueError(f"column {i} has code {bad}, expected 0 to {size - 1}")
    names = [*map(str, range(attributes))] if names is None else names
    labels = [[*map(str, range(size))] for size in sizes] if labels is None else labels
    _check_words(sizes, names, labels)
    small = np.uint8 if max(sizes) <= 256 else np.int16 if max(sizes) <= 32_768 else np.int64
    return Coded(
        array.astype(small),
        _checked_weights(weights, records),
        tuple(names),
        tuple(map(tuple, labels)),
    )


def _check_words(
    sizes: Sequence[int], names: Sequence[str], labels: Sequence[Sequence[str]]
) -> None:
    """A name for each attribute, no two alike, and a label for each of its values."""
    for what, given in (("names", names), ("labels", labels)):
        if len(given) != len(sizes):
            raise ValueError(f"got {what} for {len(given)} attributes, expected {len(sizes)}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"got the name {twice!r} twice, expected different ones")
    for i, (values, size) in enumerate(zip(labels, sizes, strict=True)):
        if len(values) != size:
            raise ValueError(f"got {len(values)} labels for column {i}, expected {size}")


def column(target: object, count: int) -> int:
    """A target that is given by its column."""
    whole = isinstance(target, int | np.integer) and not isinstance(target, bool)
    if not whole or not 0 <= int(target) < count:  # type: ignore[call-overload]
        raise ValueError(f"target is {target!r}, expected a column from 0 to {count - 1}")
    return int(target)  # type: ignore[call-overload, no-any-return]


def _checked_weights(weights: ArrayLike | None, records: int) -> Floats:
    if weights is None:
        return np.ones(records)
    array = as_numbers(weights, "weights")
    if array.shape != (records,):
        raise ValueError(f"weights have shape {array.shape}, expected one for each record")
    bad = ~(np.isfinite(array) & (array >= 0.0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"record {row} has weight {array[row]}, expected a finite number ≥ 0")
    if not array.any():
        raise ValueError("all weights are 0, expected some above 0")
    if (array == array[0]).all():  # the same as none
        return np.ones(records)
    # a power of two changes no digit
    return np.asarray(np.ldexp(array, -int(np.frexp(array.max())[1])))


def coded_frame(
    records: Any, schema: Schema | None, weight: str | None, of_plan: bool = False
) -> tuple[Coded, Schema]:
    """Encode a frame, by a schema, which may be a plan's, or by one inferred from all its columns but the weight's."""
    from deptriad.data import readers
    from deptriad.data.column_types import require, require_weight
    from deptriad.data.encoding import encoded
    from deptriad.data.schema import taken_as_public

    frame, weights = readers.opened(records, schema=schema), None
    schema = schema or taken_as_public(records, without=[weight] if weight else [])
    if weight is not None:
        require_weight(require(frame, [weight]), weight)
        if weight in schema:
            raise ValueError(
                f"the weight {weight!r} is also an attribute: leave it out of the schema"
            )
        weights = frame.select(weight).lazy().collect()[weight].to_numpy()
    labels = [attribute.values for attribute in schema]
    codes = encoded(records, schema, of_plan)
    return coded_array(codes, schema.sizes, weights, schema.names, labels), schema


# --- budgets --------------------------------------------------------------------------------------------------


def budgets_by_column(budgets: ArrayLike, count: int) -> Floats:
    """A budget for each column."""
    array = as_budget(budgets, "budgets")
    if array.shape != (count,):
        raise ValueError(
            f"budgets have shape {array.shape}, expected one for each of {count} attributes"
        )
    return array


def within_range(budgets: Floats) -> Floats:
    """Budgets scaled down to a sum of at most ``MOST``.

    What smaller budgets leak is leaked under the larger ones too: every ε-LDP mechanism is ε'-LDP for ε' ≥ ε.
    """
    clipped = np.minimum(budgets, MOST)
    return np.asarray(clipped * min(1.0, MOST / max(clipped.sum(), MOST)))
