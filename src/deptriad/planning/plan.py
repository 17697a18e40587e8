"""Plan: the file that clients and the aggregator share: who is asked what, with which budgets, under which promise."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

from deptriad.collection.view import View
from deptriad.data.coded_records import coded_frame
from deptriad.data.schema import Schema
from deptriad.planning import plan_checks, plan_file, plan_words
from deptriad.planning.comparison import Comparison, compare
from deptriad.planning.pilot import Pilot
from deptriad.planning.plan_words import PROMISES
from deptriad.planning.recheck import Recheck, recheck
from deptriad.planning.witnessed import Check, check
from deptriad.tables import uncertainty
from deptriad.utils import files
from deptriad.utils.arrays import as_whole
from deptriad.utils.by_name import by_name
from deptriad.utils.errors import refuse_other
from deptriad.utils.progress import Progress

if TYPE_CHECKING:
    import numpy as np

    from deptriad.analysis.analysis import Analysis
    from deptriad.analysis.prior import Prior
    from deptriad.chains.chain import Chain
    from deptriad.collection.marginal import Marginal
    from deptriad.collection.post_processing import Post
    from deptriad.planning.spent import Spent

Guarantee = Literal["joint", "certified", "paired", "pairwise"]
Objective = Literal["utility", "even", "paper"]
OBJECTIVES = ("utility", "even", "paper")


@dataclass(frozen=True, repr=False)
class Plan:
    """The views of a survey, the promise that each of them keeps, and what is known about how.

    Made by ``calibrate``. Its file holds no records, counts or tables.

    Parameters
    ----------
    schema
        The attributes.
    views
        Who is asked what: attributes with their budgets and mechanisms, and the share of people. Shares sum to 1.
    total
        The promise for each attribute; ∞ for a public one.
    guarantee
        Which of the totals keeps it: "joint", "certified", "paired" or "pairwise".
    objective
        What the budgets were chosen for.
    totals
        For each attribute the largest total of all views, by the name of the guarantee. Where everybody is asked
        everything also own, paired, pairwise, certified, and the sum of all budgets.
    uncertainty
        How far the truth may lie from the prior, in a word such as "spread:std"; None takes the prior as it is.
    users
        How many are to answer.
    facts
        About the prior: how many groups, whether weighted, what was done about thin values; what ``pilot`` found.
    marginals, weights
        What the views were chosen for, and how much each of these marginals matters.
    optimality
        A bound on the mean error over that of the best shares of all views that were priced; 1 is the best.
    everything
        Certified budgets under the same promise if everybody were asked everything, for ``compare``; None if unknown.

    Examples
    --------
    >>> import deptriad as dt
    >>> import numpy as np
    >>> import pandas as pd
    >>> schema = dt.Schema([dt.Attribute("smokes", ["no", "yes"], missing="error")])
    >>> plan = dt.calibrate(schema, total=2.0, users=1000)
    >>> people = pd.DataFrame({"smokes": ["no", "no", "no", "yes"] * 250})
    >>> reports = plan.perturb(people, rng=np.random.default_rng(1))
    >>> plan.estimate(reports, ["smokes"]).frequencies.round(2).tolist()
    [0.75, 0.25]
    >>> plan.budgets
    {'smokes': 2.0}
    """

    schema: Schema
    views: tuple[View, ...]
    total: dict[str, float]
    guarantee: Guarantee
    objective: Objective
    totals: dict[str, dict[str, float]]
    uncertainty: str | None = None
    users: int = 100_000
    facts: dict[str, Any] = field(default_factory=dict)
    marginals: tuple[tuple[str, ...], ...] = ()
    weights: tuple[float, ...] = ()
    optimality: float = 1.0
    everything: dict[str, float] | None = None

    @classmethod
    def asking_all(
        cls,
        schema: Schema,
        budgets: Mapping[str, float],
        mechanisms: Mapping[str, str],
        *others: Any,
        **more: Any,
    ) -> Self:
        """A plan with one view: everybody reports each attribute that has a budget, by itself.

        Parameters
        ----------
        schema
            The attributes.
        budgets
            ε of each attribute; 0 for one that is not released.
        mechanisms
            What reports each attribute; "none" without a budget.
        others, more
            The other fields of a plan.
        """
        view = plan_checks.everything(schema, budgets, mechanisms)
        return cls(schema, (view,), *others, **more)

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
        Pilot.of(self.facts)
        plan_checks.refuse_views(self)
        for what in ("total", "totals"):
            each = by_name(getattr(self, what), self.names, what, lambda value, _: value)
            object.__setattr__(self, what, dict(zip(self.names, each, strict=True)))
        for name in self.schema.names:
            plan_checks.refuse_totals(self, name)

    @property
    def asks_all(self) -> bool:
        """Whether there is one view, of attributes by themselves."""
        return len(self.views) == 1 and not self.views[0].joint

    @cached_property
    def budgets(self) -> dict[str, float]:
        """ε of each attribute, 0 where it is not asked; for plans with one view."""
        own = self._only_view("budgets").budgets
        return {name: float(own.get(name, 0.0)) for name in self.names}

    @cached_property
    def mechanisms(self) -> dict[str, str]:
        """What reports each attribute, "none" where it is not asked; for plans with one view."""
        own = self._only_view("mechanisms").mechanisms
        return {name: own.get(name, "none") for name in self.names}

    def _only_view(self, what: str) -> View:
        if not self.asks_all:
            raise ValueError(
                f"this plan has {len(self.views)} view{'s' * (len(self.views) > 1)}, and {what} of their own in each: "
                f"see plan.views, or calibrate with views='all'"
            )
        return self.views[0]

    def expected(self, names: str | Sequence[str]) -> float:
        """The expected error of a marginal for ``users`` people: the root of its summed variance, Σf² left out.

        That is an upper bound, whatever the true frequencies f are; ∞ if its attributes are never asked together.

        Examples
        --------
        >>> import deptriad as dt
        >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
        >>> print(f"{dt.calibrate(schema, total=1.0, users=10_000).expected('sex'):.4f}")
        0.0169
        """
        wanted = (names,) if isinstance(names, str) else tuple(names)
        for name in wanted:
            self.schema.index(name)
        known = math.fsum(view.share * view.precision(wanted, self.schema) for view in self.views)
        return math.sqrt(1.0 / (known * self.users)) if known else math.inf

    @property
    def pilot(self) -> Pilot | None:
        """What became of plans from one half of the records on the other half; None if ``calibrate`` was not asked."""
        return Pilot.of(self.facts)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return self.schema.names

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """Names of the attributes that are released."""
        return tuple(n for n in self.names if any(n in view.attributes for view in self.views))

    def __repr__(self) -> str:
        return plan_words.text(self)

    def _repr_html_(self) -> str:
        return plan_words.in_html(self)

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
        except plan_file.UNREADABLE as error:
            said = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"{path} is not a plan to rely on: {said}") from None

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        plan = plan_file.plan_of(content, cls)
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
        self,
        reports: Any,
        attributes: str | Sequence[str],
        post: Post = "norm_sub",
        **how: Any,
    ) -> Marginal:
        """The marginal of some attributes from reports, with standard errors; ``post`` makes it a distribution.

        ``how`` are ``weight``, ``unmarked``, ``seeded`` and ``implausible``, as for
        ``deptriad.collection.marginal.estimate``.
        """
        from deptriad.collection.marginal import estimate

        return estimate(self, reports, attributes, post, **how)

    def estimates(
        self,
        reports: Any,
        marginals: int | Sequence[str | Sequence[str]] | None = None,
        **how: Any,
    ) -> dict[tuple[str, ...], Marginal]:
        """All marginals that the plan is for, or others, made to agree with each other and nowhere below 0.

        ``how`` is what ``deptriad.collection.marginal.estimates`` takes.
        """
        from deptriad.collection.marginal import estimates

        return estimates(self, reports, marginals, **how)

    def prior(self, reports: Any, min_records: int = 20, **allowed: bool) -> Prior:
        """What reports of this plan teach about dependence; ``Prior.from_reports`` calls it."""
        from deptriad.collection.split import as_strategy

        return as_strategy(self).prior(reports, min_records, **allowed)

    def recheck(self, reports: Any, level: float = 0.95, **allowed: bool) -> Recheck:
        """Whether the promise still holds for those who answered, by their reports: ``deptriad.planning.recheck``."""
        return recheck(self, reports, level, **allowed)

    def compare(self) -> Comparison:
        """Expected errors beside those of other strategies with the same promise: who wins, and by how much.

        Splitting gives all that are released equal parts of the smallest promise; sampling asks one, or one pair as one
        value, with all of it; fakes hide which. Asking everybody everything uses dependence, too. ``verdict`` says who
        wins. Errors are upper bounds: roots of summed variances, less Σf² (``deptriad.mechanisms.expected_error``).
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
        return check(
            self, coded_frame(records, self.schema, weight, of_plan=True)[0], rng, progress
        )

    def spent(
        self,
        history: Sequence[Any],
        analysis: Analysis | None = None,
        *,
        chains: Mapping[str, Chain | None] | None = None,
        anew: str | None = None,
    ) -> Spent:
        """What everything that a person was asked so far has told about each attribute at most; beside the promises.

        Totals of several collections are never added up: what holds is worked out again from all reports together.

        Parameters
        ----------
        history
            A list of what was asked: plans, views, budgets by name, or ``Asked`` with a time. This plan counts where it
            is in the list.
        analysis
            Tables of the plan's attributes, from ``analyze``: exact joint tables where its prior has records,
            certificates from pairs otherwise. Without it the sum of all ε, or one plan's own totals and ε of all else.
        chains
            The attributes whose answers change from one time to the next: a ``Chain``, or None where it is not known
            how. All others stay the same.
        anew
            An attribute with a chain: given its answer at a time, everything else that is asked then is taken as drawn
            anew. An assumption; nothing else says so.

        Returns
        -------
        Spent
            By name, ``most`` is a bound on what was told; ``kept``, ``broken``, and in ``left`` what may still be
            asked.

        Examples
        --------
        Two fair coins, asked apart, and whether they differ:

        >>> import deptriad as dt
        >>> import pandas as pd
        >>> coins = pd.DataFrame({"one": [0, 0, 1, 1] * 20, "two": [0, 1] * 40, "differ": [0, 1, 1, 0] * 20})
        >>> analysis = dt.analyze(dt.Prior.from_data(coins, dt.Schema.infer(coins)))
        >>> plan = dt.calibrate(analysis, total=2.0)
        >>> for history in ([{"one": 1.0}], [{"two": 1.0}], [{"one": 1.0}, {"two": 1.0}]):
        ...     print(f"{plan.spent(history, analysis)['differ'].most:.3f}")
        0.000
        0.000
        0.434
        """
        from deptriad.planning.odometer import reading

        return reading(self, history, analysis, chains, anew)
