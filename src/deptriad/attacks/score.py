"""Score: how often an attacker is right, with intervals; and guesses that never see a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.files import spelt

REPLICATES = 1000
"""Bootstrap replicates behind an interval."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """Macro-F1 and accuracy on the evaluation records, with bootstrap intervals over these records.

    Macro-F1 is the mean of the F1 of every value that some evaluation record has; a value that is never guessed has
    an F1 of 0.

    Examples
    --------
    >>> import numpy as np
    >>> score = scored(np.array([[40, 10], [5, 45]]), 0.95, np.random.default_rng(1))
    >>> round(score.macro_f1, 4), score.accuracy
    (0.8496, 0.85)
    >>> score
    Score(macro-F1 0.850 [0.776, 0.919], accuracy 0.850 [0.780, 0.920])
    """

    macro_f1: float
    accuracy: float
    macro_f1_interval: Interval
    accuracy_interval: Interval

    @property
    def words(self) -> tuple[str, str]:
        """Macro-F1 and accuracy with their intervals, as results print them."""
        return (
            "{:.3f} [{:.3f}, {:.3f}]".format(self.macro_f1, *self.macro_f1_interval),
            "{:.3f} [{:.3f}, {:.3f}]".format(self.accuracy, *self.accuracy_interval),
        )

    def __repr__(self) -> str:
        return "Score(macro-F1 {}, accuracy {})".format(*self.words)

    def facts(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        return dict(spelt(vars(self)))


def mean_score(scores: Iterable[Score]) -> Score:
    """The mean over targets; of macro-F1 this is the paper's AIA.

    The same people are scored for every target, so that errors may go the same way: the ends of the interval are the
    means of the ends, as if they all did, which is wider than if they did not.
    """
    every = [
        (each.macro_f1, each.accuracy, *each.macro_f1_interval, *each.accuracy_interval)
        for each in scores
    ]
    f1, accuracy, *ends = (float(np.mean(column)) for column in zip(*every, strict=True))
    return Score(f1, accuracy, (ends[0], ends[1]), (ends[2], ends[3]))


def confusion(true: NDArray[Any], guessed: NDArray[Any], size: int) -> NDArray[np.float64]:
    """How many records of each value (row) were taken for each value (column)."""
    cells = np.bincount(true.astype(np.int64) * size + guessed, minlength=size * size)
    return cells.reshape(size, size).astype(np.float64)


def majority(learnt: NDArray[Any]) -> NDArray[np.float64]:
    """Always guess the value that most training records have: the chance of guessing each value."""
    guess = np.zeros(len(learnt))
    guess[np.argmax(learnt)] = 1.0
    return guess


def proportional(learnt: NDArray[Any]) -> NDArray[np.float64]:
    """Guess each value as often as training records have it, at random."""
    return np.asarray(learnt / learnt.sum())


def blind(
    records: NDArray[Any], guess: NDArray[np.float64], level: float, rng: np.random.Generator
) -> Score:
    """The score of guessing without reports, in the mean over guesses: each value with its chance.

    Parameters
    ----------
    records
        How many evaluation records have each value.
    guess
        The chance of guessing each value; it does not depend on the record.
    level, rng
        As for ``scored``.

    Returns
    -------
    The score, whose macro-F1 is that of the expected numbers of right guesses.
    """
    n, every = records.sum(), _with_replicates(records, rng)
    f1 = _macro_f1(every, np.tile(n * guess, (len(every), 1)), every * guess)
    return _with_ends(f1, every @ guess / n, level)


def scored(cells: NDArray[Any], level: float, rng: np.random.Generator) -> Score:
    """The score of a confusion matrix.

    Drawing records anew makes the cells multinomial, so that the bootstrap draws cells and no records.
    """
    true, guessed = np.nonzero(cells)
    numbers = np.asarray(cells)[true, guessed].astype(np.int64)
    every = _with_replicates(numbers, rng)
    values = np.arange(len(cells))
    of_true, of_guess = ((values == each[:, None]).astype(float) for each in (true, guessed))
    hits = every @ (of_true * of_guess)
    f1 = _macro_f1(every @ of_true, every @ of_guess, hits)
    return _with_ends(f1, hits.sum(axis=1) / numbers.sum(), level)


def _with_replicates(numbers: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """How many records of each kind there are, and would be if they were drawn anew: a row for each draw."""
    drawn = rng.multinomial(numbers.sum(), numbers / numbers.sum(), size=REPLICATES)
    return np.concatenate([numbers[None], drawn]).astype(np.float64)


def _macro_f1(
    records: NDArray[Any], guesses: NDArray[Any], hits: NDArray[Any]
) -> NDArray[np.float64]:
    """The mean F1 = 2·hits/(records + guesses) of the values that have records; a column for each value."""
    present = records > 0.0
    f1 = np.divide(2.0 * hits, records + guesses, out=np.zeros(records.shape), where=present)
    return np.asarray(f1.sum(axis=1) / present.sum(axis=1))


def _with_ends(f1: NDArray[Any], accuracy: NDArray[Any], level: float) -> Score:
    """A score from the numbers of the records themselves, which come first, and those of all replicates."""
    ends = (0.5 - level / 2, 0.5 + level / 2)
    (f1_low, f1_high), (low, high) = (np.quantile(each[1:], ends) for each in (f1, accuracy))
    return Score(
        float(f1[0]), float(accuracy[0]), (float(f1_low), float(f1_high)), (float(low), float(high))
    )
