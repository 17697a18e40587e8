"""Where the paper errs in its definitions and theorems: the smallest counter-examples we know, computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import deptriad as dt
from deptriad.mechanisms import GRR
from deptriad.paper.item import Cells, Claim, Item, Outcome, Row, Work

EPSILON = 1.0
XOR = np.array([[[0.5, 0.0], [0.0, 0.5]], [[0.0, 0.5], [0.5, 0.0]]])
"""p(first, second | target) where the target is the exclusive or of two fair bits."""
NEAR = np.array([[0.50, 0.50], [0.505, 0.495]])
"""Two rows that hardly differ."""
WIDE = dt.Box(np.array([[0.1, 0.6], [0.2, 0.75]]), np.array([[0.4, 0.9], [0.25, 0.8]]))
"""One row is known less well than it differs from the other."""


class Example(NamedTuple):
    """A number as the paper has it, and the truth."""

    what: str
    said: str
    paper: float
    truth: float
    why: str

    def row(self) -> dict[str, object]:
        """A line of the CSV."""
        return {"what": self.what, "paper": self.paper, "truth": self.truth}

    def claim(self) -> Claim:
        """The paper's statement against the truth."""
        same = abs(self.paper - self.truth) < 1e-9
        ours = f"{self.what}: the paper's {self.paper:.4f}, the truth {self.truth:.4f}"
        return Claim(self.said, ours, same, "" if same else self.why)


def run(work: Work) -> Outcome:
    """Every counter-example, and how often the first one happens on real data where that is there."""
    examples = [_sum_on_xor(), _alpha_without_logarithm(), _row_with_itself()]
    claims = [example.claim() for example in examples]
    if work.library.has("celeba"):
        claims.insert(1, _sum_on_faces(work))
    data = "made-up tables of two values; CelebA, where it is there"
    return Outcome([example.row() for example in examples], claims, data, NOTES)


NOTES = (
    "Totals: Analysis.totals gives the paper's sum as pairwise, an estimate, and certified, a bound for every joint "
    "distribution with the same pairwise tables, with a proof that verify checks. docs/totals.md has more.",
    "The other tables and figures name further slips where they meet them: ratios of the toy example (figure-2), a "
    "deviation that no positive errors can have (table-4), 39 attributes of CelebA for 40 (table-3), and the orders of "
    "ITS, CBP and LTM (table-1, table-2).",
    "That the worst case over an uncertain table takes exponential time is not so: two multipliers a pair and "
    "branching find it (figure-8).",
)


def _sum_on_xor() -> Example:
    """Two bits tell nothing alone; of their reports the worst is compared under both target values."""
    matrix = GRR(2, EPSILON).matrix()
    chances = np.einsum("tab,ay,bz->yzt", XOR, matrix, matrix).reshape(-1, 2)
    alone = [float(np.asarray(dt.leakage(XOR.sum(axis=axis), EPSILON))) for axis in (2, 1)]
    return Example(
        "two bits about their exclusive or",
        "the total leakage is at most the sum of the pairwise leakages",
        sum(alone),
        float(np.log(chances.max(axis=1) / chances.min(axis=1)).max()),
        "sequential composition needs reports that are independent given the target",
    )


def _alpha_without_logarithm() -> Example:
    """The leakage goes to the logarithm of the largest ratio as ε grows, and not to the ratio."""
    return Example(
        "limit for two rows that hardly differ",
        "Definition V.1: α, which the leakage goes to for large ε, is the largest ratio of two entries",
        float((NEAR.max(axis=0) / NEAR.min(axis=0)).max()),
        float(np.asarray(dt.leakage(NEAR, 50.0))),
        "the logarithm is missing, which the paper's own toy example takes (ln 4.5 = 1.50)",
    )


def _row_with_itself() -> Example:
    """α of an uncertain table over all pairs of rows, and over pairs of different rows."""
    return Example(
        "α of a table with one uncertain row",
        "the maxima of an uncertain table run over all pairs of rows",
        float(np.log(WIDE.upper / WIDE.lower).max()),
        float(dt.triad(WIDE).alpha),
        "x and x' must differ: no value is told from itself, and a row's uncertainty is no dependence",
    )


def _sum_on_faces(work: Work) -> Claim:
    """How often two sources together give away more than the sum."""
    frame, schema = work.library.records("celeba")
    names = list(schema.names)[: work.choose(None, 8)]
    found = dt.interactions(
        frame[names], EPSILON, schema=schema.only(*names), progress=work.progress
    )
    worst = found[0]
    return Claim(
        "on real data, too, the sum bounds what all sources tell",
        f"two of {len(names)} CelebA attributes tell more about a third than the sum of what each does in "
        f"{found.understated:,} of {len(found):,} triples (ε = 1); worst: {worst.source_1} and "
        f"{worst.source_2} about {worst.target}, {worst.joint:.3f} against {worst.sum:.3f}",
        found.understated == 0,
        "" if found.understated == 0 else "attributes of faces are not independent given a third",
    )


def table(rows: Sequence[Row]) -> list[Cells]:
    """The paper's number beside the truth."""
    return [
        {
            "": str(row["what"]),
            "by the paper": f"{float(row['paper']):.4f}",
            "in truth": f"{float(row['truth']):.4f}",
        }
        for row in rows
    ]


ITEM = Item(
    "corrections",
    "Where definitions and theorems of the paper err",
    run,
    table=table,
    uses=("celeba",),
)
