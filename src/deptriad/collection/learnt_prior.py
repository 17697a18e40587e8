"""A prior learnt from reports: tables of a population of which nothing was seen but perturbed answers.

``prior_from_reports`` gives a ``Prior`` whose Confidence boxes allow for the noise of the reports as well as for
sampling. For a cell of p(u | x) and any number θ let, for each user,

    w = J(u, x) − θ·K(x),      J unbiased for "source is u and target is x", K for "target is x", from the reports.

Users are drawn independently from the population and their reports are bounded, so w is bounded, w ∈ [low, low + R] for
all θ in [0, 1], and its mean is p(u, x) − θ·p(x), which is 0 exactly for the true θ = p(u | x). Maurer and Pontil's
empirical Bernstein inequality (2009, theorem 4), once for w and once for −w, says that with probability at least 1 − d

    |mean of w| ≤ √(2·V·ln(4/d)/n) + 7·R·ln(4/d)/(3(n − 1)),       V the sample variance of w (divisor n − 1).

(Users must be independent, not necessarily asked alike, so views may be taken together.)
So the set of all θ in [0, 1] that satisfy it contains the true one with that probability: only one θ, the true one,
has to pass, and no bound for a ratio is needed. With d = (1 − level)/cells, cells those of all tables together, all
true tables lie in their boxes at once with probability ≥ level. The mean of w is linear in θ and V is quadratic: the
ends of the set are 0, 1 or roots of two quadratics. Where x is rare, the set is all of [0, 1], as it must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from deptriad.analysis.prior import Prior, ThinValue
from deptriad.collection.marginal import norm_sub
from deptriad.collection.report_mark import refuse_foreign
from deptriad.collection.sample import Sample, summed_scores
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.score_sums import Answers, weights_of
from deptriad.collection.simulation import Simulation
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.data.schema import Schema
from deptriad.mechanisms import GRR, Mechanism, Support
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Absolute, Confidence, Spread, Uncertainty
from deptriad.utils.arrays import Floats

MOST_USERS = 10**11
"""Users up to which the ends of the boxes keep enough digits to be told apart from their middle."""


class PairSums(NamedTuple):
    """Sums over n users of J, K, J², JK and K², target × source; and the range of w for all θ in [0, 1]."""

    n: int
    joint: Floats
    single: Floats
    joint_square: Floats
    product: Floats
    single_square: Floats
    reach: float


@dataclass(frozen=True)
class _Unweighted:
    """What is asked of counts where there are none."""

    schema: Schema
    sources: tuple[str, ...] = ("reports",)
    weighted: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ReportsPrior(Prior):
    """p(source | target) of every ordered pair, estimated from reports. Made by ``prior_from_reports``."""

    pairs: dict[tuple[str, str], PairSums] = field(default_factory=dict)

    def __repr__(self) -> str:
        users = max(each.n for each in self.pairs.values())
        return f"ReportsPrior({len(self.names)} attributes, up to {users:,} reports of a pair)"

    def table(self, source: str, target: str) -> Conditional:
        """p(source | target) by the nearest distribution to the unbiased joint shares.

        Target values whose share is estimated as 0 have no row.
        """
        sums = self.pairs[self._pair(source, target)]
        shares = norm_sub(sums.joint / sums.n)
        rows = np.flatnonzero(shares.sum(axis=1) > 0.0)
        return Conditional.from_counts(shares[rows], **self._labels(source, target, rows))

    def box(self, source: str, target: str, uncertainty: Uncertainty) -> Box:
        """All tables that ``uncertainty`` leaves possible; Confidence covers sampling and the noise of the reports."""
        if isinstance(uncertainty, Spread):
            raise ValueError(
                "Spread needs several sources, and reports are one: use Confidence, or Relative"
            )
        if isinstance(uncertainty, Absolute) and np.ndim(uncertainty.delta):
            raise ValueError(
                "delta is an array, expected one number: tables of different pairs have different shapes"
            )
        if not isinstance(uncertainty, Confidence):
            return uncertainty.box(self.table(source, target))
        cells = uncertainty.cells or self.cells
        lower, upper = _bounds(self.pairs[self._pair(source, target)], uncertainty.level, cells)
        rows = np.arange(len(lower))
        return Box(lower, upper, **self._labels(source, target, rows))

    def _pair(self, source: str, target: str) -> tuple[str, str]:
        pair = (self.schema[source].name, self.schema[target].name)
        if source == target:
            raise ValueError(f"source and target are both {source!r}, expected two attributes")
        return pair


def prior_from_reports(reports: Any, strategy: Any, min_records: int = 20) -> ReportsPrior:
    """A prior from reports that were collected by a strategy, for all attributes it asks.

    Parameters
    ----------
    reports
        A frame of reports, or a ``Simulation``.
    strategy
        What they were collected with: a plan, ``Split``, or ``Sample`` with k ≥ 2. Where attributes are never reported
        together (k = 1, or with fakes), nothing can be learnt about how they depend on each other.
    min_records
        Values with fewer people than that, by the estimate, are listed as thin.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> from deptriad.collection.simulation import simulate
    >>> from deptriad.collection.split import Split
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> split = Split(schema, total=4.0)
    >>> reports = simulate([[40_000, 10_000], [5_000, 45_000]], split, np.random.default_rng(1))
    >>> prior = prior_from_reports(reports, split)
    >>> prior.table("b", "a").table.round(2).tolist()
    [[0.8, 0.2], [0.1, 0.9]]
    >>> box = prior.box("b", "a", dt.Confidence(0.95))
    >>> box.lower.round(2).tolist(), box.upper.round(2).tolist()
    ([[0.79, 0.19], [0.09, 0.89]], [[0.81, 0.21], [0.11, 0.91]])
    """
    asked = as_strategy(strategy)
    if isinstance(asked, SampleWithFakes) or (isinstance(asked, Sample) and asked.k < 2):
        raise ValueError(
            f"{type(asked).__name__} never has two true reports of one user, so that nothing can be learnt about how "
            "attributes depend on each other: collect with Split, a plan, or Sample(…, k=2)"
        )
    names = [name for name in asked.schema.names if any(name in q.names for q in asked.questions)]
    if isinstance(reports, Simulation) and reports.users > MOST_USERS:
        raise ValueError(
            f"there are {reports.users:,} users, expected at most {MOST_USERS:,}: beyond that bounds lose their digits"
        )
    if len(names) < 2:
        raise ValueError(f"the reports have one attribute, {names[0]!r}, expected two or more")
    schema = asked.schema.only(*names)
    if isinstance(reports, Simulation):
        reports.require(asked)
        parts: Sequence[Answers] = reports.parts
    else:  # all of them at once; for Sample no name at all means every view
        refuse_foreign(reports, asked)
        parts = asked.answers(reports, () if isinstance(asked, Sample) else names)
    pairs = {pair: _pair_sums(asked, parts, pair) for pair in permutations(names, 2)}
    thin = _thin(schema, pairs, min_records)
    return ReportsPrior(
        counts=_Unweighted(schema),  # type: ignore[arg-type]
        min_records=min_records,
        thin=thin,
        pairs=pairs,
    )


def _thin(
    schema: Schema, pairs: dict[tuple[str, str], PairSums], min_records: int
) -> tuple[ThinValue, ...]:
    """Values that few people have, by the estimate."""
    found = []
    for attribute in schema:
        sums = next(each for (_, target), each in pairs.items() if target == attribute.name)
        people = np.maximum(sums.single, 0.0).round().astype(int).tolist()
        few = [each for each in zip(attribute.values, people, strict=True) if each[1] < min_records]
        found += [ThinValue(attribute.name, value, count, "kept") for value, count in few]
    return tuple(found)


# --- sums -----------------------------------------------------------------------------------------------------


def _pair_sums(asked: Strategy, parts: Sequence[Answers], pair: tuple[str, str]) -> PairSums:
    """Sums for p(source | target) of one ordered pair."""
    answers = asked.relevant(parts, pair)
    if sum(each.n for each in answers) < 2:
        raise ValueError(f"there are fewer than 2 reports of {' & '.join(pair)}, expected many")
    if isinstance(asked, Sample):
        views = [view for view in asked.questions if set(pair) <= set(view.names)]
        found = [
            _view_sums(each, view.names, view.sizes, view.mechanism, pair)
            for each, view in zip(answers, views, strict=True)
            if each.n
        ]
        totals = [np.sum(parts, axis=0) for parts in list(zip(*found, strict=True))[:-1]]
        n, joint, single, joint_square, product, single_square = totals
        reach = max(each.reach for each in found)
        return PairSums(int(n), joint, single, joint_square, product, single_square, reach)
    return _separate_sums(answers[0])


def _separate_sums(answers: Answers) -> PairSums:
    """J = z_source(u)·z_target(x) and K = z_target(x)."""
    source, target = answers.mechanisms  # type: ignore[union-attr]

    def of(powers: Sequence[int]) -> Floats:
        return np.asarray(answers.sums(powers)).T

    low, high = _score_range(source)
    least, most = _score_range(target)
    corners = [one * two for one in (low - 1.0, high) for two in (least, most)]
    return PairSums(
        answers.n,
        of([1, 1]),
        of([0, 1])[:, 0],
        of([2, 2]),
        of([1, 2]),
        of([0, 2])[:, 0],
        max(corners) - min(corners),
    )


def _view_sums(
    answers: Answers,
    names: Sequence[str],
    sizes: Sequence[int],
    mechanism: Mechanism,
    pair: tuple[str, str],
) -> PairSums:
    """J is the score of the joint value, summed over other attributes, and K = Σ_u J(u, x)."""
    order = [list(names).index(name) for name in reversed(pair)]
    shape = [sizes[axis] for axis in order]
    sums = [
        np.zeros(shape),
        np.zeros(shape[0]),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape[0]),
    ]
    for counts, scores in answers.scored():
        joint = summed_scores(scores, sizes, order)
        single = joint.sum(axis=2)
        terms = [joint, single, joint**2, joint * single[:, :, None], single**2]
        for total, term in zip(sums, terms, strict=True):
            total += np.tensordot(counts, term, axes=(0, 0))
    # J sums scores of r values and K of r·b: that bounds both
    low, high = _score_range(mechanism)
    inner = mechanism.size // (shape[0] * shape[1])
    if isinstance(mechanism, GRR):  # its report supports exactly one value
        most = [high + (count - 1) * low for count in (inner, inner * shape[1])]
    else:
        most = [high * inner, high * inner * shape[1]]
    least = [low * inner, low * inner * shape[1]]
    reach = (most[0] - min(least[1], 0.0)) - (least[0] - max(most[1], 0.0))
    return PairSums(answers.n, sums[0], sums[1], sums[2], sums[3], sums[4], reach)


def _score_range(mechanism: Mechanism) -> tuple[float, float]:
    """Least and largest score of any value."""
    if isinstance(mechanism, Support):
        p, q = map(float, mechanism.probabilities)
        return -q / (p - q), (1.0 - q) / (p - q)
    weights = weights_of(mechanism)
    return float(weights.min()), float(weights.max())


# --- the box --------------------------------------------------------------------------------------------------


def _bounds(sums: PairSums, level: float, cells: int) -> tuple[Floats, Floats]:
    """Least and largest θ in [0, 1] that the reports leave possible, for each cell; see the top of this file."""
    n, log = sums.n, float(np.log(4.0 * cells / (1.0 - level)))
    mean, slope = sums.joint / n, (sums.single / n)[:, None]
    spare = 7.0 * sums.reach * log / (3.0 * (n - 1))
    # V(θ)·2·log/n = c0 − 2·c1·θ + c2·θ²
    scale = 2.0 * log / (n - 1)
    c0 = scale * np.maximum(sums.joint_square / n - mean**2, 0.0)
    c1 = scale * (sums.product / n - mean * slope)
    c2 = scale * np.maximum((sums.single_square / n)[:, None] - slope**2, 0.0)
    ends = [np.zeros(mean.shape), np.ones(mean.shape)]
    for side in (spare, -spare):
        shifted = mean - side
        ends += _roots(slope**2 - c2, -2.0 * (shifted * slope - c1), shifted**2 - c0)
    lower, upper = np.ones(mean.shape), np.zeros(mean.shape)
    for theta in ends:
        inside = (theta >= 0.0) & (theta <= 1.0)
        at = np.where(inside, theta, 0.0)
        most = spare + np.sqrt(np.maximum(c0 - 2.0 * c1 * at + c2 * at**2, 0.0))
        inside &= np.abs(mean - at * slope) <= most * (1.0 + 1e-9) + 1e-12
        lower = np.where(inside, np.minimum(lower, at), lower)
        upper = np.where(inside, np.maximum(upper, at), upper)
    return _possible(lower - 1e-9, upper + 1e-9)


def _roots(square: Floats, linear: Floats, constant: Floats) -> list[Floats]:
    """Real roots of square·θ² + linear·θ + constant; −1, which is no θ, where there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(linear**2 - 4.0 * square * constant)
        larger = -0.5 * (linear + np.copysign(root, linear))
        found = (larger / square, constant / larger)
    return [np.nan_to_num(each, nan=-1.0, posinf=-1.0, neginf=-1.0) for each in found]


def _possible(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Within [0, 1]; a row that leaves no distribution possible, as happens in a miss, is wholly uncertain."""
    low, high = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
    bad = (lower > upper).any(axis=1) | (low.sum(axis=1) > 1.0) | (high.sum(axis=1) < 1.0)
    low[bad], high[bad] = 0.0, 1.0
    return low, high
