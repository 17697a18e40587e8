"""Simulated reports: counts of them where few differ, else users who are drawn anew whenever something is asked.

``ReportCounts`` holds how many users gave which combination of reports. ``Replay`` holds a seed: its users' reports are
drawn from it block by block, the same each time, so that nothing is too large to simulate and all estimates are about
the same reports. It draws at most ``MOST_DRAWN`` users. Where there are more, a cell of N users is stood for by m of
them, whose sum S has the place of a sum over all by

    N·μ + √(N/m)·(S − m·μ),      μ the mean of what is summed, which is known.

That has exactly the mean, the variances and all covariances of a sum over N users; only its shape, near a normal one,
is that of fewer. What is of second order (squares, which say how large errors are) is taken N/m times instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deptriad.collection.score_sums import Sums, Tally, TermSums
from deptriad.mechanisms import Mechanism
from deptriad.mechanisms.entries import BLOCK
from deptriad.utils.arrays import Integers

if TYPE_CHECKING:
    from deptriad.collection.strategy import Strategy

MOST_DRAWN = 1 << 18
"""Users who are drawn one by one."""


@dataclass(frozen=True, eq=False)
class ReportCounts:
    """How many users gave which combination of reports: an axis for each question, over the alphabet of its reports.

    ``places`` are those of the questions; ``among`` is how many users there are in all.
    """

    places: tuple[int, ...]
    mechanisms: tuple[Mechanism, ...]
    counts: Integers
    among: int

    def fill(self, sums: Tally | TermSums) -> None:
        """Add all reports."""
        axes = [self.places.index(place) for place in sums.places]
        others = tuple(axis for axis in range(self.counts.ndim) if axis not in axes)
        counts = self.counts.sum(axis=others).transpose([sorted(axes).index(axis) for axis in axes])
        sums.count(int(counts.sum()), self.among)
        own = [self.mechanisms[axis] for axis in axes]
        if isinstance(sums, TermSums) and not own[0].letters:
            sums.add_scored(own[0].listed(), counts)
            return
        tally = sums.tally if isinstance(sums, TermSums) else sums
        tally.add_table(
            counts, [None if each.letters else each.kept(each.listed()) for each in own]
        )


@dataclass(frozen=True, eq=False)
class Replay:
    """Users of cells with the same values, whose reports to some questions are drawn anew from the same seed.

    ``values`` has a row for each cell and a column for each question, ``users`` their numbers.
    """

    places: tuple[int, ...]
    mechanisms: tuple[Mechanism, ...]
    values: Integers
    users: Integers
    among: int
    seed: int

    @cached_property
    def _drawn(self) -> Integers:
        """How many of each cell's users are drawn."""
        if self.users.sum() <= MOST_DRAWN:
            return self.users
        least, most = 1, MOST_DRAWN
        while least < most:  # the largest limit that keeps the sum small; one of each cell at least
            middle = (least + most + 1) // 2
            fits = np.minimum(self.users, middle).sum() <= MOST_DRAWN
            least, most = (middle, most) if fits else (least, middle - 1)
        return np.minimum(self.users, least)

    def fill(self, sums: Tally | TermSums) -> None:
        """Add all reports."""
        sums.count(int(self.users.sum()), self.among)
        axes = [self.places.index(place) for place in sums.places]
        exact = (self._drawn == self.users).all()
        weights = np.sqrt(self.users / np.maximum(self._drawn, 1))
        for cells, reports in self._reports(axes):
            own = None if exact else weights[cells]
            sums._add(reports, own, None if own is None else own**2)
        if exact:
            return
        table = np.zeros([self.mechanisms[axis].size for axis in axes])
        np.add.at(table, tuple(self.values[:, axes].T), self.users - weights * self._drawn)
        if isinstance(sums, TermSums):
            # the scores of a value have a mean of 1 for it and 0 for others
            sums.add_scores(np.eye(table.size), table, None)
        else:
            sums.add_table(table, [self.mechanisms[axis].kept_means() for axis in axes])

    def _reports(self, axes: Sequence[int]) -> Iterator[tuple[Integers, list[NDArray[Any]]]]:
        """The cells of some users, and their reports to some questions, block by block."""
        chances = [np.random.default_rng([self.seed, self.places[axis]]) for axis in axes]
        ends = np.cumsum(self._drawn)
        for start in range(0, int(ends[-1]) if len(ends) else 0, BLOCK):
            people = np.arange(start, min(start + BLOCK, int(ends[-1])))
            cells = np.searchsorted(ends, people, side="right")
            pairs = zip(axes, chances, strict=True)
            reports = [
                self.mechanisms[axis].perturb(self.values[cells, axis], rng) for axis, rng in pairs
            ]
            yield cells, reports


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Simulated reports, which ``estimate`` takes in place of a frame of them."""

    strategy: Strategy
    parts: tuple[ReportCounts | Replay, ...]
    users: int

    def require(self, strategy: Strategy, weight: str | None = None) -> None:
        """Refuse to be read as reports of another strategy, of which estimates would be biased; or with weights."""
        if weight is not None:
            raise ValueError(
                f"weight is {weight!r}, but simulated reports have no columns: leave it out"
            )
        if self.strategy.fingerprint != strategy.fingerprint:
            raise ValueError(
                f"the reports were simulated with another {type(self.strategy).__name__} than this "
                f"{type(strategy).__name__}: pass the strategy they were made with"
            )

    def fill(self, every: Iterable[Sums]) -> None:
        """Add all reports to sums."""
        for sums in every:
            for part in self.parts:
                if set(sums.places) <= set(part.places):
                    part.fill(sums)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"Simulation({type(self.strategy).__name__}, {self.users:,} users)"
