"""Table 2: claimed complexities of the algorithms against measured growth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import deptriad as dt
from deptriad.paper import costs
from deptriad.paper.figures import those
from deptriad.paper.item import Cells, Claim, Item, Outcome, Row, Work, named
from deptriad.rivals import ltm, measures

SLACK = 0.5
"""How far a measured exponent may lie above a claimed order, for logarithms and noise."""

SPACE = {"O(ab)": 2, "O(1)": 0}
"""Exponents of the claimed orders of space."""

MEMORY = dict.fromkeys(
    ("its", "mi", "pcc"),
    "one pass over the table by its code; beyond 1,000 values the table no longer fits the caches",
)
"""Those whose order is plain from what they do, so that more growth is the machine's."""


@dataclass(frozen=True)
class Line:
    """An algorithm as the paper's table has it, and what is to be said about that.

    ``query`` and ``precompute`` are exponents of the claimed orders for both alphabets of a size; a base 2 for CBP.
    """

    title: str
    paper_precompute: str
    paper_query: str
    paper_space: str
    mechanisms: str
    nature: str
    query: float
    precompute: float | None
    remark: str


LINES = {
    "its": Line("ITS", "–", "O(ab)", "O(ab)", "two-level LDP", "CPL*", 2, None,
                "O(ab) covers GRR, whose leakage is below CPL*"),
    "cbp": Line("CBP", "–", "O(2^a)", "O(ab)", "GRR", "N/A", 1, None,
                "the sets are sets of source values: 2^b, with a and b as the paper defines them"),
    "hcc-1": Line("HCC-1", "–", "O(a²b²)", "O(ab)", "simple LDP", "actual", 4, None,
                  "O(abm) for m reports: the extremes of each report's row do, pairs are not needed"),
    "hcc-2": Line("HCC-2", "–", "O(a²b log b)", "O(ab)", "any LDP", "CPL*", 3, None,
                  "one budget needs no sort: O(a²b) a step, with few steps (ours, 'exact')"),
    "ltm": Line("LTM", "O(a²b + ab log b)", "O(log ab)", "O(ab)", "any LDP", "CPL*", 0, 3,
                "each pair of target values has an order of its own: O(a²b log b), and O(a²b) numbers until merged"),
    "mi": Line("MI", "O(ab)", "O(1)", "O(1)", "N/A", "rough estimation", 0, 2, "bounds nothing"),
    "pcc": Line("PCC", "O(ab)", "O(1)", "O(1)", "N/A", "rough estimation", 0, 2, "bounds nothing"),
    "triad": Line("triad", "O(a²b^3.5)", "O(1)", "O(1)", "any LDP", "upper bound", 0, 5.5,
                  "a known table needs no program, O(a²b); an uncertain one has a closed form, O(a²b log b)"),
}  # fmt: skip
BOX_SIZES = ((80, 160, 320), (20, 40, 80))
PROGRAM_SIZES = ((400, 800, 1600, 3200), (50, 100, 200))
PIECES_SIZES = ((25, 50, 100, 200), (20, 40, 80))


def run(work: Work) -> Outcome:
    """Measured growth of each step of each algorithm."""
    rows: list[Row] = []
    for done, name in enumerate(LINES):
        rows.append(work.kept(name, partial(_row, work, name)))
        work.progress(done + 1, len(LINES) + 2)
    rows += work.kept("boxes", lambda: _boxes(work))
    work.progress(len(LINES) + 2, len(LINES) + 2)
    claims = [_claim(name, row, work.quick) for name, row in zip(LINES, rows, strict=False)]
    return Outcome(rows, [*claims, _anew(rows), _space(), _program(rows, work.quick)], DATA, NOTES)


DATA = "sine tables by their law, both alphabets of one size; processor time; exponents by least squares"
NOTES = (
    "An O(·) is an upper bound: a smaller measured exponent bears it out, and a remark says where it is loose.",
    "The logarithms in the orders are too slow to be measured.",
    "ITS, CBP, HCC-1 and HCC-2 prepare nothing: their space is that of the table, whatever they take on the way.",
    "CBP stands for an enumeration of sets in its style; the published algorithm is not available.",
)


def _row(work: Work, name: str) -> dict[str, Any]:
    line, measure = LINES[name], measures[name]
    prepare = measure.prepare if line.precompute is not None else None
    sizes = work.choose(*(PIECES_SIZES if name == "ltm" else costs.SIZES[name]))
    if prepare is None:
        query = costs.answer_times(name, sizes)
        ahead: list[float] = []
        kept = [float(costs.table(size).table.nbytes) for size in sizes]
    else:
        made = [prepare(costs.table(size)) for size in sizes]
        query = [costs.query_time(each) for each in made]
        kept = [float(costs.kept_bytes(each)) for each in made]
        ahead = [costs.seconds(partial(prepare, costs.table(size))) for size in sizes]
    fit = costs.doublings if name == "cbp" else costs.exponent
    return _described(line) | {
        "our_precompute": measure.precompute,
        "our_query": measure.query,
        "sizes": f"{sizes[0]} to {sizes[-1]}",
        "precompute_exponent": _rounded(costs.exponent(sizes, ahead)) if ahead else "",
        "query_exponent": _rounded(fit(sizes, query)),
        "space_exponent": _rounded(costs.exponent(sizes, kept)),
        "precompute_seconds": ahead[-1] if ahead else "",
        "query_seconds": query[-1],
        "remark": line.remark,
    }


def _rounded(exponent: float) -> float:
    return round(exponent, 2) + 0.0  # never −0


def _described(line: Line) -> dict[str, Any]:
    return {
        "algorithm": line.title,
        "paper_precompute": line.paper_precompute,
        "paper_query": line.paper_query,
        "paper_space": line.paper_space,
        "paper_mechanisms": line.mechanisms,
        "paper_nature": line.nature,
    }


def _boxes(work: Work) -> list[dict[str, Any]]:
    """The triad of an uncertain table: the program as published, its closed form, and the tight certificate."""
    sizes, long = work.choose(*BOX_SIZES), work.choose(*PROGRAM_SIZES)
    closed = [
        costs.seconds(partial(dt.triad, costs.box(size), relaxation="paper")) for size in sizes
    ]
    tight = [costs.seconds(partial(dt.triad, costs.box(size))) for size in sizes]
    program = [costs.program_time(size) * size * (size - 1) for size in long]
    found = {
        "triad, ±10 %, program": ("O(a²b^3.5)", long, program, "one pair timed, times the pairs"),
        "triad, ±10 %, closed form": ("O(a²b log b)", sizes, closed, "the same numbers"),
        "triad, ±10 %, tight": ("O(a²b) a step", sizes, tight, "never looser than the program"),
    }
    empty = dict.fromkeys(_described(LINES["triad"]), "")
    return [
        empty
        | {
            "algorithm": title,
            "our_precompute": order,
            "our_query": "O(1)",
            "sizes": f"{at[0]} to {at[-1]}",
            "precompute_exponent": _rounded(costs.exponent(at, times)),
            "query_exponent": "",
            "space_exponent": "",
            "precompute_seconds": times[-1],
            "query_seconds": "",
            "remark": remark,
        }
        for title, (order, at, times, remark) in found.items()
    ]


def _claim(name: str, row: Row, quick: bool) -> Claim:
    line = LINES[name]
    claimed = (
        f"{line.title}: precomputation {line.paper_precompute}, privacy calculation {line.paper_query}, "
        f"space {line.paper_space}"
    )
    base = "2^size" if name == "cbp" else "size"
    ours = f"calculation grows as ({base})^{row['query_exponent']}"
    within = float(row["query_exponent"]) <= line.query + SLACK
    within = within and float(row["space_exponent"]) <= SPACE[line.paper_space] + SLACK
    if line.precompute is not None:
        ours = f"precomputation grows as size^{row['precompute_exponent']}, {ours}"
        within = within and float(row["precompute_exponent"]) <= line.precompute + SLACK
    ours = f"{ours}, space as size^{row['space_exponent']}"
    if quick:
        return Claim(claimed, f"{ours}; {line.remark}", None, costs.TOO_SMALL)
    if name in ("cbp", "ltm") and within:
        return Claim(claimed, ours, None, f"cannot be told by measuring: {line.remark}")
    if not within and name in MEMORY:
        return Claim(claimed, f"{ours}; {line.remark}", None, MEMORY[name])
    why = "" if within else "grows faster than claimed, or other load on the machine"
    return Claim(claimed, f"{ours}; {line.remark}", within, why)


def _anew(rows: Sequence[Row]) -> Claim:
    row = those(rows, algorithm="LTM")[0]
    ahead, query = float(row["precompute_seconds"]), float(row["query_seconds"])
    holds = query > 0.1 * ahead
    return Claim(
        "HCC-1, HCC-2 and LTM need a full computation for each budget",
        f"LTM answers in {1e6 * query:.3g} µs what took {ahead:.3g} s to prepare",
        holds,
        "LTM's function answers every budget, as the paper's own table says with O(log ab)",
    )


def _program(rows: Sequence[Row], quick: bool) -> Claim:
    by_name = {str(row["algorithm"]): row for row in rows}
    program = float(by_name["triad, ±10 %, program"]["precompute_exponent"])
    closed = float(by_name["triad, ±10 %, closed form"]["precompute_exponent"])
    holds = program <= 5.5 + SLACK
    return Claim(
        "the triad of an uncertain table takes O(a²b^3.5) by an interior-point method",
        f"size^{program:.2f} with a sparse solver; the closed form of the same program size^{closed:.2f}",
        None if quick else holds,
        costs.TOO_SMALL if quick else "" if holds else "grows faster than claimed",
    )


def _space(size: int = 40) -> Claim:
    every, merged = pieces_kept(size)
    holds = merged <= size**2
    return Claim(
        "LTM takes O(ab) space",
        f"at {size} values the pieces of all pairs are {every} numbers, 3a²b; merged into one function {merged}",
        holds,
        "" if holds else "the merged function has more numbers than the table",
    )


def pieces_kept(size: int) -> tuple[int, int]:
    """Numbers that LTM keeps for all pairs, and after they are merged."""
    every = ltm.pieces(costs.table(size))
    return costs.kept_bytes(every) // 8, costs.kept_bytes(every.merged()) // 8


def table(rows: Sequence[Row]) -> list[Cells]:
    """Orders as the paper claims them, and the exponents of the size measured here."""
    heads = {
        "algorithm": "algorithm",
        "paper_precompute": "precomputation, by the paper",
        "precompute_exponent": "its exponent",
        "paper_query": "calculation, by the paper",
        "query_exponent": "that of calculation",
        "paper_space": "space, by the paper",
        "space_exponent": "that of space",
        "sizes": "sizes",
        "remark": "remark",
    }
    return named(rows, heads)


ITEM = Item("table-2", "Claimed complexities and measured growth", run, table=table)
