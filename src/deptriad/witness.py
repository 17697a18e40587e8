"""witness(): a lower bound, with its proof, on what all other attributes together give away about one (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

import numpy as np

from deptriad.coded import (
    Coded,
    budgets_by_column,
    budgets_of,
    coded_array,
    coded_frame,
    column,
    within_range,
)
from deptriad.lines import Floats, as_whole
from deptriad.rounding import ROUNDOFF
from deptriad.text import printable, rounded_down

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deptriad.frames import Progress
    from deptriad.schema import Schema

Part = Literal["found", "held out", "all"]

STARTS = 32
"""Random starts for a pair of target values: on hard face attributes they mostly, not always, reach what 200 do."""

SCREENED = 400
"""Pairs of target values that get a first ascent, those with the largest sums of single leakages first."""

PROMISING = 12
"""Pairs that get all the starts: those whose first ascents led highest."""

TOGETHER = 64
"""Ascents between two calls of ``progress``."""


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
        used = [(name, labels) for name, labels in self.set_labels.items() if labels]
        shown = [_event_words(printable(name), [*map(printable, labels)]) for name, labels in used]
        rest = f" and {len(shown) - most} more" if len(shown) > most else ""
        return ", ".join(shown[:most]) + rest


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

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad.witness import witness
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "xor": [0, 1, 1, 0]})
    >>> found = witness(frame, 1.0, "xor", split=None)
    >>> round(found.leakage, 4), round(float(dt.leakage([[0.5, 0.5], [0.5, 0.5]], 1.0)), 4)
    (0.4338, 0.0)
    """
    coded, schema = coded_frame(records, schema, weight)
    place = schema.index(target)
    budgets = budgets_of(epsilon, schema, target)
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
    >>> from deptriad.witness import witness_of_codes
    >>> xor = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> found = witness_of_codes(xor, sizes=[2, 2, 2], budgets=[1.0, 1.0, 0.0], target=2, split=None)
    >>> round(found.leakage, 4)
    0.4338
    """
    coded = coded_array(codes, sizes, weights, names, labels)
    place = column(target, len(coded.names))
    array = budgets_by_column(budgets, len(coded.names))
    return _found(coded, array, place, starts, split, rng, progress)


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

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.witness import attained, witness_of_codes
    >>> codes = np.random.default_rng(1).integers(0, 2, size=(100, 4))
    >>> found = witness_of_codes(codes, [2] * 4, [1.0] * 4, target=0)
    >>> attained(codes, found) == found.leakage, attained(codes, found, "held out") == found.held_out
    (True, True)
    """
    if part not in ("found", "held out", "all"):
        raise ValueError(f"part is {part!r}, expected 'found', 'held out' or 'all'")
    if part == "held out" and witness.split is None:
        raise ValueError("the witness was found on all records, so none were held out")
    coded = _coded_again(records, witness, weights)
    target = witness.names.index(witness.target)
    if part != "all":
        _check_same(coded, witness)
    if part != "all" and witness.split == "half":
        half = _half(coded, target, witness.seed)
        coded = coded.only(half if part == "found" else ~half)
    budgets = np.array([witness.epsilon.get(name, 0.0) for name in witness.names])
    sets = [witness.sets.get(name, ()) for name in witness.names]
    return _log_ratio(coded, within_range(budgets), sets, target, witness.pair)


def _coded_again(records: Any, witness: Witness, weights: ArrayLike | None) -> Coded:
    """Records with the attributes of a witness."""
    if witness.schema is not None:
        if weights is not None:
            source = (
                "had none" if witness.weight is None else f"come from column {witness.weight!r}"
            )
            raise ValueError(f"got weights, but those of the witness {source}: expected none")
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
    if _checksum(coded) != witness.checksum:
        raise ValueError(
            "these are not the records the witness was found on, or not in the same order: "
            "pass part='all' for other records"
        )


def _checksum(coded: Coded) -> int:
    """A checksum of all codes, whatever type they are kept in."""
    return crc32(np.ascontiguousarray(coded.codes, dtype=np.int32).tobytes())


# --- finding the sets -----------------------------------------------------------------------------------------


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
    if split not in ("half", None):
        raise ValueError(f"split is {split!r}, expected 'half' or None")
    if not isinstance(rng, np.random.Generator | None):
        raise ValueError(f"rng is {rng!r}, expected a numpy.random.Generator or None")
    seed = int((rng or np.random.default_rng()).integers(2**63))
    budgets = np.where(np.arange(budgets.size) == target, 0.0, budgets)
    used = within_range(budgets)
    part, other = coded, None
    if split == "half":
        half = _half(coded, target, seed)
        part, other = coded.only(half), coded.only(~half)
    pair, sets = _search(part, used, target, starts, np.random.default_rng([seed, 1]), progress)
    leakage = max(_log_ratio(part, used, sets, target, pair), 0.0)
    sources = [i for i in range(len(coded.names)) if i != target]
    return Witness(
        leakage=leakage,
        held_out=_log_ratio(other, used, sets, target, pair) if other is not None else None,
        overall=_log_ratio(coded, used, sets, target, pair) if other is not None else leakage,
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
        checksum=_checksum(coded),
    )


def _half(coded: Coded, target: int, seed: int) -> NDArray[np.bool_]:
    """A random half of the records that have weight: of each target value, half of its records."""
    order = np.random.default_rng([seed, 0]).permutation(len(coded.codes))
    order = order[coded.weights[order] > 0.0]
    by_value = order[np.argsort(coded.codes[order, target], kind="stable")]
    half = np.zeros(len(coded.codes), dtype=np.bool_)
    half[by_value[::2]] = True
    return half


@dataclass(frozen=True)
class _Search:
    """Records sorted by target value, in columns, and what the kernels need to know of the sources."""

    columns: NDArray[Any]
    mass: Floats
    begins: NDArray[np.int64]
    values: NDArray[np.int64]
    sources: NDArray[np.int64]
    offsets: NDArray[np.int64]
    shrink: Floats

    @classmethod
    def of(cls, coded: Coded, budgets: Floats, target: int) -> _Search:
        equal = coded.compressed(first=target)
        values, begins = np.unique(equal.codes[:, target], return_index=True)
        begins = np.append(begins, len(equal.codes))
        totals = np.add.reduceat(equal.weights, begins[:-1])
        sources = np.flatnonzero(budgets > 0.0)
        sizes = np.array(coded.sizes)[sources]
        return cls(
            columns=np.ascontiguousarray(equal.codes[:, sources].T),
            mass=equal.weights / np.repeat(totals, np.diff(begins)),
            begins=begins,
            values=values.astype(np.int64),
            sources=sources,
            offsets=np.append(0, np.cumsum(sizes)),
            shrink=np.exp(-budgets[sources]),
        )

    def table(self) -> Floats:
        """p(u | x) of all sources, side by side."""
        row = np.repeat(np.arange(self.values.size), np.diff(self.begins))
        width = int(self.offsets[-1])
        flat = np.zeros(self.values.size * width)
        for codes, offset in zip(self.columns, self.offsets[:-1], strict=True):
            flat += np.bincount(row * width + offset + codes, self.mass, minlength=flat.size)
        return flat.reshape(self.values.size, width)

    def climb(
        self,
        pairs: NDArray[np.int64],
        inside: NDArray[np.bool_],
        rng: np.random.Generator,
        progress: Callable[[int], None],
    ) -> Floats:
        """ln of the ratios that starts climb to, sources in random order; ``inside`` becomes the sets."""
        from deptriad import witness_kernels

        value = np.empty(len(pairs))
        places = np.tile(np.arange(self.sources.size), (len(pairs), 1))
        orders = rng.permuted(places, axis=1)
        for start in range(0, len(pairs), TOGETHER):
            some = slice(start, start + TOGETHER)
            value[some] = witness_kernels.ascents(
                self.columns, self.offsets, self.shrink, self.mass, self.begins,
                pairs[some], orders[some], inside[some],
            )  # fmt: skip
            progress(len(pairs[some]))
        return value


def _search(
    coded: Coded,
    budgets: Floats,
    target: int,
    starts: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[tuple[int, int], list[tuple[int, ...]]]:
    """The pair and the sets of the best ascent: first from the sets of single sources, then from random ones."""
    from deptriad import witness_kernels

    search = _Search.of(coded, budgets, target)
    empty: list[tuple[int, ...]] = [() for _ in coded.names]
    values = search.values
    if values.size < 2 or not search.sources.size:
        return (int(values[0]), int(values[-1])), empty
    pairs = _screened(search)
    count = min(PROMISING, len(pairs))
    tell = _teller(progress, 2 * len(pairs) + count * starts)
    singles = np.empty((len(pairs), int(search.offsets[-1])), dtype=np.bool_)
    witness_kernels.single_sets(search.table(), search.offsets, search.shrink, pairs, singles)
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


def _screened(search: _Search) -> NDArray[np.int64]:
    """All ordered pairs of target values, or those that single sources tell apart best."""
    from deptriad import witness_kernels

    count = search.values.size
    pairs = np.array(np.nonzero(~np.eye(count, dtype=np.bool_)), dtype=np.int64).T.copy()
    if len(pairs) <= SCREENED:
        return pairs
    score = witness_kernels.pair_scores(search.table(), search.offsets, search.shrink, pairs)
    return pairs[np.sort(np.argsort(-score, kind="stable")[:SCREENED])]


def _random_sets(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.bool_]:
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


# --- what sets attain -----------------------------------------------------------------------------------------


def _log_ratio(
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


# --- words ----------------------------------------------------------------------------------------------------


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


def _event_words(source: str, labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return f"`{source} = {labels[0]}`"
    more = f" or {len(labels) - 6} more" if len(labels) > 6 else ""
    return f"`{source}` in {{{', '.join(labels[:6])}{more}}}"
