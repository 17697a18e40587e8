"""Item: a table or figure of the paper. Outcome: what running it gave. Work: what it may use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from deptriad.utils import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deptriad.paper.data import Library
    from deptriad.utils.progress import Progress

Row = Mapping[str, Any]
"""A line of an item's CSV: text, numbers and nothing else."""

Cells = Mapping[str, str]
"""A line of a table as a reader sees it: text by the head of its column."""

OURS = "(not in the paper) "
"""How a claim begins that the paper does not make: it is told, and not counted among the paper's."""


def verdicts(claims: Sequence[Mapping[str, Any]]) -> list[bool | None]:
    """Which of the paper's own claims hold, from the entry of an item."""
    return [claim["holds"] for claim in claims if not claim["paper"].startswith(OURS)]


@dataclass(frozen=True)
class Claim:
    """What the paper says, what we find, and whether it holds.

    Parameters
    ----------
    paper
        The paper's figure or statement, in our words.
    ours
        What this run found.
    holds
        Whether ours bears out the paper's; None where the two cannot be compared, which ``why`` explains.
    why
        Where it does not hold, the reason as far as we know it.
    """

    paper: str
    ours: str
    holds: bool | None
    why: str = ""

    def __post_init__(self) -> None:
        if self.holds is not True and not self.why:
            raise ValueError(f"the claim {self.paper!r} does not hold, expected a reason in why")


@dataclass(frozen=True)
class Outcome:
    """What running an item gave.

    Parameters
    ----------
    rows
        The numbers, a mapping for each line of the CSV; all with the same keys.
    claims
        The paper's statements against these numbers.
    data
        The data used, and how it differs from the paper's.
    notes
        What else a reader should know: what we do better, where the paper is wrong.
    """

    rows: Sequence[Row]
    claims: Sequence[Claim]
    data: str
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("an outcome has no rows, expected the numbers of the item")
        if len({tuple(row) for row in self.rows}) > 1:
            raise ValueError("the rows of an outcome have different columns, expected the same")


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    Parameters
    ----------
    name
        As on the command line, such as "table-3".
    title
        What it shows, in a line.
    run
        Computes it.
    draw
        A matplotlib figure of the rows, as they are or as they were read back from the CSV.
    table
        The rows as a table to read, in place of a figure or beside it; likewise.
    words
        What a figure shows, for those who cannot see it.
    needs
        Names of the datasets without which it cannot be run.
    uses
        Names of datasets that it takes where they are there.
    """

    name: str
    title: str
    run: Callable[[Work], Outcome]
    draw: Callable[[Sequence[Row]], Figure] | None = None
    table: Callable[[Sequence[Row]], list[Cells]] | None = None
    words: str = ""
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


def named(rows: Sequence[Row], heads: Mapping[str, str]) -> list[Cells]:
    """A table to read of some columns of the rows, each under another head."""
    return [{head: str(row[name]) for name, head in heads.items()} for row in rows]


@dataclass(frozen=True)
class Work:
    """What an item may use while it runs.

    Parameters
    ----------
    item
        Name of the item.
    library
        The datasets.
    quick
        Whether small samples and short grids are asked for.
    seed
        Of all chance in it.
    parts
        A folder for what is done already, so that a killed run goes on where it was; None keeps nothing.
    progress
        Called with the number of steps done, and how many there are.
    """

    item: str
    library: Library
    quick: bool = False
    seed: int = 0
    parts: Path | None = None
    progress: Progress = field(default=lambda done, total: None)

    def chance(self, *about: object) -> np.random.Generator:
        """Chance for one part, which does not depend on the parts before it."""
        key = crc32(repr((self.item, *about)).encode())
        return np.random.default_rng([self.seed, key])

    def kept(self, name: str, compute: Callable[[], Any]) -> Any:
        """What was computed before under this name, or now; lists, mappings, text and numbers only."""
        if self.parts is None:
            return _plain(compute())
        path = self.parts / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
        found = _plain(compute())
        with files.whole(path, folders=True) as partial:
            partial.write_text(json.dumps(found), encoding="utf-8")
        return found

    def choose(self, full: Any, quick: Any) -> Any:
        """The one of two settings that fits the run."""
        return quick if self.quick else full


def _plain(found: Any) -> Any:
    """The same as it is read back from JSON, so that a resumed run sees nothing else."""
    return json.loads(json.dumps(found, default=lambda number: number.item()))
