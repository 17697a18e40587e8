"""The demo: every pair of answers of a real survey.

The data is Fair's survey of 6,366 married women (Fair 1978, *A Theory of Extramarital Affairs*), which
comes with statsmodels: nine discrete answers, one of them about affairs.
"""

import csv
import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

import deptriad as dt

NAMES = {
    "rate_marriage": "marriage rating",
    "age": "age",
    "yrs_married": "years married",
    "children": "children",
    "religious": "religiosity",
    "educ": "education",
    "occupation": "occupation",
    "occupation_husb": "husband's job",
    "affairs": "affairs",
}
"""The survey's columns and what they are called here."""


@dataclass(frozen=True)
class Answer:
    """One question: every woman's answer as a code, and what the codes mean."""

    name: str
    codes: NDArray[np.intp]
    values: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """What releasing ``source`` at budget ``epsilon`` may tell about ``target``."""

    source: str
    target: str
    alpha: float
    beta: float
    phi: float
    delta: float
    epsilon: float
    leakage: float


def survey() -> list[Answer]:
    """Load the survey's nine answers; ``affairs`` is put into three groups, the others are as asked."""
    try:
        from statsmodels.datasets import fair
    except ModuleNotFoundError as missing:
        message = f"the demo's survey needs {missing.name}: pip install 'deptriad[demo]'"
        raise ModuleNotFoundError(message, name=missing.name) from None
    data = fair.load_pandas().data
    return [
        _affairs(data[column]) if column == "affairs" else _as_asked(name, data[column])
        for column, name in NAMES.items()
    ]


def tables(answers: Sequence[Answer]) -> list[dt.Conditional]:
    """Return the sample's own table p(source | target) of every ordered pair of answers."""
    return [_conditional(source, target) for source, target in permutations(answers, 2)]


def rows(tables: Sequence[dt.Conditional], epsilon: float = 1.0) -> list[Row]:
    """Return the triad of each table and its leakage at ``epsilon``, the largest first."""
    triads = dt.triads(tables)
    columns = (triads.alpha, triads.beta, triads.phi, triads.delta, triads.leakage(epsilon))
    found = [
        Row(table.source, table.target, alpha, beta, phi, delta, epsilon, leakage)
        for table, alpha, beta, phi, delta, leakage in zip(
            tables, *(np.asarray(column).tolist() for column in columns), strict=True
        )
    ]
    return sorted(found, key=lambda row: (-row.leakage, row.source, row.target))


def write(rows: Sequence[Row], path: Path) -> None:
    """Write the rows as CSV; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Row))
            writer.writerows(astuple(row) for row in rows)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _as_asked(name: str, column: ArrayLike) -> Answer:
    values, codes = np.unique(np.asarray(column, dtype=float), return_inverse=True)
    return Answer(name, codes, tuple(f"{value:g}" for value in values))


def _affairs(column: ArrayLike) -> Answer:
    # The survey's measure has 77 different values, most of them held by a few women. As it stands nearly
    # every cell of its tables is empty, and an empty cell claims that the combination cannot happen.
    measure = np.asarray(column, dtype=float)
    codes = np.add(measure > 0, measure > 1, dtype=np.intp)
    return Answer(NAMES["affairs"], codes, ("none", "up to 1", "over 1"))


def _conditional(source: Answer, target: Answer) -> dt.Conditional:
    shape = len(target.values), len(source.values)
    cells = np.ravel_multi_index((target.codes, source.codes), shape)
    return dt.Conditional.from_counts(
        np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape),
        target=target.name,
        source=source.name,
        target_values=target.values,
        source_values=source.values,
    )
