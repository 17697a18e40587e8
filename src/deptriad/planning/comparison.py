"""Comparison: a plan beside other strategies with the same promise, who wins and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptriad.collection.view import View
from deptriad.data.results import Framed, columns_of, named
from deptriad.mechanisms import expected_error
from deptriad.planning import known_views
from deptriad.planning.workload import Workload
from deptriad.utils import html_table
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.text import aligned, lines_left, narrow, printable

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan


class Compared(NamedTuple):
    """One attribute under a plan, under splitting, and under random sampling; errors are upper bounds."""

    attribute: str
    mechanism: str
    budget: float
    splitting_budget: float
    sampling_budget: float
    error: float
    splitting_error: float
    sampling_error: float
    pair_error: float
    splitting_pair_error: float
    sampling_pair_error: float

    @property
    def gain(self) -> float:
        """How many times smaller the error is than under splitting."""
        return self.splitting_error / self.error

    @property
    def sampling_gain(self) -> float:
        """How many times smaller the error is than under sampling; below 1 sampling is better."""
        return self.sampling_error / self.error

    @property
    def pair_gain(self) -> float:
        """``gain`` for two-way marginals."""
        return self.splitting_pair_error / self.pair_error

    @property
    def sampling_pair_gain(self) -> float:
        """``sampling_gain`` for two-way marginals."""
        return self.sampling_pair_error / self.pair_error


GAINS = ("gain", "sampling_gain", "pair_gain", "sampling_pair_gain")


EVERYTHING = "everything at once"
"""Everybody is asked everything with certified budgets, as the paper does: of all rivals the one that uses a prior."""

WITHOUT = "best views without a prior"
"""What ``calibrate`` makes of the schema alone, for the same marginals: what is gained beside it is by dependence."""

LEAST_SHOWN = 4
"""Attributes that are printed on any screen, if there are so many."""

NO_GAIN = 1.02
"""Up to so many times less variance is called no gain."""


class Rival(NamedTuple):
    """A strategy with the same promise: its mean summed variances over those of the plan; above 1 the plan wins.

    Marginals that a strategy never asks have an infinite variance; NaN where there are none.
    """

    strategy: str
    one_way: float
    two_way: float

    @property
    def ways(self) -> dict[str, float]:
        """Both numbers, as far as there are such marginals."""
        both = {"one-way": self.one_way, "two-way": self.two_way}
        return {way: number for way, number in both.items() if not math.isnan(number)}


@dataclass(frozen=True, repr=False)
class Comparison(Framed):
    """A plan beside splitting and random sampling; prints as a table.

    Parameters
    ----------
    rows
        One for each attribute that is released.
    users
        How many answer.
    rivals
        One for each known strategy.
    """

    rows: tuple[Compared, ...]
    users: int
    rivals: tuple[Rival, ...] = ()

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, attribute: str) -> Compared:
        return named({row.attribute: row for row in self.rows}, attribute, "attribute")

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each attribute that is released."""
        return columns_of(self.rows, (*Compared._fields, *GAINS))

    @property
    def best(self) -> Rival:
        """Of one-way and of two-way marginals the least that any strategy has which knows nothing of dependence."""
        both = self._least("one_way"), self._least("two_way")
        names = dict.fromkeys(each.strategy for each in both)
        return Rival(" or ".join(names), both[0].one_way, both[1].two_way)

    @property
    def verdict(self) -> str:
        """Who wins, and by how much, in a sentence or two."""
        said = []
        for way, number in self.best.ways.items():
            times = f"{number:.2f} times the plan's variance"
            if number >= NO_GAIN:
                said.append(f"{way} tables have {times} without it ({self._by(way)})")
            elif number > 1.0 / NO_GAIN:
                said.append(f"{way} tables are no better for it than by {self._by(way)}")
            else:
                said.append(
                    f"{way} tables are better by {self._by(way)}, with {times}: this plan is not the one for them"
                )
        gains = [number >= NO_GAIN for number in self.best.ways.values()]
        start = "Using how answers depend on each other pays: " if any(gains) else ""
        if not any(gains):
            start = "Dependence buys nothing here: "
        return f"{start}{'; '.join(said)}."

    def _by(self, way: str) -> str:
        return self._least(way.replace("-", "_")).strategy

    def _least(self, way: str) -> Rival:
        """Who has the least variance of those that know nothing of dependence."""
        known = [rival for rival in self.rivals if rival.strategy != EVERYTHING]
        return min(known, key=lambda each: _or_more(float(getattr(each, way))))

    def __repr__(self) -> str:
        words, strategies = self._words(), aligned(self._strategies())
        most = max(lines_left([*words, *strategies, self.verdict]) - 4, LEAST_SHOWN)
        more = len(self) - most
        cut = (
            [f"and {more} more attributes, for want of lines: to_frame() has them all"]
            if more > 0
            else []
        )
        table = narrow(self._table()[: most + 1])
        return "\n".join([*words, *strategies, self.verdict, "", *table, *cut])

    def _repr_html_(self) -> str:
        strategies = html_table.table(self._strategies(), self._words(), below=[self.verdict])
        return strategies + html_table.table(self._table())

    def _strategies(self) -> list[tuple[str, ...]]:
        """A row for each strategy: its variances over those of the plan."""
        rows: list[tuple[str, ...]]
        rows = [("variance of", "one-way", "two-way"), ("this plan", "1.00", "1.00")]
        for rival in self.rivals:
            numbers = (
                "" if math.isnan(each) else "never" if math.isinf(each) else f"{each:.2f}"
                for each in rival[1:]
            )
            rows.append((rival.strategy, *numbers))
        return rows

    def _table(self) -> list[tuple[str, ...]]:
        """A row for each attribute: its table, and the mean over its pairs."""
        pairs = len(self) > 1
        rows: list[tuple[str, ...]] = [("attribute", *COMPARED, *(PAIRS if pairs else ()))]
        for row in self.rows:
            gains = [f"×{getattr(row, gain):.2f}" for gain in GAINS]
            cells = [f"{row.error:.4f}", *gains[:2]]
            cells += [f"{row.pair_error:.4f}", *gains[2:]] if pairs else []
            rows.append((printable(row.attribute), *cells))
        return rows

    def _words(self) -> list[str]:
        """What stands above the numbers."""
        part, whole = self.rows[0].splitting_budget, self.rows[0].sampling_budget
        return [
            f"Expected errors for {self.users:,} users: roots of summed variances with the frequencies' own share left "
            "out, so upper bounds.",
            f"splitting: {part:.4g} for each attribute; sampling: {whole:.4g} for one of them (one pair) a user.",
            "Variances over the plan's; then for each attribute the plan's error, and that of splitting and sampling "
            "over it, for its own table and for the mean of its tables of two.",
        ]


COMPARED = ("error", "splitting", "sampling")
PAIRS = ("with others", "splitting", "sampling")


def compare(plan: Plan) -> Comparison:
    """A plan beside splitting and random sampling with the same promise: see ``Plan.compare``."""
    promise = min(plan.total.values())
    sizes = dict(zip(plan.names, plan.schema.sizes, strict=True))
    rows = tuple(_compared(plan, name, sizes, promise) for name in plan.asked)
    return Comparison(rows, plan.users, tuple(_rivals(plan, promise)))


def _rivals(plan: Plan, promise: float) -> Iterator[Rival]:
    """Known strategies over the attributes that the plan asks for, and marginals that it can estimate."""
    asked = plan.asked
    workload = Workload.checked(plan.schema, [(name,) for name in asked])
    if len(asked) > 1:
        workload = Workload.checked(plan.schema, [*workload.marginals, *combinations(asked, 2)])
    own = np.array([plan.expected(marginal) ** 2 * plan.users for marginal in workload.marginals])
    pairs = np.array([len(marginal) == 2 for marginal in workload.marginals])
    for strategy, variance in known_views.strategies(workload, promise).items():
        yield Rival(strategy, *_both(variance, own, pairs))
    fakes = np.array(
        [
            known_views.fake_moment(len(asked), promise, plan.schema[marginal[0]].size)
            if len(marginal) == 1
            else np.inf
            for marginal in workload.marginals
        ]
    )
    yield Rival("one attribute with fakes", *_both(fakes, own, pairs))
    yield Rival(WITHOUT, *_both(_without_prior(plan, workload, promise), own, pairs))
    if plan.everything is not None and (view := _everything(plan, workload)):
        with np.errstate(divide="ignore"):
            yield Rival(EVERYTHING, *_both(1.0 / workload.precision(view), own, pairs))


def _without_prior(plan: Plan, workload: Workload, promise: float) -> Floats:
    """The variances of the best views that need no prior."""
    from deptriad.planning.best_views import best_views

    wanted = workload
    if plan.marginals:
        wanted = Workload.checked(plan.schema, plan.marginals, plan.weights)
    found = best_views(wanted, np.full(len(plan.schema), promise), None, "certified")
    rows = [view.share * workload.precision(view) for view in found.views]
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.sum(rows, axis=0))


def _everything(plan: Plan, workload: Workload) -> View | None:
    """The view of everybody being asked everything that the plan was compared with when it was made."""
    budgets = plan.everything or {}
    names = tuple(name for name in workload.asked if budgets.get(name, 0.0) > 0.0)
    return (
        known_views.separate(workload, names, [budgets[name] for name in names]) if names else None
    )


def _both(variance: Floats, own: Floats, pairs: Booleans) -> list[float]:
    return [_times(variance, own, some) for some in (~pairs, pairs)]


def _times(variance: Floats, own: Floats, some: Booleans) -> float:
    """How many times a mean variance is that of the plan; NaN where there are no such marginals."""
    known = some & np.isfinite(own)
    return float(variance[known].mean() / own[known].mean()) if known.any() else math.nan


def _or_more(number: float) -> float:
    """For the least of several: NaN is more than all."""
    return math.inf if math.isnan(number) else number


def _compared(plan: Plan, name: str, sizes: dict[str, int], promise: float) -> Compared:
    count = len(plan.asked)
    part = promise / count

    def best(epsilon: float, size: int) -> float:
        return expected_error.moment(expected_error.choose("auto", epsilon, size), epsilon, size)

    def root(moments: list[float], shares: int = 1) -> float:
        if not moments:
            return math.nan
        return math.sqrt(math.fsum(moments) / len(moments) * shares / plan.users)

    others = [other for other in plan.asked if other != name]
    pairs = [plan.expected((name, other)) ** 2 * plan.users for other in others]
    views = math.comb(count, 2)
    own = [view for view in plan.views if name in view.attributes]
    ways = sorted({view.mechanisms[name] for view in own})
    return Compared(
        attribute=name,
        mechanism=" ".join(ways),
        budget=plan.budgets[name] if plan.asks_all else math.nan,
        splitting_budget=part,
        sampling_budget=promise,
        error=plan.expected(name),
        splitting_error=root([best(part, sizes[name])]),
        sampling_error=root([best(promise, sizes[name])], count),
        pair_error=root(pairs),
        splitting_pair_error=root(
            [best(part, sizes[name]) * best(part, sizes[other]) for other in others]
        ),
        sampling_pair_error=root(
            [best(promise, sizes[name] * sizes[other]) for other in others], views
        ),
    )
