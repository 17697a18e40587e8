"""What reports of several attributes together tell about a target, from their joint table: exactly (maths §10.3)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deptriad.curves.leakage import leakage
from deptriad.tables.joint import Joint, sums_of_rows
from deptriad.tables.joint_box import JointBox, joint_rows
from deptriad.tables.table import Box, Conditional
from deptriad.totals import likeliest
from deptriad.totals.favoured_sets import Named, Replies, for_axes, reports_of
from deptriad.totals.likeliest import Known
from deptriad.utils.arrays import Floats, Integers, as_budget
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.rounding import ENTRY, ROUNDOFF, sum_up, widening

LARGEST = 600.0
"""Sum of budgets up to which likelihoods fit into floats; above, logarithms are added."""

MOST_LIKELIHOODS = 4 * 10**7
"""Likelihoods worked out for one number: reports × target values × sets of matches (or cells, for several levels)."""


class TooManyReports(InvalidValue):
    """More reports or sets than can be tried out."""


def joint_leakage(
    table: ArrayLike | Conditional | Box | Joint | JointBox,
    budgets: ArrayLike,
    mechanisms: Named | Sequence[Named] = "grr",
    joint_report: bool = False,
) -> float:
    """What reports of several attributes together give away about a target, in nats: exact for their joint table.

    Parameters
    ----------
    table
        p(u_1 … u_k | x): axis 0 for the values x of the target, then one for each attribute that is reported.
        Counts will do (rows that do not sum to 1; those without any are left out), a Joint whose first name is the
        target, or a JointBox, for the largest leakage of any table in it.
    budgets
        ε of each axis after the first, or one for all of them; 0 where nothing is reported. The target's own is not
        among them: if it is reported, too, both together give away its budget plus this.
    mechanisms
        How each is reported: a name, a Mechanism with the size and budget of its axis, or a list of these. A name of
        ``deptriad.mechanisms.mechanisms`` stands for all that the mechanism can be at its budget, and "any" for all
        ε-LDP mechanisms: then sets of values are tried out, as far as that is feasible.
    joint_report
        Whether all axes are one value, reported as such with one budget.

    Returns
    -------
    float
        ln of the largest ratio of a report's likelihoods under two values of the target, rounded up.

    Raises
    ------
    ValueError
        Too many reports or sets to try out: the message says how many.

    Examples
    --------
    The target is the exclusive or of two fair coins: each alone says nothing, both together do.

    >>> import deptriad as dt
    >>> xor = [[[0.5, 0.0], [0.0, 0.5]], [[0.0, 0.5], [0.5, 0.0]]]
    >>> print(f"{dt.joint_leakage(xor, [1.0, 1.0]):.4f}")
    0.4338
    >>> print(f"{dt.joint_leakage(xor, 1.0, joint_report=True):.4f}")
    0.6201
    """
    known = _known(table)
    if joint_report:
        known = known.as_one_axis()
    sizes = known.lower.shape[1:]
    epsilon = _budget_of_each(budgets, len(sizes), joint_report)
    named = for_axes(mechanisms, len(sizes))
    used = [axis for axis, size in enumerate(sizes) if size > 1 and epsilon[axis] > 0.0]
    if not used or len(known.lower) < 2:
        return 0.0
    known, slack = known.without([axis for axis in range(len(sizes)) if axis not in used])
    epsilon = epsilon[used]
    reports = [
        reports_of(named[i], sizes[i], float(epsilon[at]), i + 1) for at, i in enumerate(used)
    ]
    if known.rows_are_equal:
        return 0.0
    found = _largest(known, epsilon, reports, slack)
    return min(max(found, 0.0), sum_up(epsilon))


def _largest(known: Known, epsilon: Floats, reports: list[Replies], slack: float) -> float:
    """The leakage by the quickest way there is for these reports."""
    if len(reports) == 1 and reports[0].every:
        # one source, any set: the curve of its table (maths §1)
        return float(leakage(known.as_table(slack), float(epsilon[0])))
    large = sum_up(epsilon) > LARGEST
    if known.certain and not large and all(each.single for each in reports):
        rows = known.lower.reshape(len(known.lower), -1)
        sizes = np.array(known.lower.shape[1:])
        return float(separate_gains(rows, np.array([0, len(rows)]), sizes, epsilon, slack)[0])
    _refuse_too_many(known, epsilon, reports)
    if any(each.likelihoods is not None for each in reports):
        return likeliest.by_cells(known, epsilon, reports, slack)
    return likeliest.by_matches(known, epsilon, reports, slack, logarithms=large)


def _refuse_too_many(known: Known, epsilon: Floats, reports: list[Replies]) -> None:
    values = len(known.lower)
    number = math.prod(each.number for each in reports)
    levels = any(each.likelihoods is not None for each in reports)
    apart = known.lower[0].size if levels else len(likeliest.kinds_of_match(epsilon))
    if number * values * apart <= MOST_LIKELIHOODS:
        return
    each = " × ".join(f"{one.number:,}" for one in reports)
    single = all(one.single for one in reports)
    fewer = (
        []
        if single
        else [
            "name mechanisms that favour fewer sets, such as ",
            Parameter("mechanisms"),
            "='grr', ",
        ]
    )
    raise TooManyReports(
        f"{each} = {number:,} different reports, times {values} target values, times {apart:,} likelihoods each, are "
        f"too many to try out, expected at most {MOST_LIKELIHOODS:,}: ",
        *fewer,
        "merge values, or take certified totals, which need no joint table",
    )


def _known(table: Any) -> Known:
    if isinstance(table, Joint):
        table = table.given(table.names[0])
    if isinstance(table, Box):
        table = JointBox.from_flat(table, table.shape)
    if isinstance(table, JointBox):
        return Known(table.lower, table.upper, table.flat.spare, table.flat.surplus, False)
    rows, shape = joint_rows(table)
    cells, zero = rows.table.reshape(shape), np.zeros(shape[0])
    return Known(cells, cells, zero, zero, True)


def _budget_of_each(budgets: Any, axes: int, joint_report: bool) -> Floats:
    epsilon = as_budget(budgets, "budgets")
    if joint_report and epsilon.size != 1:
        raise InvalidValue(
            *(Parameter("budgets"), f" has {epsilon.size} numbers, expected one: with "),
            *(Parameter("joint_report"), " all axes are one value, reported with one budget"),
        )
    if epsilon.ndim > 1 or (epsilon.ndim == 1 and epsilon.size != axes):
        raise InvalidValue(
            Parameter("budgets"),
            f" has shape {epsilon.shape}, expected ({axes},): one for each axis after the target's, or one number",
        )
    return np.broadcast_to(epsilon.reshape(-1), (axes,)).copy()


# --- many targets at once ---------------------------------------------------------------------------------------


def view_totals(
    table: Floats,
    first: Integers,
    sizes: Sequence[int],
    budgets: Sequence[float],
    joint_report: bool = False,
) -> Floats:
    """The totals of many targets of one view, whose attributes are reported by GRR: exact, rounded up.

    A target may be in the view or not. One that is has p(u | x) = 0 wherever u has another value of it than x, so that
    its own report is in the total.

    Parameters
    ----------
    table
        p(u | x): a row for each value of each target, a column for each combination u of the view's attributes, the
        last one fastest. Rows sum to 1.
    first
        Where the rows of each target begin, and at the end how many rows there are.
    sizes
        Number of values of each attribute of the view.
    budgets
        Its ε; of a joint report, the one.
    joint_report
        Whether they are one value, reported as such.
    """
    rows, starts = np.ascontiguousarray(table, dtype=np.float64), np.asarray(first, dtype=np.int64)
    counts = np.array([math.prod(sizes)] if joint_report else sizes, dtype=np.int64)
    epsilon = _budget_of_each(budgets, counts.size, joint_report)
    ceiling = sum_up(epsilon)
    if ceiling <= LARGEST:
        return np.minimum(separate_gains(rows, starts, counts, epsilon), ceiling)
    shape = tuple(counts.tolist())
    parts = [rows[begin:end] for begin, end in itertools.pairwise(starts)]
    return np.array([joint_leakage(part.reshape(-1, *shape), epsilon) for part in parts])


def rows_inside(counts: ArrayLike) -> tuple[Floats, Integers]:
    """``table`` and ``first`` of ``view_totals`` for all targets in a view, from the counts of its attributes.

    Target values without records have no row.
    """
    number = np.asarray(counts, dtype=np.float64)
    blocks = []
    for axis, size in enumerate(number.shape):
        line = [-1 if other == axis else 1 for other in range(number.ndim)]
        sums = sums_of_rows(np.moveaxis(number, axis, 0).reshape(size, -1))
        shares = number / np.where(sums > 0.0, sums, 1.0).reshape(line)
        own = np.eye(size)[sums > 0.0].reshape(-1, *(size if n == -1 else 1 for n in line))
        blocks.append((own * shares).reshape(-1, number.size))
    return np.concatenate(blocks), np.cumsum([0, *map(len, blocks)])


def separate_gains(
    table: Floats, first: Integers, sizes: Integers, epsilon: Floats, slack: float = 0.0
) -> Floats:
    """ln of the largest ratio of M(y | x) and M(y | x') of each target for GRR reports of all axes, rounded up.

    ``slack`` is the relative error that the table's entries have beside the one that is always granted.
    """
    from deptriad.totals._joint_kernels import excess_likelihoods, largest_gains

    operations = int(2 * sizes.sum() + 8 * sizes.size + 16)
    slack += operations * ROUNDOFF + ENTRY
    table = np.array(table)  # one that may be written to, or the loops would be compiled again
    excess = excess_likelihoods(table, sizes.astype(np.int64), np.expm1(epsilon))
    found = largest_gains(excess, first.astype(np.int64), slack, likeliest.TINY)
    return np.asarray(np.log1p(found * widening(8)) * widening(4))
