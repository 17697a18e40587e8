"""A prior learnt from reports: tables of a population of which nothing was seen but perturbed answers.

``ReportsPrior`` is a ``Prior`` whose Confidence boxes allow for the noise of the reports as well as for
sampling. For a cell of p(u | x) and any number θ let, for each user,

    w = J(u, x) − θ·K(x),      J unbiased for "source is u and target is x", K for "target is x", from the reports.

Users are drawn independently from the population and their reports are bounded, so w is bounded, w ∈ [low, low + R] for
all θ in [0, 1], and its mean is p(u, x) − θ·p(x), which is 0 exactly for the true θ = p(u | x). Maurer and Pontil's
empirical Bernstein inequality (2009, theorem 4), once for w and once for −w, says that with probability at least 1 − d

    |mean of w| ≤ √(2·V·ln(4/d)/n) + 7·R·ln(4/d)/(3(n − 1)),       V the sample variance of w (divisor n − 1).

Users must be independent, not necessarily asked alike, so views may be taken together: w of each user times a number c
of the view still has the mean 0. They are those of the best estimate, proportional to the views' precisions.
So the set of all θ in [0, 1] that satisfy it contains the true one with that probability: only one θ, the true one,
has to pass, and no bound for a ratio is needed. With d = (1 − level)/cells, cells those of all tables together, all
true tables lie in their boxes at once with probability ≥ level. The mean of w is linear in θ and V is quadratic: the
ends of the set are 0, 1 or roots of two quadratics. Where x is rare, the set is all of [0, 1], as it must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from deptriad.analysis.prior import Prior
from deptriad.analysis.thin_targets import ThinValue
from deptriad.collection.post_processing import norm_sub
from deptriad.collection.score_sums import Tally, TermSums
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

    n: float
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
        said = "Spread needs several groups, and reports are one: use Confidence, or Relative"
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


def _product_sums(tally: Tally) -> PairSums:
    """Of two attributes that are reported by themselves: J = z_source(u)·z_target(x) and K = z_target(x)."""
    source, target = tally.mechanisms
    low, high = source.score_range()
    least, most = target.score_range()
    corners = [one * two for one in (low - 1.0, high) for two in (least, most)]
    reach = max(corners) - min(corners)
    powers = ([1, 1], [2, 2], [1, 2], [0, 1], [0, 2])
    joint, square, product, single, single_square = (tally.sums(each).T for each in powers)
    return PairSums(tally.n, reach, joint, single[:, 0], square, product, single_square[:, 0])


def pair_terms(place: int, view: Question, pair: tuple[str, str]) -> TermSums:
    """Of attributes in one joint report: J is the score of the joint value, summed over others, and K = Σ_u J(u, x)."""

    def terms(joint: Floats) -> list[Floats]:
        single = joint.sum(axis=2)
        return [joint, single, joint**2, joint * single[:, :, None], single**2]

    return TermSums.of(place, view, pair[::-1], terms, 2)


def view_sums(sums: Tally | TermSums) -> PairSums:
    """The sums over the users of one view."""
    if isinstance(sums, Tally):
        return _product_sums(sums)
    found, mechanism = sums.found(), sums.view.mechanism
    # J sums scores of r values and K of r·b: that bounds both
    inner = mechanism.size // found[0].size
    bounds = [mechanism.score_range(count) for count in (inner, inner * found[0].shape[1])]
    least, most = zip(*bounds, strict=True)
    reach = (most[0] - min(least[1], 0.0)) - (least[0] - max(most[1], 0.0))
    return PairSums(sums.n, reach, *found)


def added(views: Sequence[PairSums], worth: Sequence[float], pair: tuple[str, str]) -> PairSums:
    """The sums of several views together, by what each is worth, scaled so that users count once on average."""
    n = sum(each.n for each in views)
    _some(n, pair)
    scale = n / sum(each.n * own for each, own in zip(views, worth, strict=True))
    found = [
        (c * each.reach, c * each.joint, c * each.single, *(c**2 * square for square in each[4:]))
        for each, c in zip(views, (scale * own for own in worth), strict=True)
        if each.n
    ]
    reach, *sums = zip(*found, strict=True)
    return PairSums(n, max(reach), *(np.sum(parts, axis=0) for parts in sums))


def _some(n: float, pair: tuple[str, str]) -> None:
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
