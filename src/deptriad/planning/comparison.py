"""Comparison and Check: a plan beside other strategies, and beside what real records give away."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptriad.data.coded_records import Coded
from deptriad.data.results import ByTarget, Framed, columns_of, named
from deptriad.mechanisms import expected_error
from deptriad.planning import known_views
from deptriad.planning.workload import Workload
from deptriad.utils import html_table
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.progress import Progress
from deptriad.utils.text import aligned, printable, rounded_down
from deptriad.witnesses.each_target import witness_each

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


class Rival(NamedTuple):
    """A known strategy with the same promise: its mean summed variances over those of the plan; above 1 the plan wins.

    Marginals that a strategy never asks have an infinite variance.
    """

    strategy: str
    one_way: float
    two_way: float


@dataclass(frozen=True, repr=False)
class Comparison(Framed):
    """A plan beside splitting and random sampling; prints as a table.

    Parameters
    ----------
    rows
        One for each attribute.
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
        """Columns of the frame, a row for each attribute."""
        return columns_of(self.rows, (*Compared._fields, *GAINS))

    def __repr__(self) -> str:
        one, two = self._tables()
        above, below = self._words()
        table = aligned([*one, *two])
        return "\n".join([*above, *table[: len(one)], "", *table[len(one) :], below])

    def _repr_html_(self) -> str:
        one, two = self._tables()
        above, below = self._words()
        return html_table.table(one, above) + html_table.table(two, below=[below])

    def _tables(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """One-way marginals, and the means over two-way ones."""
        one: list[tuple[str, ...]] = [("attribute", "mechanism", "budget", *COMPARED)]
        two: list[tuple[str, ...]] = [("its pairs", "", "", *COMPARED)]
        for row in self.rows:
            name, gains = printable(row.attribute), [f"×{getattr(row, gain):.2f}" for gain in GAINS]
            errors = [f"{number:.4f}" for number in row[5:]]
            one.append((name, row.mechanism, rounded_down(row.budget), *errors[:3], *gains[:2]))
            two.append((name, "", "", *errors[3:], *gains[2:]))
        return one, two

    def _words(self) -> tuple[list[str], str]:
        """What stands above the numbers, and below them."""
        part, whole = self.rows[0].splitting_budget, self.rows[0].sampling_budget
        lines = [
            f"Expected errors for {self.users:,} users: roots of summed variances with the frequencies' own share left "
            "out, so upper bounds.",
            f"splitting: {part:.4g} for each attribute; sampling: {whole:.4g} for one of them (one pair) a user; "
            "below: one-way, then the mean over its two-way marginals.",
        ]
        better = sum(row.error > row.sampling_error for row in self.rows)
        said = (
            f"Sampling has the smaller one-way error for {better} of {len(self.rows)} attributes."
        )
        for way in ("one_way", "two_way"):
            times = [float(getattr(rival, way)) for rival in self.rivals]
            if finite := [number for number in times if math.isfinite(number)]:
                rival = self.rivals[times.index(min(finite))]
                said += (
                    f" {way.replace('_', '-')}: {min(finite):.2f} times the plan's variance under the best known "
                    f"strategy, {rival.strategy}."
                )
        return lines, said


COMPARED = ("error", "splitting", "sampling", "gain: splitting", "sampling")


def compare(plan: Plan) -> Comparison:
    """A plan beside splitting and random sampling with the same promise: see ``Plan.compare``."""
    promise = min(plan.total.values())
    sizes = dict(zip(plan.names, plan.schema.sizes, strict=True))
    rows = tuple(_compared(plan, name, sizes, promise) for name in plan.names)
    return Comparison(rows, plan.users, tuple(_rivals(plan, promise)))


def _rivals(plan: Plan, promise: float) -> Iterator[Rival]:
    """Known strategies over the attributes that the plan asks for, and marginals that it can estimate."""
    asked = [name for name in plan.names if math.isfinite(plan.expected(name))]
    workload = Workload.checked(plan.schema, [(name,) for name in asked])
    if len(asked) > 1:
        workload = Workload.checked(plan.schema, [*workload.marginals, *combinations(asked, 2)])
    own = np.array([plan.expected(marginal) ** 2 * plan.users for marginal in workload.marginals])
    pairs = np.array([len(marginal) == 2 for marginal in workload.marginals])
    for strategy, variance in known_views.strategies(workload, promise).items():
        yield Rival(strategy, *(_times(variance, own, some) for some in (~pairs, pairs)))
    fakes = np.array(
        [
            known_views.fake_moment(len(asked), promise, plan.schema[marginal[0]].size)
            if len(marginal) == 1
            else np.inf
            for marginal in workload.marginals
        ]
    )
    yield Rival("one attribute with fakes", _times(fakes, own, ~pairs), _times(fakes, own, pairs))


def _times(variance: Floats, own: Floats, some: Booleans) -> float:
    """How many times a mean variance is that of the plan; NaN where there are no such marginals."""
    known = some & np.isfinite(own)
    return float(variance[known].mean() / own[known].mean()) if known.any() else math.nan


def _compared(plan: Plan, name: str, sizes: dict[str, int], promise: float) -> Compared:
    count = len(plan.names)
    part = promise / count

    def best(epsilon: float, size: int) -> float:
        return expected_error.moment(expected_error.choose("auto", epsilon, size), epsilon, size)

    def root(moments: list[float], shares: int = 1) -> float:
        if not moments:
            return math.nan
        return math.sqrt(math.fsum(moments) / len(moments) * shares / plan.users)

    others = [other for other in plan.names if other != name]
    pairs = [plan.expected((name, other)) ** 2 * plan.users for other in others]
    views = math.comb(count, 2)
    own = [view for view in plan.views if name in view.attributes]
    ways = sorted({view.mechanisms[name] for view in own})
    return Compared(
        attribute=name,
        mechanism=" ".join(ways) if ways else "none",
        budget=float(max((view.budgets[name] for view in own), default=0.0)),
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


class Checked(NamedTuple):
    """What was found about one target.

    Parameters
    ----------
    target, own
        The attribute, and its own budget.
    witness
        What its other reports give away at least, on all records.
    total
        Both together.
    held_out
        The same on the half of the records where the sets were not looked for; NaN if unknown.
    promise
        What was promised.
    """

    target: str
    own: float
    witness: float
    total: float
    held_out: float
    promise: float

    @property
    def broken(self) -> bool:
        """Whether the promise is broken on these records."""
        return self.total > self.promise


class Check(ByTarget[Checked]):
    """What witnesses found about each target, by name; prints as a table.

    Examples
    --------
    >>> Check([Checked("sex", 1.0, 2.5, 3.5, 3.4, 3.0)])
    own + witness is a lower bound on what these records give away; it breaks the promise for 1 of 1 attributes
    attribute    own  witness  total  held out  promise
    sex        1.000    2.500  3.500     3.400        3  BROKEN
    """

    called = ("check", "of")

    @property
    def broken(self) -> list[str]:
        """Attributes whose promise is broken on these records."""
        return [name for name, row in self.items() if row.broken]

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each target."""
        return columns_of(self.values(), (*Checked._fields, "broken"))

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned(self._cells())])

    def _repr_html_(self) -> str:
        return html_table.table(self._cells(), [self._title()])

    def _cells(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]]
        rows = [("attribute", "own", "witness", "total", "held out", "promise", "")]
        for row in self.values():
            own, witness, total, held = (f"{number:.3f}" for number in row[1:5])
            said = "BROKEN" if row.broken else ""
            rows.append(
                (printable(row.target), own, witness, total, held, f"{row.promise:g}", said)
            )
        return rows

    def _title(self) -> str:
        return (
            "own + witness is a lower bound on what these records give away; it breaks the promise for "
            f"{len(self.broken)} of {len(self)} attributes"
        )


def check(
    plan: Plan, coded: Coded, rng: np.random.Generator | None, progress: Progress | None
) -> Check:
    """What witnesses find on coded records at the budgets of a plan: see ``Plan.check``."""
    rows = []
    for name, found in witness_each(coded, plan.budgets, rng=rng, progress=progress).items():
        own = float(plan.budgets[name])
        held = own + (math.nan if found.held_out is None else found.held_out)
        promise = float(plan.total[name])
        rows.append(Checked(name, own, found.overall, own + found.overall, held, promise))
    return Check(rows)
