"""Check: a plan beside what witnesses find on real records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptriad.data.coded_records import Coded
from deptriad.data.results import ByTarget, columns_of
from deptriad.utils import html_table
from deptriad.utils.progress import Progress
from deptriad.utils.text import BECOMES, on_one_screen, printable, surety
from deptriad.witnesses.each_target import witness_each

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan


class Checked(NamedTuple):
    """What was found about one target.

    Parameters
    ----------
    target, own
        The attribute, and its own budget.
    witness
        What its other reports give away at least, on all records.
    total
        Both together.
    held_out
        The same on the half of the records where the sets were not looked for; NaN if unknown.
    promise
        What was promised.
    """

    target: str
    own: float
    witness: float
    total: float
    held_out: float
    promise: float

    @property
    def broken(self) -> bool:
        """Whether the promise is broken on these records."""
        return self.total > self.promise


class Check(ByTarget[Checked]):
    """What witnesses found about each target, by name; prints as a table.

    Examples
    --------
    >>> Check([Checked("sex", 1.0, 2.5, 3.5, 3.4, 3.0)])
    own + witness is a lower bound on what these records give away; it breaks the promise for 1 of 1 attributes
    attribute    own  witness  total  50 % sure becomes ≥  held out  promise
    sex        1.000    2.500  3.500                 97 %     3.400        3  BROKEN
    """

    called = ("check", "of")

    @property
    def broken(self) -> list[str]:
        """Attributes whose promise is broken on these records."""
        return [name for name, row in self.items() if row.broken]

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each target."""
        return columns_of(self.values(), (*Checked._fields, "broken"))

    def __repr__(self) -> str:
        title = self._title()
        return "\n".join([title, *on_one_screen(self._cells(), [title])])

    def _repr_html_(self) -> str:
        return html_table.table(self._cells(), [self._title()])

    def _cells(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]]
        rows = [("attribute", "own", "witness", "total", f"{BECOMES} ≥", "held out", "promise", "")]
        for row in self.values():
            own, witness, total, held = (f"{number:.3f}" for number in row[1:5])
            said = "BROKEN" if row.broken else ""
            sure = surety(row.total, at_least=True)
            rows.append(
                (printable(row.target), own, witness, total, sure, held, f"{row.promise:g}", said)
            )
        return rows

    def _title(self) -> str:
        return (
            "own + witness is a lower bound on what these records give away; it breaks the promise for "
            f"{len(self.broken)} of {len(self)} attributes"
        )


def check(
    plan: Plan, coded: Coded, rng: np.random.Generator | None, progress: Progress | None
) -> Check:
    """What witnesses find on coded records at the budgets of a plan: see ``Plan.check``."""
    if not plan.asks_all:
        raise ValueError(
            "check() looks for witnesses at the budgets of a plan that asks everybody everything, and this one has "
            f"{len(plan.views)} views: take plan.recheck(reports), or dt.attack(records, plan, target), which audits it"
        )
    rows = []
    for name, found in witness_each(coded, plan.budgets, rng=rng, progress=progress).items():
        own = float(plan.budgets[name])
        held = own + (math.nan if found.held_out is None else found.held_out)
        promise = float(plan.total[name])
        rows.append(Checked(name, own, found.overall, own + found.overall, held, promise))
    return Check(rows)
