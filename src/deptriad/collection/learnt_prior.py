"""A prior learnt from reports: tables of a population of which nothing was seen but perturbed answers.

``ReportsPrior`` is a ``Prior`` whose Confidence boxes allow for the noise of the reports as well as for
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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from deptriad.analysis.prior import Prior, ThinValue
from deptriad.collection.post_processing import norm_sub
from deptriad.collection.score_sums import Answers, summed_scores
from deptriad.data.schema import Schema
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Confidence, Spread
from deptriad.utils.arrays import Floats

if TYPE_CHECKING:
    from deptriad.collection.question import Question

MOST_USERS = 10**11
"""Users up to which the ends of the boxes keep enough digits to be told apart from their middle."""


class PairSums(NamedTuple):
    """Over n users: the range of w for all θ in [0, 1]; and the sums of J, K, J², JK and K², target × source."""

    n: int
    reach: float
    joint: Floats
    single: Floats
    joint_square: Floats
    product: Floats
    single_square: Floats


Pairs = dict[tuple[str, str], PairSums]
"""By source and target."""


@dataclass(frozen=True)
class _Unweighted:
    """What is asked of counts where there are none."""

    schema: Schema
    sources: tuple[str, ...] = ("reports",)
    weighted: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ReportsPrior(Prior):
    """p(source | target) of every ordered pair, estimated from reports. A strategy makes it: ``Strategy.prior``."""

    pairs: Pairs = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema, pairs: Pairs, min_records: int) -> Self:
        """Of the sums of each ordered pair."""
        thin, unseen = _thin(schema, pairs, min_records), _Unweighted(schema)
        return cls(unseen, min_records, thin, pairs=pairs)  # type: ignore[arg-type]

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

    def _spread_box(self, source: str, target: str, uncertainty: Spread) -> Box:
        said = "Spread needs several sources, and reports are one: use Confidence, or Relative"
        raise ValueError(said)

    def _confidence_box(self, source: str, target: str, uncertainty: Confidence) -> Box:
        """It covers sampling and the noise of the reports."""
        cells = uncertainty.cells or self.cells
        lower, upper = _bounds(self.pairs[self._pair(source, target)], uncertainty.level, cells)
        rows = np.arange(len(lower))
        return Box(lower, upper, **self._labels(source, target, rows))

    def _pair(self, source: str, target: str) -> tuple[str, str]:
        pair = (self.schema[source].name, self.schema[target].name)
        if source == target:
            raise ValueError(f"source and target are both {source!r}, expected two attributes")
        return pair


def _thin(schema: Schema, pairs: Pairs, min_records: int) -> tuple[ThinValue, ...]:
    """Values that few people have, by the estimate."""
    found = []
    for attribute in schema:
        sums = next(each for (_, target), each in pairs.items() if target == attribute.name)
        people = np.maximum(sums.single, 0.0).round().astype(int).tolist()
        few = [each for each in zip(attribute.values, people, strict=True) if each[1] < min_records]
        found += [ThinValue(attribute.name, value, count, "kept") for value, count in few]
    return tuple(found)


# --- sums -----------------------------------------------------------------------------------------------------


def product_sums(answers: Answers, pair: tuple[str, str]) -> PairSums:
    """Of two attributes that are reported by themselves: J = z_source(u)·z_target(x) and K = z_target(x)."""
    source, target = answers.mechanisms  # type: ignore[union-attr]
    _some(answers.n, pair)
    low, high = source.score_range()
    least, most = target.score_range()
    corners = [one * two for one in (low - 1.0, high) for two in (least, most)]
    reach = max(corners) - min(corners)
    powers = ([1, 1], [2, 2], [1, 2], [0, 1], [0, 2])
    joint, square, product, single, single_square = (answers.sums(each).T for each in powers)
    return PairSums(answers.n, reach, joint, single[:, 0], square, product, single_square[:, 0])


def view_sums(answers: Answers, view: Question, pair: tuple[str, str]) -> PairSums | None:
    """Of attributes in one joint report: J is the score of the joint value, summed over others, and K = Σ_u J(u, x)."""
    if not answers.n:
        return None

    def terms(joint: Floats) -> list[Floats]:
        single = joint.sum(axis=2)
        return [joint, single, joint**2, joint * single[:, :, None], single**2]

    sums = summed_terms(answers, view, pair[::-1], terms)
    # J sums scores of r values and K of r·b: that bounds both
    inner = view.mechanism.size // sums[0].size
    bounds = [view.mechanism.score_range(count) for count in (inner, inner * sums[0].shape[1])]
    least, most = zip(*bounds, strict=True)
    reach = (most[0] - min(least[1], 0.0)) - (least[0] - max(most[1], 0.0))
    return PairSums(answers.n, reach, *sums)


def summed_terms(
    answers: Answers, view: Question, names: Sequence[str], terms: Callable[[Floats], list[Floats]]
) -> list[Floats]:
    """Sums over a view's users of terms, made of a report's scores of all values of some attributes."""
    order = [view.names.index(name) for name in names]
    nobody = summed_scores(np.zeros((0, view.mechanism.size)), view.sizes, order)
    sums = [term.sum(axis=0) for term in terms(nobody)]
    for counts, scores in answers.scored():
        of_reports = terms(summed_scores(scores, view.sizes, order))
        for total, term in zip(sums, of_reports, strict=True):
            total += np.tensordot(counts, term, axes=(0, 0))
    return sums


def added(views: Sequence[PairSums | None], pair: tuple[str, str]) -> PairSums:
    """The sums of several views together; None for one that nobody was asked."""
    found = [each for each in views if each is not None]
    n = sum(each.n for each in found)
    _some(n, pair)
    _, reach, *sums = zip(*found, strict=True)
    return PairSums(n, max(reach), *(np.sum(parts, axis=0) for parts in sums))


def _some(n: int, pair: tuple[str, str]) -> None:
    if n < 2:
        raise ValueError(f"there are fewer than 2 reports of {' & '.join(pair)}, expected many")
    if n > MOST_USERS:
        raise ValueError(
            f"there are {n:,} users, expected at most {MOST_USERS:,}: beyond that bounds lose their digits"
        )


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
