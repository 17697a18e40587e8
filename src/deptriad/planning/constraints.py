"""The constraints of a calibration: the totals of all attributes under a guarantee, with their slopes (maths §5, §8).

Between two calls of ``refresh`` the rows are held, so that values and slopes come at once (see ``totals.slopes``).
Importing this module imports numba: do so inside functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.planning.plan import Guarantee
from deptriad.totals.slopes import HeldBounds, LeakageSums, Rows, TargetSources
from deptriad.utils.arrays import Booleans, Floats

SOME_PAIRS = 4
"""Pairs of a target that become rows in one refresh."""

MOST_PAIRS = 24
"""Rows that a target may have in all."""

THREADS = 2
"""Targets that are refreshed at a time."""


class Constraints(ABC):
    """The totals of all attributes under one guarantee.

    Parameters
    ----------
    analysis
        Its tables or boxes.
    released
        Attributes whose budget may be above 0.
    """

    def __init__(self, analysis: Analysis, released: Booleans) -> None:
        self.size = len(analysis.names)
        made = (_about(analysis, place, released) for place in range(self.size))
        self.targets = [target for target in made if target is not None]
        told = {about.target for about in self.targets}
        self.untold = np.array([k for k in range(self.size) if k not in told], dtype=np.int64)
        self.held: list[LeakageSums | HeldBounds] = []
        self._at: Floats | None = None

    def refresh(self, epsilon: Floats) -> None:
        """Choose the rows that matter at these budgets."""
        if self._at is None or not np.array_equal(self._at, epsilon):
            self._choose(epsilon)
            self._at = epsilon.copy()

    @abstractmethod
    def _choose(self, epsilon: Floats) -> None:
        """Choose anew the rows that are held."""

    def rows(self, epsilon: Floats) -> Rows:
        """All rows, the targets' own budgets included; one of the own budget alone where nothing else tells."""
        alone = np.zeros((self.untold.size, self.size))
        rows = [*(held.at(epsilon) for held in self.held), Rows(self.untold, alone[:, 0], alone)]
        target = np.concatenate([each.target for each in rows])
        value = np.concatenate([each.value for each in rows]) + epsilon[target]
        slope = np.concatenate([each.slope for each in rows])
        slope[np.arange(target.size), target] += 1.0
        return Rows(target, value, slope)

    def totals(self, epsilon: Floats) -> Floats:
        """The total of each attribute."""
        return self.rows(epsilon).totals(self.size)[0]


def _about(analysis: Analysis, target: int, released: Booleans) -> TargetSources | None:
    name = analysis.names[target]
    tables = {
        place: analysis.tables[source, name]
        for place, source in enumerate(analysis.names)
        if place != target and released[place]
    }
    return TargetSources.of(target, tables)


class Pairwise(Constraints):
    """The sum of the leakages of all sources: one row a target."""

    def __init__(self, analysis: Analysis, released: Booleans) -> None:
        super().__init__(analysis, released)
        self.held = [LeakageSums([(about, about.whole_hull()) for about in self.targets])]

    def _choose(self, epsilon: Floats) -> None:
        """Nothing to choose: the rows hold for all budgets."""


class Paired(Constraints):
    """The largest sum of leakages about one pair: a row for each pair that was among the largest ever."""

    def __init__(self, analysis: Analysis, released: Booleans) -> None:
        super().__init__(analysis, released)
        self.pairs: list[dict[tuple[int, int], Any]] = [{} for _ in self.targets]

    def _choose(self, epsilon: Floats) -> None:
        """Add the pairs that are largest at these budgets."""
        rows = []
        for about, held in zip(self.targets, self.pairs, strict=True):
            sums = about.pair_leakages(epsilon)
            for pair in _largest(sums, SOME_PAIRS):
                if pair not in held:
                    held[pair] = about.pair_hull(*pair)
            for pair in sorted(held, key=lambda pair: -sums[pair])[MOST_PAIRS:]:
                del held[pair]
            rows += [(about, hull) for hull in held.values()]
        self.held = [LeakageSums(rows)]


def _largest(sums: Floats, number: int) -> list[tuple[int, int]]:
    """Places of the largest entries off the diagonal."""
    order = np.argsort(-sums, axis=None, kind="stable")
    places = (divmod(int(place), len(sums)) for place in order[: number + len(sums)])
    return [pair for pair in places if pair[0] != pair[1]][:number]


class Certified(Constraints):
    """The reference form: rows hold their a, shares and sets, and are smooth in the budgets."""

    def __init__(self, analysis: Analysis, released: Booleans) -> None:
        super().__init__(analysis, released)
        # one source alone has an exact leakage, which is what is certified then
        single = [about for about in self.targets if about.telling.size == 1]
        self.single = LeakageSums([(about, about.whole_hull()) for about in single])
        self.several = [about for about in self.targets if about.telling.size > 1]

    def _choose(self, epsilon: Floats) -> None:
        """Find the largest pairs with their best a and shares."""
        with ThreadPoolExecutor(THREADS) as threads:
            found = threads.map(lambda about: about.worst_pairs(epsilon, SOME_PAIRS), self.several)
            bounds = HeldBounds(list(zip(self.several, found, strict=True)), epsilon)
        self.held = [bounds, self.single]


def constraints(analysis: Analysis, guarantee: Guarantee, released: Booleans) -> Constraints:
    """The constraints of a guarantee, not yet refreshed."""
    kinds: dict[str, type[Constraints]]
    kinds = {"certified": Certified, "paired": Paired, "pairwise": Pairwise}
    return kinds[guarantee](analysis, released)
