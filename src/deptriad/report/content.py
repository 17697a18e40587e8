"""What the page holds, as plain data: triads, curves, plans, words. No records, and no counts below a threshold."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import PurePath
from typing import Any, TypedDict

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.curves.profile import Profile
from deptriad.data.attribute import Attribute
from deptriad.data.coded_records import coded_frame
from deptriad.planning.plan import Plan
from deptriad.report import words
from deptriad.report.promises import SECONDS, STEPS, asked_for, described, planned
from deptriad.tables import uncertainty
from deptriad.utils.arrays import as_whole
from deptriad.utils.progress import Progress
from deptriad.utils.text import printable

MOST_LINES = 64
"""A curve of more lines than this is thinned; it is then a bound on the curve."""

MANY = 40
"""With more attributes than this a pair has its triad only, and one explanation."""

EXPLAINED_AT = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Budgets at which the page can say which values give a pair away; it shows the nearest."""

OFTEN = 50
"""Pairs between two calls of ``progress``."""


class Options(TypedDict, total=False):
    """What ``deptriad.report.page`` takes by name, and explains."""

    promises: Sequence[float] | None
    seconds: float
    records: Any
    weight: str | None
    file: str | None
    users: int
    min_count: int
    rng: np.random.Generator | None
    progress: Progress | None


def content(
    analysis: Analysis,
    total: float = 3.0,
    *,
    promises: Sequence[float] | None = None,
    seconds: float = SECONDS,
    records: Any = None,
    weight: str | None = None,
    file: str | None = None,
    users: int = 100_000,
    min_count: int = 10,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], dict[float, Plan]]:
    """Everything on the page, and the plans by promise; parameters as for ``deptriad.report.page``."""
    as_whole(min_count, "min_count", 1)
    analysis.table(*analysis.pairs[0])  # says so where there are no tables
    coded = None if records is None else coded_frame(records, analysis.schema, weight)[0]
    steps = _Steps(progress, len(analysis.pairs))
    plans = planned(analysis, total, promises, seconds, users, steps.plans)
    about = described(analysis, plans, float(total), coded, rng, steps.add)
    curves, explained = _pairs(analysis, steps)
    held = {
        "made": {
            "version": version("deptriad"),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        },
        "file": None if file is None else printable(PurePath(file).name),
        "records": words.records(analysis, min_count),
        "threshold": min_count,
        "names": (names := [words.label(name) for name in analysis.names]),
        "heads": words.heads(names),
        "schema": [_attribute(each) for each in analysis.schema],
        "triads": _triads(analysis),
        "curves": curves,
        "explained": explained,
        "promises": about,
        "asked": list(plans).index(float(total)),
        "unplanned": _unplanned(plans, total, promises, seconds),
        "users": users,
        "certainty": words.certainty(analysis),
        "caveats": words.caveats(analysis),
        "changes": words.changes(analysis, min_count),
        "files": _files(analysis),
    }
    return held, plans


def _unplanned(
    plans: Mapping[float, Plan], total: float, promises: Sequence[float] | None, seconds: float
) -> str:
    """Which promises there was no time for; nothing if there are none."""
    left = [f"{each:g}" for each in sorted({*asked_for(total, promises)} - {*plans})]
    return f"{', '.join(left)}, did not fit {seconds:g} seconds" if left else ""


@dataclass
class _Steps:
    """Progress over plans, what is to be said of them, and pairs."""

    progress: Progress | None
    pairs: int
    total: int = 0
    done: int = 0

    def plans(self, done: int, of: int | None) -> None:
        """So many of the steps of all plans that are known to be made."""
        count = (of or 0) // STEPS
        self.done, self.total = done, (STEPS + OFTEN) * count + self.pairs
        self.add(0)

    def add(self, steps: int = OFTEN) -> None:
        """Further steps."""
        self.done += steps
        if self.progress:
            self.progress(self.done, self.total)


def _attribute(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": words.label(attribute.name),
        "kind": attribute.kind,
        "values": [words.label(value) for value in attribute.values],
    }


def _triads(analysis: Analysis) -> dict[str, list[float]]:
    """α, β, φ and δ of all ordered pairs, with all digits."""
    return {
        name: np.atleast_1d(getattr(analysis.numbers, name)).tolist()
        for name in ("alpha", "beta", "phi", "delta")
    }


# --- pairs ------------------------------------------------------------------------------------------------------


def _pairs(analysis: Analysis, steps: _Steps) -> tuple[list[Any] | None, list[Any]]:
    """The curve of each pair, unless they are many, and which values give it away at some budgets."""
    few = len(analysis.names) <= MANY
    budgets = EXPLAINED_AT if few else (1.0,)
    curves, explained = [], []
    for place, (source, target) in enumerate(analysis.pairs):
        if few:
            curves.append(_lines(analysis.profile(source, target)))
        explained.append(_explained(analysis, source, target, budgets))
        if place % OFTEN == OFTEN - 1:
            steps.add()
    steps.add(len(analysis.pairs) % OFTEN)
    return (curves if few else None), explained


def _lines(curve: Profile) -> list[list[float]]:
    """The lines of a curve in six digits, rounded outward: what they say is still a bound."""
    if len(curve.gap) > MOST_LINES:
        curve = curve.thin(MOST_LINES)
    return [
        [_digits(gap, up=True), _digits(lower, up=False)]
        for gap, lower in zip(curve.gap.tolist(), curve.lower.tolist(), strict=True)
    ]


def _digits(number: float, up: bool) -> float:
    """Six digits, rounded up or down."""
    short = float(f"{number:.6g}")
    if short == number or (short > number) == up:
        return short
    step = 10.0 ** (math.floor(math.log10(abs(number))) - 5)
    return max(float(f"{number + (step if up else -step):.6g}"), 0.0)


def _explained(
    analysis: Analysis, source: str, target: str, budgets: tuple[float, ...]
) -> list[list[Any]]:
    """[ε, likelier target value, less likely one, source values], as places in the schema, where they change."""
    labels = analysis.table(source, target).target_values or ()
    values = analysis.schema[target].values
    found: list[list[Any]] = []
    for epsilon in budgets:
        each = analysis.where(source, target, epsilon)
        more, less = (values.index(labels[row]) for row in each.pair)
        if not found or found[-1][1:] != [more, less, list(each.values)]:
            found.append([epsilon, more, less, list(each.values)])
    return found


# --- files to download ------------------------------------------------------------------------------------------


def _files(analysis: Analysis) -> dict[str, Any]:
    """Texts of the files that the page hands out; the page itself adds the triads to the analysis."""
    known = None if analysis.uncertainty is None else uncertainty.as_text(analysis.uncertainty)
    about = {"format": "deptriad analysis", "version": 1, "uncertainty": known}
    about["facts"] = analysis.facts
    return {
        "schema": analysis.schema.to_json(counts=False) + "\n",
        "analysis": json.dumps(about, ensure_ascii=False)[:-1],
        "names": list(analysis.names),
    }
