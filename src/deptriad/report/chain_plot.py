"""A plot of an answer that is collected again and again: what adds up, and what levels off."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deptriad.chains.chain import Chain
from deptriad.report._drawing import axes, background, colours_of
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import rounded_up

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from deptriad.chains.result import ChainTotals
    from deptriad.utils.arrays import Integers

ROOM = 1.35
"""How much higher than the bridge the plot is, where the sum of the budgets leaves it."""


def plot_chain(
    chain: Chain, epsilons: ArrayLike, total: float | None = None, ax: Axes | None = None
) -> Axes:
    """What releases over time tell about the answer at each time, beside their budgets added up.

    The total spans like a bridge: it rises while the past gathers, is level where what is old is forgotten as fast as
    new is told, and comes down where less and less follows. The sum of the budgets leaves the picture.

    Parameters
    ----------
    chain
        The chain.
    epsilons
        The budgets in order, one a time.
    total
        A promise to draw.
    ax
        Axes to draw on; by default new ones.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import deptriad as dt
    >>> ax = dt.plot_chain(dt.Chain([[0.9, 0.1], [0.2, 0.8]]), [0.3] * 24)
    >>> ax.get_xlabel()
    'time of the release'
    """
    if not isinstance(chain, Chain):
        raise ValueError(f"chain is a {type(chain).__name__}, expected a Chain")
    told = chain.totals(epsilons)
    ax = axes(ax, (7.2, 4.0))
    times = np.arange(1, len(told) + 1)
    limit = chain.limit_total(float(told.epsilons.max()))
    bridge = max(float(told.total.max()), limit if limit < math.inf else 0.0, total or 0.0)
    everything = sum_up(told.epsilons)
    top = min(max(ROOM * bridge, 1e-9), max(1.05 * everything, 1.15 * bridge, 1e-9))
    _bridge(ax, times, told)
    _added_up(ax, times, told, top)
    _levels(ax, limit if np.ptp(told.epsilons) == 0.0 else math.inf, total)
    ax.set_xlim(1, max(len(told), 2))
    ax.set_ylim(0.0, top)
    ax.set_xlabel("time of the release")
    ax.set_ylabel("told at most, in nats")
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(axis="x", integer=True)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return ax


def _bridge(ax: Axes, times: Integers, told: ChainTotals) -> None:
    colours = colours_of(ax)
    ax.fill_between(times, told.total, color=colours["certified"], alpha=0.14, linewidth=0)
    each = (
        ("all releases", told.total, "certified", "-", 2.6),
        ("those up to then", told.backward, "witness", "-", 1.4),
        ("those from then on", told.forward, "plan", "-", 1.4),
    )
    for label, bounds, role, style, width in each:
        ax.plot(times, bounds, style, color=colours[role], linewidth=width, label=label)


def _added_up(ax: Axes, times: Integers, told: ChainTotals, top: float) -> None:
    """The budgets so far, added up; an arrow and a number where the line leaves the plot."""
    colour = colours_of(ax)["split"]
    so_far = np.cumsum(told.epsilons)
    ax.plot(times, so_far, "--", color=colour, linewidth=1.6, label="budgets added up")
    if so_far[-1] <= top:
        return
    leaves = float(np.interp(top, so_far, times))
    ax.annotate(
        f"on to {rounded_up(float(so_far[-1]), 1)}",
        xy=(leaves, top),
        xytext=(8, -4),
        textcoords="offset points",
        color=colour,
        va="top",
        bbox={"facecolor": background(ax), "edgecolor": "none", "pad": 1.0},
    )


def _levels(ax: Axes, limit: float, total: float | None) -> None:
    """The promise, and the limit for ever where it is another line."""
    colours = colours_of(ax)
    if total is not None:
        ax.axhline(total, color=colours["promise"], linewidth=1.6, zorder=1.5, label="promise")
    if limit < math.inf and not math.isclose(limit, total or 0.0, rel_tol=0.01):
        colour = colours["certified"]
        ax.axhline(limit, color=colour, linestyle=":", linewidth=1.6, label="all, for ever")
