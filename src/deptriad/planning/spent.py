"""Spent: what was told about each attribute at most, and what may still be asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deptriad.collection.view import View
from deptriad.data.results import Framed, named
from deptriad.planning.history import ANY, Asked
from deptriad.planning.plan_words import as_promised, up_to
from deptriad.utils import html_table
from deptriad.utils.errors import InvalidValue
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import (
    BECOMES,
    closest,
    few,
    on_one_screen,
    printable,
    rounded_down,
    surety,
)

MOST_EPSILON = 100.0
"""More than anybody asks with: where ``largest`` ends for an attribute that is public."""

LEAST_EPSILON = 1e-6
"""Less than anybody asks with: ``largest`` looks no closer."""

MEANING = {
    "nothing asked": "",
    "sum of ε": "sum of ε: a bound without any assumption",
    "plan's own": "plan's own: the plan's bound as its file has it; all else in full",
    "joint": "joint: exact for the mechanisms used and the joint table of all that is seen together; all else in full",
    "certified": "certified: a bound for every joint distribution with the tables of pairs",
    "chain": "chain: what the answer's own reports tell if it is a Markov chain; all else in full",
    "chain, anew": "chain, anew: the same with a total for each time, if given the answer all else asked then is drawn "
    "anew",
}
"""What each bound takes for granted."""


class Told(NamedTuple):
    """What is told about one attribute.

    Parameters
    ----------
    target
        The attribute.
    most
        A bound on what all reports together tell about it, in nats, rounded up.
    by
        Which bound that is.
    plain
        The sum of all ε.
    time
        Of an attribute that changes: the time about whose answer most is told, None for any time when nothing was
        asked.
    """

    target: str
    most: float
    by: str
    plain: float
    time: int | None = None


@dataclass(frozen=True, repr=False)
class Spent(Framed, Mapping[str, Told]):
    """What was told about each attribute, by name; prints as a table. ``Plan.spent`` makes it.

    Parameters
    ----------
    entries
        What is told about each attribute.
    promises
        What was promised for each.
    asked
        How many entries the history has.
    times
        Of which times they are.
    changing
        The attributes whose answers change.
    certainty
        How far the tables are trusted, in words; empty where there are none.
    again
        What makes the same of further entries.

    Examples
    --------
    >>> import deptriad as dt
    >>> plan = dt.calibrate(dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")]), total=3.0)
    >>> spent = plan.spent([{"sex": 1.0}])
    >>> spent.left, spent.after({"sex": 2.0}).kept, spent.after({"sex": 2.5}).kept
    (2.0, True, False)
    """

    entries: tuple[Told, ...]
    promises: Mapping[str, float]
    asked: int = 0
    times: tuple[int, ...] = ()
    changing: tuple[str, ...] = ()
    certainty: str = ""
    again: Callable[[Any], Spent] | None = field(default=None, compare=False)

    def __getitem__(self, target: str) -> Told:
        return named({each.target: each for each in self.entries}, target, "attribute")

    def __iter__(self) -> Any:
        return (each.target for each in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def broken(self) -> list[str]:
        """Attributes of which more may have been told than was promised."""
        return [each.target for each in self.entries if each.most > self.promises[each.target]]

    @property
    def kept(self) -> bool:
        """Whether every promise is kept."""
        return not self.broken

    @property
    def left(self) -> float:
        """Further reports of a person may have ε of this in all, whatever they are about, and every promise is kept.

        Rounded down; 0 where a promise is used up. More may be possible: see ``after`` and ``largest``.
        """
        return min(map(self.left_of, self), default=math.inf)

    def left_of(self, target: str) -> float:
        """The same for the promise about one attribute alone."""
        told, promise = self[target], self.promises[target]
        left = promise - told.most
        if 0.0 < left < math.inf and sum_up([told.most, left]) > promise:
            left = math.nextafter(left, 0.0)
        return max(left, 0.0)

    def after(self, entry: Any) -> Spent:
        """The same once this will have been asked, too: an entry of a history."""
        if self.again is None:
            raise ValueError("this was made without a history: ask plan.spent(history)")
        return self.again(entry)

    def largest(self, name: str, mechanism: str = "any", time: int | None = None) -> float:
        """The largest ε with which one more answer may be asked by itself, so that every promise is kept.

        Parameters
        ----------
        name
            The attribute.
        mechanism
            What will report it; by default whatever has that ε.
        time
            When; by default at the last time of the history.

        Returns
        -------
        float
            A budget for which ``after`` says that all is kept, within 0.1 % of the largest; ``left`` if that is more.
        """
        if name not in self:
            raise InvalidValue(f"there is no attribute {name!r}: {closest(name, list(self))}")
        promise = self.promises[name]
        when = max(self.times, default=1) if time is None else time

        def keeps(epsilon: float) -> bool:
            return self.after(_one(name, epsilon, mechanism, when)).kept

        low, high = self.left, min(promise, MOST_EPSILON)
        if high <= low or keeps(high):
            return max(low, high)
        while high - low > max(1e-3 * high, LEAST_EPSILON):
            middle = (low + high) / 2.0
            low, high = (middle, high) if keeps(middle) else (low, middle)
        return low

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each attribute: attribute, told, by, time, plain, promise, left."""
        every = self.entries
        return {
            "attribute": [each.target for each in every],
            "told": [each.most for each in every],
            "by": [each.by for each in every],
            "time": [each.time for each in every],
            "plain": [each.plain for each in every],
            "promise": [self.promises[each.target] for each in every],
            "left": [self.left_of(each.target) for each in every],
        }

    def _rows(self) -> list[tuple[str, ...]]:
        when = [("at time",)] if self.changing else [()]
        rows: list[tuple[str, ...]]
        rows = [("attribute", "told", BECOMES, "by", *when[0], "sum of ε", "promise", "left")]
        for each in self.entries:
            time = (_when(each.time, each.target in self.changing),) if self.changing else ()
            promise = self.promises[each.target]
            rows.append(
                (
                    printable(each.target),
                    up_to(each.most, promise),
                    surety(each.most),
                    each.by,
                    *time,
                    up_to(each.plain, promise),
                    as_promised(promise),
                    rounded_down(self.left_of(each.target)),
                )
            )
        return rows

    def _above(self) -> list[str]:
        times = f" at {len(self.times)} times" if len(self.times) > 1 else ""
        return [
            f"what {self.asked} collection{'s' * (self.asked != 1)}{times} told of one person at most, in nats"
        ]

    @property
    def meaning(self) -> list[str]:
        """What the bounds take for granted, and what may still be asked, in words."""
        used = dict.fromkeys(each.by for each in self.entries)
        lines = [MEANING[by] for by in used if MEANING[by]]
        by_tables = bool({"joint", "certified", "chain, anew"} & set(used))
        if self.certainty and by_tables:
            lines.append(self.certainty)
        if by_tables and self.asked > 1 and not self.changing:
            lines.append("answers stay the same from one collection to the next")
        if self.changing:
            names = ", ".join(map(printable, self.changing))
            lines.append(
                f"changing: {names}; all other answers stay the same; tables hold at every time"
            )
        return [*lines, self._verdict]

    @property
    def _verdict(self) -> str:
        if self.broken:
            names = few([*map(printable, self.broken)], 6)
            return f"BROKEN: more may have been told than was promised about {names}"
        if float(left := rounded_down(self.left)) > 0.0:
            return f"any further reports with ε of {left} in all keep every promise"
        used = few([printable(name) for name in self if self.left_of(name) <= self.left], 6)
        return f"nothing is left of what was promised about {used}: ask only what tells nothing about it"

    def __repr__(self) -> str:
        above, below = self._above(), self.meaning
        return "\n".join(
            [*above, *on_one_screen(self._rows(), [*above, *below], least=8), "", *below]
        )

    def _repr_html_(self) -> str:
        return html_table.table(self._rows(), self._above(), below=self.meaning)


def _one(name: str, epsilon: float, mechanism: str, time: int) -> Asked:
    """One answer, asked by itself."""
    if mechanism == ANY:
        return Asked({name: epsilon}, time)
    return Asked(View.of_one_value([name], epsilon, mechanism), time)


def _when(time: int | None, changes: bool) -> str:
    """The time of an answer; "other" is any time when nothing was asked."""
    return str(time) if time is not None else "other" if changes else "–"
