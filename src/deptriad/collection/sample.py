"""Sample: one question to each user, with the full budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from deptriad.collection.question import way_of
from deptriad.collection.strategy import Views
from deptriad.collection.view import View
from deptriad.utils.arrays import as_positive_budget, as_whole


@dataclass(frozen=True)
class Sample(Views):
    """One question to each user, drawn evenly, with the full budget: an attribute, or k of them as one value (RS).

    Parameters
    ----------
    schema, total, mechanism
        As for ``Split``; the mechanism reports joint values where k is above 1.
    k
        Attributes that are asked together; there are C(d, k) views. Marginals of up to k attributes can be estimated.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"]) for name in ("a", "b", "c")])
    >>> [view.called for view in dt.Sample(schema, 1.0, k=2).views]
    ['a & b', 'a & c', 'b & c']
    """

    total: float
    mechanism: str = "auto"
    k: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", as_positive_budget(self.total, "total"))
        if as_whole(self.k, "k", 1) > len(self.schema):
            raise ValueError(f"k is {self.k}, expected at most the {len(self.schema)} attributes")

    @cached_property
    def views(self) -> tuple[View, ...]:
        """One for every k attributes."""
        every = list(combinations(self.schema, self.k))
        return tuple(
            View.of_one_value(
                [each.name for each in some],
                self.total,
                way_of(self.mechanism, self.total, *some),
                1.0 / len(every),
            )
            for some in every
        )
