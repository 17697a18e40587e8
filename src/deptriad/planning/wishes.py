"""What is wished for in a calibration: the promise, weights and limits, checked, and the least budgets they allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.mechanisms import mechanisms
from deptriad.planning.plan import OBJECTIVES, Guarantee, Objective
from deptriad.planning.plan_words import PROMISES
from deptriad.totals.totals import Total
from deptriad.utils.arrays import Floats, Integers, as_finite_budget, as_numbers
from deptriad.utils.by_name import by_name, for_each
from deptriad.utils.errors import InvalidValue, Parameter, refuse_other
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import rounded_down, rounded_up

PUBLIC = 20.0
"""Largest budget of an attribute without a promise of its own, unless ``upper`` says otherwise: hardly any noise."""

TINY = 1e-3
"""A lower limit of 0 means this part of splitting: without any budget there is no estimate. See ``fixed``."""


LEAST = 1e-6
"""Smallest promise: reports of a million million people could say nothing under it."""

MOST = 700.0
"""The largest finite promise; e^700 is about the largest number there is."""


def refuse_wishes(
    names: tuple[str, ...],
    total: float | Mapping[str, float],
    weights: Mapping[str, float] | None = None,
    fixed: Mapping[str, float] | None = None,
    lower: Mapping[str, float] | None = None,
    upper: Mapping[str, float] | None = None,
) -> None:
    """Say what is wrong with wishes as far as names and numbers tell, before there is an analysis.

    Examples
    --------
    >>> refuse_wishes(("sex", "age"), 3.0, fixed={"aeg": 1.0})
    Traceback (most recent call last):
        ...
    deptriad.utils.errors.InvalidValue: fixed names no attribute 'aeg': did you mean 'age'? There are 'sex', 'age'
    """
    as_promises(total, names)
    _weights(weights, names)
    _agree(names, *_limits(names, lower=lower, upper=upper, fixed=fixed))


@dataclass(frozen=True)
class Wishes:
    """The promise and all limits, checked; an entry for each attribute."""

    analysis: Analysis
    limits: Floats
    objective: Objective
    guarantee: Guarantee
    weights: Floats
    lower: Floats  # NaN where splitting is the limit
    upper: Floats  # NaN where there is none but the promise itself
    mechanisms: list[str]

    @classmethod
    def checked(
        cls,
        analysis: Analysis,
        total: float | Mapping[str, float],
        objective: Objective,
        guarantee: Guarantee,
        weights: Mapping[str, float] | None,
        fixed: Mapping[str, float] | None,
        lower: Mapping[str, float] | None,
        upper: Mapping[str, float] | None,
        mechanism: str | Mapping[str, str],
    ) -> Wishes:
        """From what a caller of ``calibrate`` gives."""
        if not isinstance(analysis, Analysis):
            raise ValueError(
                f"analysis is a {type(analysis).__name__}, expected an Analysis: make one with analyze"
            )
        names = analysis.names
        analysis.table(names[0], names[1])  # says so where there are no tables
        refuse_other(objective, OBJECTIVES, "objective")
        if guarantee == "joint":
            raise InvalidValue(
                *(
                    Parameter("guarantee"),
                    " is 'joint', which is worked out for views of few attributes: say ",
                ),
                *("'certified', or ", Parameter("views", "'best'")),
            )
        refuse_other(guarantee, PROMISES, "guarantee")
        bottom, top, given = _limits(names, lower=lower, upper=upper, fixed=fixed)
        # an attribute of one value has nothing to tell, and so needs no budget
        idle = np.array(analysis.schema.sizes) == 1
        given = np.where(idle & np.isnan(given), 0.0, given)
        _agree(names, np.where(idle, np.nan, bottom), top, given)
        told = ~np.isnan(given)
        return cls(
            analysis,
            as_promises(total, names),
            objective,
            guarantee,
            _weights(weights, names),
            np.where(told, given, bottom),
            np.where(told, given, top),
            _mechanisms(mechanism, names),
        )

    def floor(self, limits: Floats) -> Floats:
        """The least budget of each attribute: its limit, or splitting."""
        # what is not released takes no part in splitting; any attribute may still have the smallest promise
        splitting = _splitting(float(limits.min()), max(int((self.upper != 0.0).sum()), 1))
        least = np.where(self.lower == 0.0, TINY * splitting, self.lower)
        return np.fmin(np.where(np.isnan(least), splitting, least), self.upper)

    def ceiling(self, floor: Floats) -> Floats:
        """The largest budget of each attribute: no total is below its own budget."""
        most = np.fmin(self.upper, self.limits)
        return np.maximum(np.where(np.isinf(most), PUBLIC, most), floor)

    def true(self, epsilon: Floats, targets: Iterable[int] | None = None) -> Floats:
        """The totals that the promise is about."""
        return self.guaranteed(true_totals(self.analysis, epsilon, targets))

    def guaranteed(self, totals: Iterable[Total]) -> Floats:
        """Of each total the number that the promise is about."""
        return np.array([getattr(each, self.guarantee) for each in totals])

    def feasible_floor(self) -> Floats:
        """The least budgets, if they keep the promise; otherwise an error that says what would work."""
        floor = self.floor(self.limits)
        if sum_up(floor) <= self.limits.min():
            return floor  # no total is above the sum of all budgets
        found = self.true(floor)
        broken = np.flatnonzero(found > self.limits)
        if not broken.size:
            return floor
        worst = int(broken[np.argmax(found[broken] / self.limits[broken])])
        name, limit = self.analysis.names[worst], float(self.limits[worst])
        raise InvalidValue(
            f"no budgets keep the {self.guarantee} total of {name!r} at or below {limit:g}: the least that fixed, "
            f"lower and splitting allow make it {rounded_up(float(found[worst]), 4)}; ",
            *self._what_binds(),
            self._what_works(broken),
        )

    def _what_binds(self) -> list[str | Parameter]:
        """The limits that keep the promise from being kept, and how far one has to be relaxed where that is enough."""
        given = np.flatnonzero(self.lower > 0.0)
        enough = [(int(place), most) for place in given if (most := self._largest(int(place)))]
        if not enough:
            if given.size < 2:
                return []
            largest = int(given[np.argmax(self.lower[given])])
            said = f", {self.lower[largest]:g}; "
            return ["no one limit is to blame, the largest is ", self._limit(largest), said]
        place, most = max(enough, key=lambda each: each[1] / self.lower[each[0]])
        would = f", {self.lower[place]:g}, where {rounded_down(most, 4)} would do; "
        return ["the limit that binds is ", self._limit(place), would]

    def _limit(self, place: int) -> Parameter:
        fixed = self.lower[place] == self.upper[place]
        return Parameter("fixed" if fixed else "lower", key=self.analysis.names[place])

    def _largest(self, place: int) -> float:
        """The largest value of one limit with which the least budgets keep the promise; 0 if none does."""

        def works(value: float) -> bool:
            lower, upper = self.lower.copy(), self.upper.copy()
            lower[place] = value
            upper[place] = value if self.upper[place] == self.lower[place] else upper[place]
            asked = replace(self, lower=lower, upper=upper)
            return bool((asked.true(asked.floor(self.limits)) <= self.limits).all())

        low, high = 1e-4 * float(self.lower[place]), float(self.lower[place])
        if not works(low):
            return 0.0
        while high - low > 1e-3 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if works(middle) else (low, middle)
        return low

    def _what_works(self, broken: Integers) -> str:
        """The smallest totals that would work: by bisection, since the least budgets may rise with the totals."""
        names = self.analysis.names
        alike = len(np.unique(self.limits)) == 1
        if alike:  # one number for all is raised for all
            broken = np.arange(len(names))
        while True:
            least = self._smallest(broken)
            raised = self.limits.copy()
            raised[broken] = np.maximum(raised[broken], least)
            found = self.true(self.floor(raised))
            more = np.flatnonzero(found > raised)
            if not more.size:
                break
            broken = np.union1d(broken, more)
        text = rounded_up(least, 4)
        if alike:
            return f"the smallest total that works is {text}"
        which = ", ".join(repr(names[k]) for k in broken[:10])
        which += ", …" if len(broken) > 10 else ""
        return f"the smallest total that works is {text} (for {which}; raise it, or relax a limit)"

    def _smallest(self, broken: Integers) -> float:
        def works(total: float) -> bool:
            limits = self.limits.copy()
            limits[broken] = np.maximum(limits[broken], total)
            return bool((self.true(self.floor(limits), broken) <= limits[broken]).all())

        low = float(self.limits[broken].min())
        high = 2.0 * low
        while not works(high):
            low, high = high, 2.0 * high
        while high - low > 1e-5 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if works(middle) else (middle, high)
        return high


def _limits(names: tuple[str, ...], **given: Mapping[str, float] | None) -> list[Floats]:
    """For each kind of limit one number ≥ 0 for each attribute, NaN where none is given."""
    told = {what: {} if limits is None else limits for what, limits in given.items()}
    return [
        np.array(by_name(limits, names, what, as_finite_budget, default=math.nan))
        for what, limits in told.items()
    ]


def _agree(names: tuple[str, ...], lower: Floats, upper: Floats, fixed: Floats) -> None:
    for place, name in enumerate(names):
        low, high, given = lower[place], upper[place], fixed[place]
        if low > high:
            both = (Parameter("lower", key=name), f" is {low:g} and ", Parameter("upper", key=name))
            raise InvalidValue(*both, f" is {high:g}, expected lower ≤ upper")
        if given < low or given > high:
            raise InvalidValue(
                Parameter("fixed", key=name),
                f" is {given:g}, outside its own limits lower or upper: drop one of them",
            )
        if high == 0.0 and math.isnan(given):
            none = Parameter("fixed", "0", key=name)
            raise InvalidValue(
                Parameter("upper", key=name), " is 0: say ", none, " if it is not released"
            )


def as_promises(total: float | Mapping[str, float], names: tuple[str, ...]) -> Floats:
    """The promise for each attribute, checked."""
    limits = np.array(for_each(total, names, "total", _positive, hint="; inf for a public one"))
    if np.isinf(limits).all():
        raise ValueError("every total is infinite, expected a finite promise for some attribute")
    if (limits < LEAST).any():
        raise InvalidValue(
            *(Parameter("total"), f" is {limits.min():g}, expected at least {LEAST:g}: "),
            "below that no number of people is enough to learn anything from their reports",
        )
    if (limits[np.isfinite(limits)] > MOST).any():
        raise InvalidValue(
            *(Parameter("total"), f" is {limits[np.isfinite(limits)].max():g}, expected at most "),
            f"{MOST:g}, which promises nothing any more; inf for a public attribute",
        )
    return limits


def _positive(value: float, what: Parameter) -> float:
    number = as_numbers(value, what)
    if number.ndim or not number > 0.0:
        raise InvalidValue(what, f" is {value!r}, expected one number > 0, such as 3")
    return float(number)


def _weights(given: Mapping[str, float] | None, names: tuple[str, ...]) -> Floats:
    return np.array(by_name({} if given is None else given, names, "weights", _weight, default=1.0))


def _weight(value: float, what: Parameter) -> float:
    number = as_finite_budget(value, what)
    if number == 0.0:
        raise InvalidValue(what, " is 0, expected a number > 0: a small one matters little")
    return number


def _mechanisms(given: str | Mapping[str, str], names: tuple[str, ...]) -> list[str]:
    return for_each(given, names, "mechanism", _known_mechanism, default="auto")


def _known_mechanism(value: str, what: Parameter) -> str:
    refuse_other(value, ("auto", *mechanisms), what)
    return value


def _splitting(smallest: float, number: int) -> float:
    """The smallest total over the number of releases, so that the sum is not above it in floating point either."""
    budget = smallest / number
    while sum_up([budget] * number) > smallest:
        budget = math.nextafter(budget, 0.0)
    return budget


def true_totals(
    analysis: Analysis, epsilon: Floats, targets: Iterable[int] | None = None
) -> list[Total]:
    """What ``analysis.totals`` says about all targets, or about some."""
    budgets = dict(zip(analysis.names, epsilon.tolist(), strict=True))
    places = range(epsilon.size) if targets is None else targets
    return [analysis.total(analysis.names[place], budgets) for place in places]
