"""LeakageMatrix: the leakage of every attribute about every other, with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deptriad.curves.triad import Triad
from deptriad.data.results import Framed
from deptriad.utils import html_table
from deptriad.utils.arrays import Floats
from deptriad.utils.text import aligned, place_of, printable, rounded_up, told_apart

MOST_HEAD = 12
"""Characters of a column's name where not all columns fit."""

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
        given: Any = pair  # what anybody may write
        if not isinstance(given, tuple) or len(given) != 2:
            source = given if given in self.names else self.names[0]
            other = next((name for name in self.names if name != source), source)
            raise ValueError(
                f"leakage[{given!r}] names no pair, expected a source and a target, such as "
                f"leakage[{source!r}, {other!r}]; np.asarray(leakage) is the whole matrix"
            )
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
        size, room = len(self.names), get_terminal_size()
        rows = _ends(size, max(room.lines - 6, 16))
        whole = [printable(name) for name in self.names]
        names = heads = told_apart(whole, max(room.columns // 4, 8))
        left = room.columns - max(map(len, names)) - 4
        fitting = _fitting(heads, left)
        if fitting < size:  # shorter heads let more columns in
            heads = told_apart(whole, MOST_HEAD)
            fitting = _fitting(heads, left)
        columns = _ends(size, fitting)
        shown = [["", *(heads[place] if place is not None else "…" for place in columns)]]
        for row in rows:
            cells = (
                "…" if None in (row, column) else rounded_up(float(self.values[row, column]))
                for column in columns
            )
            shown.append([names[row] if row is not None else "…", *cells])
        part = len(rows) < size or len(columns) < size
        count = [f"{size} attributes; to_frame() has all of them"] if part else []
        return "\n".join(["leakage, source × target", *aligned(shown, gap=" "), *count])


def _ends(size: int, most: int) -> list[Any]:
    """All places, or the first and the last of them with None between."""
    if size <= most:
        return list(range(size))
    first, last = (most + 1) // 2, most // 2
    return [*range(first), None, *range(size - last, size)]


def _fitting(heads: Sequence[str], room: int) -> int:
    """How many columns fit, taken from both ends; two at least."""
    wide = [max(len(head), 6) + 1 for head in heads]
    if sum(wide) <= room + 2:
        return len(wide)
    number = 2
    while number < len(wide):
        first, last = (number + 2) // 2, (number + 1) // 2
        if sum(wide[:first]) + sum(wide[len(wide) - last :]) > room:
            break
        number += 1
    return number
