"""Totals of what is released from its joint table, beside the certified ones from pairs (maths §10.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from deptriad.analysis.prior import Prior
from deptriad.tables.joint import Joint
from deptriad.tables.uncertainty import Uncertainty, shared
from deptriad.totals.joint import TooManyReports, joint_leakage
from deptriad.utils.rounding import sum_up

MOST_CELLS = 10**7
"""Cells of a joint table, at most: 80 MB."""


class JointTotal(NamedTuple):
    """A total from a joint table, or why there is none."""

    value: float | None
    reason: str = ""

    def fields(self, mechanisms: Mapping[str, str]) -> dict[str, Any]:
        """As a Total has them."""
        return {"mechanisms": mechanisms, "joint": self.value, "joint_reason": self.reason}


class JointTables:
    """The joint tables p(released attributes | target) of some targets: which there can be, and what they tell.

    Parameters
    ----------
    prior
        Where records are counted; None for an analysis from a file.
    uncertainty
        How far tables may be off.
    released
        The attributes that are released.
    targets
        The attributes that are looked at.
    """

    def __init__(
        self,
        prior: Prior | None,
        uncertainty: Uncertainty | None,
        released: Sequence[str],
        targets: Sequence[str],
    ) -> None:
        self.prior, self.released, self.targets = prior, tuple(released), tuple(targets)
        self.names = {target: tuple(dict.fromkeys([*released, target])) for target in targets}
        self.reasons = {target: _absent(prior, self.names[target]) for target in targets}
        self.uncertainty = self._shared(uncertainty)

    def _shared(self, uncertainty: Uncertainty | None) -> Uncertainty | None:
        """The level of Confidence holds for these tables and those of all pairs together."""
        if self.prior is None:
            return uncertainty
        some = [target for target, reason in self.reasons.items() if not reason]
        joint = sum(_cells(self.prior, self.names[target]) for target in some)
        found: Uncertainty | None = shared(uncertainty, self.prior.cells, joint)
        return found

    def totals(
        self, budgets: Mapping[str, float], named: Mapping[str, str]
    ) -> dict[str, JointTotal]:
        """The total of each target, its own budget included."""
        found = {target: JointTotal(None, reason) for target, reason in self.reasons.items()}
        again = ""
        for target, table in self._tables():
            try:
                found[target] = self._total(target, table, budgets, named)
            except TooManyReports as error:  # said at length once
                found[target] = JointTotal(None, again or str(error))
                again = again or f"about {target!r} and others there are too many different reports"
        return found

    def _total(
        self,
        target: str,
        table: Any,
        budgets: Mapping[str, float],
        named: Mapping[str, str],
    ) -> JointTotal:
        others = [name for name in self.released if name != target]
        given, chosen = [budgets[name] for name in others], [named[name] for name in others]
        leaked = joint_leakage(table, given, chosen) if others else 0.0
        return JointTotal(sum_up([budgets.get(target, 0.0), leaked]))

    def _tables(self) -> Iterator[tuple[str, Any]]:
        """Each target with its table or box; as many are counted in one pass as are small together."""
        left = [target for target in self.targets if not self.reasons[target]]
        while left and self.prior is not None:
            some: dict[tuple[str, ...], int] = {}
            for target in left:
                cells = _cells(self.prior, self.names[target])
                if not some or sum(some.values()) + cells <= MOST_CELLS:
                    some[self.names[target]] = cells
            counted = dict(zip(some, self.prior.joints(list(some)), strict=True))
            ready = [target for target in left if self.names[target] in some]
            for target in ready:
                yield target, self._table(counted[self.names[target]], target)
            left = [target for target in left if target not in ready]

    def _table(self, joint: Joint, target: str) -> Any:
        if len(joint.names) == 1:  # nothing else is released
            return None
        known = self.uncertainty
        return joint.given(target) if known is None else joint.box(known, target)


def _absent(prior: Prior | None, names: tuple[str, ...]) -> str:
    """Why a joint table is not to be had; nothing if it is."""
    if prior is None:
        return "the analysis was loaded from a file, which holds no records: analyze Prior.from_data(…)"
    if prior.records is None:
        return "the prior holds no records, only counts of pairs: make it with Prior.from_data"
    if (cells := _cells(prior, names)) > MOST_CELLS:
        return f"the joint table has {cells:,} cells, more than {MOST_CELLS:,}"
    if not prior.knows(names):
        return "the counts that were kept have no joint table of all that is released, only smaller ones"
    return ""


def _cells(prior: Prior, names: Sequence[str]) -> int:
    return math.prod(prior.schema[name].size for name in names)
