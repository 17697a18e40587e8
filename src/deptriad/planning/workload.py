"""Workload: which marginals are wanted, how much each matters, and what a view is worth for them (maths §11)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from deptriad.collection.view import View
from deptriad.data.schema import Schema
from deptriad.mechanisms import GRR, expected_error
from deptriad.utils.arrays import Floats, as_finite_budget, as_whole
from deptriad.utils.by_name import by_name
from deptriad.utils.errors import InvalidValue, Parameter, refuse_unknown

Names = tuple[str, ...]

MOST = 20_000
"""Marginals up to which a plan is searched for."""


@dataclass(frozen=True)
class Workload:
    """Marginals by their attributes, in the order of the schema, with a weight each; weights sum to 1.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b", "c")])
    >>> Workload.checked(schema, 2).marginals
    (('a',), ('b',), ('c',), ('a', 'b'), ('a', 'c'), ('b', 'c'))
    """

    schema: Schema
    marginals: tuple[Names, ...]
    weights: Floats

    @classmethod
    def checked(
        cls,
        schema: Schema,
        marginals: int | Sequence[str | Sequence[str]] = 2,
        weights: Mapping[str, float] | Sequence[float] | None = None,
        without: Sequence[str] = (),
    ) -> Workload:
        """From what a caller gives; attributes ``without`` a release, and those of one value, are no part of it."""
        asked = [each.name for each in schema if each.size > 1 and each.name not in without]
        if not asked:
            raise InvalidValue(
                "there is nothing to ask: every attribute has one value, or is not released"
            )
        if isinstance(marginals, Sequence) and not isinstance(marginals, str):
            listed = [_marginal(each, schema, asked) for each in marginals]
        else:
            most = min(as_whole(marginals, Parameter("marginals"), 1), len(asked))
            _refuse_many(sum(math.comb(len(asked), size) for size in range(1, most + 1)))
            sizes = range(1, most + 1)
            listed = [some for size in sizes for some in combinations(asked, size)]
        _refuse_many(len(listed))
        if not listed or len(set(listed)) < len(listed):
            raise InvalidValue(Parameter("marginals"), " is empty, or names one twice")
        weight = _weights(weights, schema, listed)
        return cls(schema, tuple(listed), weight / weight.sum())

    @cached_property
    def asked(self) -> Names:
        """All attributes that some marginal has, in the order of the schema."""
        some = {name for marginal in self.marginals for name in marginal}
        return tuple(name for name in self.schema.names if name in some)

    @cached_property
    def order(self) -> int:
        """Attributes of the largest marginal."""
        return max(map(len, self.marginals))

    @cached_property
    def _place(self) -> dict[Names, int]:
        return {marginal: place for place, marginal in enumerate(self.marginals)}

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return dict(zip(self.schema.names, self.schema.sizes, strict=True))

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.schema.names)}

    def sorted(self, names: Sequence[str]) -> Names:
        """Names in the order of the schema."""
        return tuple(sorted(names, key=self._rank.__getitem__))

    def asked_with(self, names: Names, together: Sequence[Names]) -> Names:
        """Some attributes, and all that must be asked of the same person with any of them."""
        found, before = set(names), 0
        while len(found) > before:
            before = len(found)
            for some in together:
                found |= set(some) & set(self.asked) if found & set(some) else set()
        return self.sorted(tuple(found))

    def inside(self, names: Names) -> Iterator[tuple[tuple[int, ...], int]]:
        """The marginals of some attributes: places among these, and the marginal's own. Names must be ``sorted``."""
        for size in range(1, min(len(names), self.order) + 1):
            for places in combinations(range(len(names)), size):
                found = self._place.get(tuple(names[place] for place in places))
                if found is not None:
                    yield places, found

    def precision(self, view: View) -> Floats:
        """h of each marginal under a view, for each person asked; see ``View.precision``."""
        row = np.zeros(len(self.marginals))
        names = self.sorted(view.attributes)
        sizes = [self._sizes[name] for name in names]
        ways = [(view.mechanisms[name], view.budgets[name]) for name in names]
        if view.joint:
            return self._joint_precision(names, sizes, *ways[0])
        one = _precisions(ways, sizes)
        for places, marginal in self.inside(names):
            row[marginal] = math.prod(one[place] for place in places)
        return row

    def _joint_precision(
        self, names: Names, sizes: list[int], mechanism: str, epsilon: float
    ) -> Floats:
        """That of one value; by GRR and by scattered reports it depends on the number of cells only."""
        row = np.zeros(len(self.marginals))
        known: dict[int, float] = {}
        by_cells = mechanism == "grr" or mechanism in expected_error.SCATTERED
        for places, marginal in self.inside(names):
            cells = math.prod(sizes[place] for place in places)
            if cells not in known or not by_cells:
                moment = expected_error.part_moment(mechanism, epsilon, sizes, places)
                known[cells] = 1.0 / moment
            row[marginal] = known[cells]
        return row

    def worth(self, names: Names, prices: Floats) -> Floats:
        """The price of every set of some attributes, as a binary number with the last one lowest."""
        found = np.zeros(1 << len(names))
        for places, marginal in self.inside(names):
            found[sum(1 << (len(names) - 1 - place) for place in places)] = prices[marginal]
        return found


def _precisions(ways: list[tuple[str, float]], sizes: list[int]) -> list[float]:
    """1/m of each attribute; those of GRR, which a search has most of, at once."""
    if all(mechanism == "grr" for mechanism, _ in ways):
        epsilon = np.array([budget for _, budget in ways], dtype=np.float64)
        moments = GRR.closed_moment(epsilon, np.array(sizes, dtype=np.float64))[0]
        return list((1.0 / moments).tolist())
    pairs = zip(ways, sizes, strict=True)
    return [1.0 / expected_error.moment(*way, size) for way, size in pairs]


def _marginal(given: str | Sequence[str], schema: Schema, asked: Sequence[str]) -> Names:
    names = (given,) if isinstance(given, str) else tuple(given)
    refuse_unknown(names, schema.names, Parameter("marginals"))
    if not names or len(set(names)) < len(names):
        raise InvalidValue(
            Parameter("marginals"), f" has {list(names)}, expected different attributes"
        )
    for name in names:
        if name not in asked:
            raise InvalidValue(
                Parameter("marginals"),
                f" has {list(names)}, but {name!r} has one value or is not released: leave it out",
            )
    return tuple(name for name in schema.names if name in names)


def _refuse_many(number: int) -> None:
    if number > MOST:
        raise InvalidValue(
            Parameter("marginals"),
            f" are {number:,} marginals, expected at most {MOST:,}: list those that matter",
        )


def _weights(
    given: Mapping[str, float] | Sequence[float] | None, schema: Schema, marginals: list[Names]
) -> Floats:
    """A weight for each marginal: those of its attributes multiplied, or one for each that was listed."""
    if isinstance(given, Sequence):
        if len(given) != len(marginals):
            raise InvalidValue(
                Parameter("weights"),
                f" has {len(given)} numbers for {len(marginals)} marginals, expected one for each",
            )
        found = [_weight(each, Parameter("weights")) for each in given]
        return np.array(found)
    each = by_name({} if given is None else given, schema.names, "weights", _weight, default=1.0)
    own = dict(zip(schema.names, each, strict=True))
    return np.array([math.prod(own[name] for name in marginal) for marginal in marginals])


def _weight(value: float, what: Parameter) -> float:
    number = as_finite_budget(value, what)
    if number == 0.0:
        raise InvalidValue(what, " is 0, expected a number > 0: a small one matters little")
    return number
