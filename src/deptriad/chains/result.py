"""ChainTotals: what releases at several times tell about the answer at each of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from deptriad.data.results import Framed
from deptriad.utils import html_table
from deptriad.utils.arrays import Floats
from deptriad.utils.text import BECOMES, aligned, rounded_up, surety

SHOWN = 16
"""Times that are printed; of more, the first and the last half of these."""

MEANING = (
    "Each is a bound on what releases of ε-LDP mechanisms tell about the answer at that time, in nats:",
    "backward those up to then, forward those from then on, total all of them.",
)


@dataclass(frozen=True, eq=False, repr=False)
class ChainTotals(Framed):
    """Bounds for every time; prints as a table.

    Parameters
    ----------
    epsilons
        The budgets of the releases.
    backward, forward, total
        What releases up to each time, from it on, and all together tell about the answer then.
    assumed
        What is taken to be known about the chain, in words.

    Examples
    --------
    >>> import deptriad as dt
    >>> totals = dt.Chain([[0.9, 0.1], [0.2, 0.8]]).totals([0.5, 0.5, 0.5])
    >>> totals.total.round(3).tolist()
    [1.106, 1.211, 1.107]
    """

    epsilons: Floats
    backward: Floats
    forward: Floats
    total: Floats
    assumed: str = ""

    def __len__(self) -> int:
        """How many times there are."""
        return self.epsilons.size

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each time from 1 on."""
        numbers = {
            "epsilon": self.epsilons,
            "backward": self.backward,
            "forward": self.forward,
            "total": self.total,
        }
        return {"time": list(range(1, len(self) + 1))} | {
            name: array.tolist() for name, array in numbers.items()
        }

    def _rows(self) -> list[list[str]]:
        columns = self.columns()
        rows = [
            [
                str(time),
                f"{epsilon:.4g}",
                *(rounded_up(each) if isfinite(each) else "∞" for each in bounds),
                surety(bounds[-1]),
            ]
            for time, epsilon, *bounds in zip(*columns.values(), strict=True)
        ]
        if len(rows) > SHOWN:
            rows[SHOWN // 2 : -SHOWN // 2] = [["…"] * (len(columns) + 1)]
        return [[*columns, BECOMES], *rows]

    def _below(self) -> list[str]:
        return [*MEANING, *([self.assumed] if self.assumed else [])]

    def __repr__(self) -> str:
        return "\n".join([*aligned(self._rows()), "", *self._below()])

    def _repr_html_(self) -> str:
        return html_table.table(self._rows(), below=self._below())
