"""The paper's five real datasets as its items take them: which binnings, how many records, and how they differ."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from deptriad.paper.data import DATASETS, FIVE, Binning
from deptriad.paper.measures import pair_tables
from deptriad.tables.table import Conditional

if TYPE_CHECKING:
    from deptriad.analysis.prior import Prior
    from deptriad.paper.item import Work

QUICK_RECORDS = 5_000
"""Records of a dataset in a quick run."""

BINNINGS: dict[str, Binning] = {"equal counts": "quantile", "equal width": "width"}
"""The paper does not say how it binned, and some of its claims depend on it: both are run."""

SAME = ("celeba", "adult", "cvd")
"""Those of the five that are the paper's own data, not another edition."""

PAPER_NAMES = {"spm": "SPM", "celeba": "CelebA", "adult": "Adult", "cvd": "CVD", "dss": "DSS"}

DATA = "; ".join(DATASETS[name].paper for name in FIVE) + (
    ". Numbers of more than 50 values are put into 10 bins, of equal counts and of equal width: the paper does not say "
    "how it binned."
)

OTHER_EDITION = (
    "another edition of the data, with fewer attributes and records, so numbers cannot be compared"
)
SAMPLE = "a quick run takes a sample of the records, so numbers cannot be compared"


def binnings(name: str) -> dict[str, Binning]:
    """Ways of binning that make a difference: one for CelebA, which is binary."""
    return {"binary": "quantile"} if name == "celeba" else BINNINGS


def prior_of(work: Work, name: str, binning: Binning = "quantile", bins: int = 10) -> Prior:
    """A dataset's prior; of a sample in a quick run."""
    return work.library.sample_prior(name, binning, bins, work.choose(None, QUICK_RECORDS))


def tables_without(prior: Prior, left_out: str) -> list[Conditional]:
    """Tables of all ordered pairs in which an attribute has no part."""
    pairs = permutations(prior.names, 2)
    return [
        table for table, pair in zip(pair_tables(prior), pairs, strict=True) if left_out not in pair
    ]


def adjusted_tables_without(prior: Prior, left_out: str) -> list[Conditional]:
    """The same from adjusted counts: one more in every cell, and none where that is less than three.

    So does the program that the paper's first author published with an earlier paper.
    """
    names = [name for name in prior.names if name != left_out]
    return [_adjusted(prior, *pair) for pair in permutations(names, 2)]


def _adjusted(prior: Prior, source: str, target: str) -> Conditional:
    more = prior.counts.tables(source, target).sum(axis=0) + 1
    cells = np.where(more < 3, 0, more)
    return Conditional.from_counts(cells[cells.sum(axis=1) > 0])
