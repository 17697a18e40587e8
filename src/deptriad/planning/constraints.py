"""Totals as functions of the budgets, with their derivatives: the constraints of a calibration (maths §5, §8).

A row is one pair of values of one target; a total is the largest of its rows. Between two calls of ``refresh`` the
rows are held, and with them whatever a row may choose freely, so that values and slopes come at once. They agree with
``analysis.totals`` to about 1e-7 where they were refreshed: close enough to steer by, and never what is promised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deptriad.curves import lines
from deptriad.totals.totals import _laid_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.analysis.analysis import Analysis
    from deptriad.totals._kernels import Sources
    from deptriad.utils.arrays import Floats, Integers

Guarantee = Literal["certified", "paired", "pairwise"]
GUARANTEES = ("certified", "paired", "pairwise")

SOME_PAIRS = 4
"""Pairs of a target that become rows in one refresh."""

MOST_PAIRS = 24
"""Rows that a target may have in all."""

THREADS = 2
"""Targets that are refreshed at a time."""


@dataclass(frozen=True)
class Target:
    """One target, and the tables of all sources that say anything about it, laid out for the compiled loops."""

    place: int
    telling: Integers
    sources: Sources
    width: int
    rows: int

    @classmethod
    def of(cls, analysis: Analysis, place: int, released: NDArray[np.bool_]) -> Target | None:
        """None where there is nothing to tell: a target or sources of a single value, or no sources."""
        name = analysis.names[place]
        tables = {
            i: analysis.tables[source, name]
            for i, source in enumerate(analysis.names)
            if i != place and released[i]
        }
        telling = [i for i, table in tables.items() if table.shape[1] > 1]
        if not telling or tables[telling[0]].shape[0] < 2:
            return None
        sources, width = _laid_out([tables[i] for i in telling])
        return cls(place, np.array(telling), sources, width, tables[telling[0]].shape[0])


@dataclass
class Rows:
    """Values and slopes of the rows at some budgets; row r bounds the total of attribute ``target[r]``."""

    target: Integers
    value: Floats
    slope: Floats

    def totals(self, size: int) -> tuple[Floats, Floats]:
        """The largest row of each target, with its slopes."""
        order = np.argsort(
            self.value, kind="stable"
        )  # of those written to a place the last one stays
        value, slope = np.zeros(size), np.zeros((size, size))
        value[self.target[order]] = self.value[order]
        slope[self.target[order]] = self.slope[order]
        return value, slope


class Constraints(ABC):
    """The totals of all attributes under one guarantee.

    Parameters
    ----------
    analysis
        Its tables or boxes.
    released
        Attributes whose budget may be above 0.
    """

    def __init__(self, analysis: Analysis, released: NDArray[np.bool_]) -> None:
        self.size = len(analysis.names)
        made = (Target.of(analysis, place, released) for place in range(self.size))
        self.targets = [target for target in made if target is not None]
        told = {target.place for target in self.targets}
        self.untold = np.array([k for k in range(self.size) if k not in told], dtype=np.int64)
        self._at: Floats | None = None

    def refresh(self, epsilon: Floats) -> None:
        """Choose the rows that matter at these budgets."""
        if self._at is None or not np.array_equal(self._at, epsilon):
            self._choose(epsilon)
            self._at = epsilon.copy()

    @abstractmethod
    def _choose(self, epsilon: Floats) -> None:
        """Choose the rows anew."""

    @abstractmethod
    def _gains(self, epsilon: Floats) -> Rows:
        """The rows without the targets' own budgets."""

    def rows(self, epsilon: Floats) -> Rows:
        """All rows, the targets' own budgets included; one of the own budget alone where nothing else tells."""
        rows = self._gains(epsilon)
        alone = self.untold.size
        target = np.concatenate([rows.target, self.untold])
        value = np.concatenate([rows.value, np.zeros(alone)]) + epsilon[target]
        slope = np.concatenate([rows.slope, np.zeros((alone, self.size))])
        slope[np.arange(target.size), target] += 1.0
        return Rows(target, value, slope)

    def totals(self, epsilon: Floats) -> Floats:
        """The total of each attribute."""
        return self.rows(epsilon).totals(self.size)[0]


class _Hulls:
    """Rows that are sums of leakages: for each its target, its sources and their points, end to end."""

    def __init__(self, rows: list[tuple[Target, tuple[Integers, Floats, Floats]]]) -> None:
        self.target = np.array([target.place for target, _ in rows], dtype=np.int64)
        telling = [target.telling for target, _ in rows]
        points = np.cumsum([0, *(lower.size for _, (_, lower, _) in rows)])
        begins = [hull[0][:-1] + held for (_, hull), held in zip(rows, points[:-1], strict=True)]
        self.first = np.cumsum([0, *(each.size for each in telling)])
        self.attribute = np.concatenate([np.zeros(0, dtype=np.int64), *telling])
        self.begin = np.concatenate([*begins, points[-1:]])
        self.lower = np.concatenate([np.zeros(0), *(hull[1] for _, hull in rows)])
        self.upper = np.concatenate([np.zeros(0), *(hull[2] for _, hull in rows)])

    def at(self, epsilon: Floats) -> Rows:
        """The sums of leakages at some budgets."""
        from deptriad.planning import _kernels

        value, slope = np.empty(self.target.size), np.empty((self.target.size, epsilon.size))
        _kernels.leak_rows(
            self.first,
            self.attribute,
            self.begin,
            self.lower,
            self.upper,
            epsilon,
            value,
            slope,
        )
        return Rows(self.target, value, slope)


def _whole_hulls(targets: list[Target]) -> _Hulls:
    """One row for each target, whose points are those of all pairs."""
    from deptriad.planning import _kernels

    return _Hulls([(t, _kernels.whole_hull(t.sources, t.rows, t.width)) for t in targets])


class Pairwise(Constraints):
    """The sum of the leakages of all sources: one row a target."""

    def __init__(self, analysis: Analysis, released: NDArray[np.bool_]) -> None:
        super().__init__(analysis, released)
        self.hulls = _whole_hulls(self.targets)

    def _choose(self, epsilon: Floats) -> None:
        """Nothing to choose: the rows hold for all budgets."""

    def _gains(self, epsilon: Floats) -> Rows:
        return self.hulls.at(epsilon)


class Paired(Constraints):
    """The largest sum of leakages about one pair: a row for each pair that was among the largest ever."""

    def __init__(self, analysis: Analysis, released: NDArray[np.bool_]) -> None:
        super().__init__(analysis, released)
        self.pairs: dict[int, dict[tuple[int, int], Any]] = {t.place: {} for t in self.targets}

    def _choose(self, epsilon: Floats) -> None:
        """Add the pairs that are largest at these budgets."""
        from deptriad.planning import _kernels

        rows = []
        for target in self.targets:
            budgets = epsilon[target.telling]
            sums = _kernels.pair_leakages(
                target.sources, budgets, lines.inverse_gain(budgets), target.rows, target.width
            )
            held = self.pairs[target.place]
            for pair in _largest(sums, SOME_PAIRS):
                if pair not in held:
                    held[pair] = _kernels.pair_hull(target.sources, *pair, target.width)
            for pair in sorted(held, key=lambda pair: -sums[pair])[MOST_PAIRS:]:
                del held[pair]
            rows += [(target, hull) for hull in held.values()]
        self.hulls = _Hulls(rows)

    def _gains(self, epsilon: Floats) -> Rows:
        return self.hulls.at(epsilon)


def _largest(sums: Floats, number: int) -> list[tuple[int, int]]:
    """Places of the largest entries off the diagonal."""
    order = np.argsort(-sums, axis=None, kind="stable")
    places = (divmod(int(place), len(sums)) for place in order[: number + len(sums)])
    return [pair for pair in places if pair[0] != pair[1]][:number]


class Certified(Constraints):
    """The reference form: rows hold their a, shares and sets, and are smooth in the budgets (see budget_kernels)."""

    def __init__(self, analysis: Analysis, released: NDArray[np.bool_]) -> None:
        super().__init__(analysis, released)
        # one source alone has an exact leakage, which is what is certified then
        self.single = _whole_hulls([t for t in self.targets if t.telling.size == 1])
        self.several = [t for t in self.targets if t.telling.size > 1]

    def _choose(self, epsilon: Floats) -> None:
        """Find the largest pairs with their best a and shares."""
        with ThreadPoolExecutor(THREADS) as threads:
            found = list(threads.map(lambda t: self._worst(t, epsilon), self.several))
        counts = [len(part[0]) for part in found]
        chosen = zip(self.several, counts, strict=True)
        places = [(t, t.telling.size) for t, count in chosen for _ in range(count)]
        self._target = np.array([t.place for t, _ in places], dtype=np.int64)
        self._first = np.cumsum([0, *(size for _, size in places)])
        self._attribute = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(t.telling for t, _ in places)]
        )
        self._a, self._share, self._part = (
            np.concatenate([np.zeros(0), *(part[k].ravel() for part in found)]) for k in (1, 2, 4)
        )
        self._points = np.concatenate([np.zeros((0, 4)), *(p[3].reshape(-1, 4) for p in found)])
        self._ratio = self._share / epsilon[self._attribute]

    def _worst(self, target: Target, epsilon: Floats) -> tuple[Any, ...]:
        from deptriad.planning import _kernels
        from deptriad.totals._kernels import plain_bounds

        budgets = epsilon[target.telling]
        plain, _ = plain_bounds(
            target.sources,
            budgets,
            lines.inverse_gain(budgets),
            budgets,
            target.rows,
            target.width,
        )
        return tuple(_kernels.worst_pairs(target.sources, budgets, plain, target.width, SOME_PAIRS))

    def _gains(self, epsilon: Floats) -> Rows:
        from deptriad.planning import _kernels

        value, slope = np.empty(self._target.size), np.empty((self._target.size, self.size))
        _kernels.reference_rows(
            self._first,
            self._attribute,
            self._a,
            self._ratio,
            self._points,
            self._part,
            epsilon,
            value,
            slope,
        )
        self._cap(epsilon, value, slope)
        alone = self.single.at(epsilon)
        return Rows(
            np.concatenate([self._target, alone.target]),
            np.concatenate([value, alone.value]),
            np.concatenate([slope, alone.slope]),
        )

    def _cap(self, epsilon: Floats, value: Floats, slope: Floats) -> None:
        """No bound is above the plain sum of the budgets."""
        most = np.add.reduceat(epsilon[self._attribute], self._first[:-1]) if value.size else value
        for row in np.flatnonzero(~(value <= most)):
            value[row], slope[row] = most[row], 0.0
            slope[row, self._attribute[self._first[row] : self._first[row + 1]]] = 1.0


def constraints(
    analysis: Analysis, guarantee: Guarantee, released: NDArray[np.bool_]
) -> Constraints:
    """The constraints of a guarantee, not yet refreshed."""
    kinds: dict[str, type[Constraints]] = {
        "certified": Certified,
        "paired": Paired,
        "pairwise": Pairwise,
    }
    return kinds[guarantee](analysis, released)
