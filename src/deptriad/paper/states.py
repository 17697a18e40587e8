"""The survey that goes from state to state: some states' answers are the prior, the others are met later."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

import deptriad as dt
from deptriad.data.coded_records import coded_frame
from deptriad.paper.data import DATASETS, EIGHT, STATE
from deptriad.witnesses.each_target import witness_each

if TYPE_CHECKING:
    import pandas as pd

    from deptriad.paper.item import Work
    from deptriad.tables.uncertainty import Uncertainty

KNOWN = 5
"""States whose answers are the prior: those with the most records."""

QUICK_RECORDS = 2_000
"""Records of a state in a quick run."""

NAMES = {"SEX": "sex", "AGEP": "age", "MAR": "marital status", "RAC1P": "race", "HISP": "Hispanic"}
NAMES |= {"SCHL": "schooling", "HINS3": "Medicare", "PINCP": "income"}

DATA = (
    f"{DATASETS['acs'].paper}, adults, eight attributes: sex, age, marital status, race, Hispanic origin, schooling, "
    "Medicare, income. None of the paper's five known states (NY, CA, MD, IL, TX) is among the 14, so the five with "
    "the most records are the prior; which eight attributes the paper took is not stated in full."
)


@dataclass(frozen=True)
class Survey:
    """Records of all states.

    Parameters
    ----------
    frame
        The answers, and the state beside them.
    """

    frame: pd.DataFrame

    @classmethod
    def of(cls, work: Work) -> Survey:
        """All adults; in a quick run some of each state, always the same."""
        frame, _ = work.library.records("acs")
        if work.quick:
            frame = frame.groupby(STATE).sample(QUICK_RECORDS, random_state=0)
        return cls(frame)

    @cached_property
    def states(self) -> list[int]:
        """All states, those with the most records first."""
        counts = self.frame[STATE].value_counts().sort_index()
        found: list[int] = counts.sort_values(ascending=False, kind="stable").index.tolist()
        return found

    @property
    def known(self) -> list[int]:
        """The states of the prior."""
        return self.states[:KNOWN]

    def others(self, known: Sequence[int] | None = None) -> list[int]:
        """States that are not in the prior."""
        given = self.known if known is None else known
        return sorted(state for state in self.states if state not in given)

    def prior(self, known: Sequence[int] | None = None) -> dt.Prior:
        """Tables by state, whose mean is the nominal prior."""
        given = self.known if known is None else known
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of thin values, which a small state has
            some = self.frame[self.frame[STATE].isin(given)]
            return dt.Prior.from_data(some, EIGHT, by=STATE)

    def analysis(
        self, uncertainty: Uncertainty | None = None, known: Sequence[int] | None = None
    ) -> dt.Analysis:
        """What the known states say together."""
        return dt.analyze(self.prior(known), uncertainty)

    def records(self, state: int) -> pd.DataFrame:
        """The answers of one state."""
        return self.frame[self.frame[STATE] == state][list(EIGHT.names)]

    def own(self, state: int) -> dt.Analysis:
        """What one state's own answers say."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return dt.analyze(dt.Prior.from_data(self.records(state), EIGHT))

    @cached_property
    def actual(self) -> dict[int, dt.Analysis]:
        """Every state by itself."""
        return {state: self.own(state) for state in sorted(self.states)}


def broken_by_witness(
    records: pd.DataFrame, budgets: Mapping[str, float], promise: float, seed: int
) -> tuple[bool, bool]:
    """Whether sets of values prove that some total is above the promise: on all records, and on a held-out half."""
    coded, _ = coded_frame(records, EIGHT, None)
    each = [float(budgets[name]) for name in EIGHT.names]
    found = list(witness_each(coded, budgets, rng=np.random.default_rng(seed)).values())
    whole = any(own + one.overall > promise for own, one in zip(each, found, strict=True))
    half = any(own + (one.held_out or 0.0) > promise for own, one in zip(each, found, strict=True))
    return whole, half
