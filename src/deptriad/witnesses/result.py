"""Witness: sets of values whose reports together tell two target values apart, in words (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deptriad.data.schema import Schema
from deptriad.utils.text import among, printable, rounded_down


@dataclass(frozen=True)
class Witness:
    """Sets of values, one for each source, whose reports together tell two target values apart, and by how much.

    If every source's mechanism says "my value lies in my set" as loudly as its budget allows, the reports raise the
    odds of the first target value of ``pair`` over the second by e^``leakage``. So no smaller number can be a bound
    for the records on which the sets were found. On few records part of it is chance, which ``held_out`` shows: the
    same sets, the same pair, the other half of the records.

    Parameters
    ----------
    leakage
        ln of the likelihood ratio on the records on which the sets were found, rounded down.
    held_out
        The same on the other records; None without a split, NaN if they lack one of the two target values.
    overall
        The same on all records: what compares with bounds computed from all of them.
    target, pair, pair_labels
        The target, and the codes and labels of its more and its less likely value.
    epsilon
        Budget of each source.
    sets, set_labels
        Codes and labels of each source's set; an empty one means that the source adds nothing.
    names
        All attributes, in the order of the codes.
    records, split, seed, starts
        How it was found: ``attained`` draws the same half again.
    schema, weight
        How a frame is encoded, where one was given.
    weighted, checksum
        Whether some records weighed more than others, and a checksum of the codes of all records, in their order.

    Examples
    --------
    >>> import deptriad as dt
    >>> import numpy as np
    >>> import pandas as pd
    >>> coins = pd.DataFrame({"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "same": [1, 0, 0, 1] * 25})
    >>> schema, rng = dt.Schema.infer(coins), np.random.default_rng(1)
    >>> found = dt.witness(coins, 1.0, "same", schema=schema, split=None, rng=rng)
    >>> print(f"{found.leakage:.3f}")
    0.434
    """

    leakage: float
    held_out: float | None
    overall: float
    target: str
    pair: tuple[int, int]
    pair_labels: tuple[str, str]
    epsilon: Mapping[str, float]
    sets: Mapping[str, tuple[int, ...]]
    set_labels: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]
    records: int
    split: Literal["half"] | None
    seed: int
    starts: int
    schema: Schema | None = field(default=None, repr=False)
    weight: str | None = None
    weighted: bool = False
    checksum: int = field(default=0, repr=False)

    def __str__(self) -> str:
        target = printable(self.target)
        if not any(self.sets.values()):
            return f"No sets of values were found whose reports say anything about `{target}`."
        likely, unlikely = (printable(label) for label in self.pair_labels)
        held = "" if self.held_out is None else f" {self._held_out()}"
        released = [epsilon for epsilon in self.epsilon.values() if epsilon > 0.0]
        sources = _sources(len(released), len(self.epsilon))
        return (
            f"Released with {_budget_words(released)}, reports of {sources} together can raise the "
            f"odds of `{target} = {likely}` over `{target} = {unlikely}` by e^{rounded_down(self.leakage)}"
            f"{_times(self.leakage)} on {self._found_on()}.{held} They do so by pointing to {self._events()}. "
            "This is a lower bound: other sets may give away more."
        )

    def _found_on(self) -> str:
        if self.split is None:
            return f"these {self.records:,} records"
        return f"the random half of {self.records:,} records on which they were found"

    def _held_out(self) -> str:
        if self.held_out is None or math.isnan(self.held_out):
            return "The other half lacks one of these two values, so nothing is known beyond these records."
        return (
            f"On the other half the same sets give e^{rounded_down(self.held_out)}, "
            f"on all records e^{rounded_down(self.overall)}."
        )

    def _events(self, most: int = 12) -> str:
        shown = [among(name, labels) for name, labels in self.set_labels.items() if labels]
        rest = f" and {len(shown) - most} more" if len(shown) > most else ""
        return ", ".join(shown[:most]) + rest


def _times(leakage: float) -> str:
    return f" ({rounded_down(math.exp(leakage), 1)} times)" if leakage < 10.0 else ""


def _sources(count: int, others: int) -> str:
    if count < others:
        return f"{count} of the {others} other attributes"
    return "the other attribute" if count == 1 else f"the {count} other attributes"


def _budget_words(released: Sequence[float]) -> str:
    low, high = min(released), max(released)
    if low < high:
        return f"ε from {low:g} to {high:g}"
    return f"ε = {high:g} each" if len(released) > 1 else f"ε = {high:g}"
