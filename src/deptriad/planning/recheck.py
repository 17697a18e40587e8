"""After a collection: does the promise still hold for the people who answered? A prior drifts.

Reports alone are looked at: they teach tables of pairs, and boxes that cover these with a stated certainty
(``deptriad.collection.learnt_prior``). What each view tells is bounded for every joint distribution with such tables.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.analyze import analyze
from deptriad.data.results import ByTarget, columns_of
from deptriad.tables.uncertainty import Confidence
from deptriad.utils import html_table
from deptriad.utils.text import BECOMES, on_one_screen, printable, rounded_up, surety

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan


class Rechecked(NamedTuple):
    """What reports say about the promise for one attribute.

    Parameters
    ----------
    target
        The attribute.
    promise
        What was promised.
    likely
        The largest total of all views, by the tables as the reports estimate them.
    most
        The largest by any tables that the reports leave possible at the level.
    """

    target: str
    promise: float
    likely: float
    most: float

    @property
    def holds(self) -> bool | None:
        """True if it does at the level; None if only by the estimate; False if not even so."""
        if self.most <= self.promise:
            return True
        return None if self.likely <= self.promise else False


class Recheck(ByTarget[Rechecked]):
    """What reports say about each promise, by name of the attribute; prints as a table.

    Parameters
    ----------
    entries
        One for each attribute that was asked.
    level
        How certain all boxes are together.
    likely, sure
        Analyses for the next plan: of the tables as the reports estimate them, and of their boxes.
    """

    called = ("promise", "about")

    def __init__(
        self, entries: list[Rechecked], level: float, likely: Analysis, sure: Analysis
    ) -> None:
        super().__init__(entries)
        self.level, self.likely, self.sure = level, likely, sure

    @property
    def holds(self) -> bool | None:
        """True if every promise does at the level; None if only by the estimate; False if one does not even so."""
        every = [each.holds for each in self.values()]
        if all(every):
            return True
        return False if False in every else None

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each attribute."""
        return columns_of(self.values(), (*Rechecked._fields, "holds"))

    def __repr__(self) -> str:
        title = self._title()
        return "\n".join([title, *on_one_screen(self._cells(), [title])])

    def _repr_html_(self) -> str:
        return html_table.table(self._cells(), [self._title()])

    def _title(self) -> str:
        said = {
            True: f"every promise holds for those who answered (with certainty {self.level:g})",
            None: f"every promise holds by the estimate, but not with certainty {self.level:g}",
            False: "a bound is above its promise by the estimate, too",
        }
        return f"{said[self.holds]}; totals are bounds for all joint tables with the pairs that reports show"

    def _cells(self) -> list[tuple[str, ...]]:
        words = {True: "holds", None: "by the estimate", False: "ABOVE"}
        rows: list[tuple[str, ...]]
        rows = [
            ("attribute", "by the estimate", f"at most ({self.level:g})", BECOMES, "promise", "")
        ]
        for row in self.values():
            numbers = (
                rounded_up(row.likely),
                rounded_up(row.most),
                surety(row.most),
                f"{row.promise:g}",
            )
            rows.append((printable(row.target), *numbers, words[row.holds]))
        return rows


def recheck(plan: Plan, reports: Any, level: float = 0.95, **allowed: bool) -> Recheck:
    """What reports of a plan say about its promise.

    ``likely`` of each attribute is a bound by the tables of pairs as the reports estimate them, ``most`` by all tables
    that they leave possible. Both are for every joint distribution with these pairs, so that a plan made from joint
    tables may be above its promise here without having broken it. The next plan is ``calibrate(found.sure, ...)``, or
    with ``found.likely``, which takes the estimates as they are.

    Parameters
    ----------
    plan, reports
        The plan, and reports as for its ``estimate``. All pairs of attributes must have been asked together.
    level
        How certain ``most`` is, for all attributes together.
    **allowed
        ``unmarked``, ``seeded`` and ``implausible``, as for ``estimate``.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> names = ("a", "b")
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in names])
    >>> plan = dt.calibrate(schema, total=2.0)
    >>> reports = dt.simulate([[40_000, 10_000], [20_000, 30_000]], plan, np.random.default_rng(1))
    >>> found = plan.recheck(reports)
    >>> found.holds
    True
    >>> better = dt.calibrate(found.sure, total=2.0)
    >>> better.expected(names) < plan.expected(names)
    True
    """
    prior = plan.prior(reports, **allowed)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # of values that hardly anybody has: most says it
        likely, sure = analyze(prior), analyze(prior, Confidence(level))
    totals = [_totals(plan, each) for each in (likely, sure)]
    entries = [
        Rechecked(name, float(plan.total[name]), float(low), float(max(low, high)))
        for name, low, high in zip(prior.names, *totals, strict=True)
    ]
    return Recheck(entries, level, likely, sure)


def _totals(plan: Plan, analysis: Analysis) -> Any:
    """The largest total of all views about each attribute that was asked."""
    from deptriad.planning.guard import Guard

    promises = np.array([plan.total[name] for name in analysis.names])
    guard = Guard(analysis.schema, promises, analysis)
    return np.max([guard.totals(view) for view in plan.views], axis=0)
