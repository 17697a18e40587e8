"""Boosting: an attacker that learns, by gradient-boosted trees (scikit-learn)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deptriad.attacks.attacker import Tokens
from deptriad.utils.progress import Progress

ENOUGH = 20
"""Records that every value must have for a tenth of them to be held out to stop early."""

MOST_CATEGORIES = 255
"""Values of a categorical column that scikit-learn takes."""

FEW = 20_000
"""Records up to which one thread is enough."""

LEAST = 1e-12
"""Probability that a value keeps which the trees rule out."""


@dataclass(frozen=True)
class Boosting:
    """Histogram gradient boosting: a column for each token that names one entry, else one for each of its entries.

    Parameters
    ----------
    rounds
        Trees for each value, at most.
    """

    rounds: int = 100

    name: ClassVar[str] = "boosting"

    def fit(
        self,
        tokens: Tokens,
        target: NDArray[np.int64],
        size: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Boosted:
        """Train on people whose target codes are known."""
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier
        except ImportError:
            raise ImportError(
                "attack with 'boosting' needs scikit-learn: pip install 'deptriad[attack]'"
            ) from None
        single = tuple(
            own.shape[1] <= MOST_CATEGORIES and int(np.sum(own, axis=1).max(initial=0)) <= 1
            for own in tokens.supports
        )
        classes, counts = np.unique(target, return_counts=True)
        if len(classes) == 1:
            return Boosted(None, classes, single, size)
        columns, categorical = _columns(tokens, single)
        model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            categorical_features=categorical,
            early_stopping=bool(counts.min() >= ENOUGH),
            random_state=int(rng.integers(2**31)),
        )
        with _threads(len(target)):
            model.fit(columns, target)
        if progress:
            progress(1, 1)
        return Boosted(model, classes, single, size)


@dataclass(frozen=True, eq=False)
class Boosted:
    """Trained trees; without any, where all training records have one value."""

    model: Any
    classes: NDArray[np.int64]
    single: tuple[bool, ...]
    size: int

    def log_posterior(self, tokens: Tokens) -> NDArray[np.float64]:
        """ln of each value's probability; one that no training record has keeps a tiny one."""
        found = np.full((len(tokens), self.size), LEAST)
        if self.model is None:
            found[:, self.classes] = 1.0
        else:
            with _threads(len(tokens)):
                told = self.model.predict_proba(_columns(tokens, self.single)[0])
            found[:, self.classes] = np.maximum(told, LEAST)
        return np.asarray(np.log(found / found.sum(axis=1, keepdims=True)))


def _threads(records: int) -> AbstractContextManager[Any]:
    """One thread for few records: waiting for each other would take several of them longer."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "openmp") if records < FEW else nullcontext()


def _columns(tokens: Tokens, single: tuple[bool, ...]) -> tuple[NDArray[Any], list[bool]]:
    """Tokens as columns, and which of them are categorical; what was not asked is NaN."""
    parts: list[NDArray[Any]] = []
    categorical: list[bool] = []
    for own, one in zip(tokens.supports, single, strict=True):
        columns = (own.argmax(axis=1)[:, None] if one else own).astype(np.float32)
        columns[~own.any(axis=1)] = np.nan
        parts.append(columns)
        categorical += [one] * columns.shape[1]
    return np.concatenate(parts, axis=1), categorical
