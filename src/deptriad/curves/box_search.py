"""Certified hockey sticks of boxes: above every table in them, and where possible exactly the largest (maths §3).

What is asked about a box is written as an inquiry: a generator that yields questions (η, floor) and is sent the sticks
that answer them. Many inquiries run side by side, so that one compiled call answers a question of each.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from deptriad.curves.exact import extremes
from deptriad.tables.table import Box
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.rounding import ROUNDOFF, widening

NODES = 400
"""How many times a pair may be branched before its bound is taken as it stands."""

AT_ONCE = 64
"""Pairs settled together; the best event among them spares the rest."""

SMALL = 10_000
"""rows² · columns up to which one thread settles the pairs of a box in turn."""


class Stick(NamedTuple):
    """E_γ over a box: certified from above by ``bound``, attained by an event with this gap and mass."""

    bound: float
    gap: float
    lower: float
    exact: bool


Ends = tuple[float, float]
"""α and δ of a box."""
Answer = TypeVar("Answer")
Inquiry: TypeAlias = Generator[tuple[float, float], Stick, Answer]


class Search:
    """Answers E_γ of one large box for any γ by all threads, and remembers prices from one question to the next.

    A price for each row in each role makes a bound for every pair in one pass. Pairs that it leaves above what is
    already attained are priced on their own, and branched; where they are many, rows learn better prices first.
    """

    def __init__(self, box: Box) -> None:
        self.lower, self.upper = box.lower, box.upper
        self.spare, self.surplus = box.spare, box.surplus
        self.prices = np.full((len(self.lower), 2), 0.5)
        self.learnt = False
        self.pair = 0, 0
        self.event = np.zeros(0, dtype=np.int64)

    def stick(self, eta: float, floor: float = 0.0) -> Stick:
        """E_γ at γ = 1 + η. Pairs below ``floor`` are not looked into: the bound is the floor where all are."""
        gamma = 1.0 + eta
        rows = np.arange(len(self.lower))
        if not self.learnt:
            self._learn_prices(np.roll(rows, 1), np.roll(rows, -1), gamma)
        bounds = self._bounds(gamma)
        gap = lower = 0.0
        highest = reached = floor
        rounds = 0
        while (waiting := np.flatnonzero(bounds > reached)).size:
            rounds += 1
            top_bound = float(bounds.max())
            if top_bound <= reached * (1.0 + 1e-12):  # near enough as it is
                highest = max(highest, top_bound)
                break
            if 1 < rounds < 6 and waiting.size > 4 * len(self.lower):
                self._learn_prices(bounds.argmax(axis=1), bounds.argmax(axis=0), gamma)
                bounds = np.minimum(bounds, self._bounds(gamma))
                waiting = np.flatnonzero(bounds > reached)
            if waiting.size > AT_ONCE:
                waiting = waiting[np.argpartition(bounds.ravel()[waiting], -AT_ONCE)[-AT_ONCE:]]
            if not waiting.size:
                break
            more, less = np.divmod(waiting, len(self.lower))
            settled, events = self._settle(more, less, gamma, reached, NODES)
            bounds[more, less] = 0.0
            highest = max(highest, float(settled[:, 0].max()))
            value = settled[:, 1] - gamma * settled[:, 2]
            top = int(np.argmax(value))
            if value[top] > reached:
                reached = float(value[top])
                above, below = settled[top, 1:3]
                gap, lower = float(above - below), float(below)
                self.pair = int(more[top]), int(less[top])
                self.event = np.flatnonzero(events[top])
        # as for small boxes: a row sums to 1, so what edges leave of it is only known to roundings of 1
        rounding = (2 * self.lower.shape[1] + 40) * ROUNDOFF * (1.0 + gamma)
        exact = highest <= reached * (1.0 + 1e-12) + rounding
        bound = min(highest * widening(2 * self.lower.shape[1]), 1.0)
        return Stick(bound, gap, lower, bool(exact))

    def _bounds(self, gamma: float) -> Floats:
        """The certificate of every ordered pair at the current prices, every term rounded up."""
        from deptriad.curves import _box_kernels

        mu, nu = self.prices[:, :1], self.prices[:, 1:]
        wide = self.upper - self.lower
        bounds = _box_kernels.price_bounds(
            (self.lower + mu * wide) * (1.0 + _box_kernels.TERM_ERROR),
            gamma * (self.lower + (1.0 - nu) * wide) * (1.0 - _box_kernels.TERM_ERROR),
            (1.0 - mu[:, 0]) * self.spare,
            gamma * (1.0 - nu[:, 0]) * self.surplus,
        )
        return bounds * widening(self.lower.shape[1])

    def _learn_prices(self, less: Integers, more: Integers, gamma: float) -> None:
        """Each row takes the prices that suit it against one partner in either role."""
        rows = np.arange(len(self.lower))
        less = np.where(less == rows, (rows + 1) % rows.size, less)
        more = np.where(more == rows, (rows + 1) % rows.size, more)
        as_more, _ = self._settle(rows, less, gamma, 0.0, 1)
        as_less, _ = self._settle(more, rows, gamma, 0.0, 1)
        self.prices = np.column_stack([as_more[:, 3], as_less[:, 4]])
        self.learnt = True

    def _settle(
        self, more: Integers, less: Integers, gamma: float, floor: float, nodes: int
    ) -> tuple[Floats, Booleans]:
        from deptriad.curves import _box_kernels

        box = _box_kernels.Edges(self.lower, self.upper, self.spare, self.surplus)
        question = _box_kernels.Question(gamma, floor, nodes)
        return _box_kernels.settle_pairs(box, more, less, question, self.prices)


class Searches:
    """Answers E_γ of many boxes, each at a γ of its own: small ones in one compiled call, a large one by its Search."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        from deptriad.curves import _box_batch

        self.large = {k: Search(box) for k, box in enumerate(boxes) if _work(box) > SMALL}
        small = [k for k in range(len(boxes)) if k not in self.large]
        self.place = {k: place for place, k in enumerate(small)}
        self.small = _box_batch.laid_out(
            [boxes[k].lower for k in small], [boxes[k].upper for k in small]
        )
        ends = dict(zip(small, map(tuple, self.small.ends.tolist()), strict=True))
        ends |= {k: extremes(search.lower, search.upper) for k, search in self.large.items()}
        self.ends: list[Ends] = [ends[k] for k in range(len(boxes))]

    def run(self, inquiries: Sequence[Inquiry[Answer]]) -> list[Answer]:
        """What the inquiries return, one for each box: in every round one question of each that is not done."""
        answers: dict[int, Answer] = {}
        replies: dict[int, Any] = dict.fromkeys(range(len(inquiries)))
        while replies:
            questions = {}
            for k, reply in replies.items():
                try:
                    questions[k] = inquiries[k].send(reply)
                except StopIteration as done:
                    answers[k] = done.value
            replies = self._sticks(questions)
        return [answers[k] for k in range(len(inquiries))]

    def _sticks(self, questions: dict[int, tuple[float, float]]) -> dict[int, Stick]:
        from deptriad.curves import _box_batch

        found = {k: self.large[k].stick(*questions.pop(k)) for k in self.large if k in questions}
        if questions:
            which = np.array([self.place[k] for k in questions])
            eta, floor = np.array(list(questions.values())).T.copy()
            *numbers, exact = _box_batch.many_sticks(self.small, which, eta, floor, NODES).T
            columns = [column.tolist() for column in (*numbers, exact > 0.0)]
            found.update(zip(questions, map(Stick, *columns), strict=True))
        return found

    def event(self, k: int) -> tuple[tuple[int, int], Integers]:
        """The rows and the source values of the last event of a box that rose above a floor."""
        if k in self.large:
            return self.large[k].pair, self.large[k].event
        boxes, place = self.small, self.place[k]
        more, less = boxes.pair[place].tolist()
        start = boxes.column_starts[place]
        return (more, less), np.flatnonzero(boxes.event[start : start + boxes.columns[place]])


def _work(box: Box) -> int:
    rows, columns = box.shape
    return rows * rows * columns
