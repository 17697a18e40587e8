"""Whether reports can be reports of a strategy at all, by the law of its mechanisms, whatever the true answers are.

Each user reports by chance of its own. A one that a mechanism keeps of a report (it names a value, or supports it) has
a chance between ``low`` and ``high``, whatever the value is (``Mechanism.kept_chances``), and of two questions both
ones have a chance between the products. So how many there are among n users is, by its law, at least a binomial number
with ``low`` and at most one with ``high``; marks that do not depend on the value (``Mechanism.signs``) have one chance.
Reports are refused if a number lies in a tail whose chance is below ``ALARM`` over all the tails that are looked at: so
honest reports are refused with a chance below ``ALARM``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from deptriad.collection.question import Question
from deptriad.collection.score_sums import Signs, Sums, Tally, TermSums
from deptriad.utils.arrays import Floats, Integers
from deptriad.utils.text import printable

ALARM = 5e-10
"""The chance that honest reports are refused."""


class _Seen(NamedTuple):
    """Numbers of ones among n reports, or of their signs, and the least and largest chance of each."""

    places: tuple[int, ...]
    signs: bool
    n: int
    numbers: Integers
    low: Floats
    high: Floats


def doubt(every: Sequence[Sums], questions: Sequence[Question]) -> str:
    """Why these cannot be the reports to these questions; nothing where they can."""
    seen = list(_seen(every))
    tails = sum(2 * each.numbers.size for each in seen)
    for each in seen:
        if (place := _impossible(each, ALARM / tails)) is not None:
            return _in_words(each, place, questions)
    return ""


def _seen(every: Sequence[Sums]) -> Iterator[_Seen]:
    """What can be looked at, each question and each two of them once."""
    done = set()
    for sums in every:
        if sums.power:  # as often as weights say: no numbers of people
            continue
        if isinstance(sums, Signs):
            chances = sums.mechanisms[0].sign_chances()
            yield _Seen(sums.places, True, int(sums.n), sums.total, chances, chances)
            continue
        tally = sums.tally if isinstance(sums, TermSums) else sums
        for own in tally.up_to_two() if isinstance(tally, Tally) else ():
            bounds = [mechanism.kept_chances() for mechanism in own.mechanisms]
            if frozenset(own.places) in done or None in bounds:
                continue
            done.add(frozenset(own.places))
            low, high = (reduce(np.multiply.outer, side) for side in zip(*bounds, strict=True))
            yield _Seen(own.places, False, int(own.n), own.total, low, high)


def _impossible(seen: _Seen, chance: float) -> tuple[int, ...] | None:
    """Where a number of ones is in a tail of a smaller chance."""
    from scipy.stats import binom

    n, numbers = seen.n, seen.numbers
    for outside, tail, bound in (
        (numbers < n * seen.low, lambda k, p: binom.cdf(k, n, p), seen.low),
        (numbers > n * seen.high, lambda k, p: binom.sf(k - 1, n, p), seen.high),
    ):
        where = np.argwhere(outside)
        few = np.asarray(tail(numbers[outside], bound[outside]) < chance)
        if few.any():
            return tuple(where[np.argmax(few)].tolist())
    return None


def _in_words(seen: _Seen, place: tuple[int, ...], questions: Sequence[Question]) -> str:
    asked = [questions[each] for each in seen.places]
    names = " & ".join(repr(printable(each.name)) for each in asked)
    by = " and ".join(type(each.mechanism).__name__ for each in asked)
    what = "look like one another" if seen.signs else "support the same"
    if not seen.signs and all(each.labelled for each in asked):
        labels = [
            each.attributes[axis].values[int(code)]
            for each, cell in zip(asked, place, strict=True)
            for axis, code in enumerate(np.unravel_index(cell, each.sizes))
        ]
        what = f"say {' & '.join(repr(printable(label)) for label in labels)}"
    low, high = (seen.n * float(chance[place]) for chance in (seen.low, seen.high))
    about = f"about {low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
    return (
        f"these are no reports of {names} by {by}: {seen.numbers[place]:,} of {seen.n:,} {what}, expected {about} "
        "whatever the true answers are"
    )
