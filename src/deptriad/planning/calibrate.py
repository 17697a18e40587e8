"""calibrate(): per-attribute budgets that keep a promise and lose the least (maths §8)."""

from __future__ import annotations

from collections.abc import Mapping

from deptriad.analysis.analysis import Analysis
from deptriad.mechanisms import expected_error
from deptriad.planning.plan import Guarantee, Objective, Plan
from deptriad.planning.wishes import Wishes
from deptriad.tables import uncertainty
from deptriad.totals.totals import NUMBERS
from deptriad.utils.arrays import as_whole
from deptriad.utils.progress import Progress


def calibrate(
    analysis: Analysis,
    total: float | Mapping[str, float],
    objective: Objective = "utility",
    guarantee: Guarantee = "certified",
    *,
    weights: Mapping[str, float] | None = None,
    fixed: Mapping[str, float] | None = None,
    lower: Mapping[str, float] | None = None,
    upper: Mapping[str, float] | None = None,
    mechanism: str | Mapping[str, str] = "auto",
    users: int = 100_000,
    progress: Progress | None = None,
) -> Plan:
    """Budgets, one for each attribute, under which no attribute's total is above its promise.

    The result satisfies ``analysis.totals(plan.budgets)[k].<guarantee> <= total`` for every k, to the last bit. No
    budget is below splitting, the smallest total over the number of attributes, unless the limits given say so.

    Parameters
    ----------
    analysis
        An analysis with its tables, so not one that was loaded from a file.
    total
        The promise: one number, or one for each attribute; ∞ for a public one, which then ends at a budget of 20.
    objective
        "utility": the least expected squared error of all one- and two-way marginals. An attribute's unbiased
        estimates have m = 1 + [p(1 − p) + (b − 1)·q(1 − q)]/(p − q)² a report, a two-way marginal the product of two
        such m (see ``deptriad.mechanisms.expected_error``), and what is minimised is
        Σ w_i·m_i + Σ_{i<j} w_i·w_j·m_i·m_j. The true frequencies enter the errors by a constant only, so they
        are not used.
        "even": the largest smallest budget (ε_i/w_i, with weights). If after that some can be raised at no cost to the
        others, they are, by utility.
        "paper": the least Σ w_k·(total of k − its promise)² over all finite promises.
    guarantee
        Which total is held below the promise: "certified", a bound; or "paired" or "pairwise", which are estimates
        and bounds only if the other answers are independent given the target.
    weights
        How much each attribute matters, 1 where it is not said.
    fixed
        Budgets that are given; 0 for an attribute that is not released, as those of one value never are.
    lower, upper
        Limits of the budgets, by attribute.
    mechanism
        What reports an attribute, a key of ``deptriad.mechanisms.mechanisms``, one for all or one for some; "auto" is
        the one of GRR and OLH with the smaller error at its budget.
    users
        How many will answer, for the errors that the plan states.
    progress
        Called with the number of steps done, and None.

    Returns
    -------
    Plan
        Budgets and mechanisms by attribute; each total is recomputed, and none is above its promise.

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
    >>> plan = calibrate(analysis, total=3.0)
    >>> all(each.certified <= 3.0 for each in analysis.totals(plan.budgets).values())
    True
    >>> min(plan.budgets.values()) >= 1.0
    True
    """
    from deptriad.planning.search import Search

    wishes = Wishes.checked(
        analysis, total, objective, guarantee, weights, fixed, lower, upper, mechanism
    )
    as_whole(users, "users", 1)
    steps = 0

    def watch() -> None:
        nonlocal steps
        steps += 1
        if progress:
            progress(steps, None)

    epsilon, totals = Search(wishes, watch).found()
    budgets = dict(zip(analysis.names, epsilon.tolist(), strict=True))
    known = None if analysis.uncertainty is None else uncertainty.as_text(analysis.uncertainty)
    return Plan(
        schema=analysis.schema,
        budgets=budgets,
        mechanisms={
            attribute.name: expected_error.choose(asked, budgets[attribute.name], attribute.size)
            for attribute, asked in zip(analysis.schema, wishes.mechanisms, strict=True)
        },
        total=dict(zip(analysis.names, wishes.limits.tolist(), strict=True)),
        guarantee=guarantee,
        objective=objective,
        totals={each.target: {name: getattr(each, name) for name in NUMBERS} for each in totals},
        uncertainty=known,
        users=users,
        facts=dict(analysis.facts),
    )
