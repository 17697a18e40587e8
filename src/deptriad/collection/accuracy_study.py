"""marginal_study(): how far estimated marginals lie from the truth, by strategy, budget and number of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deptriad.collection.marginal import estimate
from deptriad.collection.post_processing import Post
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.simulation import simulate
from deptriad.collection.split import Split, as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.data.results import columns_of
from deptriad.data.schema import Schema
from deptriad.metrics import total_variation_distance
from deptriad.utils.arrays import Floats, as_whole
from deptriad.utils.progress import Progress
from deptriad.utils.text import aligned

Maker = Callable[[float, int], Any]
"""From a budget and a number of attributes to a strategy or a plan."""


class Distance(NamedTuple):
    """Total variation distance of k-way marginals: mean over views, then mean and spread over repetitions."""

    strategy: str
    k: int
    epsilon: float
    mean: float
    spread: float


@dataclass(frozen=True, repr=False)
class Study:
    """Distances of all strategies; prints as a table."""

    rows: tuple[Distance, ...]
    users: int
    repetitions: int

    def __iter__(self) -> Iterator[Distance]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def get(self, strategy: str, k: int, epsilon: float) -> Distance:
        """One of them."""
        for row in self.rows:
            if (row.strategy, row.k, row.epsilon) == (strategy, k, epsilon):
                return row
        raise KeyError(f"there is no row of {strategy!r} with k = {k} and ε = {epsilon:g}")

    def to_frame(self, kind: str = "pandas") -> Any:
        """A frame with a row for each strategy, k and ε."""
        from deptriad.data import engines

        return engines.made(columns_of(self.rows, Distance._fields), kind)

    def __repr__(self) -> str:
        budgets = sorted({row.epsilon for row in self.rows})
        title = f"total variation distance of k-way marginals, {self.users:,} users, {self.repetitions} repetitions"
        lines = [["strategy", "k", *(f"ε = {budget:g}" for budget in budgets)]]
        for k in sorted({row.k for row in self.rows}):
            for name in dict.fromkeys(row.strategy for row in self.rows):
                cells = [self.get(name, k, budget) for budget in budgets]
                shown = (f"{each.mean:.4f} ± {each.spread:.4f}" for each in cells)
                lines.append([name, str(k), *shown])
        return "\n".join([title, *aligned(lines)])


def usual(schema: Schema, mechanism: str = "grr") -> dict[str, Maker]:
    """The strategies to compare with: splitting, random views, one attribute, and one attribute with fakes."""
    return {
        "split": lambda epsilon, k: Split(schema, epsilon, mechanism),
        "random view": lambda epsilon, k: Sample(schema, epsilon, mechanism, k=k),
        "one attribute": lambda epsilon, k: Sample(schema, epsilon, mechanism),
        "with fakes": lambda epsilon, k: SampleWithFakes(schema, epsilon, mechanism),
    }


def marginal_study(
    joint_counts: ArrayLike,
    schema: Schema,
    epsilon: Sequence[float],
    k: Sequence[int] = (2, 3, 4),
    strategies: Mapping[str, Maker] | None = None,
    repetitions: int = 5,
    post: Post = "norm_sub",
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Study:
    """Collect by simulation with each strategy, estimate all k-way marginals, and measure how far off they are.

    Parameters
    ----------
    joint_counts, schema
        How many users have which values: an axis for each attribute.
    epsilon
        Total budgets.
    k
        Numbers of attributes of the marginals.
    strategies
        By name, a function of budget and k that makes a strategy or a plan; ``usual(schema)`` by default. Add
        ``{"plan": lambda epsilon, k: calibrate(analysis, epsilon, marginals=k)}``. One that never reports
        attributes together (one attribute, fakes) is given the product of its one-way marginals, as if attributes were
        independent.
    repetitions
        How often each is done; the spread is the standard deviation over them.
    post, rng
        As for ``estimate`` and ``simulate``.
    progress
        Called with the number of collections done, and of all.

    Returns
    -------
    Study
        A distance for each strategy and budget, which prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> names = ("a", "b", "c")
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in names])
    >>> counts = np.zeros((2, 2, 2), dtype=int)
    >>> counts[0, 0, 0] = counts[1, 1, 1] = 50_000
    >>> study = dt.marginal_study(counts, schema, [1.0], k=[2], rng=np.random.default_rng(1))
    >>> study.get("random view", 2, 1.0).mean < study.get("split", 2, 1.0).mean
    True
    >>> round(study.get("one attribute", 2, 1.0).mean, 1)  # as if they were independent
    0.5
    """
    counts = np.asarray(joint_counts)
    makers = dict(usual(schema) if strategies is None else strategies)
    chance = np.random.default_rng() if rng is None else rng
    as_whole(repetitions, "repetitions", 1)
    every = [view for size in k for view in combinations(schema.names, size)]
    truths = {view: _truth(counts, schema, view) for view in every}
    work = [(name, budget, size) for name in makers for budget in epsilon for size in k]
    rows = []
    for done, (name, budget, size) in enumerate(work, 1):
        strategy = as_strategy(makers[name](budget, size))
        views = {view: truth for view, truth in truths.items() if len(view) == size}
        found = [_distance(counts, strategy, views, post, chance) for _ in range(repetitions)]
        spread = float(np.std(found, ddof=1)) if repetitions > 1 else 0.0
        rows.append(Distance(name, size, float(budget), float(np.mean(found)), spread))
        if progress:
            progress(done, len(work))
    return Study(tuple(rows), int(counts.sum()), repetitions)


def _truth(counts: Any, schema: Schema, view: Sequence[str]) -> Floats:
    others = tuple(place for place, name in enumerate(schema.names) if name not in view)
    return np.asarray(counts.sum(axis=others) / counts.sum())


def _distance(
    counts: Any,
    strategy: Strategy,
    views: Mapping[tuple[str, ...], Floats],
    post: Post,
    rng: np.random.Generator,
) -> float:
    """Mean distance of all views in one collection."""
    reports = simulate(counts, strategy, rng)
    found = []
    for view in views:  # what is not reported together: products of one-way marginals
        parts = [view] if strategy.asking(view) else [(name,) for name in view]
        every = [estimate(strategy, reports, part, post).frequencies for part in parts]
        found.append(reduce(np.multiply.outer, every))
    pairs = zip(found, views.values(), strict=True)
    return float(np.mean([total_variation_distance(one, truth) for one, truth in pairs]))
