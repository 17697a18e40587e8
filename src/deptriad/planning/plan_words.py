"""How a plan is printed: what it promises, and what each person is asked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from math import isfinite
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from deptriad.collection.view import View
from deptriad.tables import uncertainty
from deptriad.utils import html_table
from deptriad.utils.text import (
    BECOMES,
    lines_left,
    narrow,
    printable,
    rounded_up,
    spent,
    surety,
    times,
    told,
)

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

PROMISES = {
    "joint": "exact for its own mechanisms, if people are as in the joint tables that it was made from",
    "certified": "a bound for every joint distribution with the tables it was made from",
    "paired": "an ESTIMATE, a bound only if the other answers are independent given the target",
    "pairwise": "an ESTIMATE, a bound only if the other answers are independent given the target",
}
"""What each guarantee is worth."""


MOST_SHOWN = 30
"""Views, or attributes, that a notebook shows."""

LEAST_LINES = 8
"""Lines of views, or attributes, that are printed on any screen."""


def text(plan: Plan) -> str:
    """All of it, on one screen."""
    above = summary(plan)
    lines = max(lines_left(above) - 2, LEAST_LINES)
    return "\n".join(
        [*above, *(narrow(rows(plan, lines)) if plan.asks_all else _views(plan, lines))]
    )


def _views(plan: Plan, most: int) -> list[str]:
    """The views with the largest shares, in so many lines, each with the budget of every report."""
    ways = {way for view in plan.views for way in view.mechanisms.values()}
    said = "budgets (a & b: one value, whole ε)"
    said = f"{said}; by {min(ways)}" if len(ways) == 1 else f"mechanisms and {said}"
    shown = [f"{'share':>6}  {'plain ε':>7}  asked, with {said}"]
    for number, view in enumerate(plan.views):
        start = f"{view.share:>6.2%}  {_plain(plan, view):>7}  "
        lines = textwrap.wrap(
            _asked(view, with_ways=len(ways) > 1),
            max(get_terminal_size().columns, 60),
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
        )
        if number and len(shown) + len(lines) > most:
            rest = math.fsum(each.share for each in plan.views[number:])
            left = len(plan.views) - number
            shown.append(
                f"{rest:>6.2%}  for the other {left} views, which plan.views and its file hold"
            )
            break
        shown += lines
    return shown


def _asked(view: View, with_ways: bool) -> str:
    """What is asked in a view, each report with its budget."""
    names = [printable(name) for name in view.attributes]
    budgets = [spent(each) for each in view.budgets.values()]
    ways = [f" {way}" if with_ways else "" for way in view.mechanisms.values()]
    if view.joint:
        return f"{' & '.join(names)}{ways[0]}"
    return ", ".join(map("{}{} {}".format, names, ways, budgets))


def _plain(plan: Plan, view: View) -> str:
    """The plain ε of a view, rounded up but not above a promise that it keeps."""
    kept = min((each for each in plan.total.values() if each >= view.epsilon), default=math.inf)
    return up_to(view.epsilon, kept)


def rows(plan: Plan, most: int = MOST_SHOWN) -> list[tuple[str, ...]]:
    """A row for each attribute, or for each view, after the headings."""
    if not plan.asks_all:
        return [
            ("asked", "share", "budgets", "mechanisms", "plain ε"),
            *(_view_row(plan, view) for view in plan.views[:most]),
        ]
    rows: list[tuple[str, ...]] = [
        (
            printable(name),
            spent(plan.budgets[name]),
            plan.mechanisms[name],
            _within(plan, name),
            as_promised(plan.total[name]),
            surety(plan.totals[name][plan.guarantee]),
        )
        for name in plan.names[:most]
    ]
    if len(plan.names) > most:
        rows.append((f"and {len(plan.names) - most} more", *[""] * 5))
    headings = ("attribute", "budget", "mechanism", plan.guarantee, "promise", BECOMES)
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
            f"each person is asked {_one_of(plan.views)}; {_exposed(plan)}",
            f"mean variance at most {rounded_up(plan.optimality, 4)} times the least that other shares of these and "
            "of all views that were tried have",
        ]
    plain = _plain(plan, max(plan.views, key=lambda view: view.epsilon))
    lines.append(f"plain ε of all that a person reports, about the whole record: at most {plain}")
    if plan.uncertainty is not None:
        chosen = plan.facts.get("values_chosen_from_the_records")
        lines.append(uncertainty.in_words(uncertainty.from_text(plan.uncertainty), chosen))
    if plan.pilot is not None:
        lines.append(plan.pilot.words)
    return lines


def in_html(plan: Plan) -> str:
    """The same for a notebook."""
    more = len(plan.views) - MOST_SHOWN
    below = [f"and {more} more views: plan.views has them all"] if more > 0 else []
    return html_table.table(rows(plan), summary(plan), below)


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
            f"{times(promise)} times (e^{as_promised(promise)}):",
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
    return up_to(plan.totals[name][plan.guarantee], plan.total[name])


def up_to(number: float, promise: float) -> str:
    """A bound, rounded up; one that keeps a promise not above that.

    >>> up_to(2.94443, 2.94444), up_to(2.94445, 2.94444)
    ('2.94444', '2.945')
    """
    shown, most = rounded_up(number), as_promised(promise)
    return most if number <= promise and float(shown) > float(most) else shown


def as_promised(promise: float) -> str:
    """A promise with up to six digits, rounded up.

    >>> as_promised(2.2), as_promised(1.3862943611198906), as_promised(3.0), as_promised(float("inf"))
    ('2.2', '1.3863', '3', 'inf')
    """
    return f"{float(rounded_up(promise, 5)):g}"


def _some(names: list[str], of: int) -> str:
    if len(names) == of:
        return "any attribute"
    shown = ", ".join(printable(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _one_of(views: Sequence[View]) -> str:
    """What a person is asked, without the names."""
    sizes = sorted({len(view.attributes) for view in views})
    answers = f"{sizes[0]} to {sizes[-1]} answers" if len(sizes) > 1 else _answers(sizes[0])
    return f"one of {len(views)} views, of {answers}" if len(views) > 1 else f"the same {answers}"


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"


def _view_row(plan: Plan, view: View) -> tuple[str, ...]:
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
        _plain(plan, view),
    )
