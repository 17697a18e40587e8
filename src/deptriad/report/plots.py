"""Plots for papers and notebooks, in the colours of the page: leakages, a profile, totals, a plan.

Each draws on the axes given, or on new ones, and returns them. Names are drawn as they are: matplotlib would take what
stands between two $ for mathematics, and stop at what is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deptriad.curves.leakage import profile as profile_of
from deptriad.curves.leakage import triad as triad_of
from deptriad.curves.profile import Profile
from deptriad.curves.triad import Triad
from deptriad.report._drawing import (
    as_text,
    axes,
    by_attribute,
    colours_of,
    dots,
    is_dark,
    label_size,
    labels,
    sequential,
)
from deptriad.totals.totals import Totals
from deptriad.utils.arrays import as_numbers
from deptriad.utils.errors import refuse_unknown
from deptriad.utils.text import rounded_up

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from deptriad.analysis.analysis import Analysis, Budgets
    from deptriad.planning.plan import Plan
    from deptriad.tables.table import Box, Conditional
    from deptriad.utils.arrays import Floats
    from deptriad.witnesses.result import Witness

NUMBERED = 20
"""Attributes up to which the cells of a heatmap show their numbers."""

FARTHEST = 1e9
"""Largest γ that is drawn."""

POINTS = 400
"""Points of a curve, besides its knots."""


# --- leakages -----------------------------------------------------------------------------------------------------


def plot_leakage(analysis: Analysis, epsilon: Budgets = 1.0, ax: Axes | None = None) -> Axes:
    """A heatmap of the leakage of every attribute (row) about every other (column).

    Parameters
    ----------
    analysis
        An analysis; one loaded from a file will do.
    epsilon
        One budget for all attributes, or a mapping with one for each.
    ax
        Axes to draw on; by default new ones, whose size grows with the number of attributes.

    Returns
    -------
    The axes. Up to 20 attributes have their numbers shown, rounded up; an attribute's own budget is left blank.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 75 + ["yes"] * 25})
    >>> analysis = dt.analyze(dt.Prior.from_data(frame, schema=dt.Schema.infer(frame)))
    >>> dt.plot_leakage(analysis, epsilon=2.0).get_title()
    'Leakage at ε = 2'
    """
    if not hasattr(analysis, "leakage") or not hasattr(analysis, "names"):
        raise ValueError(
            f"analysis is a {type(analysis).__name__}, expected an Analysis: make one with analyze"
        )
    budgets = analysis.budgets(epsilon)
    leakages = np.array(analysis.leakage(epsilon))
    np.fill_diagonal(leakages, np.nan)
    count = len(analysis.names)
    side = min(max(2.2 + 0.34 * count, 3.2), 14.0)
    beside = 0.006 * label_size(count) * max(map(len, labels(analysis.names)))
    ax = axes(ax, (side + beside + 1.0, side + beside))
    colours = sequential(ax)
    limit = float(budgets.max())
    highest = limit if 0.0 < limit < math.inf else _largest(leakages) or 1.0
    image = ax.imshow(leakages, cmap=colours, vmin=0.0, vmax=highest, interpolation="nearest")
    size = label_size(count)
    places = range(count)
    ax.set_xticks(places, labels(analysis.names), rotation=90, fontsize=size)
    ax.set_yticks(places, labels(analysis.names), fontsize=size)
    as_text(*ax.get_xticklabels(), *ax.get_yticklabels())
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("about (target)")
    ax.set_ylabel("released (source)")
    alike = float(budgets.min()) == limit
    ax.set_title(f"Leakage at ε = {limit:g}" if alike else "Leakage at the budgets given")
    if count <= NUMBERED:
        _number(ax, leakages, colours, highest, size)
    bar = ax.figure.colorbar(image, ax=ax, label="nats", shrink=0.8)
    bar.outline.set_visible(False)
    return ax


def _largest(values: Floats) -> float:
    return float(np.max(values[np.isfinite(values)], initial=0.0))


def _number(ax: Axes, values: Floats, colours: Any, limit: float, size: float) -> None:
    for row, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
        value = float(values[row, column])
        shown = rounded_up(value, 2) if value >= 0.01 or not value else "< .01"
        ink = "white" if is_dark(colours(value / limit)) else "black"
        ax.text(column, row, shown, ha="center", va="center", color=ink, fontsize=0.85 * size)


# --- one pair -----------------------------------------------------------------------------------------------------


def plot_profile(
    curve: Profile | Conditional | Box | ArrayLike,
    triad: Triad | None = None,
    ax: Axes | None = None,
    kind: Literal["profile", "leakage"] = "profile",
) -> Axes:
    """The profile of a pair and the chord of its triad; or the leakage that follows from each, for any budget.

    Parameters
    ----------
    curve
        A profile; or a table p(source | target) or a box, whose profile and triad are then worked out.
    triad
        The triad to draw beside it; that of the table by default, none beside a profile.
    ax
        Axes to draw on; by default new ones.
    kind
        "profile" draws E_γ against γ, "leakage" the leakage against ε.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import deptriad as dt
    >>> ax = dt.plot_profile([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], kind="leakage")
    >>> [line.get_label() for line in ax.lines]
    ['budget', 'profile', 'triad']
    """
    if kind not in ("profile", "leakage"):
        raise ValueError(f"kind is {kind!r}, expected 'profile' or 'leakage'")
    if not isinstance(curve, Profile):
        triad = triad_of(curve) if triad is None else triad
        curve = profile_of(curve)
    if triad is not None and np.ndim(triad.phi):
        raise ValueError(f"triad has {len(triad)} triads, expected one: take one by its index")
    ax = axes(ax, (5.2, 3.6))
    draw = _sticks if kind == "profile" else _leakages
    draw(ax, curve, triad)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def _sticks(ax: Axes, curve: Profile, triad: Triad | None) -> None:
    colours = colours_of(ax)
    knots = curve.knots
    ratio = 1.0 if triad is None else math.exp(min(float(triad.alpha), 700.0))
    last = max(knots[-1, 0], ratio)
    end = min(1.0 + 1.15 * (last - 1.0), FARTHEST) if last > 1.0 else math.e
    knots = knots[knots[:, 0] <= end]
    gamma = np.union1d(np.geomspace(1.0, end, POINTS), knots[:, 0])
    ax.plot(gamma, curve.hockey_stick(gamma), color=colours["certified"], label="profile")
    ax.plot(*knots.T, "o", color=colours["certified"], markersize=4, label="_knots")
    if triad is not None:
        # where the axis is logarithmic a chord is bent, so it is drawn point by point
        chord = np.union1d(gamma, min(ratio, end))
        ax.plot(chord, triad.hockey_stick(chord), "--", color=colours["pairwise"], label="triad")
    if end > 20.0:
        ax.set_xscale("log")
    ax.set_xlim(1.0, end)
    top = float(knots[0, 1] if triad is None else max(knots[0, 1], triad.phi))
    ax.set_ylim(0.0, 1.05 * top or 1.0)
    ax.set_xlabel("γ")
    ax.set_ylabel(r"$E_\gamma$")


def _leakages(ax: Axes, curve: Profile, triad: Triad | None) -> None:
    colours = colours_of(ax)
    widest = math.log(curve.knots[-1, 0])
    epsilon = np.linspace(0.0, min(max(3.0 * widest, 3.0), 30.0), POINTS)
    ax.plot(epsilon, epsilon, ":", color=colours["split"], label="budget")
    ax.plot(epsilon, curve.leakage(epsilon), color=colours["certified"], label="profile")
    if triad is not None:
        answers = triad.leakage(epsilon)
        ax.plot(epsilon, answers, "--", color=colours["pairwise"], label="triad")
    top = float(np.max(curve.leakage(epsilon) if triad is None else answers))
    ax.set_xlim(0.0, float(epsilon[-1]))
    ax.set_ylim(0.0, min(1.25 * top, float(epsilon[-1])) or 1.0)
    ax.set_xlabel("budget ε")
    ax.set_ylabel("leakage (nats)")


# --- totals -------------------------------------------------------------------------------------------------------


def plot_totals(
    totals: Totals,
    promise: float | Mapping[str, float] | None = None,
    ax: Axes | None = None,
    witness: Mapping[str, Witness | float] | None = None,
) -> Axes:
    """What all releases together give away about each attribute: a bracket from what is attained to what is certain.

    Parameters
    ----------
    totals
        From ``analysis.totals``.
    promise
        A promise to compare with: one number, or one for some attributes.
    ax
        Axes to draw on; by default new ones.
    witness
        What is attained for some attributes: witnesses, to which the attribute's own budget is added; or numbers that
        include it.

    Returns
    -------
    The axes, with a second scale above for how many times odds are moved.

    Raises
    ------
    ValueError
        If there are no totals, or if ``promise`` or ``witness`` names an attribute that has none.

    Examples
    --------
    >>> import deptriad as dt
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> total = dt.target_total({"one": coin, "two": coin}, {"one": 1.0, "two": 1.0})
    >>> ax = dt.plot_totals(dt.Totals([total]), promise=2.0)
    >>> ax.get_legend_handles_labels()[1]
    ['certified (bound)', 'pairwise (estimate)', 'paired (estimate)', 'promise']
    """
    if not isinstance(totals, Totals) or not totals:
        raise ValueError(
            f"totals is {_brief(totals)}, expected the Totals of one attribute or more: analysis.totals(…)"
        )
    names = list(totals)
    numbers = {key: [getattr(each, key) for each in totals.values()] for key in KINDS}
    numbers["witness"] = _attained(totals, witness)
    refuse_unknown(promise if isinstance(promise, Mapping) else (), names, "promise")
    ax = axes(ax, (7.4, 1.5 + 0.34 * len(names)))
    colours = colours_of(ax)
    rows = np.arange(len(names))
    low = np.nanmin(np.array(list(numbers.values())), axis=0)
    ax.hlines(rows, low, numbers["certified"], color=colours["split"], alpha=0.5, linewidth=2)
    for key, label in LABELS.items():  # what is attained comes last, and so on top
        if not np.isnan(numbers[key]).all():
            dots(ax, numbers[key], rows, key, label)
    _promise(ax, promise, names, rows)
    by_attribute(ax, names)
    ax.set_xlabel("nats")
    _odds(ax)
    return ax


KINDS = ("paired", "pairwise", "certified")
LABELS = {
    "certified": "certified (bound)",
    "pairwise": "pairwise (estimate)",
    "paired": "paired (estimate)",
    "witness": "attained (fact)",
}


def _attained(totals: Totals, witness: Mapping[str, Witness | float] | None) -> list[float]:
    """What is attained for each attribute with its own budget; NaN where nothing is known."""
    refuse_unknown(witness or (), list(totals), "witness")
    found = dict.fromkeys(totals, math.nan)
    for name, each in (witness or {}).items():
        if isinstance(each, float | int):
            found[name] = float(each)
        else:
            found[name] = totals[name].own + max(each.overall, 0.0)
    return list(found.values())


def _promise(
    ax: Axes, promise: float | Mapping[str, float] | None, names: Sequence[str], rows: Any
) -> None:
    """A line across all attributes, or one for each that has a promise of its own."""
    if promise is None:
        return
    colour = colours_of(ax)["promise"]
    if not isinstance(promise, Mapping):
        limit = float(as_numbers(promise, "promise"))
        ax.axvline(limit, color=colour, linestyle="--", linewidth=1.5, label="promise")
        return
    each = np.array([float(promise.get(name, math.inf)) for name in names])
    some = np.isfinite(each)
    ax.vlines(
        each[some], rows[some] - 0.4, rows[some] + 0.4, color=colour, linewidth=2.5, label="promise"
    )


def _odds(ax: Axes) -> None:
    """A second axis above: how many times odds are moved."""
    top = ax.get_xlim()[1]
    above = ax.secondary_xaxis("top")
    wanted = [1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 1_000_000, 1_000_000_000]
    shown: list[int] = []
    for times in wanted:  # no two so close that their labels touch
        if math.log(times) <= top and (
            not shown or math.log(times / shown[-1]) >= (0.03 + 0.012 * len(str(times))) * top
        ):
            shown.append(times)
    above.set_xticks([math.log(times) for times in shown], [f"×{times:,}" for times in shown])
    above.set_xlabel("odds moved, times")
    above.spines["top"].set_visible(False)


# --- a plan -------------------------------------------------------------------------------------------------------


def plot_plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """The budget of each attribute under a plan, beside what splitting the same promise would give it.

    Parameters
    ----------
    plan
        From ``calibrate``.
    ax
        Axes to draw on; by default new ones.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    >>> numbers = dict(own=1.0, paired=1.0, pairwise=1.0, certified=1.0, budgets=1.0)
    >>> one, grr = {"sex": 1.0}, {"sex": "grr"}
    >>> plan = dt.Plan.asking_all(schema, one, grr, one, "certified", "even", {"sex": numbers})
    >>> dt.plot_plan(plan).get_title()
    'Budgets under a promise of 1'
    """
    if not hasattr(plan, "compare"):
        raise ValueError(
            f"plan is a {type(plan).__name__}, expected a Plan: make one with calibrate"
        )
    names = list(plan.asked)
    ax = axes(ax, (6.6, 1.3 + 0.34 * len(names)))
    colours = colours_of(ax)
    rows = np.arange(len(names))
    budgets = [plan.budgets[name] for name in names]
    splitting = [each.splitting_budget for each in plan.compare()]
    ax.hlines(rows, splitting, budgets, color=colours["plan"], alpha=0.4, linewidth=3)
    dots(ax, splitting, rows, "split", "splitting", hollow=True)
    dots(ax, budgets, rows, "plan", "plan")
    by_attribute(ax, names)
    ax.set_xlabel("budget ε")
    promises = sorted(set(plan.total.values()))
    finite = [promise for promise in promises if math.isfinite(promise)]
    ranged = f"promises from {finite[0]:g} to {finite[-1]:g}"
    ax.set_title(f"Budgets under {f'a promise of {finite[0]:g}' if len(finite) == 1 else ranged}")
    return ax


def _brief(value: object) -> str:
    return "empty" if isinstance(value, Totals) else f"a {type(value).__name__}"
