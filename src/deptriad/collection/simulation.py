"""simulate(): reports of many users from joint counts, cell by cell: a billion of them take no longer than a million.

Users with the same values report alike, so how many of a cell's users give which report is multinomial. What comes out
is distributed exactly as if every user had reported (to the rounding of a probability). Where there are too many
different reports to count, see ``simulated_reports``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.simulated_reports import Replay, ReportCounts, Simulation
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.collection.view import WHOLE
from deptriad.mechanisms import Mechanism

MOST_USERS = 2**53

MOST_CELLS = 1 << 24
"""Combinations of reports that are worth counting one by one: 128 MiB."""


def simulate(
    joint_counts: ArrayLike, strategy: Any, rng: np.random.Generator | None = None
) -> Simulation:
    """Reports of all users, without a row for each.

    Parameters
    ----------
    joint_counts
        How many users have which values: an axis for each attribute of the strategy's schema, in its order.
    strategy
        A plan, or a strategy. Where its mechanisms have few combinations of different reports (up to 2^24), their
        numbers are drawn at once, exactly, however many users there are. Else (OLH always; SUE, OUE and subset
        selection above 16 values) users are drawn one by one up to 2^18; from there on estimates have exactly the
        means, variances and covariances of so many users, and the shape of 2^18
        (``deptriad.collection.simulated_reports``).
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
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> split = dt.Split(schema, total=2.0)
    >>> reports = dt.simulate([[400_000_000, 100_000_000], [0, 500_000_000]], split, np.random.default_rng(1))
    >>> estimate(split, reports, ["a", "b"]).frequencies.round(3).tolist()
    [[0.4, 0.1], [0.0, 0.5]]
    """
    asked = as_strategy(strategy)
    counts = _checked(joint_counts, asked)
    chance = np.random.default_rng() if rng is None else rng
    how = _with_fakes if isinstance(asked, SampleWithFakes) else _by_views
    return Simulation(asked, tuple(how(counts, asked, chance)), int(counts.sum()))


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


def _by_views(
    counts: NDArray[np.int64], asked: Strategy, rng: np.random.Generator
) -> Iterator[ReportCounts | Replay]:
    """Every cell's users are dealt out to the views, each of which is collected by itself."""
    codes = np.argwhere(counts)
    dealt = rng.multinomial(counts[tuple(codes.T)], np.array(asked.parts) / WHOLE)
    for view, places in enumerate(asked.places):
        values = [asked.values(asked.questions[place], codes) for place in places]
        yield _collected(asked, places, values, dealt[:, view], int(counts.sum()), rng)


def _with_fakes(
    counts: NDArray[np.int64], asked: Strategy, rng: np.random.Generator
) -> Iterator[ReportCounts | Replay]:
    """Every cell's users are dealt out to the questions; to the others they answer an evenly drawn value."""
    codes, n = np.argwhere(counts), int(counts.sum())
    number = len(asked.questions)
    dealt = rng.multinomial(counts[tuple(codes.T)], np.full(number, 1.0 / number))
    for place, question in enumerate(asked.questions):
        size, true = question.mechanism.size, dealt[:, place]
        fakes = rng.multinomial(n - int(true.sum()), np.full(size, 1.0 / size))
        values = np.concatenate([asked.values(question, codes), np.arange(size)])
        yield _collected(asked, [place], [values], np.concatenate([true, fakes]), n, rng)


def _collected(
    asked: Strategy,
    places: Sequence[int],
    values: Sequence[NDArray[Any]],
    users: NDArray[np.int64],
    among: int,
    rng: np.random.Generator,
) -> ReportCounts | Replay:
    """Reports to some questions of users with the same values: counts of them, if there are few combinations."""
    where, own = tuple(places), tuple(asked.questions[place].mechanism for place in places)
    counts = np.zeros([mechanism.size for mechanism in own], dtype=np.int64)
    np.add.at(counts, tuple(values), users)
    if _combinations(own) > MOST_CELLS:
        cells = np.argwhere(counts)
        return Replay(where, own, cells, counts[tuple(cells.T)], among, _seed(rng))
    for axis, mechanism in enumerate(own):
        counts = np.moveaxis(mechanism.simulate(np.moveaxis(counts, axis, -1), rng), -1, axis)
    return ReportCounts(where, own, counts, among)


def _combinations(mechanisms: Sequence[Mechanism]) -> float:
    """How many combinations of reports there are, as far as they can be listed."""
    alphabets = (mechanism.alphabet for mechanism in mechanisms)
    return math.prod(math.inf if each is None else len(each) for each in alphabets)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))
