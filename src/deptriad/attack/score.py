"""Score: how often an attacker is right, with intervals; and guesses that never see a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    def __repr__(self) -> str:
        return (
            f"Score(macro-F1 {in_words(self.macro_f1, self.macro_f1_interval)}, "
            f"accuracy {in_words(self.accuracy, self.accuracy_interval)})"
        )

    def facts(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        return {
            "macro_f1": self.macro_f1,
            "macro_f1_interval": list(self.macro_f1_interval),
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
        }


def in_words(number: float, interval: Interval) -> str:
    """A number with its interval, as results print it.

    >>> in_words(0.5, (0.4, 0.6))
    '0.500 [0.400, 0.600]'
    """
    return f"{number:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def mean_score(scores: Iterable[Score]) -> Score:
    """The mean over targets; of macro-F1 this is the paper's AIA.

    The same people are scored for every target, so that errors may go the same way: the ends of the interval are the
    means of the ends, which is as wide as it can be.
    """
    every = list(scores)

    def mean(numbers: Iterable[float]) -> float:
        return float(np.mean(list(numbers)))

    return Score(
        mean(each.macro_f1 for each in every),
        mean(each.accuracy for each in every),
        (
            mean(each.macro_f1_interval[0] for each in every),
            mean(each.macro_f1_interval[1] for each in every),
        ),
        (
            mean(each.accuracy_interval[0] for each in every),
            mean(each.accuracy_interval[1] for each in every),
        ),
    )


def confusion(true: NDArray[Any], guessed: NDArray[Any], size: int) -> NDArray[np.float64]:
    """How many records of each value (row) were taken for each value (column)."""
    cells = np.bincount(true.astype(np.int64) * size + guessed, minlength=size * size)
    return cells.reshape(size, size).astype(np.float64)


def majority(true: NDArray[np.int64], shares: NDArray[Any]) -> NDArray[np.float64]:
    """The confusion of always guessing the value that most training records have."""
    guess = np.zeros(len(shares))
    guess[np.argmax(shares)] = 1.0
    return _blind(true, guess)


def proportional(true: NDArray[np.int64], shares: NDArray[Any]) -> NDArray[np.float64]:
    """The mean confusion of guessing each value as often as training records have it, at random."""
    return _blind(true, shares / shares.sum())


def _blind(true: NDArray[np.int64], guess: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(true, minlength=len(guess))[:, None] * guess)


def scored(cells: NDArray[Any], level: float, rng: np.random.Generator) -> Score:
    """The score of a confusion matrix.

    Drawing records anew makes the cells multinomial, so that the bootstrap draws cells and no records.
    """
    true, guessed = np.nonzero(cells)
    numbers = np.asarray(cells, dtype=np.float64)[true, guessed]
    n = numbers.sum()
    replicates = rng.multinomial(round(n), numbers / n, size=REPLICATES)
    f1, accuracy = (
        _macro_f1(numbers[None], true, guessed, len(cells)),
        _right(numbers, true, guessed),
    )
    ends = (0.5 - level / 2, 0.5 + level / 2)
    spread = _macro_f1(replicates, true, guessed, len(cells)), _right(replicates, true, guessed)
    around = [tuple(np.quantile(each, ends).tolist()) for each in spread]
    return Score(float(f1[0]), float(accuracy), around[0], around[1])


def _right(numbers: NDArray[Any], true: NDArray[Any], guessed: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(numbers[..., true == guessed].sum(axis=-1) / numbers.sum(axis=-1))


def _macro_f1(
    numbers: NDArray[Any], true: NDArray[Any], guessed: NDArray[Any], size: int
) -> NDArray[np.float64]:
    """The mean F1 = 2·hits/(records + guesses) of the values that have records, for each row of numbers of cells."""
    values = np.arange(size)
    of_true, of_guess = (values == true[:, None]).astype(float), (values == guessed[:, None])
    records = numbers @ of_true
    guesses = numbers @ of_guess.astype(float)
    hits = numbers @ (of_true * of_guess)
    present = records > 0.0
    f1 = np.divide(2.0 * hits, records + guesses, out=np.zeros(records.shape), where=present)
    return np.asarray(f1.sum(axis=1) / present.sum(axis=1))
