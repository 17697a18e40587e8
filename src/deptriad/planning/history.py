"""Asked: what a person was asked at one time, and which reports of theirs that may have left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from deptriad.collection.view import View
from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema
from deptriad.utils.arrays import as_positive_budget, as_whole
from deptriad.utils.errors import InvalidValue
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import printable

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

ANY = "any"
"""In place of a mechanism: whatever it was, of this ε."""


class Report(NamedTuple):
    """One report: of one attribute, or of several as one value; of none where it is not known what it is about."""

    names: tuple[str, ...]
    epsilon: float
    mechanism: str
    time: int


Reports = tuple[Report, ...]


@dataclass(frozen=True, repr=False)
class Asked:
    """What a person was asked at one time: an entry of the history of ``Plan.spent``.

    Parameters
    ----------
    what
        A plan; a view; or budgets by name, for attributes that were reported by themselves, each by any mechanism of
        that ε.
    time
        The number of the collection. Entries of the same time are about the same answers.
    view
        The number of the view that was answered, from 1 on, as it stands in the person's report of a plan. Without it
        each view of the plan may have been the one.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.Asked({"income": 0.5}, time=3)
    Asked(income at ε = 0.5, time 3)
    """

    what: Plan | View | Mapping[str, float]
    time: int = 1
    view: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", as_whole(self.time, "time", 0))
        if isinstance(self.what, Mapping):
            self._check_budgets(self.what)
        elif self._plan is None and not isinstance(self.what, View):
            raise ValueError(
                f"what was asked is a {type(self.what).__name__}, expected a Plan, a View, or a mapping from names to "
                "budgets, such as {'income': 0.5}"
            )
        if self.view is not None:
            self._check_view(self.view)

    @property
    def _plan(self) -> Plan | None:
        """The plan, if one was asked."""
        return self.what if _is_plan(self.what) else None  # type: ignore[return-value]

    def _check_budgets(self, budgets: Mapping[str, float]) -> None:
        if not budgets:
            raise ValueError("what was asked is an empty mapping, expected a budget by name")
        checked = {
            str(name): as_positive_budget(each, f"the budget of {name!r}")
            for name, each in budgets.items()
        }
        object.__setattr__(self, "what", checked)

    def _check_view(self, view: int) -> None:
        number = as_whole(view, "view", 1)
        if self._plan is None:
            raise InvalidValue(f"view is {view}, expected None: no plan was asked")
        if number > len(self._plan.views):
            raise InvalidValue(
                f"view is {view}, expected the number of a view of the plan, 1 to {len(self._plan.views)}"
            )

    def __repr__(self) -> str:
        if self._plan is not None:
            views = len(self._plan.views)
            which = f"view {self.view} of " if self.view else ""
            said = f"{which}a plan of {views} view{'s' * (views > 1)}"
        elif isinstance(self.what, View):
            said = f"{printable(self.what.called)} at ε = {self.what.epsilon:g}"
        else:
            budgets: Any = self.what
            said = ", ".join(f"{printable(name)} at ε = {each:g}" for name, each in budgets.items())
        return f"Asked({said}, time {self.time})"

    def choices(self, schema: Schema) -> tuple[Reports, ...]:
        """The reports of each view that the person may have been asked.

        An attribute that is not in the schema, or has other values in the plan's own, is a report of nothing known.
        """
        if isinstance(self.what, Mapping):
            return (tuple(self._report((n,), e, ANY, schema) for n, e in self.what.items()),)
        views = (self.what,) if isinstance(self.what, View) else self.what.views
        if self.view is not None:
            views = (views[self.view - 1],)
        return tuple(dict.fromkeys(self._reports(view, schema) for view in views))

    def _reports(self, view: View, schema: Schema) -> Reports:
        if view.joint:
            way = view.mechanisms[view.attributes[0]]
            return (self._report(view.attributes, view.epsilon, way, schema),)
        return tuple(
            self._report((name,), view.budgets[name], view.mechanisms[name], schema)
            for name in view.attributes
        )

    def _report(
        self, names: Sequence[str], epsilon: float, mechanism: str, schema: Schema
    ) -> Report:
        own = schema if self._plan is None else self._plan.schema
        known = all(
            name in schema.names and schema[name].values == own[name].values for name in names
        )
        return Report(tuple(names) if known else (), float(epsilon), mechanism, self.time)

    def promised(self, attribute: Attribute) -> float | None:
        """What the plan's own file says that it tells about an attribute at most, where that is a bound."""
        plan = self._plan
        if plan is None or plan.guarantee not in ("joint", "certified"):
            return None
        name = attribute.name
        if name not in plan.names or plan.schema[name].values != attribute.values:
            return None
        return float(plan.totals[name][plan.guarantee])


def _is_plan(what: object) -> bool:
    return all(hasattr(what, name) for name in ("schema", "views", "guarantee", "totals"))


def as_history(history: Any) -> tuple[Asked, ...]:
    """Entries, from a list of them, or of plans, views and budgets that were all asked at one time."""
    one = isinstance(history, str | View | Asked | Mapping) or _is_plan(history)
    if one or not isinstance(history, Iterable):
        raise ValueError(
            f"history is a {type(history).__name__}, expected a list of what was asked"
        )
    return tuple(each if isinstance(each, Asked) else Asked(each) for each in history)


def plain(reports: Iterable[Report]) -> float:
    """The sum of all ε, rounded up."""
    return sum_up(report.epsilon for report in reports)


# --- which views were answered --------------------------------------------------------------------------------------


class World(NamedTuple):
    """The views that may have been answered, and ε of entries that are counted in full, whatever they were."""

    views: tuple[Reports, ...]
    rest: float

    @property
    def reports(self) -> Reports:
        """Those of all views."""
        return tuple(report for view in self.views for report in view)

    @property
    def plain(self) -> float:
        """The sum of all ε."""
        return sum_up([self.rest, *(report.epsilon for view in self.views for report in view)])


def worlds(choices: Sequence[tuple[Reports, ...]], most: int) -> list[World]:
    """All combinations of the views of several entries.

    Views are drawn independently of the answers, so that the largest total of all combinations is the total. Of more
    combinations than ``most`` the entries with most views are counted in full instead: that is never below.
    """
    combined: list[tuple[Reports, ...]] = [()]
    rest: list[float] = []
    for each in sorted(choices, key=len):
        if len(combined) * len(each) > most:
            rest.append(max(map(plain, each)))
        else:
            combined = [(*before, view) for before in combined for view in each]
    full = sum_up(rest)
    return [World(views, full) for views in dict.fromkeys(tuple(sorted(c)) for c in combined)]
