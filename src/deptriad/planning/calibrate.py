"""calibrate(): per-attribute budgets that keep a promise and lose the least (maths §8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.mechanisms import expected_error, mechanisms
from deptriad.planning import solver
from deptriad.planning.constraints import GUARANTEES, Guarantee, constraints
from deptriad.planning.plan import OBJECTIVES, Objective, Plan
from deptriad.tables import uncertainty
from deptriad.totals.totals import NUMBERS, Total, target_total
from deptriad.utils.arrays import as_finite_budget, as_numbers, as_whole
from deptriad.utils.by_name import by_name, for_each
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import rounded_up

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats, Integers
    from deptriad.utils.progress import Progress

PUBLIC = 20.0
"""Largest budget of an attribute without a promise of its own, unless ``upper`` says otherwise: hardly any noise."""

TINY = 1e-3
"""A lower limit of 0 means this part of splitting: without any budget there is no estimate. See ``fixed``."""


def calibrate(
    analysis: Analysis,
    total: float | Mapping[str, float],
    objective: Objective = "utility",
    guarantee: Guarantee = "certified",
    *,
    weights: Mapping[str, float] | None = None,
    fixed: Mapping[str, float] | None = None,
    lower: Mapping[str, float] | None = None,
    upper: Mapping[str, float] | None = None,
    mechanism: str | Mapping[str, str] = "auto",
    users: int = 100_000,
    progress: Progress | None = None,
) -> Plan:
    """Budgets, one for each attribute, under which no attribute's total is above its promise.

    The result satisfies ``analysis.totals(plan.budgets)[k].<guarantee> <= total`` for every k, to the last bit. No
    budget is below splitting, the smallest total over the number of attributes, unless the limits given say so.

    Parameters
    ----------
    analysis
        An analysis with its tables, so not one that was loaded from a file.
    total
        The promise: one number, or one for each attribute; ∞ for a public one, which then ends at a budget of 20.
    objective
        "utility": the least expected squared error of all one- and two-way marginals. An attribute's unbiased
        estimates have m = 1 + [p(1 − p) + (b − 1)·q(1 − q)]/(p − q)² a report, a two-way marginal the product of two
        such m (see ``deptriad.mechanisms.expected_error``), and what is minimised is
        Σ w_i·m_i + Σ_{i<j} w_i·w_j·m_i·m_j. The true frequencies enter the errors by a constant only, so they
        are not used.
        "even": the largest smallest budget (ε_i/w_i, with weights). If after that some can be raised at no cost to the
        others, they are, by utility.
        "paper": the least Σ w_k·(total of k − its promise)² over all finite promises.
    guarantee
        Which total is held below the promise: "certified", a bound; or "paired" or "pairwise", which are estimates
        and bounds only if the other answers are independent given the target.
    weights
        How much each attribute matters, 1 where it is not said.
    fixed
        Budgets that are given; 0 for an attribute that is not released, as those of one value never are.
    lower, upper
        Limits of the budgets, by attribute.
    mechanism
        What reports an attribute, a key of ``deptriad.mechanisms.mechanisms``, one for all or one for some; "auto" is
        the one of GRR and OLH with the smaller error at its budget.
    users
        How many will answer, for the errors that the plan states.
    progress
        Called with the number of steps done, and None.

    Raises
    ------
    ValueError
        If the limits leave no budgets that keep the promise; it names the attribute whose total breaks it and the
        smallest total that would work.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad.planning.calibrate import calibrate
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "c": [0, 0, 1, 0] * 20})
    >>> analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    >>> plan = calibrate(analysis, total=3.0)
    >>> all(each.certified <= 3.0 for each in analysis.totals(plan.budgets).values())
    True
    >>> min(plan.budgets.values()) >= 1.0
    True
    """
    wishes = _Wishes.checked(
        analysis, total, objective, guarantee, weights, fixed, lower, upper, mechanism
    )
    as_whole(users, "users", 1)
    steps = 0

    def watch() -> None:
        nonlocal steps
        steps += 1
        if progress:
            progress(steps, None)

    epsilon, totals = _Search(wishes, watch).found()
    budgets = dict(zip(analysis.names, epsilon.tolist(), strict=True))
    known = None if analysis.uncertainty is None else uncertainty.as_text(analysis.uncertainty)
    return Plan(
        schema=analysis.schema,
        budgets=budgets,
        mechanisms={
            name: expected_error.choose(wishes.mechanisms[place], budgets[name], size)
            for place, (name, size) in enumerate(
                zip(analysis.names, analysis.schema.sizes, strict=True)
            )
        },
        total=dict(zip(analysis.names, wishes.limits.tolist(), strict=True)),
        guarantee=guarantee,
        objective=objective,
        totals={
            each.target: {name: float(getattr(each, name)) for name in NUMBERS} for each in totals
        },
        uncertainty=known,
        users=users,
        facts=dict(analysis.facts),
    )


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
    _promise(total, names)
    _weights(weights, names)
    _agree(
        names,
        _by_name(lower, names, "lower"),
        _by_name(upper, names, "upper"),
        _by_name(fixed, names, "fixed"),
    )


def true_totals(
    analysis: Analysis, epsilon: Floats, targets: Iterable[int] | None = None
) -> list[Total]:
    """What ``analysis.totals`` says about all targets, or about some."""
    names, budgets = analysis.names, epsilon.tolist()
    places = range(len(names)) if targets is None else targets
    return [
        target_total(
            {source: analysis.tables[source, names[k]] for source in names if source != names[k]},
            {source: budgets[i] for i, source in enumerate(names) if i != k},
            budgets[k],
        )
        for k in places
    ]


# --- what is wished for ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wishes:
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
    ) -> _Wishes:
        if not isinstance(analysis, Analysis):
            raise ValueError(
                f"analysis is a {type(analysis).__name__}, expected an Analysis: make one with analyze"
            )
        names = analysis.names
        analysis.table(names[0], names[1])  # says so where there are no tables
        for value, allowed, what in (
            (objective, OBJECTIVES, "objective"),
            (guarantee, GUARANTEES, "guarantee"),
        ):
            if value not in allowed:
                raise ValueError(f"{what} is {value!r}, expected one of {', '.join(allowed)}")
        bottom, top = _by_name(lower, names, "lower"), _by_name(upper, names, "upper")
        given = _by_name(fixed, names, "fixed")
        # an attribute of one value has nothing to tell, and so needs no budget
        idle = np.array(analysis.schema.sizes) == 1
        given = np.where(idle & np.isnan(given), 0.0, given)
        _agree(names, np.where(idle, np.nan, bottom), top, given)
        told = ~np.isnan(given)
        return cls(
            analysis,
            _promise(total, names),
            objective,
            guarantee,
            _weights(weights, names),
            np.where(told, given, bottom),
            np.where(told, given, top),
            _mechanisms(mechanism, names),
        )

    def floor(self, limits: Floats) -> Floats:
        """The least budget of each attribute: its limit, or splitting."""
        splitting = _splitting(limits)
        least = np.where(self.lower == 0.0, TINY * splitting, self.lower)
        least = np.where(np.isnan(least), splitting, least)
        return np.where(np.isnan(self.upper), least, np.minimum(least, self.upper))

    def ceiling(self, floor: Floats) -> Floats:
        """The largest budget of each attribute: no total is below its own budget."""
        own = np.where(np.isfinite(self.limits), self.limits, np.inf)
        most = np.where(np.isnan(self.upper), np.minimum(own, PUBLIC), np.minimum(self.upper, own))
        most = np.where(np.isnan(self.upper) & np.isfinite(own), own, most)
        return np.maximum(most, floor)

    def true(self, epsilon: Floats, targets: Iterable[int] | None = None) -> Floats:
        """The totals that the promise is about."""
        totals = true_totals(self.analysis, epsilon, targets)
        return np.array([float(getattr(each, self.guarantee)) for each in totals])

    def feasible_floor(self) -> Floats:
        """The least budgets, if they keep the promise; otherwise an error that says what would work."""
        floor = self.floor(self.limits)
        if sum_up(floor) <= self.limits.min():
            return floor  # no total is above the sum of all budgets
        found = self.true(floor)
        if (found <= self.limits).all():
            return floor
        broken = np.flatnonzero(found > self.limits)
        worst = int(broken[np.argmax(found[broken] / self.limits[broken])])
        name, limit = self.analysis.names[worst], float(self.limits[worst])
        raise ValueError(
            f"no budgets keep the {self.guarantee} total of {name!r} at or below {limit:g}: the least that fixed, "
            f"lower and splitting allow make it {rounded_up(float(found[worst]), 4)}; {self._what_works(broken)}"
        )

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


def _by_name(given: Mapping[str, float] | None, names: tuple[str, ...], what: str) -> Floats:
    """One number ≥ 0 for each attribute, NaN where none is given."""
    limits = {} if given is None else given
    return np.array(by_name(limits, names, what, as_finite_budget, default=math.nan))


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


def _promise(total: float | Mapping[str, float], names: tuple[str, ...]) -> Floats:
    limits = np.array(for_each(total, names, "total", _positive, hint="; inf for a public one"))
    if np.isinf(limits).all():
        raise ValueError("every total is infinite, expected a finite promise for some attribute")
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
    if value not in ("auto", *mechanisms):
        raise InvalidValue(what, f" is {value!r}, expected one of auto, {', '.join(mechanisms)}")
    return value


def _splitting(limits: Floats) -> float:
    """The smallest total over the number of attributes, so that the sum is not above it in floating point either."""
    smallest = float(limits.min())
    budget = smallest / limits.size
    while sum_up([budget] * limits.size) > smallest:
        budget = math.nextafter(budget, 0.0)
    return budget


# --- the search -----------------------------------------------------------------------------------------------------

START = 1.25
"""Times splitting from which the search sets out."""

FEW = 4
"""Attributes up to which every start is followed to its end."""

TRIES = 3
"""Times that budgets are corrected by how far the totals were from what the solver thought."""


class _Search:
    """From wishes to budgets."""

    def __init__(self, wishes: _Wishes, watch: Callable[[], None]) -> None:
        self.wishes, self.watch = wishes, watch
        floor = wishes.feasible_floor()
        ceiling = wishes.ceiling(floor)
        self.problem = solver.Problem(
            constraints(wishes.analysis, wishes.guarantee, ceiling > 0.0),
            wishes.limits,
            floor,
            ceiling,
            expected_error.Utility(wishes.analysis.schema.sizes, wishes.mechanisms, wishes.weights),
            wishes.weights,
        )

    def found(self) -> tuple[Floats, list[Total]]:
        """Budgets and their totals, none above its promise."""
        problem, limits = self.problem, self.wishes.limits
        aims = limits * (1.0 - solver.MARGIN)
        epsilon = problem.floor
        kept: tuple[Floats, list[Total]] | None = None
        for attempt in range(TRIES):
            epsilon = self._best(aims, epsilon if attempt else None)
            totals = true_totals(self.wishes.analysis, epsilon)
            self.watch()
            true = np.array([float(getattr(each, self.wishes.guarantee)) for each in totals])
            if (true <= limits).all():
                kept = epsilon, totals
            problem.constraints.refresh(epsilon)
            off = true - problem.constraints.totals(epsilon)
            if kept is not None and np.max(np.abs(off) / limits) <= 10 * solver.MARGIN:
                break
            aims = (limits - off) * (1.0 - solver.MARGIN)
        return kept if kept is not None else self._shrunk(epsilon)

    def _shrunk(self, epsilon: Floats) -> tuple[Floats, list[Total]]:
        """Towards the least budgets, floor + s·(ε − floor), until the promise is kept (maths §8)."""
        floor, limits = self.problem.floor, self.wishes.limits
        for power in range(9, -1, -1):
            some = floor + (1.0 - 10.0**-power) * (epsilon - floor)
            totals = true_totals(self.wishes.analysis, some)
            self.watch()
            if all(
                getattr(each, self.wishes.guarantee) <= limit
                for each, limit in zip(totals, limits, strict=True)
            ):
                return some, totals
        return floor, true_totals(self.wishes.analysis, floor)

    def _best(self, aims: Floats, start: Floats | None) -> Floats:
        """The best budgets for these limits, from a start or from several."""
        problem = self.problem
        if not problem.free.any():
            return problem.floor
        if self.wishes.objective == "even":
            return self._even(aims)
        objective = problem.error if self.wishes.objective == "utility" else problem.loss
        if start is not None:
            return solver.descend(problem, objective, aims, start, watch=self.watch)
        return self._of_many(objective, aims)

    def _of_many(self, objective: solver.Smooth, aims: Floats) -> Floats:
        problem, free = self.problem, self.problem.free
        start = np.minimum(START * problem.floor, problem.ceiling)
        best = solver.descend(problem, objective, aims, start, watch=self.watch)
        for shape in self._shapes():
            problem.constraints.refresh(best)
            value = float(objective(np.log(best[free]))[0])
            start = solver.level(problem, aims, shape, self.watch, rounds=0)
            moved = solver.held(problem, objective, aims, start)
            if free.size <= FEW or objective(np.log(moved[free]))[0] < value - 1e-6:
                moved = solver.descend(problem, objective, aims, moved, watch=self.watch)
                if self._better(objective, aims, moved, value):
                    best = moved
        return best

    def _better(
        self, objective: solver.Smooth, aims: Floats, epsilon: Floats, value: float
    ) -> bool:
        problem = self.problem
        problem.constraints.refresh(epsilon)
        over = problem.excess(problem.constraints.totals(epsilon), aims)
        return over <= solver.MARGIN and float(objective(np.log(epsilon[problem.free]))[0]) < value

    def _shapes(self) -> list[Floats]:
        """More starts: budgets by the number of values; and, of a few attributes, most for one of them."""
        size = self.problem.floor.size
        shapes = [np.sqrt(np.array(self.wishes.analysis.schema.sizes, dtype=np.float64))]
        if size <= FEW:
            shapes += [1.0 + 9.0 * row for row in np.eye(size)]
        return shapes

    def _even(self, aims: Floats) -> Floats:
        """The largest smallest ε_i/w_i; then those that no tight total depends on are raised, by utility."""
        problem = self.problem
        weights = self.wishes.weights
        epsilon = solver.level(problem, aims, weights / weights.mean(), self.watch)
        rows = problem.constraints.rows(epsilon)
        tight = rows.value >= aims[rows.target] * (1.0 - 1e-6)
        loose = problem.free & (np.max(rows.slope[tight], axis=0, initial=0.0) < 1e-9)
        if not loose.any():
            return epsilon
        rest = solver.Problem(
            problem.constraints,
            problem.limits,
            epsilon,
            np.where(loose, problem.ceiling, epsilon),
            problem.utility,
            problem.weights,
        )
        if not rest.free.any():
            return epsilon
        return solver.descend(rest, rest.error, aims, epsilon, watch=self.watch)
