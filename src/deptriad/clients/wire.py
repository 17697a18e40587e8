"""The wire format: one person's report as it is sent to a collector, and everything about it that is checked there.

A report is an object of JSON: {"format": "deptriad report", "version": 1, "plan": the fingerprint of its strategy,
"id": 32 random hexadecimal digits, "view": its number, "answers": {attribute: text}}. The answers are the cells of the
row that ``perturb`` would write, those that its view does not ask left out.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deptriad.collection.question import Generator, Question
from deptriad.collection.report_format import Column, Labels
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.utils import files
from deptriad.utils.text import brief, printable

FORMAT, VERSION = "deptriad report", 1
KEYS = ("format", "version", "plan", "id", "view", "answers")
MOST = 10_000
"""Reports in one message."""

_ID = re.compile("[0-9a-f]{32}")


class Report(NamedTuple):
    """A report that was checked: its id, its view counted from 1, and its answers in JSON, in the order of the view."""

    id: str
    view: int
    answers: str


@dataclass(frozen=True)
class Wire:
    """How reports of one strategy are sent, and checked when they arrive.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    >>> from deptriad.clients.wire import Wire
    >>> wire = Wire.of(dt.Split(schema, 1.0))
    >>> [sent] = wire.sent([[0]])
    >>> wire.read(sent).id == sent["id"]
    True
    >>> wire.read(sent | {"answers": {"sex": "x"}})
    Traceback (most recent call last):
        ...
    ValueError: the report 'x' of 'sex' is none of its values: Attribute(sex: f, m)
    """

    strategy: Strategy

    @classmethod
    def of(cls, strategy: Any) -> Wire:
        """That of a plan, or of a strategy."""
        return cls(as_strategy(strategy))

    @cached_property
    def _views(self) -> tuple[tuple[tuple[Question, tuple[str, ...]], ...], ...]:
        """The questions of each view, and the columns of each."""
        every = [(question, question.columns) for question in self.strategy.questions]
        return tuple(tuple(every[place] for place in own) for own in self.strategy.places)

    @cached_property
    def _labels(self) -> dict[str, frozenset[str]]:
        return {each.name: frozenset(each.values) for each in self.strategy.released}

    # --- what arrives ---

    def parsed(self, body: bytes) -> list[Report]:
        """The reports of a message: one object, or a list of them.

        Raises
        ------
        ValueError
            If it is something else, or if one of them is no report of this strategy.
        """
        content = files.decoded(body, "the message", FORMAT)
        every = content if isinstance(content, list) else [content]
        if not 0 < len(every) <= MOST:
            raise ValueError(
                f"the message has {len(every):,} reports, expected at least one and at most {MOST:,}: send several"
            )
        return [self.read(each) for each in every]

    def read(self, content: Any) -> Report:
        """One report, checked."""
        files.refuse_format(content, FORMAT, VERSION, "the report")
        files.refuse_misfits(content, "the report", KEYS, ())
        plan, own, view = (content.get(key) for key in ("plan", "id", "view"))
        if plan != self.strategy.fingerprint:
            raise ValueError(
                f"the report is of the plan {_short(plan)}, expected {self.strategy.fingerprint}: attributes, "
                "mechanisms or budgets differ"
            )
        if not isinstance(own, str) or not _ID.fullmatch(own):
            raise ValueError(
                f"the id of the report is {_short(own)}, expected 32 hexadecimal digits"
            )
        count = len(self._views)
        if type(view) is not int or not 1 <= view <= count:
            raise ValueError(f"the view of the report is {_short(view)}, expected 1 to {count}")
        return Report(own, view, self._answers(view, content.get("answers")))

    def _answers(self, view: int, answers: Any) -> str:
        """The answers to a view, all of them and no others, each a report of its mechanism."""
        questions = self._views[view - 1]
        columns = [name for _, own in questions for name in own]
        if not isinstance(answers, dict) or len(answers) != len(columns):
            raise ValueError(f"the answers are {_short(answers)}, expected {_named(columns)}")
        for name in columns:
            if not isinstance(answers.get(name), str):
                raise ValueError(
                    f"the answers have {_short(answers.get(name))} for {printable(repr(name))}, expected text"
                )
        for question, own in questions:
            # the usual case, without arrays: labels of the schema
            if question.labelled and all(answers[name] in self._labels[name] for name in own):
                continue
            question.accepted([np.array([answers[name]], dtype=object) for name in own])
        return json.dumps({name: answers[name] for name in columns}, separators=(",", ":"))

    # --- what is sent ---

    def sent(self, codes: Any, rng: Generator = None) -> list[dict[str, Any]]:
        """Perturb records, given as codes with a column for each attribute, into reports to send."""
        written = self.strategy.report(np.asarray(codes), rng)
        views = np.asarray(written.pop(self.strategy.view_column)).tolist()
        columns = {name: _texts(column) for name, column in written.items()}
        return [
            {
                "format": FORMAT,
                "version": VERSION,
                "plan": self.strategy.fingerprint,
                "id": secrets.token_hex(16),
                "view": view,
                "answers": {
                    name: texts[row] for name, texts in columns.items() if texts[row] is not None
                },
            }
            for row, view in enumerate(views)
        ]


def _texts(column: Column) -> list[str | None]:
    """A column as text, None where it is empty."""
    if isinstance(column, Labels):
        return list(column.texts().tolist())
    return list((column.astype("U") if column.dtype.kind == "S" else column).tolist())


def _short(value: object) -> str:
    return printable(brief(value))


def _named(columns: Sequence[str]) -> str:
    return f"one text for each of {printable(', '.join(map(repr, columns[:20])))}"
