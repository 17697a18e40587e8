"""An epoch of the transformer that attacks, with and without micro-batches, and a boosting baseline.

    python benchmarks/attack.py [RECORDS]

9 questions of 5 values, GRR at ε = 2, all driven by one hidden class; the batch is 16,384 records either way, so both
make the same update, and the two are timed turn by turn. The ratio is what micro-batches gain. The whole training on
20,000 of the records beside scikit-learn's boosting on the same ones gives the scale, and the accuracy of both on fresh
records says that the time went into learning. Without torch or scikit-learn this says so and ends.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import Any

import numpy as np
from _history import add, seconds

from deptriad.attacks.attacker import Tokens

RECORDS, SOME = 100_000, 20_000
QUESTIONS, SIZE, CLASSES, BUDGET = 9, 5, 6, 2.0
TURNS = 2

Known = tuple[np.ndarray, np.ndarray]
"""Reports, (records, questions), and the target of each person."""


def draw(
    table: np.ndarray, hidden: np.ndarray, rng: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A value for each person from the row of its hidden class."""
    above = table.cumsum(axis=1)[hidden, :-1] < rng.random((len(hidden), 1))
    return above.sum(axis=1)


def perturbed(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """GRR: the true value, or any other by the same small chance."""
    keep = np.exp(BUDGET) / (np.exp(BUDGET) + SIZE - 1)
    others = (codes + rng.integers(1, SIZE, len(codes))) % SIZE
    return np.where(rng.random(len(codes)) < keep, codes, others)


def people(records: int) -> Known:
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, CLASSES, records)
    tables = rng.dirichlet(np.full(SIZE, 0.4), (QUESTIONS + 1, CLASSES))
    target, *values = (draw(table, hidden, rng) for table in tables)
    return np.column_stack([perturbed(codes, rng) for codes in values]), target


def tokens(reports: np.ndarray) -> Tokens:
    one_hot = np.eye(SIZE, dtype=bool)
    names = tuple(f"question {j}" for j in range(QUESTIONS))
    return Tokens(names, tuple(one_hot[column] for column in reports.T))


def epochs(reports: np.ndarray, target: np.ndarray) -> dict[str, float]:
    """Seconds of one epoch over all records, in micro-batches and a batch at a time."""
    from deptriad.attacks.tabtransformer import TabTransformer

    seen = tokens(reports)
    micro = TabTransformer(epochs=1, least_updates=1)
    whole = dataclasses.replace(micro, micro_batch=micro.batch)

    def epoch(attacker: TabTransformer) -> float:
        return seconds(lambda: attacker.fit(seen, target, SIZE, np.random.default_rng(1)))

    times = [(epoch(micro), epoch(whole)) for _ in range(TURNS)]
    quick, slow = (min(column) for column in zip(*times, strict=True))
    return {"seconds": quick, "seconds_at_once": slow, "ratio": slow / quick}


def transformer(train: Known, fresh: Known) -> dict[str, float]:
    from deptriad.attacks.tabtransformer import TabTransformer

    start = time.perf_counter()
    fitted = TabTransformer().fit(tokens(train[0]), train[1], SIZE, np.random.default_rng(1))
    taken = time.perf_counter() - start
    guesses = fitted.log_posterior(tokens(fresh[0])).argmax(axis=1)
    return {"seconds": taken, "accuracy": float((guesses == fresh[1]).mean())}


def boosting(train: Known, fresh: Known) -> dict[str, float]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(categorical_features=list(range(QUESTIONS)))
    taken = seconds(lambda: model.fit(*train))
    return {"seconds": taken, "accuracy": float(model.score(*fresh))}


def main() -> None:
    try:
        import sklearn  # noqa: F401
        import torch
    except ImportError as missing:
        print(f"skipped: {missing}; pip install 'deptriad[attack]' brings the attackers that learn")
        return
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    reports, target = people(records)
    train, fresh = ((reports[rows], target[rows]) for rows in (slice(0, SOME), slice(-SOME, None)))
    results: dict[str, Any] = {}
    for attacker in (boosting, transformer):
        result = results[attacker.__name__] = attacker(train, fresh)
        print(
            f"{attacker.__name__:12} {result['seconds']:7.1f} s  accuracy {result['accuracy']:.3f}"
        )
    print(f"commonest value          accuracy {np.bincount(fresh[1]).max() / SOME:.3f}")
    epoch = results["epoch"] = epochs(reports, target)
    print(
        f"{records:,} records: {epoch['seconds']:.1f} s an epoch in micro-batches, "
        f"{epoch['seconds_at_once']:.1f} s without: {epoch['ratio']:.2f} ×"
    )
    results["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    results["threads"] = torch.get_num_threads()
    if records == RECORDS:
        add("attack", results)


if __name__ == "__main__":
    main()
