"""Plan: the file that clients and the aggregator share: what is collected, with which budgets, under which promise."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

from deptriad.data.coded_records import coded_frame
from deptriad.data.schema import Schema
from deptriad.mechanisms import mechanisms
from deptriad.planning import plan_file
from deptriad.planning.comparison import Check, Comparison, check, compare
from deptriad.tables import uncertainty
from deptriad.totals.totals import NUMBERS
from deptriad.utils import files, html_table
from deptriad.utils.arrays import as_whole
from deptriad.utils.by_name import by_name
from deptriad.utils.errors import refuse_other
from deptriad.utils.progress import Progress
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import aligned, printable, rounded_down, rounded_up

if TYPE_CHECKING:
    import numpy as np

    from deptriad.analysis.prior import Prior
    from deptriad.collection.marginal import Marginal
    from deptriad.collection.post_processing import Post

Guarantee = Literal["certified", "paired", "pairwise"]
Objective = Literal["utility", "even", "paper"]
OBJECTIVES = ("utility", "even", "paper")

PROMISES = {
    "certified": "a bound for every joint distribution with the tables it was made from",
    "paired": "an ESTIMATE, a bound only if the other answers are independent given the target",
    "pairwise": "an ESTIMATE, a bound only if the other answers are independent given the target",
}
"""What each guarantee is worth."""


@dataclass(frozen=True, repr=False)
class Plan:
    """Budgets and mechanisms of a survey, the promise they keep, and what is known about how.

    Made by ``calibrate``. Its file holds no records, counts or tables.

    Parameters
    ----------
    schema
        The attributes.
    budgets
        ε of each attribute; 0 for one that is not released.
    mechanisms
        What reports each attribute, by its key in ``deptriad.mechanisms.mechanisms``; "none" without a budget.
    total
        The promise for each attribute; ∞ for a public one.
    guarantee
        Which of the totals keeps it: "certified", "paired" or "pairwise".
    objective
        What the budgets were chosen for.
    totals
        For each attribute its totals at these budgets: own, paired, pairwise, certified, and the sum of all budgets.
    uncertainty
        How far the truth may lie from the prior, in a word such as "spread:std"; None takes the prior as it is.
    users
        How many are to answer.
    facts
        About the prior: how many sources, whether weighted, what was done about thin values.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    >>> numbers = dict(own=1.0, paired=1.0, pairwise=1.0, certified=1.0, budgets=1.0)
    >>> Plan(schema, {"sex": 1.0}, {"sex": "grr"}, {"sex": 1.0}, "certified", "even", {"sex": numbers}, users=1000)
    Plan for 1 attribute and 1,000 users, chosen for even
    no certified total is above its promise: a bound for every joint distribution with the tables it was made from
    attribute  budget  mechanism  certified  promise
    sex         1.000        grr      1.000        1
    """

    schema: Schema
    budgets: dict[str, float]
    mechanisms: dict[str, str]
    total: dict[str, float]
    guarantee: Guarantee
    objective: Objective
    totals: dict[str, dict[str, float]]
    uncertainty: str | None = None
    users: int = 100_000
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Schema):
            raise ValueError(f"schema is a {type(self.schema).__name__}, expected a Schema")
        object.__setattr__(self, "users", as_whole(self.users, "users", 1))
        refuse_other(self.guarantee, PROMISES, "guarantee")
        refuse_other(self.objective, OBJECTIVES, "objective")
        if not isinstance(self.facts, dict):
            raise ValueError(f"facts is {self.facts!r}, expected an object")
        if self.uncertainty is not None:
            if not isinstance(self.uncertainty, str):
                raise ValueError(f"uncertainty is {self.uncertainty!r}, expected text or null")
            uncertainty.from_text(self.uncertainty)
        for what in ("budgets", "mechanisms", "total", "totals"):
            each = by_name(getattr(self, what), self.names, what, lambda value, _: value)
            object.__setattr__(self, what, dict(zip(self.names, each, strict=True)))
        for name in self.schema.names:
            self._check(name)

    def _check(self, name: str) -> None:
        """One attribute: its budget, mechanism, promise and totals, and that they agree."""
        budget = _number(self.budgets[name], f"the budget of {name!r}", math.inf)
        promise = _number(self.total[name], f"the total promised for {name!r}")
        mechanism = self.mechanisms[name]
        refuse_other(mechanism, (*mechanisms, "none"), f"the mechanism of {name!r}")
        if (mechanism == "none") != (budget == 0.0):
            raise ValueError(
                f"{name!r} has a budget of {budget:g} and the mechanism {mechanism!r}, expected 'none' exactly where "
                "the budget is 0"
            )
        numbers = self.totals[name]
        if not isinstance(numbers, dict) or set(numbers) != set(NUMBERS):
            raise ValueError(
                f"the totals of {name!r} are {numbers!r}, expected {', '.join(NUMBERS)}"
            )
        for key, value in numbers.items():
            _number(value, f"the {key} total of {name!r}", math.inf)
        self._check_totals(name, numbers)
        kept = float(numbers[self.guarantee])
        if not kept <= promise:
            raise ValueError(
                f"the budgets break the promise: the {self.guarantee} total of {name!r} is {kept!r}, promised is at "
                f"most {promise!r}; calibrate again"
            )

    def _check_totals(self, name: str, numbers: dict[str, float]) -> None:
        """Own ≤ paired ≤ pairwise ≤ the sum of all budgets, own ≤ certified ≤ that sum, and it is that sum."""
        if numbers["own"] != self.budgets[name]:
            raise ValueError(
                f"the own total of {name!r} is {numbers['own']!r}, expected its budget {self.budgets[name]!r}"
            )
        everything = sum_up(float(self.budgets[other]) for other in self.schema.names)
        estimates, bounds = (
            ("own", "paired", "pairwise", "budgets"),
            ("own", "certified", "budgets"),
        )
        for low, high in (*pairwise(estimates), *pairwise(bounds)):
            if not numbers[low] <= numbers[high] * (1.0 + 1e-12):
                raise ValueError(
                    f"the totals of {name!r} cannot be: {low} is {numbers[low]!r}, above {high}, {numbers[high]!r}"
                )
        if abs(numbers["budgets"] - everything) > 1e-9 * everything:
            raise ValueError(
                f"the totals of {name!r} say that all budgets sum to {numbers['budgets']!r}, but they sum to "
                f"{everything!r}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return self.schema.names

    def __repr__(self) -> str:
        return "\n".join(self._summary() + aligned(self._rows()))

    def _repr_html_(self) -> str:
        return html_table.table(self._rows(), self._summary())

    def _rows(self) -> list[tuple[str, ...]]:
        """A row for each attribute, after the headings."""
        rows = [
            (
                printable(name),
                rounded_down(self.budgets[name]),
                self.mechanisms[name],
                rounded_up(self.totals[name][self.guarantee]),
                f"{self.total[name]:g}",
            )
            for name in self.names
        ]
        return [("attribute", "budget", "mechanism", self.guarantee, "promise"), *rows]

    def _summary(self) -> list[str]:
        """What the plan is, and what its promise is worth."""
        count = len(self.names)
        lines = [
            f"Plan for {count} attribute{'s' * (count > 1)} and {self.users:,} users, chosen for {self.objective}",
            f"no {self.guarantee} total is above its promise: {PROMISES[self.guarantee]}",
        ]
        if self.uncertainty is not None:
            lines.append(uncertainty.in_words(uncertainty.from_text(self.uncertainty)))
        return lines

    # --- the file ---

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything else in the file, in JSON with sorted keys."""
        text = json.dumps(
            plan_file.content_of(self), sort_keys=True, ensure_ascii=True, allow_nan=False
        )
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_json(self) -> str:
        """The text of its file."""
        return files.readable(plan_file.content_of(self) | {"digest": self.digest})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that a person can read; it appears whole or not at all."""
        files.write_json(path, plan_file.content_of(self) | {"digest": self.digest})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a JSON file, everything checked; nothing in it is run.

        Raises
        ------
        ValueError
            If it is of another version, was changed after it was saved, or does not keep its own promise.
        """
        content = plan_file.read(path)
        try:
            return cls._restored(content)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            said = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"{path} is not a plan to rely on: {said}") from None

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        plan = cls(**plan_file.fields_of(content))
        if plan.digest != content["digest"]:
            raise ValueError(
                f"its digest is {content['digest']!r}, but its content has {plan.digest!r}: it was changed after it "
                "was saved; get the original"
            )
        return plan

    # --- collecting with it ---

    def perturb(self, frame: Any, rng: np.random.Generator | None = None) -> Any:
        """Reports of all records, in a frame of the same kind; values outside the schema are refused.

        ``rng`` is for simulations that can be repeated; by default chance is the operating system's secure source.
        """
        from deptriad.collection.perturb import perturb

        return perturb(self, frame, rng)

    def estimate(
        self, reports: Any, attributes: str | Sequence[str], post: Post = "norm_sub"
    ) -> Marginal:
        """The marginal of some attributes from reports, with standard errors; ``post`` makes it a distribution."""
        from deptriad.collection.marginal import estimate

        return estimate(self, reports, attributes, post)

    def prior(self, reports: Any, min_records: int = 20) -> Prior:
        """What reports of this plan teach about dependence; ``Prior.from_reports`` calls it."""
        from deptriad.collection.split import as_strategy

        return as_strategy(self).prior(reports, min_records)

    def compare(self) -> Comparison:
        """Expected errors beside those of splitting and of random sampling with the same promise.

        Splitting gives every attribute the smallest promise over their number. Random sampling asks each user for one
        attribute (for two-way marginals: one of all pairs, as one value) with the whole of the smallest promise.
        Errors are roots of summed variances with Σf² left out (``deptriad.mechanisms.expected_error``): upper bounds.
        """
        return compare(self)

    def check(
        self,
        records: Any,
        rng: np.random.Generator | None = None,
        *,
        weight: str | None = None,
        progress: Progress | None = None,
    ) -> Check:
        """What a witness finds on records at these budgets: no promise below it can be kept for them.

        Parameters
        ----------
        records
            A local frame, or the path of a .csv or .parquet file, with the attributes of the plan.
        rng
            Source of chance of the search; by default the operating system's.
        weight
            A column of weights.
        progress
            Called with the number of targets done, and of all.
        """
        return check(self, coded_frame(records, self.schema, weight)[0], rng, progress)


# --- checks ---------------------------------------------------------------------------------------------------------


def _number(value: object, what: str, below: float | None = None) -> float:
    """A number ≥ 0, and finite if it must be below ∞."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if not right or not float(value) >= 0.0 or (below is not None and not float(value) < below):  # type: ignore[arg-type]
        kind = "a number ≥ 0" if below is None else "a finite number ≥ 0"
        raise ValueError(f"{what} is {value!r}, expected {kind}")
    return float(value)  # type: ignore[arg-type]
