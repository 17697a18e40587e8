"""Separate, Split and Planned: strategies that ask attributes by mechanisms of their own, alike, or as a plan says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deptriad.collection.question import Question, way_of
from deptriad.collection.strategy import Strategy, Views
from deptriad.collection.view import View
from deptriad.mechanisms import Mechanism
from deptriad.utils.arrays import as_positive_budget


@dataclass(frozen=True)
class Separate(Strategy):
    """Everybody is asked every attribute by a mechanism of its own; those without one are not asked.

    Parameters
    ----------
    schema
        The attributes.
    by
        A mechanism for each attribute that is asked, of its size: any ``Mechanism``, also one that has no name.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> from deptriad.mechanisms import GRR, OUE
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"]), dt.Attribute("smokes", ["no", "yes"])])
    >>> both = Separate(schema, {"sex": GRR(3, 1.0), "smokes": OUE(3, 2.0)})
    >>> round(both.epsilon, 6)
    3.0
    """

    by: Mapping[str, Mechanism]

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", dict(self.by))
        for name, mechanism in self.by.items():
            size = self.schema[name].size
            if mechanism.size != size:
                raise ValueError(
                    f"the mechanism of {name!r} is for {mechanism.size} values, expected {size}: {self.schema[name]!r}"
                )
        if not self.by:
            raise ValueError("no attribute has a mechanism, expected at least one")

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One for each attribute that is asked, in the order of the schema."""
        asked = [each for each in self.schema if each.name in self.by]
        return tuple(Question((each,), self.by[each.name]) for each in asked)


@dataclass(frozen=True)
class Split(Views):
    """Every attribute with an equal part of the budget (SPL).

    Parameters
    ----------
    schema
        The attributes.
    total
        What all reports of a user together may tell: ε of the whole record.
    mechanism
        A key of ``deptriad.mechanisms.mechanisms``, or "auto" for the better of GRR and OLH at that budget.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"]), dt.Attribute("smokes", ["no", "yes"])])
    >>> dt.Split(schema, total=3.0).questions[0].mechanism
    GRR(size=3, epsilon=1.5)
    """

    total: float
    mechanism: str = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", as_positive_budget(self.total, "total"))
        if not len(self.schema):
            raise ValueError("the schema has no attributes to ask for")
        for each in self.schema:
            way_of(self.mechanism, self.total, each)  # refused now, not when it is first used

    @cached_property
    def views(self) -> tuple[View, ...]:
        """One view of all attributes."""
        part = self.total / len(self.schema)
        # the parts must not add up to more
        while Fraction(part) * len(self.schema) > Fraction(self.total):
            part = math.nextafter(part, 0.0)
        ways = {each.name: way_of(self.mechanism, part, each) for each in self.schema}
        return (View(self.schema.names, dict.fromkeys(self.schema.names, part), ways),)


@dataclass(frozen=True)
class Planned(Views):
    """The views of a plan, or any others.

    Parameters
    ----------
    schema
        The attributes.
    views
        Who is asked what; their shares sum to 1.

    Examples
    --------
    >>> import deptriad as dt
    >>> from deptriad.collection.split import Planned
    >>> from deptriad.collection.view import View
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> pair, one = View.of_one_value(["a", "b"], 1.0, "grr", 0.75), View.of_one_value(["a"], 1.0, "grr", 0.25)
    >>> [question.name for question in Planned(schema, (pair, one)).questions]
    ['a & b', 'a']
    """

    views: tuple[View, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", tuple(self.views))
        if not self.views or not all(isinstance(view, View) for view in self.views):
            raise ValueError(f"views is {self.views!r}, expected at least one View")
        whole = math.fsum(view.share for view in self.views)
        if abs(whole - 1.0) > 1e-9:
            raise ValueError(f"the shares of the views sum to {whole!r}, expected 1")
        for view in self.views:
            for name in view.attributes:
                self.schema.index(name)


def as_strategy(strategy: Any) -> Strategy:
    """A strategy as it is; a plan, or anything with a schema and views, or budgets and mechanisms, by its views."""
    if isinstance(strategy, Strategy):
        return strategy
    if hasattr(strategy, "schema") and hasattr(strategy, "views"):
        return Planned(strategy.schema, tuple(strategy.views))
    if all(hasattr(strategy, name) for name in ("schema", "budgets", "mechanisms")):
        return Planned(strategy.schema, (_only_view(strategy),))
    raise ValueError(
        f"strategy is a {type(strategy).__name__}, expected a plan, Split, Sample, SampleWithFakes or Separate"
    )


def _only_view(plan: Any) -> View:
    """Everybody reports every attribute that has a budget, by itself."""
    names = tuple(name for name in plan.schema.names if plan.budgets[name] > 0.0)
    if not names:
        raise ValueError("no attribute has a budget, expected at least one")
    budgets, ways = (
        {name: each[name] for name in names} for each in (plan.budgets, plan.mechanisms)
    )
    return View(names, budgets, ways)
