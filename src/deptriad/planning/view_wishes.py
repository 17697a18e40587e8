"""What is wished for in a plan of views: the promise, the marginals and what a person may be asked, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deptriad.analysis.analysis import Analysis
from deptriad.data.schema import Schema
from deptriad.planning.wishes import Wishes, as_promises
from deptriad.planning.workload import Names, Workload
from deptriad.utils.arrays import Floats, as_finite_budget, as_whole
from deptriad.utils.by_name import by_name
from deptriad.utils.errors import InvalidValue, Parameter, refuse_other, refuse_unknown

DEFAULTS = {"objective": "utility", "lower": None, "upper": None, "mechanism": "auto"}
"""Wishes that views="all" knows and others do not, and what leaves them unsaid."""

REASONS = {
    "objective": "views are chosen for the least error of the marginals",
    "lower": "budgets of one attribute differ from view to view",
    "upper": "budgets of one attribute differ from view to view",
    "mechanism": "each view has the mechanisms that its totals are known for",
}
"""Why they do not."""


def refuse_for_all(marginals: object, together: object, weights: object) -> None:
    """Refuse wishes about views where everybody is asked everything."""
    said = [("marginals", marginals != 2), ("together", bool(together))]
    said.append(("weights", weights is not None and not isinstance(weights, Mapping)))
    for name, given in said:
        if given:
            words = "by attribute " if name == "weights" else ""
            raise InvalidValue(
                *(Parameter(name), f" is given {words}for plans of views: drop it, or say "),
                Parameter("views", "'best'"),
            )


def refuse_for_views(**given: object) -> None:
    """Refuse wishes that only make sense where everybody is asked everything."""
    for name, value in given.items():
        if value and value != DEFAULTS[name]:
            raise InvalidValue(
                *(Parameter(name), f" is {value!r}, but {REASONS[name]}: drop it, or say "),
                Parameter("views", "'all'"),
            )


@dataclass(frozen=True)
class ViewWishes:
    """The promise, the marginals and what a person may be asked."""

    analysis: Analysis | None
    workload: Workload
    promises: Floats
    guarantee: Literal["joint", "certified"]
    most: int | None
    together: tuple[Names, ...]

    @classmethod
    def checked(
        cls,
        given: Analysis | Schema,
        total: float | Mapping[str, float],
        guarantee: str | None,
        views: str | int,
        marginals: int | Sequence[str | Sequence[str]],
        together: Sequence[Sequence[str]],
        weights: Mapping[str, float] | Sequence[float] | None,
        fixed: Mapping[str, float] | None,
        refused: Mapping[str, Any],
    ) -> ViewWishes:
        """From what a caller of ``calibrate`` gives."""
        if not isinstance(given, Analysis | Schema):
            raise ValueError(
                f"analysis is a {type(given).__name__}, expected an Analysis: make one with analyze"
            )
        if views == "all":
            raise InvalidValue(
                *(
                    Parameter("views"),
                    " is 'all', but without a prior that is splitting: take dt.Split",
                ),
                *(", pass an analysis, or say ", Parameter("views", "'best'")),
            )
        analysis = given if isinstance(given, Analysis) else None
        schema = given.schema if isinstance(given, Analysis) else given
        refuse_for_views(**refused)
        most = None
        if views not in ("best", "all"):
            if isinstance(views, str):
                refuse_other(views, ("best", "all", "a number"), "views")
            most = as_whole(views, Parameter("views"), 1)
        workload = Workload.checked(schema, marginals, weights, _unreleased(fixed, schema))
        if most is not None and workload.order > most:
            raise InvalidValue(
                *(
                    Parameter("views"),
                    f" is {most}, but a marginal has {workload.order} attributes, which must be ",
                ),
                *("asked together: raise it, or list smaller ", Parameter("marginals")),
            )
        if analysis is not None and len(schema) > 1:
            analysis.table(*schema.names[:2])  # says so where there are no tables
        groups = _together(together, schema)
        for marginal in workload.marginals:
            whole = workload.asked_with(marginal, groups)
            if most is not None and len(whole) > most:
                raise InvalidValue(
                    *(
                        Parameter("views"),
                        f" is {most}, but whoever is asked {list(marginal)} must be ",
                    ),
                    *(
                        f"asked {list(whole)} by ",
                        Parameter("together"),
                        ": raise it, or ask less together",
                    ),
                )
        return cls(
            *(analysis, workload, as_promises(total, schema.names)),
            *(_guarantee(guarantee, analysis), most, groups),
        )

    def everything(self) -> dict[str, float] | None:
        """Certified budgets of a plan that asks everybody everything; None without a prior, or for one attribute."""
        if self.analysis is None or len(self.workload.asked) < 2:
            return None
        from deptriad.planning.search import Search

        idle = {name: 0.0 for name in self.workload.schema.names if name not in self.workload.asked}
        total = dict(zip(self.workload.schema.names, self.promises.tolist(), strict=True))
        rest = (None, idle, None, None, "auto")
        wishes = Wishes.checked(self.analysis, total, "utility", "certified", *rest)
        epsilon, _ = Search(wishes, lambda: None).found()
        return dict(zip(self.workload.schema.names, epsilon.tolist(), strict=True))


def _unreleased(fixed: Mapping[str, float] | None, schema: Schema) -> list[str]:
    """Attributes that are not released: those whose budget is fixed at 0, which is all that may be fixed."""
    limits = by_name(fixed or {}, schema.names, "fixed", as_finite_budget, default=np.nan)
    for name, budget in zip(schema.names, limits, strict=True):
        if budget > 0.0:
            raise InvalidValue(
                *(
                    Parameter("fixed", key=name),
                    f" is {budget:g}, but its budget differs from view to view: say 0 if ",
                ),
                *("it is not released, or say ", Parameter("views", "'all'")),
            )
    return [name for name, budget in zip(schema.names, limits, strict=True) if budget == 0.0]


def _guarantee(given: str | None, analysis: Analysis | None) -> Literal["joint", "certified"]:
    has_records = (
        analysis is not None and analysis.prior is not None and analysis.prior.records is not None
    )
    if given is None:
        return "joint" if has_records else "certified"
    if given in ("paired", "pairwise"):
        raise InvalidValue(
            *(Parameter("guarantee"), f" is {given!r}, an estimate, which can be held for "),
            *(Parameter("views", "'all'"), " only: expected 'joint' or 'certified'"),
        )
    refuse_other(given, ("joint", "certified"), "guarantee")
    if given == "joint" and not has_records:
        raise InvalidValue(
            *(
                Parameter("guarantee"),
                " is 'joint', but there are no records to count joint tables of: make the prior ",
            ),
            "with Prior.from_data, or say 'certified'",
        )
    return "joint" if given == "joint" else "certified"


def _together(given: Sequence[Sequence[str]], schema: Schema) -> tuple[Names, ...]:
    groups = []
    for group in given:
        names = (group,) if isinstance(group, str) else tuple(group)
        refuse_unknown(names, schema.names, Parameter("together"))
        if len(set(names)) < 2:
            raise InvalidValue(
                Parameter("together"), f" has {list(names)}, expected two or more attributes"
            )
        groups.append(names)
    return tuple(groups)
