"""View: what one person is asked, how it is reported, and how many are asked so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deptriad.data.schema import Schema
from deptriad.mechanisms import expected_error, mechanisms
from deptriad.mechanisms.chance import word_source
from deptriad.utils.arrays import as_positive_budget
from deptriad.utils.errors import InvalidValue, refuse_other
from deptriad.utils.rounding import sum_up


@dataclass(frozen=True)
class View:
    """Attributes that are asked of one person, with their budgets and mechanisms, and the share of people asked so.

    Who is asked which view is drawn whatever the record is, so the view itself tells nothing.

    Parameters
    ----------
    attributes
        Names of the attributes, each once.
    budgets
        ε of each attribute. Of a joint view the one budget stands at each attribute.
    mechanisms
        What reports each attribute, by its key in ``deptriad.mechanisms.mechanisms``; likewise of a joint view.
    joint
        Whether all attributes are reported as one value; otherwise each is reported separately.
    share
        The chance that a person is asked this view.

    Examples
    --------
    >>> from deptriad.collection.view import View
    >>> view = View(("sex", "age"), {"sex": 1.0, "age": 1.0}, {"sex": "grr", "age": "grr"}, joint=True, share=0.5)
    >>> view.epsilon
    1.0
    """

    attributes: tuple[str, ...]
    budgets: Mapping[str, float]
    mechanisms: Mapping[str, str]
    joint: bool = False
    share: float = 1.0

    def __post_init__(self) -> None:
        names = tuple(self.attributes)
        if not names or len(set(names)) < len(names):
            raise InvalidValue(
                f"the attributes of a view are {list(names)}, expected at least one, and each once"
            )
        object.__setattr__(self, "attributes", names)
        for what in ("budgets", "mechanisms"):
            given = getattr(self, what)
            if not isinstance(given, Mapping) or set(given) != set(names):
                raise InvalidValue(
                    f"the {what} of a view of {self.called} are {given!r}, expected one for each attribute"
                )
            object.__setattr__(self, what, {name: given[name] for name in names})
        for name in names:
            as_positive_budget(self.budgets[name], f"the budget of {name!r}")
            refuse_other(self.mechanisms[name], mechanisms, f"the mechanism of {name!r}")
        if not isinstance(self.joint, bool):
            raise InvalidValue(f"joint is {self.joint!r}, expected True or False")
        if self.joint:
            self._check_joint()
        if not isinstance(self.share, int | float) or not 0.0 < self.share <= 1.0:
            raise InvalidValue(
                f"the share of a view is {self.share!r}, expected a number above 0 and at most 1"
            )

    def _check_joint(self) -> None:
        if len(self.attributes) == 1:
            object.__setattr__(self, "joint", False)  # one attribute is one value either way
        for what in (self.budgets, self.mechanisms):
            if len(set(what.values())) > 1:
                raise InvalidValue(
                    f"a joint view of {self.called} has {dict(what)}, expected the same at each attribute: it is one "
                    "report"
                )

    def __hash__(self) -> int:
        return hash((self.attributes, tuple(self.budgets.values()), self.joint, self.share))

    @classmethod
    def of_one_value(
        cls, names: Sequence[str], epsilon: float, mechanism: str, share: float = 1.0
    ) -> View:
        """A view whose attributes are reported as one value; of one attribute, just that."""
        budgets, ways = dict.fromkeys(names, epsilon), dict.fromkeys(names, mechanism)
        return cls(tuple(names), budgets, ways, len(names) > 1, share)

    @property
    def called(self) -> str:
        """Its attributes in one string: "sex & age" as one value, "sex, age" each by itself."""
        return (" & " if self.joint else ", ").join(self.attributes)

    @property
    def epsilon(self) -> float:
        """What the whole report may tell about the whole record: the one budget, or the sum of all, rounded up."""
        budgets = self.budgets.values()
        return float(next(iter(budgets))) if self.joint else sum_up(budgets)

    def precision(self, names: Sequence[str], schema: Schema) -> float:
        """1/m of a marginal, for each person who is asked: n of them estimate it with a summed variance of m/n.

        That is an upper bound that leaves out Σf² of the true frequencies (maths §7, §11); 0 where not all of the
        attributes are asked.
        """
        if not set(names) <= set(self.attributes):
            return 0.0
        if not self.joint:
            return 1.0 / math.prod(
                expected_error.moment(self.mechanisms[name], self.budgets[name], schema[name].size)
                for name in names
            )
        kept = [place for place, name in enumerate(self.attributes) if name in set(names)]
        sizes = tuple(schema[name].size for name in self.attributes)
        first = self.attributes[0]
        return 1.0 / expected_error.part_moment(
            self.mechanisms[first], self.budgets[first], sizes, kept
        )


# --- who is asked which view ----------------------------------------------------------------------------------------

WHOLE = 1 << 32
"""Shares are whole numbers of so many parts."""


def parts_of(shares: Sequence[float]) -> tuple[int, ...]:
    """Shares as whole numbers that sum to 2^32: rounded down, and what is left to the largest remainders.

    Of equal remainders the first ones get it. All arithmetic is exact, so that every client finds the same numbers.

    Examples
    --------
    >>> from deptriad.collection.view import parts_of
    >>> parts_of([0.5, 0.25, 0.25])
    (2147483648, 1073741824, 1073741824)
    >>> parts_of([1 / 3, 1 / 3, 1 / 3])
    (1431655766, 1431655765, 1431655765)
    """
    exact = [Fraction(share) for share in shares]
    scaled = [share * WHOLE / sum(exact) for share in exact]
    parts = [math.floor(each) for each in scaled]
    by_remainder = sorted(range(len(parts)), key=lambda place: parts[place] - scaled[place])
    for place in by_remainder[: WHOLE - sum(parts)]:
        parts[place] += 1
    return tuple(parts)


def drawn(
    count: int, parts: Sequence[int], rng: np.random.Generator | None = None
) -> NDArray[np.intp]:
    """Which view each of so many people is asked: one random word a person, none where there is one view only.

    The upper half of the word is below 2^32; the view is the first one whose parts, added to those of all views before
    it, are more than that.
    """
    if len(parts) == 1:
        return np.zeros(count, dtype=np.intp)
    words = word_source(rng)(count) >> np.uint64(32)
    return np.searchsorted(np.cumsum(parts, dtype=np.uint64), words, side="right")
