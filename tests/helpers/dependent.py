"""Records of attributes that depend on each other, and their analysis."""

import warnings

import numpy as np
import pytest

import deptriad as dt

pd = pytest.importorskip("pandas")


def records(seed, sizes, dependence=0.6, rows=3000):
    """Attributes that follow a common hidden value, each as far as it is dependent."""
    chance = np.random.default_rng(seed)
    hidden = chance.integers(0, max(sizes), rows)
    columns = {}
    for place, size in enumerate(sizes):
        follows = chance.random(rows) < dependence * (0.5 + 0.5 * chance.random())
        columns[f"x{place}"] = np.where(follows, hidden % size, chance.integers(0, size, rows))
    return pd.DataFrame(columns)


def analysis_of(seed=1, sizes=(2, 3, 4), dependence=0.6, uncertainty=None):
    frame = records(seed, sizes, dependence)
    schema = dt.Schema(
        [dt.Attribute(f"x{k}", list(range(b)), missing="error") for k, b in enumerate(sizes)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dt.analyze(dt.Prior.from_data(frame, schema), uncertainty)


def kept(analysis, plan):
    """Whether the public totals are at or below the promise, bit for bit."""
    totals = analysis.totals(plan.budgets)
    return all(getattr(totals[k], plan.guarantee) <= plan.total[k] for k in analysis.names)
