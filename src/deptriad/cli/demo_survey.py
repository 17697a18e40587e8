"""The demo: every pair of answers of a real survey.

The data is Fair's survey of 6,366 married women (Fair 1978, *A Theory of Extramarital Affairs*), which
comes with statsmodels: nine discrete answers, one of them about affairs.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deptriad.analysis.leakage_matrix import Leak
from deptriad.data.attribute import Attribute
from deptriad.data.categories import Value
from deptriad.data.schema import Schema
from deptriad.utils import files

ANSWERS: dict[str, tuple[str, Sequence[Value]]] = {
    "rate_marriage": ("marriage rating", [1, 2, 3, 4, 5]),
    "age": ("age", [17.5, 22, 27, 32, 37, 42]),
    "yrs_married": ("years married", [0.5, 2.5, 6, 9, 13, 16.5, 23]),
    "children": ("children", [0, 1, 2, 3, 4, 5.5]),
    "religious": ("religiosity", [1, 2, 3, 4]),
    "educ": ("education", [9, 12, 14, 16, 17, 20]),
    "occupation": ("occupation", [1, 2, 3, 4, 5, 6]),
    "occupation_husb": ("husband's job", [1, 2, 3, 4, 5, 6]),
    "affairs": ("affairs", ["none", "up to 1", "over 1"]),
}
"""The survey's columns, what they are called here, and the answers that could be given."""

SCHEMA = Schema([Attribute(name, values, missing="error") for name, values in ANSWERS.values()])


def survey() -> Any:
    """Load the survey as a pandas frame; ``affairs`` is put into three groups, the others are as asked."""
    try:
        import pandas as pd
        from statsmodels.datasets import fair
    except ModuleNotFoundError as missing:
        message = f"the demo's survey needs {missing.name}: pip install 'deptriad[demo]'"
        raise ModuleNotFoundError(message, name=missing.name) from None
    frame = fair.load_pandas().data.rename(
        columns={was: name for was, (name, _) in ANSWERS.items()}
    )
    # The survey's measure has 77 different values, most of them held by a few women. As it stands nearly
    # every cell of its tables is empty, and an empty cell claims that the combination cannot happen.
    groups = pd.cut(frame["affairs"], [-1, 0, 1, float("inf")], labels=SCHEMA["affairs"].values)
    return frame.assign(affairs=groups)


def write(leaks: Sequence[Leak], epsilon: float, path: Path) -> None:
    """Write the leaks at ``epsilon`` as CSV; the file appears whole or not at all."""
    header = ("source", "target", "alpha", "beta", "phi", "delta", "epsilon", "leakage")
    with (
        files.whole(path, folders=True) as partial,
        partial.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(header)
        for source, target, triad, leakage in leaks:
            numbers = (triad.alpha, triad.beta, triad.phi, triad.delta, epsilon, leakage)
            writer.writerow([source, target, *map(float, numbers)])
