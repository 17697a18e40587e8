"""Chain: an answer that moves as a Markov chain and is collected again and again (maths §12)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from deptriad.chains import backward as back_in_time
from deptriad.chains.passage import ByTable, Passage
from deptriad.chains.recursion import followed
from deptriad.chains.result import ChainTotals
from deptriad.chains.stationary import reached, recurrent
from deptriad.curves.leakage import profile
from deptriad.tables.table import Box, Conditional, as_conditional
from deptriad.utils.arrays import (
    Floats,
    Integers,
    as_budget,
    as_numbers,
    as_one_budget,
    as_positive_budget,
    as_whole,
)
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import printable

if TYPE_CHECKING:
    from deptriad.data.schema import Schema
    from deptriad.tables.uncertainty import Confidence

Start = Literal["stationary"]

HALVINGS = 80
"""How often an interval of budgets is halved; by then its ends are neighbouring floats, or nothing is allowed."""


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """An answer that moves as a Markov chain, and what its releases at many times tell about it.

    Parameters
    ----------
    forward
        p(next value | value), a row for each value: an array-like, a Conditional, or a Box where it is uncertain.
    initial
        The distribution of the answer at the first time. "stationary" is the one that the chain keeps. None, where it
        is unknown: the bounds then hold for every start.
    backward
        p(value before | value), where it was counted apart from ``forward``; for "stationary" only. Without it, it
        follows from ``forward`` and the distribution. It is not the forward table turned round, nor is its box.

    Examples
    --------
    >>> import deptriad as dt
    >>> chain = dt.Chain([[0.9, 0.1], [0.2, 0.8]])
    >>> chain.totals([0.5] * 6).total.round(3).tolist()
    [1.465, 1.748, 1.885, 1.887, 1.755, 1.48]
    >>> round(chain.limit_total(0.5), 3)
    2.722
    """

    forward: Conditional | Box
    initial: ArrayLike | Start | None = None
    _: KW_ONLY
    backward: Conditional | Box | None = None

    def __post_init__(self) -> None:
        forward = self.forward if isinstance(self.forward, Box) else as_conditional(self.forward)
        if forward.shape[0] != forward.shape[1]:
            raise ValueError(
                f"forward has shape {forward.shape}, expected as many columns as rows: both are for the same values"
            )
        object.__setattr__(self, "forward", forward)
        if isinstance(self.initial, str):
            if self.initial != "stationary":
                raise ValueError(
                    f"initial is {self.initial!r}, expected 'stationary', a distribution, or None where it is unknown"
                )
        elif self.initial is not None:
            object.__setattr__(self, "initial", _distribution(self.initial, forward.shape[0]))
        if self.backward is not None:
            if not isinstance(self.initial, str):
                raise ValueError(
                    "backward is given, which is one table for all times: expected initial='stationary' with it"
                )
            back = (
                self.backward if isinstance(self.backward, Box) else as_conditional(self.backward)
            )
            if back.shape != forward.shape:
                raise ValueError(
                    f"backward has shape {back.shape} and forward {forward.shape}, expected the same values"
                )
            object.__setattr__(self, "backward", back)

    @classmethod
    def from_sequences(
        cls,
        data: Any,
        *,
        person: str,
        time: str,
        value: str,
        schema: Schema | None = None,
        uncertainty: Confidence | None = None,
        initial: ArrayLike | Start | None = "stationary",
        query: str | None = None,
    ) -> Self:
        """Count who went from which value to which between neighbouring times, where the data lives.

        Parameters
        ----------
        data
            A frame of any engine, or the path or glob of CSV or Parquet files: a row for each person and time.
        person, time, value
            The columns. Times are those that occur, in order (text in that of its letters); two are neighbours if no
            other lies between, so a person who missed one has no transition there.
        schema
            It declares the values; inferred from the data without one. Values that nobody left or came to are left
            out, and the declared ones among them warned of.
        uncertainty
            ``Confidence(level)``: the tables in both directions lie in their boxes with at least that probability, if
            persons are independent and the answer is a stationary Markov chain with values fixed beforehand. Without it
            the relative frequencies are taken as the truth, which is an estimate.
        initial
            As in ``Chain``. "stationary", the default here, takes the table back in time from the same counts, and
            warns where they contradict it.
        query
            SQL over a file, whose rows are called ``data``.

        Raises
        ------
        ValueError
            A person has two rows for a time, there are no transitions, or a value without any where no uncertainty is
            given.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> jobs = ["yes", "yes", "no", "no", "no", "yes"]
        >>> panel = pd.DataFrame({"id": [1, 1, 1, 2, 2, 2], "month": [1, 2, 3] * 2, "job": jobs})
        >>> chain = dt.Chain.from_sequences(panel, person="id", time="month", value="job")
        >>> chain.forward.table.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        from deptriad.chains import sequences

        counts = sequences.transitions(data, person, time, value, schema, query)
        known = isinstance(initial, str)
        if known:
            sequences.warn_of_drift(counts)
        forward, back = sequences.tables(counts, uncertainty)
        return cls(forward, initial, backward=back if known else None)

    def __repr__(self) -> str:
        name = "" if self.forward.target == "target" else f"{printable(self.forward.target)}, "
        return f"Chain({name}{self.forward.shape[0]} values, {self.assumed})"

    @property
    def assumed(self) -> str:
        """What is taken to be known, in words."""
        start = "unknown start" if self.initial is None else "given start"
        start = "assumed stationary" if isinstance(self.initial, str) else start
        return (
            f"{start}, {'certified over a box' if isinstance(self.forward, Box) else 'known table'}"
        )

    # --- passages -----------------------------------------------------------------------------------------------

    @cached_property
    def _kept(self) -> Integers:
        """The values that occur at some time."""
        if isinstance(self.forward, Box) or self.backward is not None or self.initial is None:
            return np.arange(self.forward.shape[0])
        if isinstance(self.initial, str):
            return recurrent(self.forward.table)
        return reached(self.forward.table, np.asarray(self.initial) > 0.0)

    @cached_property
    def _onwards(self) -> Passage:
        """What is known of the next answer, about this one."""
        if isinstance(self.forward, Box):
            return ByTable(profile(self.forward))
        return ByTable(profile(self.forward.table[np.ix_(self._kept, self._kept)]))

    @cached_property
    def _back(self) -> back_in_time.Back:
        """What is known of the answer before, about this one."""
        if self.initial is None:
            return back_in_time.from_anywhere(self.forward)
        if self.backward is not None:
            return back_in_time.counted(self.backward)
        start = None if isinstance(self.initial, str) else np.asarray(self.initial)
        if isinstance(self.forward, Box):
            return back_in_time.from_box(self.forward, start)
        table = self.forward.table[np.ix_(self._kept, self._kept)]
        if start is None:
            return back_in_time.from_stationary(table)
        return back_in_time.from_initial(table, start[self._kept])

    # --- what is told -------------------------------------------------------------------------------------------

    def totals(self, epsilons: ArrayLike) -> ChainTotals:
        """What releases with these budgets, one a time, tell about the answer at each time.

        Parameters
        ----------
        epsilons
            The budgets in order; 0 for a time without a release.

        Returns
        -------
        ChainTotals
            ``backward``, ``forward`` and ``total`` for each time: bounds for every ε-LDP mechanism with independent
            noise, rounded up, and none above the sum of all budgets.

        Examples
        --------
        >>> import deptriad as dt
        >>> print(dt.Chain([[0.6, 0.4], [0.3, 0.7]], "stationary").totals([1.0, 1.0, 1.0]))
        time  epsilon  backward  forward  total  50 % sure becomes
        1           1     1.000    1.367  1.367             79.7 %
        2           1     1.293    1.293  1.586               83 %
        3           1     1.367    1.000  1.367             79.7 %
        <BLANKLINE>
        Each is a bound on what releases of ε-LDP mechanisms tell about the answer at that time, in nats:
        backward those up to then, forward those from then on, total all of them.
        assumed stationary, known table
        """
        budgets = as_budget(epsilons, "epsilons")
        if budgets.ndim != 1 or not budgets.size or not np.isfinite(budgets).all():
            raise ValueError(
                f"epsilons is {epsilons!r}, expected a list of finite budgets, one a time"
            )
        largest = float(budgets.max())
        most = self._back.most(largest, budgets.size)
        past = followed(budgets, self._back.passages(), most)
        onwards = self._onwards
        future = followed(budgets[::-1], repeat(onwards), onwards.limit(largest))[::-1]
        everything = sum_up(budgets)
        parts = np.column_stack([past, future, -budgets]).tolist()
        total = np.array([min(sum_up(each), everything) for each in parts])
        return ChainTotals(budgets, past, future, total, self.assumed)

    def limit(self, epsilon: float) -> float:
        """The supremum, over all time, of what releases with this budget up to a time tell about the answer then.

        ∞ where there is none, which is so from ``threshold`` on.

        Examples
        --------
        >>> import deptriad as dt
        >>> chain = dt.Chain([[0.9, 0.1], [0.2, 0.8]], "stationary")
        >>> round(chain.limit(0.5), 4)
        1.5825
        """
        return self._back.limit(as_one_budget(epsilon))

    def limit_total(self, epsilon: float) -> float:
        """The supremum, over all time, of what all releases with this budget, past and future, tell about an answer."""
        budget = as_one_budget(epsilon)
        limits = self.limit(budget), self._onwards.limit(budget)
        return math.inf if math.inf in limits else sum_up([*limits, -budget])

    @property
    def threshold(self) -> float:
        """``limit`` is finite for every ε below this; for a start of one's own this is where it is known to be."""
        return self._back.threshold

    @property
    def threshold_total(self) -> float:
        """``limit_total`` is finite for every ε below this."""
        return min(self.threshold, self._onwards.threshold)

    # --- what may be asked --------------------------------------------------------------------------------------

    def calibrate(self, total: float, steps: int | None = None) -> float:
        """The largest constant budget that keeps a promise about every answer, for ever or for so many releases.

        Parameters
        ----------
        total
            The promise: no ``total`` is above it.
        steps
            How many releases there will be; for ever without it.

        Returns
        -------
        float
            A budget whose totals, as computed here, are at most ``total``, to the last bit. 0 where none keeps it.

        Examples
        --------
        >>> import deptriad as dt
        >>> chain = dt.Chain([[0.9, 0.1], [0.2, 0.8]])
        >>> epsilon = chain.calibrate(2.0)
        >>> round(epsilon, 4), float(chain.totals([epsilon] * 200).total.max()) <= 2.0
        (0.3489, True)
        """
        promise = as_positive_budget(total, "total")
        if steps is None:
            return _largest(lambda epsilon: self.limit_total(epsilon) <= promise, 0.0, promise)
        count = as_whole(steps, "steps", 1)
        split = promise / count
        while sum_up([split] * count) > promise:
            split = math.nextafter(split, 0.0)
        return _largest(lambda epsilon: self._keeps([epsilon] * count, promise), split, promise)

    def schedule(self, total: float, steps: int) -> Floats:
        """Budgets for each of so many releases that keep a promise, with the least sum of variances.

        A release with ε has a variance in proportion to 1/sinh²(ε/2), as unary encoding and local hashing do. The first
        and the last answer have neighbours on one side only, so their releases may say more. Never worse than the
        constant budget of ``calibrate``.

        Parameters
        ----------
        total
            The promise.
        steps
            How many releases there will be.

        Returns
        -------
        array
            A budget for each time; what they tell is at most ``total``, to the last bit.

        Examples
        --------
        >>> import deptriad as dt
        >>> dt.Chain([[0.9, 0.1], [0.2, 0.8]]).schedule(2.0, 5).round(2).tolist()
        [0.66, 0.58, 0.52, 0.59, 0.66]
        """
        from deptriad.chains.schedule import best

        promise, count = as_positive_budget(total, "total"), as_whole(steps, "steps", 1)
        constant = self.calibrate(promise, count)
        return best(self, promise, constant, count)

    def _keeps(self, epsilons: ArrayLike, promise: float) -> bool:
        return bool(self.totals(epsilons).total.max() <= promise)


def _largest(keeps: Callable[[float], bool], low: float, high: float) -> float:
    """The largest budget between one that keeps a promise and one that need not."""
    if keeps(high):
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _distribution(initial: Any, values: int) -> Floats:
    """A distribution over the values, checked and normalised as a row of a table is."""
    shares = as_numbers(initial, "initial")
    if shares.shape != (values,):
        raise ValueError(
            f"initial has shape {shares.shape}, expected a probability for each of the {values} values"
        )
    try:
        return np.asarray(Conditional(shares[None, :]).table[0])
    except ValueError as error:
        raise ValueError(f"initial is no distribution: {error}") from None
