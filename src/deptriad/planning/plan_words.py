"""How a plan is printed: what it promises, and what each person is asked."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from deptriad.collection.view import View
from deptriad.tables import uncertainty
from deptriad.utils.text import printable, rounded_up, spent, surety, times, told

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

PROMISES = {
    "joint": "exact for its own mechanisms, if people are as the joint tables say that it was made from",
    "certified": "a bound for every joint distribution with the tables it was made from",
    "paired": "an ESTIMATE, a bound only if the other answers are independent given the target",
    "pairwise": "an ESTIMATE, a bound only if the other answers are independent given the target",
}
"""What each guarantee is worth."""


MOST_SHOWN = 30
"""Views that are printed."""


def rows(plan: Plan) -> list[tuple[str, ...]]:
    """A row for each attribute, or for each view, after the headings."""
    if not plan.asks_all:
        return [
            ("asked", "share", "budgets", "mechanisms", "plain ε"),
            *(_view_row(view) for view in plan.views[:MOST_SHOWN]),
        ]
    rows: list[tuple[str, ...]] = [
        (
            printable(name),
            spent(plan.budgets[name]),
            plan.mechanisms[name],
            _within(plan, name),
            _number(plan.total[name]),
            surety(plan.totals[name][plan.guarantee]),
        )
        for name in plan.names[:MOST_SHOWN]
    ]
    if len(plan.names) > MOST_SHOWN:
        rows.append((f"and {len(plan.names) - MOST_SHOWN} more", *[""] * 5))
    headings = ("attribute", "budget", "mechanism", plan.guarantee, "promise", "50 % sure becomes")
    return [headings, *rows]


def summary(plan: Plan) -> list[str]:
    """What the plan is, and what its promise is worth."""
    count = len(plan.names)
    lines = [
        f"Plan for {count} attribute{'s' * (count > 1)} and {plan.users:,} users, chosen for {plan.objective}",
        *promised(plan),
        f"no {plan.guarantee} total is above its promise: {PROMISES[plan.guarantee]}",
    ]
    if not plan.asks_all:
        lines += [
            f"each person is asked {_one_of(len(plan.views))}; {_exposed(plan)}",
            f"mean variance at most {rounded_up(plan.optimality, 4)} times that of the best shares of all views "
            "priced",
        ]
    plain = max(view.epsilon for view in plan.views)
    lines.append(
        f"plain ε of all that a person reports, about the whole record: at most {rounded_up(plain)}"
    )
    if plan.uncertainty is not None:
        chosen = plan.facts.get("values_chosen_from_the_records")
        lines.append(uncertainty.in_words(uncertainty.from_text(plan.uncertainty), chosen))
    if plan.pilot is not None:
        lines.append(plan.pilot.words)
    if len(plan.views) > MOST_SHOWN:
        lines.append(f"the {MOST_SHOWN} views with the largest shares:")
    return lines


def promised(plan: Plan) -> list[str]:
    """The promise to someone who has never met an ε, a line for each kind of it."""
    finite = sorted({promise for promise in plan.total.values() if isfinite(promise)})
    about = {kind: [name for name in plan.names if plan.total[name] == kind] for kind in finite}
    sure = "at most" if plan.guarantee in ("certified", "joint") else "by this estimate at most"
    return [
        line
        for promise in finite
        for line in (
            f"promised: what is told about {_some(about[promise], len(plan.names))} moves odds {sure} "
            f"{times(promise)} times (e^{_number(promise)}):",
            told(promise),
        )
    ]


def _exposed(plan: Plan) -> str:
    """Which attributes are most exposed, and how far."""
    finite = [name for name in plan.names if isfinite(plan.total[name])]
    totals = {name: float(plan.totals[name][plan.guarantee]) for name in finite}
    most = max(finite, key=totals.__getitem__)
    alike = [name for name in finite if totals[name] >= 0.999 * totals[most]]
    about = "all attributes" if len(alike) == len(plan.names) > 1 else _some(alike, 0)
    return f"most is told about {about}, the largest total is {_within(plan, most)}"


def _within(plan: Plan, name: str) -> str:
    """A total, rounded up but not above what was promised, since it is not."""
    total, promise = rounded_up(plan.totals[name][plan.guarantee]), _number(plan.total[name])
    return promise if float(total) > float(promise) else total


def _number(promise: float) -> str:
    """A promise with up to six digits, rounded up.

    >>> _number(2.2), _number(1.3862943611198906), _number(3.0), _number(float("inf"))
    ('2.2', '1.3863', '3', 'inf')
    """
    return f"{float(rounded_up(promise, 5)):g}"


def _some(names: list[str], of: int) -> str:
    if len(names) == of:
        return "any attribute"
    shown = ", ".join(printable(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _one_of(views: int) -> str:
    return f"one of {views} views" if views > 1 else "the same view"


def _view_row(view: View) -> tuple[str, ...]:
    """How a view is printed."""
    names = [printable(name) for name in view.attributes]
    budgets = [spent(each) for each in view.budgets.values()]
    ways = list(view.mechanisms.values())
    if view.joint:
        budgets, ways = budgets[:1], ways[:1]
    alike = ways[:1] if len(set(ways)) == 1 else ways
    return (
        (" & " if view.joint else ", ").join(names),
        f"{view.share:.2%}",
        ", ".join(budgets),
        ", ".join(alike),
        rounded_up(view.epsilon),
    )
