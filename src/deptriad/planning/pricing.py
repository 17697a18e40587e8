"""Views by price: at the best shares of the views there are, a new one helps iff it gains more than J (maths §11).

Sets of attributes grow by one at a time, always from those that gain most. In each, reports by themselves get the
budgets that gain most at the prices, and one joint value the largest budget that the promise allows, which without a
prior is the smallest promise: the precision of several marginals at once can be worth that the value is a large one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deptriad.collection.view import View
from deptriad.mechanisms import mechanisms
from deptriad.planning.known_views import one_value
from deptriad.planning.shares import Optimum, optimal_shares, prices
from deptriad.planning.told import Tables, Told
from deptriad.planning.view_budgets import LEAST, ViewBudgets
from deptriad.planning.workload import Names, Workload
from deptriad.utils.arrays import Floats, Integers

MOST_CELLS = 400_000
"""Cells of a view times values of all targets, up to which its exact totals are worked out."""

ROUNDS = 20
"""Times that prices are set, at most."""

STALLED = 0.998
"""The part of J that a round leaves at which it is the last one."""

ENOUGH = 1.005
"""Gain over J of the best new view at which the search ends."""

PUBLIC = 20.0
"""Largest budget there is: hardly any noise."""

HOPELESS = 0.9
"""Gain over J, with the budgets of an earlier round, below which a set of attributes is not looked at again."""

WORTHLESS = 0.6
"""Gain over J below which one joint value is not looked at, if that is the most it can gain by what its parts do."""

WIDTH = 2
"""Sets, for each attribute, from which larger ones are grown; and at least so many:"""

LEAST_WIDTH = 40

MOST_GROWN = 120
"""Sets of one size that are looked at, of those grown from the best: those whose parts gain most."""

ADDED = 48
"""Views that are added in a round, if there are so many that gain; more of them only where they differ."""

KEPT_CELLS = 1 << 25
"""Numbers of tables that are kept from one round to the next: 256 MiB; those that go are counted again."""


class Pool:
    """All views that were priced, what each is worth for the marginals, and the best shares of them."""

    def __init__(self, workload: Workload, cost: Floats) -> None:
        self.workload, self.cost = workload, cost
        self.views: list[View] = []
        self.precision = np.zeros((0, cost.size))
        self.best = Optimum(np.zeros(0), math.inf, math.inf)

    def add(self, views: Sequence[View]) -> None:
        """More views."""
        if views:
            rows = [self.workload.precision(view) for view in views]
            self.views += views
            self.precision = np.vstack([self.precision, rows])

    def solve(self) -> None:
        """The best shares; only those views are weighed that gain, or nearly."""
        some = np.arange(len(self.views))
        if self.best.share.size:
            share = self._spread(some[: self.best.share.size], self.best.share)
            gains = self.precision @ prices(share, self.precision, self.cost)
            some = np.flatnonzero((share > 1e-9) | (gains > 0.7 * self.best.objective))
        found = optimal_shares(self.precision[some], self.cost)
        share = self._spread(some, found.share)
        gains = self.precision @ prices(share, self.precision, self.cost)
        ratio = max(float(gains.max()) / found.objective, 1.0)
        self.best = Optimum(share, found.objective, ratio)

    def thin(self, least: float, loss: float) -> None:
        """Leave out views that differ little from others, then those with the smallest shares.

        J stays within a part of its best each time; what is lost is a factor of the certificate.
        """
        used = np.flatnonzero(self.best.share > 0.0)
        alike: dict[object, int] = {}
        for place in used[np.argsort(-self.best.share[used], kind="stable")].tolist():
            view = self.views[place]
            alike.setdefault((view.called, *view.mechanisms.values()), place)
        if self._kept(np.array(sorted(alike.values())), loss):
            used = np.flatnonzero(self.best.share > 0.0)
        while least > 1e-9 and not self._kept(used[self.best.share[used] >= least], loss):
            least *= 0.5

    def _kept(self, some: Integers, loss: float) -> bool:
        """Keep some views only, if J then stays within a part of what it is."""
        if not some.size or not (self.precision[some].sum(axis=0) > 0.0).all():
            return False
        found = optimal_shares(self.precision[some], self.cost)
        if found.objective > (1.0 + loss) * self.best.objective:
            return False
        ratio = self.best.ratio * max(found.objective / self.best.objective, 1.0)
        self.best = Optimum(self._spread(some, found.share), found.objective, ratio)
        return True

    def _spread(self, places: Integers, share: Floats) -> Floats:
        """Shares of some views as shares of all."""
        every = np.zeros(len(self.views))
        every[places] = share
        return every


@dataclass
class Pricing:
    """Finds views that gain: as one value within the smallest promise, and by the exact totals of GRR under a prior.

    Parameters
    ----------
    pool
        The views there are; those found are added.
    tables
        The prior's joint tables; None for nothing but what needs no prior.
    promises
        The promise for each attribute of the schema.
    most
        Attributes that a view may have.
    allowed
        Whether a set of attributes may be asked.
    kept
        A view with budgets made small enough to keep every promise under uncertainty, too; or None.
    of_pairs
        The largest budget of one joint value by tables of pairs, where there are no others; 0 if that is not known.
    """

    pool: Pool
    tables: Tables | None
    promises: Floats
    most: int
    allowed: Callable[[Names], bool]
    kept: Callable[[View], View | None]
    of_pairs: Callable[[Names], float]

    def __post_init__(self) -> None:
        self.workload = self.pool.workload
        schema = self.workload.schema
        self.size = dict(zip(schema.names, schema.sizes, strict=True))
        self.place = {name: place for place, name in enumerate(schema.names)}
        self.width = max(WIDTH * len(self.workload.asked), LEAST_WIDTH)
        self.known: dict[Names, ViewBudgets] = {}
        self.cells = 0
        self.last: dict[Names, tuple[View, Floats]] = {}
        self.joint: dict[Names, list[tuple[View, Floats]]] = {}

    def run(self, watch: Callable[[int, int], None] = lambda done, of: None) -> None:
        """Price, add, solve, until no view gains."""
        before = math.inf
        for number in range(ROUNDS):
            self.pool.solve()
            watch(number, ROUNDS)
            value = self.pool.best.objective
            if value > STALLED * before or self._round() <= ENOUGH * value:
                break
            before = value
        self.pool.solve()

    def _round(self) -> float:
        """Add the views that gain most at the prices of the day; the largest gain."""
        pool, names = self.pool, self.workload.asked
        price = prices(pool.best.share, pool.precision, pool.cost)
        value = pool.best.objective
        found: list[tuple[float, View]] = []
        level: Iterable[Names] = combinations(names, 2)
        if len(set(self.promises)) > 1:
            level = [*((name,) for name in names), *level]
        apart: dict[Names, bool] = {}
        one: dict[Names, float] = {}
        seeds, most_values = self._seeds(price), mechanisms["olh"].most_values
        for size in range(2, self.most + 1):
            gains: list[tuple[float, Names]] = []
            for some in sorted({*level, *seeds.get(size, [])}):
                if some in apart or self._cells(some) > most_values:
                    continue
                # where parts gain most without one of their attributes, so does the whole, as a rule
                parts = combinations(some, len(some) - 1)
                apart[some] = self._known(some) and (
                    sum(not apart.get(part, True) for part in parts) <= 1
                )
                gain = 0.0
                if apart[some]:
                    gain, view = self._priced(some, price)
                    apart[some] = len(view.attributes) == len(some)
                    if gain > value and self.allowed(view.attributes):
                        found.append((gain, view))
                one[some] = 0.0
                if self._promising(some, one, value):
                    one[some] = self._as_one(some, price)
                gains.append((max(gain, one[some]), some))
            gains.sort(key=lambda each: (-each[0], each[1]))
            level = self._grown(gains[: self.width])
        for some, views in self.joint.items():
            if self.allowed(some):
                every = ((float(row @ price), view) for view, row in views)
                found += [each for each in every if each[0] > value]
        return self._added(found, price)

    def _grown(self, best: list[tuple[float, Names]]) -> list[Names]:
        """Sets of one attribute more than the best have; of very many those whose best parts gain most together."""
        gains: dict[Names, float] = {}
        for gain, some in best:
            for name in self.workload.asked:
                if name not in some:
                    larger = self.workload.sorted((*some, name))
                    gains[larger] = gains.get(larger, 0.0) + gain
        return sorted(gains, key=lambda some: (-gains[some], some))[:MOST_GROWN]

    def _seeds(self, price: Floats) -> dict[int, list[Names]]:
        """The sets of each size that gain most by the views there are, as where only large marginals are wanted."""
        found: dict[int, list[Names]] = {}
        for place in np.argsort(-(self.pool.precision @ price), kind="stable").tolist():
            names = self.workload.sorted(self.pool.views[place].attributes)
            same = found.setdefault(len(names), [])
            if names not in same and len(same) < self.width:
                same.append(names)
        return found

    def _added(self, found: list[tuple[float, View]], price: Floats) -> float:
        """Add what gains most, as it keeps the promise; the largest gain."""
        found.sort(key=lambda each: (-each[0], each[1].called))
        best, views = 0.0, list[View]()
        for view in self._varied(view for gain, view in found if gain > self.pool.best.objective):
            kept = self.kept(view)
            if kept is not None and kept not in self.pool.views:
                views.append(kept)
                best = max(best, float(self.workload.precision(kept) @ price))
        self.pool.add(views)
        return best

    def _varied(self, views: Iterable[View]) -> list[View]:
        """Those first that have a pair of attributes which none before has: what gains most is much alike."""
        held = set[Names]()
        first, others = list[View](), list[View]()
        for view in views:
            pairs: set[Names] = {*combinations(view.attributes, 2)} or {view.attributes}
            (others if pairs <= held else first).append(view)
            held |= pairs
        first = first[: 6 * len(self.workload.asked)]
        return first + others[: max(ADDED - len(first), 0)]

    def _cells(self, names: Names) -> int:
        return math.prod(map(self.size.__getitem__, names))

    def _known(self, names: Names) -> bool:
        """Whether exact totals are worked out."""
        if self.tables is None or self._cells(names) * int(self.tables.first[-1]) > MOST_CELLS:
            return False
        return self.tables.known(self._places(names))

    def _places(self, names: Names) -> list[int]:
        return [self.place[name] for name in names]

    def _search(self, names: Names) -> ViewBudgets:
        if names not in self.known:
            most = np.minimum(self.promises[self._places(names)], PUBLIC)
            self.known[names] = ViewBudgets(self._told(names), self.promises, most)
            self.cells += self.known[names].told.table.size
            while self.cells > KEPT_CELLS and len(self.known) > 1:
                self.cells -= self.known.pop(next(iter(self.known))).told.table.size
        return self.known[names]

    def _told(self, names: Names) -> Told:
        assert self.tables is not None
        return self.tables.told(self._places(names))

    def _priced(self, names: Names, price: Floats) -> tuple[float, View]:
        """Attributes by themselves with the budgets that gain most; those at their least are left out."""
        if names in self.last:
            view, row = self.last[names]
            gain = float(row @ price)
            if gain < HOPELESS * self.pool.best.objective:
                return gain, view
        search = self._search(names)
        budgets = search.best(self.workload.worth(names, price))
        used = budgets > 3.0 * LEAST * search.most
        some = tuple(name for name, kept in zip(names, used, strict=True) if kept) or names[:1]
        chosen = dict(zip(names, budgets.tolist(), strict=True))
        view = View(some, {name: chosen[name] for name in some}, dict.fromkeys(some, "grr"))
        row = self.workload.precision(view)
        self.last[names] = view, row
        return float(row @ price), view

    def _promising(self, names: Names, one: dict[Names, float], value: float) -> bool:
        """Whether one joint value can gain enough: at one budget C(k, r)/C(k − 1, r) times its best part, at most."""
        size, order = len(names), self.workload.order
        parts = [one[part] for part in combinations(names, size - 1) if part in one]
        if size <= order or not parts:
            return True
        return max(parts) * size / (size - order) > WORTHLESS * value

    def _as_one(self, names: Names, price: Floats) -> float:
        """What one joint value gains, by the better mechanism."""
        if len(names) < 2:
            return 0.0
        if names not in self.joint:
            views = self._one_values(names)
            self.joint[names] = [(view, self.workload.precision(view)) for view in views]
        return max(float(row @ price) for _, row in self.joint[names])

    def _one_values(self, names: Names) -> list[View]:
        """Within the smallest promise, which needs no prior; by GRR with all that the promise allows."""
        least = float(self.promises.min())
        views = one_value(self.workload, names, least)
        epsilon = self.of_pairs(names)
        if self._known(names):
            known = self.known.get(names)
            told = known.told if known else self._told(names)
            epsilon = told.largest_joint_budget(self.promises, PUBLIC)
        if epsilon > least:
            views = [View.of_one_value(names, epsilon, "grr"), *views[1:]]
        return views
