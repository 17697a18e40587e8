"""calibrate(): the views and budgets that keep a promise and lose the least (maths §8, §11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from deptriad.analysis.analysis import Analysis
from deptriad.data.schema import Schema
from deptriad.mechanisms import expected_error
from deptriad.planning import pilot
from deptriad.planning.plan import Guarantee, Objective, Plan
from deptriad.planning.plan_checks import NUMBERS
from deptriad.planning.view_wishes import ViewWishes, refuse_for_all
from deptriad.planning.wishes import Wishes
from deptriad.tables import uncertainty
from deptriad.utils.arrays import as_whole
from deptriad.utils.errors import Parameter
from deptriad.utils.progress import Progress


def calibrate(
    analysis: Analysis | Schema,
    total: float | Mapping[str, float],
    objective: Objective = "utility",
    guarantee: Guarantee | None = None,
    *,
    views: Literal["best", "all"] | int = "best",
    marginals: int | Sequence[str | Sequence[str]] = 2,
    together: Sequence[Sequence[str]] = (),
    weights: Mapping[str, float] | Sequence[float] | None = None,
    fixed: Mapping[str, float] | None = None,
    lower: Mapping[str, float] | None = None,
    upper: Mapping[str, float] | None = None,
    mechanism: str | Mapping[str, str] = "auto",
    users: int = 100_000,
    halves: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """A plan under which nothing that a person reports tells more about any attribute than was promised.

    Parameters
    ----------
    analysis
        An analysis with its tables, so not one that was loaded from a file; or a schema, for the best plan that needs
        no prior.
    total
        The promise: one number, or one for each attribute; ∞ for a public one, which then ends at a budget of 20. See
        ``promise`` for a number in words.
    objective
        For views="all". "utility": the least expected squared error of all one- and two-way marginals. An attribute's
        unbiased estimates have m = 1 + [p(1 − p) + (b − 1)·q(1 − q)]/(p − q)² a report, a two-way marginal the product
        of two such m (see ``deptriad.mechanisms.expected_error``), and what is minimised is
        Σ w_i·m_i + Σ_{i<j} w_i·w_j·m_i·m_j. The true frequencies enter the errors by a constant only, so they
        are not used.
        "even": the largest smallest budget (ε_i/w_i, with weights). If after that some can be raised at no cost to the
        others, they are, by utility.
        "paper": the least Σ w_k·(total of k − its promise)² over all finite promises.
    guarantee
        Which total is held below the promise. "joint", exact for the plan's own mechanisms and the prior's joint
        tables: the default of views="best" where the prior has records. "certified", a bound for every joint
        distribution with the prior's tables of pairs: the default otherwise. For views="all" also "paired" or
        "pairwise", which are estimates and bounds only if the other answers are independent given the target.
    views
        "best": a few attributes are asked of each person, drawn by chance, so that the marginals have the least error.
        A number: the same, with at most so many attributes in a view. "all": everybody is asked everything; the result
        then satisfies ``analysis.totals(plan.budgets)[k].<guarantee> <= total`` for every k, to the last bit, and no
        budget is below splitting, the smallest total over the number of attributes, unless the limits say so.
    marginals
        What is to be estimated: all marginals of up to so many attributes, or a list of them. Minimised is the mean of
        their variances, each over that of the best known strategy which needs no prior. Not for views="all".
    together
        Sets of attributes that are asked of the same person whenever one of them is. Not for views="all".
    weights
        How much each attribute matters, 1 where it is not said; a marginal matters as the product. Or, where marginals
        are listed, a number for each of them.
    fixed
        Budgets that are given; 0 for an attribute that is not released, as those of one value never are. Other budgets
        can be fixed for views="all" only.
    lower, upper
        Limits of the budgets, by attribute, for views="all".
    mechanism
        What reports an attribute, a key of ``deptriad.mechanisms.mechanisms``, one for all or one for some; "auto" is
        the one of GRR and OLH with the smaller error at its budget. Other than "auto" for views="all" only.
    users
        How many will answer, for the errors that the plan states.
    halves
        How often to plan on one half of the records and to check on the other: ``plan.pilot`` then says how often and
        by how much a promise was broken. For a pilot of few records; each takes about as long as the plan.
    progress
        Called with the number of steps done, and None; or how many there are at most.

    Returns
    -------
    Plan
        Views with budgets and mechanisms by attribute; each total is recomputed, and none is above its promise.

    Raises
    ------
    ValueError
        If the limits leave no budgets that keep the promise; it names the attribute whose total breaks it and the
        smallest total that would work.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad.planning.calibrate import calibrate
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "c": [0, 0, 1, 0] * 20})
    >>> analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    >>> plan = calibrate(analysis, total=3.0, views="all")
    >>> all(each.certified <= 3.0 for each in analysis.totals(plan.budgets).values())
    True
    >>> min(plan.budgets.values()) >= 1.0
    True
    >>> best = calibrate(analysis, total=3.0)
    >>> best.expected(("a", "b")) < plan.expected(("a", "b"))
    True
    """
    as_whole(users, "users", 1)
    if as_whole(halves, Parameter("halves"), 0):
        limits = {"fixed": fixed, "lower": lower, "upper": upper, "mechanism": mechanism}
        wanted = {"marginals": marginals, "together": together, "weights": weights}
        wishes: dict[str, Any] = limits | wanted | {"views": views, "users": users}

        def planned(some: Analysis | Schema, progress: Progress | None = None) -> Plan:
            return calibrate(some, total, objective, guarantee, **wishes, progress=progress)

        plan = planned(analysis, progress=progress)
        return pilot.tried(plan, analysis, halves, planned)
    if views == "all" and not isinstance(analysis, Schema):
        refuse_for_all(marginals, together, weights)
        limits = {"fixed": fixed, "lower": lower, "upper": upper}
        return _asking_all(
            Wishes.checked(
                *(analysis, total, objective, guarantee or "certified"),
                *(weights, *limits.values(), mechanism),  # type: ignore[arg-type]
            ),
            users,
            progress,
        )
    asked = ViewWishes.checked(
        *(analysis, total, guarantee, views, marginals, together, weights, fixed),
        refused={"objective": objective, "lower": lower, "upper": upper, "mechanism": mechanism},
    )
    return _of_views(asked, users, progress)


def _asking_all(wishes: Wishes, users: int, progress: Progress | None) -> Plan:
    """Everybody is asked everything."""
    from deptriad.planning.search import Search

    analysis = wishes.analysis
    epsilon, totals = Search(wishes, _steps(progress)).found()
    budgets = dict(zip(analysis.names, epsilon.tolist(), strict=True))
    return Plan.asking_all(
        schema=analysis.schema,
        budgets=budgets,
        mechanisms={
            attribute.name: expected_error.choose(asked, budgets[attribute.name], attribute.size)
            for attribute, asked in zip(analysis.schema, wishes.mechanisms, strict=True)
        },
        total=dict(zip(analysis.names, wishes.limits.tolist(), strict=True)),
        guarantee=wishes.guarantee,
        objective=wishes.objective,
        totals={each.target: {name: getattr(each, name) for name in NUMBERS} for each in totals},
        **_about(analysis, users),
    )


def _of_views(asked: ViewWishes, users: int, progress: Progress | None) -> Plan:
    """The best views."""
    from deptriad.planning.best_views import best_views

    analysis, workload = asked.analysis, asked.workload
    everything: list[dict[str, float] | None] = [None]  # known if the search has asked for it

    def asking_all() -> dict[str, float] | None:
        everything[0] = asked.everything()
        return everything[0]

    found = best_views(
        *(workload, asked.promises, analysis, asked.guarantee, asked.most, asked.together),
        everything=asking_all,
        watch=progress or (lambda done, of: None),
    )
    names = workload.schema.names
    return Plan(
        workload.schema,
        found.views,
        total=dict(zip(names, asked.promises.tolist(), strict=True)),
        guarantee=asked.guarantee,
        objective="utility",
        totals={
            name: {asked.guarantee: float(total)}
            for name, total in zip(names, found.totals, strict=True)
        },
        marginals=workload.marginals,
        weights=tuple(workload.weights.tolist()),
        optimality=found.ratio,
        everything=everything[0],
        **_about(analysis, users),
    )


def _about(analysis: Analysis | None, users: int) -> dict[str, Any]:
    """Fields of a plan about its prior."""
    if analysis is None:
        return {"users": users}
    known = None if analysis.uncertainty is None else uncertainty.as_text(analysis.uncertainty)
    return {"uncertainty": known, "users": users, "facts": dict(analysis.facts)}


def _steps(progress: Progress | None) -> Callable[[], None]:
    steps = 0

    def watch() -> None:
        nonlocal steps
        steps += 1
        if progress:
            progress(steps, None)

    return watch
