"""One record reported from given random words: what a device does, in the order in which it uses words.

For one record that order is part of the format (docs/survey.md), so that a device in any language gives the same report
as Python, bit for bit. Nothing is drawn here otherwise than for many records: the words take a generator's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from deptriad.collection.report_format import Labels
from deptriad.collection.split import as_strategy
from deptriad.utils.errors import InvalidValue, Parameter


class Told(NamedTuple):
    """What one person reports: the view, counted from 1, the text of each column, and how many words that took."""

    view: int
    answers: dict[str, str]
    used: int


class GivenWords(np.random.Generator):
    """A generator that gives the words of a list, in their order, and nothing else.

    Parameters
    ----------
    words
        Whole numbers from 0 to 2^64 − 1.

    Examples
    --------
    >>> from deptriad.mechanisms import GRR
    >>> grr = GRR(size=3, epsilon=1.0)  # a word below a certain one tells where it falls, one above the truth
    >>> [int(grr.perturb([2], GivenWords([word]))[0]) for word in (0, 2**31, 2**32 - 1)]
    [0, 2, 2]
    """

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__(np.random.PCG64(0))  # which is never asked
        self.words = np.array(words, dtype=np.uint64)
        self.used = 0

    def integers(self, low: Any, high: Any = None, size: Any = None, *_: Any, **__: Any) -> Any:
        """The next ``size`` words; ``low`` and ``high`` are those of whole words."""
        if (low, high) != (0, 2**64 - 1):
            raise ValueError(f"words were asked from {low} to {high}, expected whole ones")
        found = self.words[self.used : self.used + int(size)]
        if len(found) < int(size):
            raise InvalidValue(
                Parameter("words"),
                f" has {len(self.words)} words, and the report needs {self.used + int(size)} or more",
            )
        self.used += len(found)
        return found.copy()


def told(plan: Any, codes: Mapping[str, int], words: Sequence[int]) -> Told:
    """The report of one person from given words.

    Parameters
    ----------
    plan
        A plan, or a strategy.
    codes
        The place of the true answer in ``Attribute.values``, for each attribute that may be asked.
    words
        Random words, whole numbers from 0 to 2^64 − 1; the first ones are used.

    Examples
    --------
    >>> import deptriad as dt
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    >>> from deptriad.clients.one_record import told
    >>> told(dt.Split(schema, 1.0), {"sex": 1}, [2**32 - 1])
    Told(view=1, answers={'sex': 'm'}, used=1)
    """
    strategy, chance = as_strategy(plan), GivenWords(words)
    row = np.array([[codes.get(name, -1) for name in strategy.schema.names]])
    columns = strategy.report(row, chance)
    view = int(np.asarray(columns.pop(strategy.view_column))[0])
    texts = {
        name: column.texts()[0] if isinstance(column, Labels) else column[0]
        for name, column in columns.items()
    }
    answers = {
        name: text.decode("ascii") if isinstance(text, bytes) else str(text)
        for name, text in texts.items()
        if text is not None
    }
    return Told(view, answers, chance.used)
