"""LeakageMatrix: the leakage of every attribute about every other, with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deptriad.curves.triad import Triad
from deptriad.data.results import Framed
from deptriad.utils import html_table
from deptriad.utils.arrays import Floats
from deptriad.utils.text import aligned, place_of, printable, rounded_up

MOST_SHOWN = 30
"""Attributes up to which a notebook shows the whole matrix, and pairs that it shows of a larger one."""


class Leak(NamedTuple):
    """What releasing one attribute gives away about another."""

    source: str
    target: str
    triad: Triad
    leakage: float


@dataclass(frozen=True, eq=False, repr=False)
class LeakageMatrix(Framed):
    """Leakage of every attribute (row) about every other (column), in nats; on the diagonal the attribute's own ε.

    An array for numpy; ``matrix["relationship", "sex"]`` is one number.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 50 + ["yes", "no"] * 15 + ["yes"] * 20})
    >>> schema = dt.Schema.infer(frame)
    >>> dt.analyze(dt.Prior.from_data(frame, schema)).leakage(1.0)
    leakage, source × target
             sex smokes
    sex    1.000  0.323
    smokes 0.325  1.000
    """

    names: tuple[str, ...]
    values: Floats
    kind: str = "pandas"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=bool(copy) or None)

    def __getitem__(self, pair: tuple[str, str]) -> float:
        source, target = (place_of(name, self.names) for name in pair)
        return float(self.values[source, target])

    def columns(self) -> dict[str, Any]:
        """Columns of the frame: the sources, a row for each, and then a column for each target."""
        columns = {name: self.values[:, place] for place, name in enumerate(self.names)}
        return {"source": list(self.names)} | columns

    def _repr_html_(self) -> str:
        """A table shaded by the share of the source's own budget; of many attributes, the largest leakages."""
        names = [printable(name) for name in self.names]
        if len(names) > MOST_SHOWN:
            return self._largest(names)
        own = np.where(np.diag(self.values) > 0.0, np.diag(self.values), 1.0)
        shares = self.values / own[:, None]
        rows: list[list[html_table.Cell]] = [["released \\ about", *names]]
        for i, name in enumerate(names):
            cells = [
                html_table.Shaded(rounded_up(value), float(share)) if i != j else rounded_up(value)
                for j, (value, share) in enumerate(
                    zip(self.values[i].tolist(), shares[i], strict=True)
                )
            ]
            rows.append([name, *cells])
        return html_table.table(rows, ["leakage, source × target"])

    def _largest(self, names: list[str]) -> str:
        others = np.where(np.eye(len(names), dtype=bool), -np.inf, self.values)
        order = np.argsort(-others, axis=None, kind="stable")[:MOST_SHOWN]
        places = [divmod(int(place), len(names)) for place in order]
        rows = [["released", "about", "leakage"]]
        rows += [[names[i], names[j], rounded_up(float(self.values[i, j]))] for i, j in places]
        title = f"leakage, source × target: the {len(places)} largest of {len(names)} attributes"
        return html_table.table(rows, [title], names=2)

    def __repr__(self) -> str:
        names = [printable(name) for name in self.names]
        cells = [[rounded_up(value) for value in row] for row in self.values.tolist()]
        rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
        return "\n".join(["leakage, source × target", *aligned([["", *names], *rows], gap=" ")])
