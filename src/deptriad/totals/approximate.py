"""approximate_total(): (ε, δ) of a target where the mechanisms are only (ε, δ)-LDP (maths §4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deptriad.curves.leakage import profile
from deptriad.totals.shared_target import Table, budgets_by_source, shared_target
from deptriad.utils.arrays import as_finite_budget, as_probability
from deptriad.utils.by_name import by_name
from deptriad.utils.rounding import sum_up


@dataclass(frozen=True)
class ApproximateTotal:
    """(ε, δ) of a target when the mechanisms are only (ε, δ)-LDP.

    Parameters
    ----------
    estimate_epsilon, estimate_delta
        The sums of the pairwise ε' and δ'. An ESTIMATE: a bound only if the answers are independent given the target.
    epsilon, delta
        The plain sums of all budgets and of all δ: the only bound known here.
    """

    target: str
    estimate_epsilon: float
    estimate_delta: float
    epsilon: float
    delta: float


def approximate_total(
    tables: Mapping[str, Table],
    budgets: Mapping[str, float],
    deltas: Mapping[str, float],
    own: float = 0.0,
    own_delta: float = 0.0,
    at_delta: Mapping[str, float] | None = None,
) -> ApproximateTotal:
    """Totals of one target under approximate LDP: an estimate from pairwise leakages, and the plain sums as a bound.

    Parameters
    ----------
    tables, budgets, own
        As for ``target_total``.
    deltas, own_delta
        δ of each source's mechanism, and of the target's own.
    at_delta
        δ' that the estimate allows each source about the target; by default its mechanism's δ, at which its ε' is
        never above its ε. A smaller one may need an infinite ε'.

    Examples
    --------
    >>> import deptriad as dt
    >>> table = dt.Conditional([[0.9, 0.1], [0.2, 0.8]], target="sex")
    >>> total = approximate_total({"age": table}, {"age": 1.0}, {"age": 1e-6}, own=0.5)
    >>> round(total.estimate_epsilon, 4), total.epsilon, total.delta
    (1.2063, 1.5, 1e-06)
    """
    target = shared_target(tables)
    own = as_finite_budget(own, f"own budget of {target!r}")
    given = budgets_by_source(tables, budgets)
    lost = _deltas(tables, deltas, "deltas")
    allowed = lost if at_delta is None else _deltas(tables, at_delta, "at_delta")
    own_lost = float(as_probability(own_delta, "own_delta"))
    estimates, spent = [], []
    for name, table in tables.items():
        if given[name] > 0.0 or lost[name] > 0.0:
            curve = profile(table)
            answer = curve.leakage(given[name], mechanism_delta=lost[name], delta=allowed[name])
            estimates.append(float(np.asarray(answer)))
            spent.append(allowed[name])
    return ApproximateTotal(
        target=target,
        estimate_epsilon=sum_up([own, *estimates]) if np.isfinite(estimates).all() else math.inf,
        estimate_delta=min(sum_up([own_lost, *spent]), 1.0),
        epsilon=sum_up([own, *given.values()]),
        delta=min(sum_up([own_lost, *lost.values()]), 1.0),
    )


def _deltas(
    tables: Mapping[str, Table], deltas: Mapping[str, float], what: str
) -> dict[str, float]:
    """A probability for each table, in the order of the tables."""
    each = by_name(
        deltas, list(tables), what, lambda value, name: float(as_probability(value, name))
    )
    return dict(zip(tables, each, strict=True))
