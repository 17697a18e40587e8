"""Strategies: what is asked of each user, with which mechanism and budget, and what can be estimated from it.

``Separate`` (a plan), ``Split``, ``Sample`` and ``SampleWithFakes`` share one interface, ``Strategy``.
"""

from __future__ import annotations

from typing import Any

from deptriad.fakes import SampleWithFakes
from deptriad.sampling import REPORT, VIEW, Sample, summed_scores
from deptriad.separate import Separate, Split
from deptriad.strategy import Shares, Strategy, Told

__all__ = [
    "REPORT",
    "VIEW",
    "Sample",
    "SampleWithFakes",
    "Separate",
    "Shares",
    "Split",
    "Strategy",
    "Told",
    "as_strategy",
    "summed_scores",
]


def as_strategy(strategy: Any) -> Strategy:
    """A strategy as it is; a plan, or anything else with schema, budgets and mechanisms, as ``Separate``."""
    if isinstance(strategy, Strategy):
        return strategy
    if all(hasattr(strategy, name) for name in ("schema", "budgets", "mechanisms")):
        return Separate.of(strategy)
    raise ValueError(
        f"strategy is a {type(strategy).__name__}, expected a plan, Split, Sample, SampleWithFakes or Separate"
    )
