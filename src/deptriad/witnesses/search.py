"""The search for the sets of a witness: ascents of the compiled loops, from many starts (maths §5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.data.coded_records import Coded
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.progress import Progress

SCREENED = 400
"""Pairs of target values that get a first ascent, those with the largest sums of single leakages first."""

PROMISING = 12
"""Pairs that get all the starts: those whose first ascents led highest."""

TOGETHER = 64
"""Ascents between two calls of ``progress``."""


class Records(NamedTuple):
    """Records sorted by target value, those of value x from ``begins[x]`` on, and what is known of their sources."""

    columns: NDArray[Any]  # the codes of each source
    mass: Floats  # the weight of each record, those of a target value summing to 1
    begins: Integers
    offsets: Integers  # where the values of each source begin, all of them side by side
    shrink: Floats  # e^−ε


class _Search:
    """Sets of the sources that have a budget, over the records of the target values that occur."""

    def __init__(self, coded: Coded, budgets: Floats, target: int) -> None:
        equal = coded.compressed(first=target)
        values, begins = np.unique(equal.codes[:, target], return_index=True)
        begins = np.append(begins, len(equal.codes))
        totals = np.add.reduceat(equal.weights, begins[:-1])
        self.values, self.sources = values.astype(np.int64), np.flatnonzero(budgets > 0.0)
        self.offsets = np.append(0, np.cumsum(np.array(coded.sizes)[self.sources]))
        self.records = Records(
            np.ascontiguousarray(equal.codes[:, self.sources].T),
            equal.weights / np.repeat(totals, np.diff(begins)),
            begins,
            self.offsets,
            np.exp(-budgets[self.sources]),
        )

    def singles(self) -> tuple[Floats, Integers, Floats]:
        """p(u | x) of all sources side by side, where those of each begin, and e^−ε."""
        columns, mass, begins, offsets, shrink = self.records
        row = np.repeat(np.arange(self.values.size), np.diff(begins))
        width = int(offsets[-1])
        flat = np.zeros(self.values.size * width)
        for codes, offset in zip(columns, offsets[:-1], strict=True):
            flat += np.bincount(row * width + offset + codes, mass, minlength=flat.size)
        return flat.reshape(self.values.size, width), offsets, shrink

    def climb(
        self,
        pairs: Integers,
        inside: Booleans,
        rng: np.random.Generator,
        progress: Callable[[int], None],
    ) -> Floats:
        """ln of the ratios that starts climb to, sources in random order; ``inside`` becomes the sets."""
        from deptriad.witnesses import _ascent_kernels

        value = np.empty(len(pairs))
        places = np.tile(np.arange(self.sources.size), (len(pairs), 1))
        orders = rng.permuted(places, axis=1)
        for start in range(0, len(pairs), TOGETHER):
            some = slice(start, start + TOGETHER)
            each = pairs[some], orders[some], inside[some]
            value[some] = _ascent_kernels.ascents(self.records, *each)
            progress(len(pairs[some]))
        return value


def best_sets(
    coded: Coded,
    budgets: Floats,
    target: int,
    starts: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[tuple[int, int], list[tuple[int, ...]]]:
    """The pair and the sets of the best ascent: first from the sets of single sources, then from random ones."""
    from deptriad.witnesses import _ascent_kernels

    search = _Search(coded, budgets, target)
    empty: list[tuple[int, ...]] = [() for _ in coded.names]
    values = search.values
    if values.size < 2 or not search.sources.size:
        return (int(values[0]), int(values[-1])), empty
    pairs = _screened(search)
    count = min(PROMISING, len(pairs))
    tell = _teller(progress, 2 * len(pairs) + count * starts)
    singles = np.empty((len(pairs), int(search.offsets[-1])), dtype=np.bool_)
    _ascent_kernels.single_sets(*search.singles(), pairs, singles)
    tried = np.concatenate([pairs, pairs])
    inside = np.concatenate([singles, _random_sets(singles.shape, rng)])
    value = search.climb(tried, inside, rng, tell)
    # pairs that led highest, each once
    best = np.maximum(*np.split(value, 2))
    chosen = np.repeat(pairs[np.argsort(-best, kind="stable")[:count]], starts, axis=0)
    more = _random_sets((len(chosen), singles.shape[1]), rng)
    value = np.concatenate([value, search.climb(chosen, more, rng, tell)])
    winner = int(value.argmax())
    if not value[winner] > 0.0:
        return (int(values[0]), int(values[-1])), empty
    pair = np.concatenate([tried, chosen])[winner]
    members = np.concatenate([inside, more])[winner]
    for i, source in enumerate(search.sources):
        part = np.flatnonzero(members[search.offsets[i] : search.offsets[i + 1]])
        whole = part.size == coded.sizes[source]  # says as little as the empty set
        empty[source] = () if whole else tuple(int(u) for u in part)
    return (int(values[pair[0]]), int(values[pair[1]])), empty


def _screened(search: _Search) -> Integers:
    """All ordered pairs of target values, or those that single sources tell apart best."""
    from deptriad.witnesses import _ascent_kernels

    count = search.values.size
    pairs = np.array(np.nonzero(~np.eye(count, dtype=np.bool_)), dtype=np.int64).T.copy()
    if len(pairs) <= SCREENED:
        return pairs
    score = _ascent_kernels.pair_scores(*search.singles(), pairs)
    return pairs[np.sort(np.argsort(-score, kind="stable")[:SCREENED])]


def _random_sets(shape: tuple[int, int], rng: np.random.Generator) -> Booleans:
    """Sets of random values, from sparse to full."""
    return np.asarray(rng.random(shape) < rng.uniform(0.2, 0.8, size=(shape[0], 1)))


def _teller(progress: Progress | None, total: int) -> Callable[[int], None]:
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    return tell
