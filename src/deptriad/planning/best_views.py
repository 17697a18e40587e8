"""The best views under a promise: known strategies, then whatever gains more by the prior, then the best shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.collection.view import View
from deptriad.planning.guard import Guard
from deptriad.planning.joint_of_pairs import chances
from deptriad.planning.known_views import one_value, separate, splitting, strategies
from deptriad.planning.pricing import PUBLIC, Pool, Pricing
from deptriad.planning.told import Tables
from deptriad.planning.workload import Names, Workload
from deptriad.utils.arrays import Floats
from deptriad.utils.text import rounded_up

LEAST_SHARE, LOSS = 2e-3, 1e-3
"""Shares below this are left out, if that makes the objective worse by this part at most."""

MOST_OF_PAIRS = 3
"""Attributes as one value up to which a budget above the promise is sought by tables of pairs."""


@dataclass(frozen=True)
class BestViews:
    """Views with shares, and what is known about them.

    Parameters
    ----------
    views
        What is asked, the largest share first.
    ratio
        A bound on the objective over that of the best shares of all views that were priced.
    totals
        For each attribute the largest total of all views.
    priced
        How many views were priced.
    """

    views: tuple[View, ...]
    ratio: float
    totals: Floats
    priced: int


def best_views(
    workload: Workload,
    promises: Floats,
    analysis: Analysis | None,
    guarantee: Literal["joint", "certified"],
    most: int | None = None,
    together: Sequence[Names] = (),
    everything: Callable[[], dict[str, float] | None] = lambda: None,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> BestViews:
    """Search the views that lose the least.

    Parameters
    ----------
    workload
        The marginals that are wanted.
    promises
        The promise for each attribute of the schema.
    analysis
        What is known beforehand; None for nothing.
    guarantee
        "joint": exact by joint tables for GRR, certified for other mechanisms. "certified": by tables of pairs.
    most
        Attributes of a view, at most.
    together
        Sets of attributes that are asked of the same person if one of them is.
    everything
        Budgets of a plan that asks everybody everything, which is one more view.
    watch
        Called with rounds done, and how many there are at most.
    """
    most = len(workload.asked) if most is None else most
    tables = None
    if analysis is not None and analysis.prior is not None and guarantee == "joint":
        tables = Tables(analysis.prior)
    guard = Guard(workload.schema, promises, analysis, tables)
    pool = Pool(workload, reference_cost(workload, guard.least))

    def allowed(names: Names) -> bool:
        apart = (set(group) & set(names) for group in together)
        return len(names) <= most and all(
            not some or some == set(group) & set(workload.asked)
            for some, group in zip(apart, together, strict=True)
        )

    pool.add(_needing_no_prior(workload, guard.least, allowed))
    for some in sorted({workload.asked_with(each, together) for each in workload.marginals}):
        if together and allowed(some):
            pool.add([splitting(workload, guard.least, some)])
    if allowed(workload.asked) and (budgets := everything()):
        names = tuple(name for name in workload.asked if budgets[name] > 0.0)
        view = guard.kept(separate(workload, names, [budgets[name] for name in names]))
        pool.add([view] if view else [])

    def of_pairs(names: Names) -> float:
        known = analysis is not None and tables is None
        return _largest_of_pairs(names, promises, analysis) if known else 0.0  # type: ignore[arg-type]

    exact = tables is not None and guard.uncertainty is None
    kept = (lambda view: view) if exact else guard.kept
    start = list(pool.views)
    Pricing(pool, tables, promises, most, allowed, kept, of_pairs).run(watch)
    if analysis is not None:  # then no prior is a loss, wherever the search went
        other = Pool(workload, pool.cost)
        other.add(start)
        Pricing(other, None, promises, most, allowed, kept, lambda names: 0.0).run()
        used = np.flatnonzero(other.best.share > 0.0).tolist()
        pool.add([other.views[place] for place in used if other.views[place] not in pool.views])
        pool.solve()
    pool.thin(LEAST_SHARE, LOSS)
    return _checked(pool, guard)


def reference_cost(workload: Workload, epsilon: float) -> Floats:
    """c_w: the weight of each marginal over its variance under the best known strategy that needs no prior."""
    best = np.min(list(strategies(workload, epsilon).values()), axis=0)
    return np.asarray(workload.weights / best)


def _needing_no_prior(
    workload: Workload, epsilon: float, allowed: Callable[[Names], bool]
) -> list[View]:
    """Known strategies as far as they are allowed, and every marginal as one value."""
    sizes = range(1, min(max(workload.order, 2), len(workload.asked)) + 1)
    sets = {some for size in sizes for some in combinations(workload.asked, size)}
    ordered = sorted(sets, key=lambda some: (len(some), some))
    views = [
        view for some in ordered if allowed(some) for view in one_value(workload, some, epsilon)
    ]
    if allowed(workload.asked):
        views.append(splitting(workload, epsilon))
    return views


def _largest_of_pairs(names: Names, promises: Floats, analysis: Analysis) -> float:
    """The largest budget of some attributes as one value that tables of pairs alone allow; 0 where not looked at."""
    if len(names) > MOST_OF_PAIRS:
        return 0.0
    gain = math.expm1(PUBLIC)
    for target, promise in zip(analysis.schema.names, promises, strict=True):
        found = chances(analysis, names, target)
        gain = min(gain, math.expm1(promise) if found is None else found.largest_gain(promise))
    return math.log1p(gain)


def _checked(pool: Pool, guard: Guard) -> BestViews:
    """The views that are used, every promise checked again, the largest share first."""
    used = np.flatnonzero(pool.best.share > 0.0)
    share = pool.best.share[used] / pool.best.share[used].sum()
    order = np.argsort(-share, kind="stable")
    views, totals = [], np.zeros(len(pool.workload.schema))
    for place in order:
        view = guard.kept(pool.views[used[place]])
        if view is None:
            raise AssertionError(f"a view of {pool.views[used[place]].called} keeps no promise")
        views.append(replace(view, share=float(share[place])))
        totals = np.maximum(totals, guard.totals(view))
    if not (totals <= guard.promises).all():
        worst = int(np.argmax(totals - guard.promises))
        raise AssertionError(
            f"the total of {pool.workload.schema.names[worst]!r} is {rounded_up(float(totals[worst]))}"
        )
    return BestViews(tuple(views), pool.best.ratio, totals, len(pool.views))
