"""Unbiased shares from the sums of several views, with their variances (maths §11).

Of person i let s_i be the score of a cell, unbiased for x_i, "the values are those of the cell"; w_i the survey weight,
1 without one; and h_i how much the person's view tells about the marginal, 0 if it was not asked. The estimate

    Σ h_i·w_i·s_i / Σ h_i·w_i

is right whatever h is, and best where h is the precision, 1/m. Its distance from f = Σ w_i·x_i / Σ w_i over all who
reported has two causes. Reports are noisy: given all values the squared errors sum to Σ (h_i·w_i)²·(E s_i² − x_i),
which Σ (h_i·w_i)²·(s_i² − s_i) estimates without bias. And who was asked which view was drawn: h is as if dealt out at
random, which brings var(h)/mean(h)²·Σ w_i²·(x_i − f)² / (Σ w_i)², up to terms of order 1/n of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptriad.utils.arrays import Floats


class Shares(NamedTuple):
    """Unbiased shares, the variances of their errors, and the number of reports behind them."""

    frequencies: Floats
    variances: Floats
    n: int


class Summed(NamedTuple):
    """Over people, each with a weight: the sum of weights, also of those who were not asked; of scores; of squares."""

    n: float
    among: float
    scores: Floats
    squares: Floats


class ViewSums(NamedTuple):
    """What a view is worth, and its sums, with survey weights to the powers 0, 1 and 2."""

    worth: float
    plain: Summed
    weighted: Summed
    squared: Summed


def shares_of(views: Sequence[ViewSums]) -> Shares:
    """Means of scores over the people of all views, by what each is worth; see the top of this file."""
    some = [view for view in views if view.plain.n]
    if not some:
        raise ValueError("there are no reports of these attributes, expected at least one")
    if not any(view.weighted.n > 0.0 for view in some):
        raise ValueError("the weights of all these reports are 0, expected some above")
    worth = np.array([view.worth for view in some]) / max(view.worth for view in some)
    people = np.array([float(view.plain.n) for view in some])
    whole = float(worth @ [view.weighted.n for view in some])
    share = _sum(worth, [view.weighted.scores for view in some]) / whole
    noise = _sum(worth**2, [view.squared.squares - view.squared.scores for view in some])
    # Σ w²·x over Σ w²
    heavy = _sum(worth, [view.squared.scores for view in some])
    heavy = np.clip(heavy / float(worth @ [view.squared.n for view in some]), 0.0, 1.0)
    plain, weighted, squared = (some[0][power].among for power in (1, 2, 3))  # type: ignore[union-attr]
    dealt = max(float(worth**2 @ people) / float(worth @ people) ** 2 * plain - 1.0, 0.0)
    inside = np.clip(share, 0.0, 1.0)
    spread = np.maximum(heavy * (1.0 - 2.0 * inside) + inside**2, 0.0)
    variances = np.maximum(noise, 0.0) / whole**2 + dealt * spread * squared / weighted**2
    return Shares(share, variances, int(people.sum()))


def _sum(worth: Floats, tables: Sequence[Floats]) -> Floats:
    return np.asarray(np.tensordot(worth, np.stack(tables), axes=(0, 0)))
