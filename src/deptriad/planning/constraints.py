"""The constraints of a calibration: the totals of all attributes under a guarantee, with their slopes (maths §5, §8).

Between two calls of ``refresh`` the rows are held, so that values and slopes come at once (see ``totals.slopes``).
Importing this module imports numba: do so inside functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.planning.plan import Guarantee
from deptriad.totals.least_denominator import MOST
from deptriad.totals.slopes import (
    Choice,
    HeldBounds,
    LeakageSums,
    Pair,
    Rows,
    TargetSources,
    WorstJoints,
)
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.threads import side_by_side

SOME_PAIRS = 6
"""Pairs of a target that become rows in one refresh."""

MOST_PAIRS = 24
"""Rows that a target may have in all."""

NEAR = 0.8
"""Rows below this part of the largest one of their target, and targets below this part of their limit, may wait."""


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
        self.held: list[LeakageSums | HeldBounds | WorstJoints] = []
        self._at: Floats | None = None

    def refresh(self, epsilon: Floats) -> None:
        """Choose the rows that matter at these budgets."""
        if self._at is None or not np.array_equal(self._at, epsilon):
            self._choose(epsilon)
            self._at = epsilon.copy()

    def scan(self, epsilon: Floats) -> None:
        """Look whether rows are missing at these budgets; here ``refresh`` has them all."""
        self.refresh(epsilon)

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
    """Worst joints of up to three sources; the reference form of more, where rows hold their a, shares and sets.

    All are smooth in the budgets. Held bounds are bounds whatever the budgets are. So between two scans only those are
    chosen anew that matter: near the largest of a target that is near its limit.
    """

    def __init__(
        self, analysis: Analysis, released: Booleans, limits: Floats | None = None
    ) -> None:
        super().__init__(analysis, released)
        self.limits = np.zeros(self.size) if limits is None else limits
        # one source alone has an exact leakage, which is what is certified then
        single = [about for about in self.targets if about.telling.size == 1]
        self.single = LeakageSums([(about, about.whole_hull()) for about in single])
        self.few = [about for about in self.targets if 1 < about.telling.size <= MOST]
        self.several = [about for about in self.targets if about.telling.size > MOST]
        self.joints: list[tuple[TargetSources, Floats, Floats]] = []
        self.chosen: list[tuple[TargetSources, Pair, Choice, Floats]] = []

    def scan(self, epsilon: Floats) -> None:
        """Look for the pairs of every target that are largest at these budgets."""
        self._add_joints(epsilon)
        found = side_by_side(
            lambda k: self.several[k].worst_pairs(epsilon, SOME_PAIRS), len(self.several)
        )
        known = {(about.target, pair) for about, pair, *_ in self.chosen}
        fresh = [
            (about, pair)
            for about, pairs in zip(self.several, found, strict=True)
            for pair in pairs
            if (about.target, pair) not in known
        ]
        self.chosen += [
            (*each, *made) for each, made in zip(fresh, self._made(fresh, epsilon), strict=True)
        ]
        self._hold()

    def _made(
        self, some: Sequence[tuple[TargetSources, Pair]], epsilon: Floats
    ) -> list[tuple[Choice, Floats]]:
        """What pairs choose at these budgets."""
        made_at = epsilon.copy()
        return side_by_side(lambda k: (some[k][0].choice(epsilon, some[k][1]), made_at), len(some))

    def _hold(self) -> None:
        bounds = HeldBounds([(about, choice, made_at) for about, _, choice, made_at in self.chosen])
        self.held = [bounds, self.single, WorstJoints(self.joints)]

    def _add_joints(self, epsilon: Floats) -> None:
        """Add the worst joints of targets with a few sources; one with too many events goes on with bounds."""
        found = [(about, about.worst_joints(epsilon, SOME_PAIRS)) for about in self.few]
        self.few = [about for about, joints in found if joints is not None]
        self.several += [about for about, joints in found if joints is None]
        self.joints += [(about, *both) for about, joints in found for both in joints or []]
        self.joints = self.joints[-MOST_PAIRS * max(len(self.targets), 1) :]

    def _choose(self, epsilon: Floats) -> None:
        """Choose anew what the rows that matter hold."""
        if not self.held:
            self.scan(epsilon)
            return
        rows = self.held[0].at(epsilon)
        largest = rows.totals(self.size)[0]
        total = largest + epsilon
        matters = (rows.value >= NEAR * largest[rows.target]) & (
            total >= NEAR * np.minimum(self.limits, total.max())
        )[rows.target]
        places = np.flatnonzero(matters)
        self._add_joints(epsilon)
        some = [self.chosen[k][:2] for k in places]
        for k, made in zip(places, self._made(some, epsilon), strict=True):
            self.chosen[k] = (*self.chosen[k][:2], *made)
        self._hold()


def constraints(
    analysis: Analysis, guarantee: Guarantee, released: Booleans, limits: Floats | None = None
) -> Constraints:
    """The constraints of a guarantee, not yet refreshed; limits, if they are known, say which totals matter."""
    if guarantee == "certified":
        return Certified(analysis, released, limits)
    return (Paired if guarantee == "paired" else Pairwise)(analysis, released)
