"""Guard: what a view tells about every attribute, rounded up, and budgets shrunk until every promise is kept.

Nothing is trusted that a search has found: totals are worked out again for each view and each target, in the view or
not (maths §10, §11).
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.collection.view import View
from deptriad.curves.leakage import leakage
from deptriad.data.schema import Schema
from deptriad.planning.joint_of_pairs import chances
from deptriad.planning.told import Tables
from deptriad.tables.joint_box import JointBox
from deptriad.tables.table import Box
from deptriad.tables.uncertainty import Confidence, Uncertainty, shared
from deptriad.totals.joint import joint_leakage, view_totals
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import ROUNDOFF, sum_up

MOST_CONFIDENT = 3
"""Attributes of a view up to which Confidence boxes of joint tables are made: all such tables count together."""

MOST_CELLS = 4_000_000
"""Cells of a view times values of all targets up to which its joint table is looked at: 32 MiB."""

SHRUNK = (1e-12, 1e-9, 1e-6)
"""Relative parts by which budgets a hair above a promise are made smaller, before bisection."""


class Guard:
    """The totals of views, and their promises.

    Parameters
    ----------
    schema
        All attributes.
    promises
        The promise for each of them.
    analysis
        Its tables of pairs, for mechanisms of all kinds; None without a prior.
    tables
        Joint tables for exact totals of GRR; None where only pairs are to be used.
    """

    def __init__(
        self,
        schema: Schema,
        promises: Floats,
        analysis: Analysis | None = None,
        tables: Tables | None = None,
    ) -> None:
        self.schema, self.promises = schema, promises
        self.analysis, self.tables = analysis, tables
        self.least = float(promises.min())
        self.uncertainty = self._shared() if tables else None

    def totals(self, view: View) -> Floats:
        """What a view tells about each attribute at most, in the order of the schema."""
        plain = np.full(len(self.schema), view.epsilon)
        if view.epsilon <= self.least or self.analysis is None:
            return plain
        # tables have their axes in the order of the schema
        view = replace(view, attributes=tuple(sorted(view.attributes, key=self.schema.index)))
        ways = set(view.mechanisms.values())
        if ways == {"grr"} and self.tables is not None and self._small(view):
            found = self._uncertain(view) if self.uncertainty else self._exact(view)
        elif view.joint:
            found = self._by_pairs(view) if ways == {"grr"} else plain
        elif len(view.attributes) == 1:
            found = self._alone(view)
        else:
            totals = (
                self.analysis.total(name, view.budgets, allowed=self.uncertainty)
                for name in self.schema.names
            )
            found = np.array([each.certified for each in totals])
        return np.asarray(np.minimum(found, plain))

    def kept(self, view: View) -> View | None:
        """The view with budgets that keep all promises: its own, or all of them smaller; None if nothing does."""
        if self._keeps(view):
            return view
        for part in SHRUNK:
            some = _scaled(view, 1.0 - part)
            if self._keeps(some):
                return some
        low, high = 0.0, 1.0
        while high - low > 1e-4:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._keeps(_scaled(view, middle)) else (low, middle)
        return _scaled(view, low) if low > 0.0 else None

    def _keeps(self, view: View) -> bool:
        return bool((self.totals(view) <= self.promises).all())

    def _small(self, view: View) -> bool:
        assert self.tables is not None
        confident = isinstance(self.uncertainty, Confidence)
        if confident and len(view.attributes) > MOST_CONFIDENT:
            return False
        cells = math.prod(self.schema[name].size for name in view.attributes)
        return cells * sum(self.schema.sizes) <= MOST_CELLS and self.tables.known(
            self._places(view)
        )

    def _places(self, view: View) -> list[int]:
        return [self.schema.index(name) for name in view.attributes]

    def _exact(self, view: View) -> Floats:
        """By the joint tables, taken as they are."""
        assert self.tables is not None
        told = self.tables.told(self._places(view))
        budgets = [view.epsilon] if view.joint else list(view.budgets.values())
        table = np.ascontiguousarray(told.table.T)
        return view_totals(table, told.first, told.sizes.tolist(), budgets, view.joint)

    def _alone(self, view: View) -> Floats:
        """One attribute by any mechanism: its budget, and its leakage about the others."""
        assert self.analysis is not None
        (name,) = view.attributes
        return np.array(
            [
                view.epsilon
                if target == name
                else float(
                    leakage(
                        self.analysis.table(name, target, allowed=self.uncertainty), view.epsilon
                    )
                )
                for target in self.schema.names
            ]
        )

    def _by_pairs(self, view: View) -> Floats:
        """One joint value by GRR, whatever the joint table with these tables of pairs is."""
        assert self.analysis is not None
        if len(view.attributes) == 1:
            return self._alone(view)
        every = (
            chances(self.analysis, view.attributes, name, self.uncertainty)
            for name in self.schema.names
        )
        return np.array(
            [view.epsilon if each is None else each.told(view.epsilon) for each in every]
        )

    # --- uncertain joint tables ---

    def _uncertain(self, view: View) -> Floats:
        """By the boxes of the joint tables."""
        places = self._places(view)
        about = self._about_joint if view.joint else self._about_separate
        return np.array([about(view, places, target) for target in range(len(self.schema))])

    def _about_separate(self, view: View, places: list[int], target: int) -> float:
        name = self.schema.names[target]
        own = view.budgets.get(name, 0.0)
        others = [budget for other, budget in view.budgets.items() if other != name]
        if not others:
            return own
        return sum_up([own, joint_leakage(self._box(places, target), others)])

    def _about_joint(self, view: View, places: list[int], target: int) -> float:
        if target not in places:
            return joint_leakage(self._box(places, target), view.epsilon, joint_report=True)
        # another value of the target has no chance of this cell: 1 + t·p(rest | own value) over 1
        largest = float(self._box(places, target).upper.max())
        return math.log1p(math.expm1(view.epsilon) * largest) * (1.0 + 16 * ROUNDOFF)

    def _box(self, places: list[int], target: int) -> Box | JointBox:
        assert self.tables is not None
        assert self.uncertainty is not None
        joint = self.tables.joint(places if target in places else [*places, target])
        return joint.box(self.uncertainty, self.schema.names[target])

    def _shared(self) -> Uncertainty | None:
        """Confidence for all tables that a plan may use, of pairs and joint ones: a level holds for them together."""
        assert self.analysis is not None
        known, prior = self.analysis.uncertainty, self.analysis.prior
        if not isinstance(known, Confidence) or prior is None:
            return known
        sizes = self.schema.sizes
        views = (
            some
            for size in range(1, MOST_CONFIDENT + 1)
            for some in combinations(range(len(sizes)), size)
        )
        cells = sum(math.prod(sizes[place] for place in view) for view in views) * sum(sizes)
        found: Uncertainty = shared(known, prior.cells, cells)
        return found


def _scaled(view: View, factor: float) -> View:
    return replace(view, budgets={name: factor * each for name, each in view.budgets.items()})
