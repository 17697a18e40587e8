"""deptriad analyze: the worst leaks, and what all releases together give away."""

from collections.abc import Mapping, Sequence
from math import exp, inf, nextafter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.markup import escape

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.exposure import Exposures, exposures
from deptriad.analysis.leakage_matrix import Leak
from deptriad.cli import options
from deptriad.cli.app import (
    about_table,
    app,
    console,
    leak_table,
    progress_bar,
    refuse_place,
    show_json,
    up,
)
from deptriad.cli.data import analysed, attributes_of, by_name, is_counts
from deptriad.cli.exposure import Shown
from deptriad.data import readers
from deptriad.data.coded_records import coded_frame
from deptriad.tables import uncertainty
from deptriad.totals.totals import NUMBERS, Total
from deptriad.utils.arrays import as_finite_budget
from deptriad.utils.errors import refuse_unknown
from deptriad.utils.text import printable, rounded_down, surety, times
from deptriad.witnesses.each_target import witness_each
from deptriad.witnesses.result import Witness


@app.command(
    "analyze",
    epilog="Example: deptriad analyze survey.parquet --schema schema.json --uncertainty confidence:0.95 --totals",
)
def _analyze(
    data: options.Data,
    schema: options.SchemaFile = None,
    by: options.By = None,
    weight: options.Weight = None,
    query: options.Query = None,
    how_sure: options.HowSure = None,
    epsilon: Annotated[
        float, options.number("The budget with which each answer is released, at least 0.")
    ] = 1.0,
    budget: Annotated[
        list[str] | None,
        options.numbers("Another budget for one attribute, 0 if it is not released."),
    ] = None,
    top: options.Top = 10,
    target: Annotated[
        list[str] | None, options.names("Show only what is told about this attribute.")
    ] = None,
    source: Annotated[
        list[str] | None, options.names("Show only what this attribute tells about others.")
    ] = None,
    triads: Annotated[
        bool, typer.Option("--triads", help="Show α, β, φ and δ of the strongest pairs, too.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Leave out what all answers together tell, which takes longest."
        ),
    ] = False,
    totals: Annotated[
        bool, typer.Option("--totals", help="Show what all releases together give away, too.")
    ] = False,
    with_witness: Annotated[
        bool,
        typer.Option("--witness", help="Look in DATA for what is attained; implies --totals."),
    ] = False,
    seed: Annotated[
        int | None, options.whole("For a --witness that can be found again.", 0)
    ] = None,
    min_records: options.MinRecords = 20,
    thin: options.ThinWay = "keep",
    as_json: options.AsJson = False,
    save: Annotated[
        Path | None, options.file("Write all triads to this .json or .parquet file.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Tell how much releasing each answer gives away about each other answer.

    DATA must be data that may be used for this, such as last year's public release: the result tells about it.
    """
    if save is not None:
        if save.suffix.lower() not in (".json", ".parquet"):
            raise ValueError(f"--save is {save}, expected a name that ends in .json or .parquet")
        refuse_place(save, "--save", data, schema, force=force)
    if seed is not None and not with_witness:
        raise typer.BadParameter("only --witness needs chance: add it", param_hint="--seed")
    if with_witness and is_counts(data):
        raise ValueError(f"--witness looks at records, and {data} holds counts: drop it")
    given = _budgets(epsilon, budget)
    if given or target or source:  # said now, and not after all records were counted
        attributes = attributes_of(data, schema, by, weight, query)
        refuse_unknown(target or (), attributes, "--target")
        refuse_unknown(source or (), attributes, "--source")
        refuse_unknown(given, attributes, "--budget")
    found = analysed(data, schema, by, weight, query, how_sure, min_records, thin)
    budgets = {name: given.get(name, epsilon) for name in found.names}
    with progress_bar("bounding what all answers together tell") as show:
        seen = exposures(
            found, budgets, target or (), source or (), totals=not quick, progress=show
        )
    rows = seen.pairs[:top]
    brackets: list[Bracket] = []
    attained: dict[str, Witness] = {}
    if with_witness:
        records = readers.opened(data, query, found.schema)
        attained = _witnesses(found, budgets, records, weight, seed)
    if totals or with_witness:
        brackets = _brackets(found, budgets, attained)
    worst = max(attained.values(), key=lambda each: each.overall, default=None)
    if save is not None:
        found.save(save)
    if as_json:
        show_json(_in_json(found, rows, epsilon, budgets, brackets, seen))
        return
    Shown(found, budgets, not quick).all(seen, top)
    if triads:
        alike = len(set(budgets.values())) == 1
        console().print(leak_table(rows, budgets=None if alike else budgets), end="")
        console().print(TRIAD_WORDS)
    if brackets:
        _show_brackets(brackets, worst, found.uncertainty is None)
    if save is not None:
        console().print(f"All {len(found.pairs)} triads are in {escape(str(save))}")


def _budgets(epsilon: float, given: list[str] | None) -> dict[str, float]:
    """The budgets by name, with all numbers checked."""
    as_finite_budget(epsilon, "--epsilon")
    budgets = by_name(given, "--budget")
    for name, number in budgets.items():
        as_finite_budget(number, f"--budget {name}")
    return budgets


TRIAD_WORDS = (
    "φ: the largest distance of two rows of the table; α: ln of the largest ratio in a column; δ: what one answer "
    "never has and another may; β: φ in the paper's coding. From them the leakage at any ε follows.\n"
)

TRIAD = ("alpha", "beta", "phi", "delta")


class Bracket(NamedTuple):
    """What all releases together give away about one target: from what is attained to what is certain.

    ``grr`` is the total if all reports are by GRR: it has a smaller bound from pairs, and an exact one from the joint
    table where that is small enough.
    """

    total: Total
    grr: Total
    attained: float | None


def _brackets(
    found: Analysis, budgets: Mapping[str, float], attained: Mapping[str, Witness]
) -> list[Bracket]:
    with progress_bar("certifying totals"):
        totals, grr = found.totals(budgets), found.totals(budgets, mechanisms="grr")
    facts = {name: max(each.overall, 0.0) + totals[name].own for name, each in attained.items()}
    return [Bracket(total, grr[name], facts.get(name)) for name, total in totals.items()]


def _witnesses(
    found: Analysis,
    budgets: Mapping[str, float],
    records: Any,
    weight: str | None,
    seed: int | None,
) -> dict[str, Witness]:
    rng = None if seed is None else np.random.default_rng(seed)
    coded, _ = coded_frame(records, found.schema, weight)
    with progress_bar("looking for witnesses") as show:
        return witness_each(coded, budgets, found, rng, show)


def _show_brackets(brackets: Sequence[Bracket], worst: Witness | None, certain: bool) -> None:
    screen = console()
    seen = brackets[0].attained is not None
    uneven = len({each.total.own for each in brackets}) > 1
    headings = [
        *(["own ε"] if uneven else []),
        *(["fact\nattained"] if seen else []),
        "estimate\npaired",
        "estimate\npairwise",
        "bound\ncertified",
        "bound\nsum of ε",
        *([] if seen else ["odds\nat most"]),
        "50 % sure\nbecomes",
    ]
    rows = []
    for total, _, attained in brackets:
        own, *others = (up(getattr(total, name)) for name in NUMBERS)
        # a lower bound is rounded down
        fact = [] if attained is None else [rounded_down(attained)]
        odds = [] if seen else [f"×{times(total.certified)}"]
        rows.append((*([own] if uneven else []), *fact, *others, *odds, surety(total.certified)))
    table = about_table(screen, [each.total.target for each in brackets], headings, rows)
    table.title = "All releases together"
    screen.print(table, end="")
    if seen:
        screen.print(
            "attained: own ε, and what sets of values found on a random half of DATA give away on all of it, at least."
        )
    screen.print(
        "paired, pairwise: estimates, right only if the other answers are independent given this one.\n"
        "certified: no joint distribution with these tables gives away more, whatever ε-LDP mechanisms are used; this "
        "is the promise to make, to all whose values are in the tables.\n"
        "sum of ε: what holds without knowing anything.\n"
        f"{'e^certified' if seen else 'odds at most'}: whatever one knew before, all reports of a person together "
        "change the odds between two possible answers by no larger factor."
    )
    _show_levels(brackets, certain)
    if worst:
        screen.print(escape(f"\n{worst}"))
    low = [
        (total, attained)
        for total, _, attained in brackets
        if attained is not None and total.pairwise < attained
    ]
    for total, attained in sorted(low, key=lambda each: each[0].pairwise - each[1])[:5]:
        screen.print(
            f"[bold]Warning:[/] about {escape(printable(total.target))} the paper's sum is {up(total.pairwise)}, yet "
            f"{rounded_down(attained)} is attained: it is no bound."
        )
    if len(low) > 5:
        screen.print(f"The same holds for {len(low) - 5} more.")


EXACT = "GRR, joint table: exact, if DATA is right about how all answers occur together, too."

LARGEST = (
    "GRR, joint table: the most that any joint table within --uncertainty gives away, which may be more than pairs\n"
    "allow. The smaller of the two bounds for GRR holds."
)


def _show_levels(brackets: Sequence[Bracket], certain: bool) -> None:
    """The three bounds side by side: the more one is willing to assume, the smaller, unless joint tables are unsure."""
    screen = console()
    headings = ["any mechanism\nfrom pairs", "GRR\nfrom pairs", "GRR\njoint table"]
    rows = []
    for total, grr, _ in brackets:
        exact = "–" if grr.joint is None else up(grr.joint)
        rows.append((up(total.certified), up(grr.certified), exact))
    table = about_table(screen, [each.total.target for each in brackets], headings, rows)
    table.title = "\nThe bound, by what is assumed"
    screen.print(table, end="")
    screen.print(
        "any mechanism, from pairs: certified, as above; it needs to know how answers occur in pairs, and no more.\n"
        f"GRR, from pairs: every answer is reported by GRR.\n{EXACT if certain else LARGEST}"
    )
    for reason in sorted({each.grr.joint_reason for each in brackets if each.grr.joint is None}):
        screen.print(f"–: {escape(reason)}.")


def _in_json(
    found: Analysis,
    rows: Sequence[Leak],
    epsilon: float,
    budgets: Mapping[str, float],
    brackets: Sequence[Bracket],
    seen: Exposures,
) -> dict[str, Any]:
    known = None if found.uncertainty is None else uncertainty.as_text(found.uncertainty)
    return {
        "attributes": list(found.names),
        "epsilon": epsilon,
        "budgets": dict(budgets),
        "uncertainty": known,
        "prior": found.facts,
        "exposed": [
            {
                "about": each.target,
                "most_from": each.source,
                "at_most": each.leakage,
                "entirely_by": each.entirely,
                "together": None if each.total is None else each.total.certified,
            }
            for each in seen.attributes
        ],
        "groups": [list(group) for group in seen.groups],
        "saturated": seen.saturated,
        "worst": [
            {
                "source": row.source,
                "target": row.target,
                **{name: float(getattr(row.triad, name)) for name in TRIAD},
                "leakage": row.leakage,
                "odds_at_most": _odds(row.leakage),
                "in_words": str(found.where(row.source, row.target, budgets[row.source])),
            }
            for row in rows
        ],
        **({"totals": [_in_bracket(each) for each in brackets]} if brackets else {}),
    }


def _in_bracket(bracket: Bracket) -> dict[str, Any]:
    total, grr, attained = bracket
    numbers = {name: getattr(total, name) for name in NUMBERS}
    by_grr: dict[str, Any] = {"certified": grr.certified, "joint": grr.joint}
    if grr.joint is None:
        by_grr["joint_reason"] = grr.joint_reason
    odds = _odds(total.certified)
    return {
        "target": total.target,
        "witness": attained,
        **numbers,
        "grr": by_grr,
        "odds_at_most": odds,
    }


def _odds(nats: float) -> float:
    """e^nats, rounded up."""
    return nextafter(exp(nats), inf) if 0.0 < nats < 700.0 else inf if nats else 1.0
