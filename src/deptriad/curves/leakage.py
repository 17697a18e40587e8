"""From tables and boxes to triads, profiles and leakages, one by one or many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves import certified, exact
from deptriad.curves.lines import LARGE_BUDGET
from deptriad.curves.profile import Profile
from deptriad.curves.triad import Triad
from deptriad.tables.table import Box, Conditional, are_boxes, as_conditional, as_many, flattened
from deptriad.utils.arrays import Floats, as_budget, as_one_budget, scalar_or_array
from deptriad.utils.errors import refuse_other
from deptriad.utils.rounding import widening
from deptriad.utils.text import among, printable, rounded_up

Relaxation = Literal["tight", "paper"]

Many: TypeAlias = "ArrayLike | Sequence[ArrayLike | Conditional] | Sequence[Conditional | Box]"
"""Tables or boxes, of any shapes."""


def triad(
    x: ArrayLike | Conditional | Box,
    relaxation: Relaxation = "tight",
    *,
    epsilon_max: float | None = None,
    calibrate_at: float | None = None,
) -> Triad:
    """(α, β, δ) of a table p(source | target), or of all tables in a box.

    Parameters
    ----------
    x
        Rows for target values, columns for source values: an array-like, a Conditional, or a Box.
    relaxation
        How φ of a box is bounded: "tight" certifies it, exactly where it can (``exact`` says so); "paper" solves the
        paper's linear program, in closed form. A table needs neither.
    epsilon_max
        Largest budget of interest. The second knot then lies where the curve answers it: still a bound for
        every ε, never looser up to ``epsilon_max``, and exact for ε → 0 and there (the tuned triad; that of a box
        stays at its largest ratio at most, and is then a bound only). Without it the
        knot of a table is at its largest ratio, like the paper's; that of a box too, unless another is better by
        far for budgets up to 10, as when a lower edge is tiny.
    calibrate_at
        Budget ε₀ at which a table's triad is made exact instead of at 0. It is a bound for ε ≥ ε₀ only.

    Returns
    -------
    Triad
        Its ``leakage`` is an upper bound for every budget; ``exact`` says whether phi is the true maximum.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.triad([[0.9, 0.1], [0.2, 0.8]])
    Triad(alpha=2.07944, beta=1.50408, delta=0, phi=0.7)
    >>> dt.triad(dt.Relative(0.1).box([[0.9, 0.1], [0.2, 0.8]]))
    Triad(alpha=2.20949, beta=1.62049, delta=0, phi=0.73)
    """
    refuse_other(relaxation, get_args(Relaxation), "relaxation")
    if epsilon_max is not None and calibrate_at is not None:
        raise ValueError("got both epsilon_max and calibrate_at, expected at most one of them")
    largest = None if epsilon_max is None else as_one_budget(epsilon_max, "epsilon_max")
    if largest == 0.0:
        raise ValueError("epsilon_max is 0, expected a number > 0")
    if isinstance(x, Box):
        if calibrate_at is not None:
            raise ValueError(
                "calibrate_at is for tables: use epsilon_max, which holds for every budget"
            )
        if relaxation == "paper":
            if largest is not None:
                raise ValueError(
                    "epsilon_max needs relaxation='tight': the paper's program has no such knot"
                )
            return certified.paper_triad(x)
        return certified.box_triad(x, largest)
    table = as_conditional(x).table
    if largest is not None:
        return exact.tuned(table, largest)
    if calibrate_at is not None:
        return exact.calibrated(table, as_one_budget(calibrate_at, "calibrate_at"))
    return exact.table_triad(table)


def triads(tables: Many) -> Triad:
    """Triads of many tables, or of many boxes, in one compiled call: one Triad with an entry for each.

    Parameters
    ----------
    tables
        Tables of any shapes: array-likes and Conditionals, or an array of three dimensions. Or boxes of any shapes.

    Returns
    -------
    Triad
        One object that holds arrays: an entry for each table.

    Examples
    --------
    >>> import deptriad as dt
    >>> tables = [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
    >>> dt.triads(tables).phi.round(3).tolist()
    [0.7, 0.0]
    >>> dt.triads([dt.Relative(0.1).box(table) for table in tables]).phi.round(3).tolist()
    [0.73, 0.1]
    """
    from deptriad.curves import _table_kernels

    many: Any = as_many(tables)
    if are_boxes(many):
        return certified.box_triads(many)
    values, rows, columns = flattened(many)
    starts = np.cumsum(rows * columns) - rows * columns
    height, distance, excluded = _table_kernels.many_triads(values, starts, rows, columns)
    return exact.rounded_triad(height, distance / 2.0, excluded, columns)


def uncalibrated(table: ArrayLike | Conditional) -> Triad:
    """The paper's (α, γ, δ) before calibration: looser, from extreme ratios alone. ``beta`` plays γ.

    γ is kept for each pair of target values, since over all pairs it would equal α (maths §2); the triad holds the
    largest chord of any pair.

    Returns
    -------
    Triad
        With γ of the paper in the place of beta.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.uncalibrated([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    Triad(alpha=1.60944, beta=1.09861, delta=0, phi=0.571429)
    """
    from deptriad.curves import _table_kernels

    matrix = as_conditional(table).table
    plain = exact.table_triad(matrix)
    chord = _table_kernels.ratio_chords(matrix) * widening(matrix.shape[1])
    return Triad(alpha=plain.alpha, phi=max(chord, float(plain.phi)), delta=plain.delta)


def profile(x: ArrayLike | Conditional | Box, *, tolerance: float = 1e-4) -> Profile:
    """The curve that answers every budget: exact for a table, certified from above for a box.

    Parameters
    ----------
    x
        An array-like, a Conditional, or a Box.
    tolerance
        For a box: how far a chord may lie above the certificate, relative to e^leakage − 1, before a knot is added.

    Returns
    -------
    Profile
        The exact curve of a table; of a box, a curve above that of every table inside.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.profile([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    Profile(2 knots, E_1 = 0.6, flat after γ = 7, exact)
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance is {tolerance}, expected a number > 0, such as 1e-4")
    if isinstance(x, Box):
        return certified.box_profile(x, tolerance)
    return exact.table_profile(as_conditional(x).table)


def leakage(x: ArrayLike | Conditional | Box, epsilon: ArrayLike) -> float | Floats:
    """Most that an ε-LDP release of the source gives away about the target, in nats (the paper's CPL*).

    Exact for a table and certified for a box: never below the truth, not by a rounding, and never above ε.

    Parameters
    ----------
    x
        p(source | target), a row for each target value: an array-like, a Conditional or a Box.
    epsilon
        Budget of the source's mechanism, ≥ 0; a number or an array.

    Returns
    -------
    A float for one budget, an array of its shape for an array.

    Examples
    --------
    >>> import deptriad as dt
    >>> round(dt.leakage([[0.9, 0.1], [0.2, 0.8]], 1.0), 6)
    0.706275
    """
    budget = as_budget(epsilon)
    if isinstance(x, Box):
        return scalar_or_array(certified.box_leakage(x, budget))
    return scalar_or_array(exact.table_leakage(as_conditional(x).table, budget))


def leakages(tables: Many, epsilons: ArrayLike) -> Floats:
    """Leakages of many tables, or of many boxes, in one compiled call: ``leakage`` of each, at a budget of its own.

    Parameters
    ----------
    tables
        As in ``triads``: tables or boxes, of any shapes.
    epsilons
        A budget ≥ 0 for each table, or one for all of them.

    Returns
    -------
    array
        A number for each table; never below the truth, never above its budget.

    Examples
    --------
    >>> import deptriad as dt
    >>> tables = [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.3, 0.2], [0.5, 0.1, 0.4]]]
    >>> dt.leakages(tables, [1.0, 2.0]).round(4).tolist()
    [0.7063, 0.5764]
    """
    budget = as_budget(epsilons, "epsilons")
    many: Any = as_many(tables)
    if are_boxes(many):
        each = _budget_for_each(budget, len(many))
        return certified.box_leakages(many, each[:, None])[:, 0]
    values, rows, columns = flattened(many)
    return exact.table_leakages(values, rows, columns, _budget_for_each(budget, rows.size))


def _budget_for_each(budget: Floats, count: int) -> Floats:
    if budget.shape not in ((), (count,)):
        raise ValueError(
            f"epsilons has shape {budget.shape}, expected one number, or one for each of {count} tables"
        )
    return np.broadcast_to(budget, (count,))


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a leakage is what it is: two target values, and the source values that tell them apart.

    ``pair`` are the rows of the more and the less likely target value, ``values`` the columns of the source values
    that point to the first; both come with their labels. Printed, it is a sentence.

    Examples
    --------
    >>> import deptriad as dt
    >>> found = dt.where([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], 1.0)
    >>> found.pair, found.values
    ((0, 1), (0,))
    """

    leakage: float
    epsilon: float
    target: str
    source: str
    pair: tuple[int, int]
    pair_labels: tuple[str, str]
    values: tuple[int, ...]
    value_labels: tuple[str, ...]

    def __repr__(self) -> str:
        source, target = printable(self.source), printable(self.target)
        if self.epsilon == 0.0:
            return f"With ε = 0 a report of `{source}` says nothing."
        if not self.values:
            return f"`{source}` says nothing about `{target}`."
        one = among(self.source, self.value_labels)
        times = f" ({rounded_up(np.exp(self.leakage))} times)" if self.leakage < 10.0 else ""
        likely, unlikely = (printable(label) for label in self.pair_labels)
        return (
            f"Released with ε = {self.epsilon:g}, a report that points to {one} can raise the odds of "
            f"`{target} = {likely}` over `{target} = {unlikely}` by up to e^{rounded_up(self.leakage)}{times}."
        )


def where(x: ArrayLike | Conditional | Box, epsilon: float) -> Explanation:
    """The pair of target values and the set of source values that attain the leakage, with their labels.

    Parameters
    ----------
    x
        An array-like, a Conditional or a Box; the latter two carry the names of attributes and values.
    epsilon
        Budget of the source's mechanism.

    Returns
    -------
    Explanation
        The two target values, the source values that tell them apart, and the leakage that these attain.

    Examples
    --------
    >>> import deptriad as dt
    >>> table = dt.Conditional([[0.05, 0.95], [0.4, 0.6]], target="sex", source="relationship",
    ...                        target_values=["male", "female"], source_values=["wife", "other"])
    >>> print(dt.where(table, 1.0))
    Released with ε = 1, a report that points to `relationship = wife` can raise the odds of `sex = female` over \
`sex = male` by up to e^0.441 (1.554 times).
    """
    budget = as_one_budget(epsilon, "epsilon")
    named = x if isinstance(x, Box) else as_conditional(x)
    pair, values = _event(named, budget)
    return Explanation(
        leakage=float(np.asarray(leakage(named, budget))),
        epsilon=budget,
        target=named.target,
        source=named.source,
        pair=pair,
        pair_labels=(named.target_label(pair[0]), named.target_label(pair[1])),
        values=values,
        value_labels=tuple(named.source_label(value) for value in values),
    )


def _event(x: Conditional | Box, epsilon: float) -> tuple[tuple[int, int], tuple[int, ...]]:
    """The rows and the source values that attain the leakage; first and last row and no value where it is 0."""
    nothing = (0, x.shape[0] - 1), ()
    if epsilon == 0.0 or x.shape[0] < 2:
        return nothing
    budget = min(epsilon, LARGE_BUDGET - 100.0)
    if isinstance(x, Box):
        pair, values = certified.box_event(x, budget)
    else:
        eta, *rows = exact.steepest(x.table, budget)
        more, less = x.table[rows]
        pair, values = (rows[0], rows[1]), np.flatnonzero(more - less > eta * (1.0 - 1e-12) * less)
    return (pair, tuple(values.tolist())) if values.size else nothing
