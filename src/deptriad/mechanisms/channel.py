"""Channel: a mechanism of one's own, given by its transition matrix. Tabled: all mechanisms given so."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.mechanisms.base import Mechanism
from deptriad.mechanisms.chance import Source, Words
from deptriad.tables.table import as_conditional
from deptriad.utils.arrays import Floats, as_whole

WHOLE = 2**63
"""What the counts of a row add up to: a sum of them still fits a word."""


@dataclass(frozen=True)
class Tabled(Mechanism):
    """A mechanism with a table of counts: report y has probability counts[u, y]/2^63 under value u.

    ``_counts`` is all that it must say.
    """

    @property
    @abstractmethod
    def _counts(self) -> Words:
        """A row for each value, a column for each report; rows sum to 2^63."""

    @property
    def letters(self) -> int:
        """A report is one of the columns."""
        return int(self._counts.shape[1])

    @property
    def probabilities(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact transition matrix: a row for each value."""
        return tuple(tuple(Fraction(n, WHOLE) for n in row) for row in self._counts.tolist())

    @cached_property
    def worst_ratio(self) -> Fraction | float:
        """Exactly the largest ratio of a report's probabilities under two values; ∞ where one is 0."""
        most, least = self._counts.max(axis=0), self._counts.min(axis=0)
        pairs = zip(most.tolist(), least.tolist(), strict=True)
        return max(Fraction(high, low) if low else math.inf for high, low in pairs if high)

    def matrix(self) -> Floats:
        """p(report | value): a row for each value, a column for each report."""
        return self._counts / float(WHOLE)

    @cached_property
    def weights(self) -> Floats:
        """The scores of each possible report (row): a right inverse of the matrix."""
        matrix = self.matrix()
        try:  # an inverse proper, where there is one, takes a small part of the time
            square = matrix.shape[1] == self.size
            weights = np.linalg.inv(matrix) if square else np.linalg.pinv(matrix)
            off = np.abs(matrix @ weights - np.eye(self.size)).max()
        except np.linalg.LinAlgError:
            off = np.inf
        if not off < 1e-6:
            raise ValueError(
                f"the reports of this mechanism do not determine the frequencies: its {self.size} rows are linearly "
                "dependent; merge values that it cannot tell apart"
            )
        return np.asarray(weights)

    def scores(self, reports: ArrayLike) -> Floats:
        """For each report (row) an unbiased estimate of "the value is u" for all u; ``estimate`` is their mean."""
        return np.asarray(self.weights[self._checked(reports)])

    def _report(self, codes: NDArray[np.uint32], words: Source) -> NDArray[Any]:
        from deptriad.mechanisms._kernels import look_up

        reports = np.empty_like(codes)
        look_up(codes, words(codes.size), self._below, reports)
        return reports

    @cached_property
    def _below(self) -> Words:
        """Thresholds between one report and the next."""
        return np.ascontiguousarray(np.cumsum(self._counts, axis=1, dtype=np.uint64)[:, :-1])


@dataclass(frozen=True, init=False, eq=False)
class Channel(Tabled):
    """Any mechanism, by its transition matrix: a row for each value, a column for each report, rows that sum to 1.

    ``epsilon`` is what it truly spends, rounded up; infinite where a report rules a value out. A report is the number
    of a column. The frequencies can be estimated if the rows are linearly independent.

    Examples
    --------
    >>> import numpy as np
    >>> from deptriad.mechanisms import Channel
    >>> channel = Channel([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
    >>> channel.size, round(channel.epsilon, 6)
    (2, 1.386294)
    >>> reports = channel.perturb([0, 0, 0, 1] * 10_000, rng=np.random.default_rng(1))
    >>> channel.estimate(reports).frequencies.round(2)
    array([0.75, 0.25])
    """

    _table: Words

    def __init__(self, matrix: ArrayLike) -> None:
        table = as_conditional(matrix).table
        object.__setattr__(self, "size", as_whole(len(table), "the number of rows", 2))
        object.__setattr__(self, "_table", _whole_numbers(table))
        object.__setattr__(self, "epsilon", self.realised_epsilon)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channel) and np.array_equal(self._table, other._table)

    def __hash__(self) -> int:
        return hash(self._table.tobytes())

    def __repr__(self) -> str:
        return f"Channel({self.size} × {self._table.shape[1]}, epsilon={self.epsilon:.6g})"

    @property
    def _counts(self) -> Words:
        return self._table


def _whole_numbers(table: Floats) -> Words:
    """The table in units of 2^−63: no entry above 0 becomes 0; the largest of a row takes up what rounding leaves."""
    counts = np.floor(table * float(WHOLE)).astype(np.uint64)  # the product is exact
    counts[(table > 0.0) & (counts == 0)] = 1
    rows = np.arange(len(table))
    largest = counts.argmax(axis=1)
    # modulo 2^64: a sum above takes away
    counts[rows, largest] += np.uint64(WHOLE) - counts.sum(axis=1)
    return counts
