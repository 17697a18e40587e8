"""simulate(): reports of many users from joint counts, cell by cell: a billion of them take no longer than a thousand.

Users with the same values report alike, so how many of a cell's users give which report is multinomial. What comes out
is distributed exactly as if every user had reported (to the rounding of a probability).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.collection.score_sums import (
    MOST_CELLS,
    Answers,
    ReportCounts,
    Simulation,
    SupportCounts,
)
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.mechanisms import Mechanism

MOST_USERS = 2**53


def simulate(
    joint_counts: ArrayLike, strategy: Any, rng: np.random.Generator | None = None
) -> Simulation:
    """Reports of all users, as counts.

    Parameters
    ----------
    joint_counts
        How many users have which values: an axis for each attribute of the strategy's schema, in its order.
    strategy
        A plan, or a strategy. Its mechanisms must have few different reports: GRR, the staircase, Hadamard response and
        channels; SUE and OUE for up to 16 values (any number with ``Sample`` and ``SampleWithFakes``), subset selection
        for up to 16. OLH has too many: perturb records instead.
    rng
        Source of chance; by default a new generator, seeded by the operating system.

    Returns
    -------
    Simulation
        What ``estimate`` takes in place of a frame of reports.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> from deptriad.collection.marginal import estimate
    >>> from deptriad.collection.split import Split
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> split = Split(schema, total=2.0)
    >>> reports = simulate([[400_000_000, 100_000_000], [0, 500_000_000]], split, np.random.default_rng(1))
    >>> estimate(split, reports, ["a", "b"]).frequencies.round(3).tolist()
    [[0.4, 0.1], [0.0, 0.5]]
    """
    asked = as_strategy(strategy)
    counts = _checked(joint_counts, asked)
    chance = np.random.default_rng() if rng is None else rng
    to_all = asked.true_reports == "all"
    parts = [_to_all(counts, asked, chance)] if to_all else _dealt(counts, asked, chance)
    return Simulation(asked, tuple(parts), int(counts.sum()))


def _checked(joint_counts: ArrayLike, asked: Strategy) -> NDArray[np.int64]:
    counts = np.asarray(joint_counts)
    if counts.shape != asked.schema.sizes:
        raise ValueError(
            f"joint_counts has shape {counts.shape}, expected {asked.schema.sizes}: an axis for each attribute, "
            f"{', '.join(asked.schema.names)}"
        )
    if counts.dtype.kind not in "iuf" or (counts < 0).any() or (counts != np.rint(counts)).any():
        raise ValueError("joint_counts has entries that are no whole numbers ≥ 0, as of users")
    if counts.sum() > MOST_USERS:
        raise ValueError(f"joint_counts sums to {counts.sum():g}, expected at most 2^53")
    return counts.astype(np.int64)


def _to_all(counts: NDArray[np.int64], asked: Strategy, rng: np.random.Generator) -> ReportCounts:
    """Attribute after attribute: values along an axis become reports."""
    places = [asked.schema.index(question.name) for question in asked.questions]
    counts = counts.sum(axis=tuple(set(range(counts.ndim)) - set(places)))
    own = tuple(question.mechanism for question in asked.questions)
    cells = math.prod(len(mechanism.listed()) for mechanism in own)
    if cells > MOST_CELLS:
        raise ValueError(
            f"there are {cells:,} combinations of reports, expected at most {MOST_CELLS:,}: simulate fewer attributes"
        )
    for axis, mechanism in enumerate(own):
        counts = np.moveaxis(mechanism.simulate(np.moveaxis(counts, axis, -1), rng), -1, axis)
    return ReportCounts(own, counts, int(counts.sum()))


def _dealt(
    counts: NDArray[np.int64], asked: Strategy, rng: np.random.Generator
) -> Iterator[Answers]:
    """Every cell's users are dealt out to the questions, each collected by itself; a fake is an evenly drawn value."""
    values, number, n = np.nonzero(counts), len(asked.questions), int(counts.sum())
    dealt = rng.multinomial(counts[values], np.full(number, 1.0 / number))
    for place, question in enumerate(asked.questions):
        own = [values[asked.schema.index(name)] for name in question.names]
        users = np.zeros(size := question.mechanism.size, dtype=np.int64)
        np.add.at(users, np.ravel_multi_index(own, question.sizes), dealt[:, place])
        if asked.true_reports == "fakes":
            users += rng.multinomial(n - int(users.sum()), np.full(size, 1.0 / size))
        yield _one(users, question.mechanism, n, rng)


def _one(
    users: NDArray[np.int64], mechanism: Mechanism, among: int, rng: np.random.Generator
) -> Answers:
    """Answers to one question."""
    support = mechanism.simulate_support(users, rng)
    if support is not None:
        return SupportCounts(mechanism, support, int(users.sum()), among)
    return ReportCounts((mechanism,), mechanism.simulate(users, rng), among)
