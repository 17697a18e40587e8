"""Measure: a leakage measure and what is known about it. With it, what several measures share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves.lines import LARGE_BUDGET
from deptriad.tables.table import Box, Conditional, as_conditional
from deptriad.utils.arrays import Floats, as_budget, scalar_or_array

Table: TypeAlias = ArrayLike | Conditional
"""p(source | target) that is known, a row for each target value."""

Answer: TypeAlias = float | Floats
"""A float for one budget, an array for an array of them."""

Bounds = Literal["nothing", "the actual leakage of one mechanism", "the worst case"]


class Prepared(Protocol):
    """A table made ready to be asked about many budgets."""

    def leakage(self, epsilon: ArrayLike) -> Answer:
        """What the measure says at each budget."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A way to say how much releasing the source tells about the target.

    Parameters
    ----------
    name
        Its key in ``measures``.
    title
        What it is.
    bounds
        Which leakage the number is never below, rounding aside.
    mechanisms
        The ε-LDP mechanisms that statement is about.
    precompute, query, memory
        Orders, as this package implements it, for a target values, b source values, m reports of a mechanism and
        k pieces of the curve.
    takes_uncertainty
        Whether it takes a Box in place of a table.
    prepare
        ``prepare(table, ...)``: what to keep when many budgets will be asked about; without it, the table itself.
    at_once
        ``at_once(table, epsilon, ...)``: the answer where it takes less than to prepare.

    Examples
    --------
    >>> from deptriad.rivals import measures
    >>> ltm = measures["ltm"]
    >>> print(f"{ltm.title}: bounds {ltm.bounds}, a query takes {ltm.query}")
    LTM: piecewise leakage function: bounds the worst case, a query takes O(log k)
    >>> round(ltm.measure([[0.9, 0.1], [0.2, 0.8]], 1.0), 6)
    0.706275
    """

    name: str
    title: str
    bounds: Bounds
    mechanisms: str = "any"
    precompute: str = "–"
    query: str
    memory: str = "O(ab)"
    takes_uncertainty: bool = False
    prepare: Callable[..., Prepared] | None = None
    at_once: Callable[..., Answer] | None = None

    def measure(self, table: Table | Box, epsilon: ArrayLike, **options: Any) -> Answer:
        """The leakage at each budget, in nats unless the title says otherwise; the options are the measure's own."""
        if self.at_once:
            return self.at_once(table, epsilon, **options)
        assert self.prepare, f"{self.name} has neither prepare nor at_once"
        return self.prepare(table, **options).leakage(epsilon)

    @property
    def facts(self) -> dict[str, str | bool]:
        """Everything but the functions."""
        return {name: value for name, value in vars(self).items() if isinstance(value, str | bool)}


@dataclass(frozen=True)
class Fixed:
    """A number that no budget changes."""

    value: float

    def leakage(self, epsilon: ArrayLike) -> Answer:
        """That number, for each budget."""
        return scalar_or_array(np.full(as_budget(epsilon).shape, self.value))


def known_table(table: Table) -> Floats:
    """The entries of a checked table; a box is refused."""
    if isinstance(table, Box):
        raise ValueError(
            f"got {table!r}, expected a table: this measure takes no uncertainty; "
            "measures['exact'] and measures['triad'] do"
        )
    return as_conditional(table).table


def for_each_budget(answer: Callable[[float], float], epsilon: ArrayLike) -> Answer:
    """Answers for one budget at a time, put together in the shape of the budgets."""
    budget = as_budget(epsilon)
    values = np.array([answer(float(one)) for one in budget.flat], dtype=np.float64)
    return scalar_or_array(values.reshape(budget.shape))


def _focus(epsilon: Floats) -> Floats:
    """1/t = 1/(e^ε − 1), down to the smallest float."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(-epsilon) / -np.expm1(-epsilon))


def leakage_of(gap: Floats, lower: Floats, epsilon: Floats) -> Floats:
    """ln (1 + tA)/(1 + tB) of sets of source values with B = lower and A = lower + gap, to the nearest float."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = np.log1p(gap / (_focus(epsilon) + lower))
        if (epsilon > LARGE_BUDGET).any():  # 1/t nears the end of the float range, or is beyond it
            by_logarithms = np.logaddexp(0.0, np.log(gap) - np.logaddexp(np.log(lower), -epsilon))
            direct = (epsilon <= LARGE_BUDGET) | ((lower > 0.0) & np.isfinite(value))
            value = np.where(gap > 0.0, np.where(direct, value, by_logarithms), 0.0)
    return np.asarray(value)


def best_of(gap: Floats, lower: Floats, epsilon: float) -> float:
    """Largest leakage of any of the sets at one budget; one logarithm for all of them where that will do."""
    if epsilon > LARGE_BUDGET:
        return float(leakage_of(gap, lower, np.asarray(epsilon)).max(initial=0.0))
    slope = gap / (_focus(np.asarray(epsilon)) + lower)
    return float(np.log1p(slope.max(initial=0.0)))
