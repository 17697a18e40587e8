"""Table 3: total leakage of five real datasets, as it is and as the triad bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.metrics import total_leakage
from deptriad.paper import figures, five
from deptriad.paper.data import FIVE
from deptriad.paper.item import OURS, Cells, Claim, Item, Outcome, Row, Work
from deptriad.paper.measures import ESTIMATES, Estimators, as_matrix, nmse, pair_tables

if TYPE_CHECKING:
    from deptriad.tables.table import Conditional

PAPER = {
    ("spm", 0.5): (291.45, 294.33, 0.00041),
    ("spm", 1.0): (601.56, 613.68, 0.0017),
    ("celeba", 0.5): (101.04, 101.04, 1.03e-26),
    ("celeba", 1.0): (221.53, 221.53, 8.73e-27),
    ("adult", 0.5): (40.33, 41.00, 0.00074),
    ("adult", 1.0): (84.15, 86.81, 0.0025),
    ("cvd", 0.5): (17.88, 18.13, 0.00051),
    ("cvd", 1.0): (37.53, 38.73, 0.0025),
    ("dss", 0.5): (215.44, 218.99, 0.00063),
    ("dss", 1.0): (437.39, 450.60, 0.0022),
}
"""TCPL*, the triad's TCPL and its NMSE."""

BUDGETS = (0.5, 1.0)
FIRST = "5_o_Clock_Shadow"
SHORT, ADJUSTED = "39 attributes", "39, cells adjusted"


def run(work: Work) -> Outcome:
    """All datasets, in all variants."""
    rows: list[Row] = []
    for done, name in enumerate(FIVE):
        rows += work.kept(name, partial(_dataset, work, name))
        work.progress(done + 1, len(FIVE))
    claims = [_numbers(rows, name, work.quick) for name in FIVE]
    claims += [_first_left_out(rows, work.quick), _exact_on_binary(rows), _bounds(rows)]
    claims += [_grows(rows)]
    return Outcome(rows, claims, five.DATA, NOTES)


def _dataset(work: Work, name: str) -> list[Row]:
    found: list[Row] = []
    for label, binning in five.binnings(name).items():
        prior = five.prior_of(work, name, binning)
        found += _rows(name, label, pair_tables(prior))
        if name == "celeba":
            found += _rows(name, SHORT, five.tables_without(prior, FIRST))
            found += _rows(name, ADJUSTED, five.adjusted_tables_without(prior, FIRST))
    if name in ("adult", "cvd") and not work.quick:
        found += _rows(name, "20, equal width", pair_tables(five.prior_of(work, name, "width", 20)))
    return found


def _rows(name: str, variant: str, tables: Sequence[Conditional]) -> list[Row]:
    estimators = Estimators(tables)
    found: list[Row] = []
    for epsilon in BUDGETS:
        leakages = estimators.leakages(epsilon)
        row: dict[str, Any] = {"dataset": name, "variant": variant, "pairs": len(tables)}
        row["epsilon"] = epsilon
        row |= dict(
            zip(("paper_exact", "paper_triad", "paper_nmse"), PAPER[name, epsilon], strict=True)
        )
        row |= {each: total_leakage(as_matrix(leakages[each])) for each in ESTIMATES}
        row |= nmse(leakages)
        found.append(row)
    return found


def _of(rows: Sequence[Row], name: str, variant: str, column: str) -> list[float]:
    chosen = figures.those(rows, dataset=name, variant=variant)
    return [float(row[column]) for row in chosen]


def _numbers(rows: Sequence[Row], name: str, quick: bool) -> Claim:
    """The paper's six numbers of a dataset against ours, for each binning; within 1 per cent is the same."""
    paper = np.array([PAPER[name, epsilon][:2] for epsilon in BUDGETS])
    stated = list(five.binnings(name))
    ours = {each: _totals(rows, name, each) for each in stated}
    same = any(bool((np.abs(totals / paper - 1.0) < 0.01).all()) for totals in ours.values())
    return Claim(
        f"{five.PAPER_NAMES[name]}: at ε = 0.5 / 1 TCPL* is {paper[0, 0]:g} / {paper[1, 0]:g}, by the triad "
        f"{paper[0, 1]:g} / {paper[1, 1]:g}, NMSE {PAPER[name, 0.5][2]:g} / {PAPER[name, 1.0][2]:g}",
        "; ".join(_told(rows, name, each) for each in stated),
        None if quick or name not in five.SAME else same,
        five.OTHER_EDITION
        if name not in five.SAME
        else five.SAMPLE
        if quick
        else ""
        if same
        else WHY[name],
    )


def _totals(rows: Sequence[Row], name: str, variant: str) -> Any:
    return np.column_stack([_of(rows, name, variant, each) for each in ("exact", "triad")])


def _told(rows: Sequence[Row], name: str, variant: str) -> str:
    low, high = _totals(rows, name, variant)
    errors = _of(rows, name, variant, "nmse triad")
    return (
        f"{variant}: {low[0]:.2f} / {high[0]:.2f}, by the triad {low[1]:.2f} / {high[1]:.2f}, "
        f"NMSE {errors[0]:.2g} / {errors[1]:.2g}"
    )


WHY = {
    "celeba": "the paper states 40 attributes, and its totals are those of 39: see the next claim",
    "adult": "how the paper binned is not stated; see the notes",
    "cvd": "how the paper binned is not stated; see the notes",
}


def _first_left_out(rows: Sequence[Row], quick: bool) -> Claim:
    paper = np.array([PAPER["celeba", epsilon][0] for epsilon in BUDGETS])
    plain, adjusted = (np.array(_of(rows, "celeba", each, "exact")) for each in (SHORT, ADJUSTED))
    holds = bool((np.abs(adjusted - paper) < 0.01).all() and (np.abs(plain - paper) < 0.05).all())
    return Claim(
        f"{OURS}CelebA: TCPL* 101.04 / 221.53 are of 39 attributes",
        f"without the first attribute ({FIRST}) {plain[0]:.3f} / {plain[1]:.3f}; with one more in every cell of the "
        f"counts, and none where that is below 3, {adjusted[0]:.3f} / {adjusted[1]:.3f}",
        None if quick else holds,
        five.SAMPLE
        if quick
        else ""
        if holds
        else "the 39 attributes do not give the paper's totals",
    )


def _exact_on_binary(rows: Sequence[Row]) -> Claim:
    worst = max(_of(rows, "celeba", "binary", "nmse triad"))
    return Claim(
        "on CelebA, which is binary, the triad is exact (NMSE about 1e-26)",
        f"NMSE at most {worst:.1e}",
        worst < 1e-20,
        "" if worst < 1e-20 else "the triad differs from the leakage on binary tables",
    )


def _bounds(rows: Sequence[Row]) -> Claim:
    least = min(
        float(np.min(figures.column(rows, each) - figures.column(rows, "exact")))
        for each in ESTIMATES[1:]
    )
    return Claim(
        "the triad's TCPL is never below TCPL*",
        f"the smallest excess of the triad, tuned triad and 8 knots in any row is {least:.1e}",
        least >= -1e-9,
        "" if least >= -1e-9 else "an estimate lies below the leakage",
    )


def _grows(rows: Sequence[Row]) -> Claim:
    several = [row for row in rows if row["dataset"] != "celeba"]
    half, one = (
        figures.column(figures.those(several, epsilon=each), "nmse triad") for each in BUDGETS
    )
    holds = bool((one > half).all())
    ratio = float(np.median(one / half))
    return Claim(
        "but for CelebA, NMSE is larger at ε = 1 than at 0.5",
        f"larger in {int((one > half).sum())} of {len(one)} variants, {ratio:.1f} times in the median",
        holds,
        "" if holds else "NMSE falls with the budget somewhere",
    )


NOTES = (
    "CelebA: of all 40 choices of an attribute to leave out, the first one comes closest to the paper's two totals, as "
    "if it had been read as an index. Most of the small rest goes away with adjusted cells, a rule in the program that "
    "the first author published with an earlier paper (CoP): 0.001 and 0.006 are left, and 221.536 is no 221.53 by "
    "rounding.",
    "Totals count as the paper's where all four are within 1 per cent; NMSE is shown and not judged.",
    "Adult and CVD were looked for in 2,560 and 264 variants: bins of equal counts and of equal width, 3 to 50 of "
    "them, with and without records with missing or absurd values, some columns left out, cells adjusted or not. "
    "Equal width comes near, equal counts does not. Several variants lie within 1 per cent of the paper's four totals "
    "(Adult: 30 bins of equal width, complete records, adjusted cells, without fnlwgt and income: 40.34, 41.01, "
    "84.38, 86.93), none gives them all; among so many, a near one proves nothing. So the paper's binning is not "
    "known. Our 10 bins of equal counts were chosen before looking; equal width, with 10 bins and 20, was put beside "
    "them afterwards.",
    "NMSE depends on the binning: see figure-6.",
    "The tuned triad (for ε ≤ 3) has three numbers as well. For known tables the tight relaxation is the triad itself; "
    "of 2 × 2 tables the triad is exact, and so are the tuned one and 8 knots.",
)


def table(rows: Sequence[Row]) -> list[Cells]:
    """Total leakage of all ordered pairs: the paper's, and ours."""
    return [
        {
            "dataset": five.PAPER_NAMES[str(row["dataset"])],
            "variant": str(row["variant"]),
            "ε": f"{float(row['epsilon']):g}",
            "TCPL*, by the paper": f"{float(row['paper_exact']):.2f}",
            "triad, by the paper": f"{float(row['paper_triad']):.2f}",
            "NMSE, by the paper": f"{float(row['paper_nmse']):.2g}",
            "TCPL*": f"{float(row['exact']):.2f}",
            **{each: f"{float(row[each]):.2f}" for each in ESTIMATES[1:]},
            **{f"NMSE {each}": f"{float(row[f'nmse {each}']):.2g}" for each in ESTIMATES[1:]},
        }
        for row in rows
    ]


ITEM = Item(
    "table-3",
    "Total leakage of five real datasets, and its estimate",
    run,
    table=table,
    needs=FIVE,
)
