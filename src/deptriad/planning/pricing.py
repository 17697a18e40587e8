"""Views by price: at the best shares of the views there are, a new one helps iff it gains more than J (maths §11).

Sets of attributes grow by one at a time, always from those that gain most. In each, reports by themselves get the
budgets that gain most at the prices, and one joint value the largest budget that the promise allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deptriad.collection.view import View
from deptriad.planning.shares import Optimum, optimal_shares, prices
from deptriad.planning.told import Tables
from deptriad.planning.view_budgets import LEAST, ViewBudgets
from deptriad.planning.workload import Names, Workload
from deptriad.utils.arrays import Floats, Integers

MOST_CELLS = 400_000
"""Cells of a view times values of all targets, up to which its exact totals are worked out."""

ROUNDS = 12
"""Times that prices are set, at most."""

ENOUGH = 1.005
"""Gain over J of the best new view at which the search ends."""

PUBLIC = 20.0
"""Largest budget there is: hardly any noise."""

HOPELESS = 0.9
"""Gain over J, with the budgets of an earlier round, below which a set of attributes is not looked at again."""

WIDTH = 2
"""Sets, for each attribute, from which larger ones are grown."""


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
    """Finds views that gain, by the exact totals of GRR under a prior's joint tables.

    Parameters
    ----------
    pool
        The views there are; those found are added.
    tables
        The prior's joint tables.
    promises
        The promise for each attribute of the schema.
    most
        Attributes that a view may have.
    allowed
        Whether a set of attributes may be asked.
    kept
        A view with budgets made small enough to keep every promise under uncertainty, too; or None.
    """

    pool: Pool
    tables: Tables
    promises: Floats
    most: int
    allowed: Callable[[Names], bool]
    kept: Callable[[View], View | None]

    def __post_init__(self) -> None:
        self.workload = self.pool.workload
        self.known: dict[Names, ViewBudgets] = {}
        self.last: dict[Names, tuple[View, Floats]] = {}
        self.seen: set[Names] = set()
        self.joint: dict[Names, tuple[View, Floats]] = {}

    def run(self, watch: Callable[[int, int], None]) -> None:
        """Price, add, solve, until no view gains."""
        for number in range(ROUNDS):
            self.pool.solve()
            watch(number, ROUNDS)
            gained = self._round()
            if gained <= ENOUGH * self.pool.best.objective:
                break
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
        for _ in range(2, self.most + 1):
            gains: list[tuple[float, Names]] = []
            for some in level:
                if some in apart or not self._small(some):
                    continue
                # where parts gain most without one of their attributes, so does the whole, as a rule
                parts = combinations(some, len(some) - 1)
                apart[some] = sum(not apart.get(part, True) for part in parts) <= 1
                gain = 0.0
                if apart[some]:
                    gain, view = self._priced(some, price)
                    apart[some] = len(view.attributes) == len(some)
                    if gain > value and self.allowed(view.attributes):
                        found.append((gain, view))
                gains.append((max(gain, self._as_one(some, price)), some))
            gains.sort(key=lambda each: (-each[0], each[1]))
            best = [some for _, some in gains[: WIDTH * len(names)]]
            level = sorted(
                {
                    self.workload.sorted((*some, name))
                    for some in best
                    for name in names
                    if name not in some
                }
            )
        for some, (view, row) in self.joint.items():
            gain = float(row @ price)
            if gain > value and self.allowed(some):
                found.append((gain, view))
        return self._added(found, price)

    def _added(self, found: list[tuple[float, View]], price: Floats) -> float:
        """Add what gains most, as it keeps the promise; the largest gain."""
        found.sort(key=lambda each: (-each[0], each[1].called))
        best, views = 0.0, []
        for gain, view in found[: 6 * len(self.workload.asked)]:
            if gain <= self.pool.best.objective:
                break
            kept = self.kept(view)
            if kept is not None and kept not in self.pool.views:
                views.append(kept)
                best = max(best, float(self.workload.precision(kept) @ price))
        self.pool.add(views)
        return best

    def _small(self, names: Names) -> bool:
        sizes = math.prod(self.workload.schema[name].size for name in names)
        return sizes * int(self.tables.first[-1]) <= MOST_CELLS and self.tables.known(
            self._places(names)
        )

    def _places(self, names: Names) -> list[int]:
        return [self.workload.schema.index(name) for name in names]

    def _search(self, names: Names) -> ViewBudgets:
        if names not in self.known:
            places = self._places(names)
            most = np.minimum(self.promises[places], PUBLIC)
            self.known[names] = ViewBudgets(self.tables.told(places), self.promises, most)
        return self.known[names]

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

    def _as_one(self, names: Names, price: Floats) -> float:
        """What one joint value gains, where the promise allows it more than the smallest promise."""
        if names not in self.seen and len(names) > 1:
            self.seen.add(names)
            known = self.known.get(names)
            told = known.told if known else self.tables.told(self._places(names))
            epsilon = told.largest_joint_budget(self.promises, PUBLIC)
            if epsilon > self.promises.min():
                view = View.of_one_value(names, epsilon, "grr")
                self.joint[names] = view, self.workload.precision(view)
        return float(self.joint[names][1] @ price) if names in self.joint else 0.0
