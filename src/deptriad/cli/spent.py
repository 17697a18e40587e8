"""deptriad spent: what everything that a person was asked has told."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from deptriad.cli import options
from deptriad.cli.app import about_table, app, console, progress_bar, show_json
from deptriad.cli.data import analysed, by_name
from deptriad.planning.plan import Plan
from deptriad.planning.plan_words import as_promised, up_to
from deptriad.planning.spent import Spent
from deptriad.utils.text import BECOMES, printable, rounded_down, surety


@app.command(
    "spent",
    epilog="Example: deptriad spent plan.json follow-up.json --asked income=0.5 --data survey.csv",
)
def _spent(
    plans: Annotated[
        list[Path],
        typer.Argument(
            help="Plans that the same person answered; the first one's promises count. One that was answered twice is "
            "named twice.",
            metavar="PLAN...",
        ),
    ],
    asked: Annotated[
        list[str] | None,
        options.numbers("An answer that was released besides, by any mechanism of that ε."),
    ] = None,
    following: Annotated[
        list[str] | None,
        typer.Option(
            "--next",
            help="An answer that may be asked next: show the largest ε that keeps every promise. May be repeated.",
            metavar="NAME",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Records to know by how answers depend on each other: a .csv or .parquet file, or several. Without "
            "it all ε are added to one plan's totals.",
            metavar="DATA",
        ),
    ] = None,
    by: options.By = None,
    weight: options.Weight = None,
    query: options.Query = None,
    how_sure: options.HowSure = None,
    min_records: options.MinRecords = 20,
    as_json: options.AsJson = False,
) -> None:
    """Show what all that one person was asked has told about each answer at most, and what may still be asked.

    Answers are taken to stay the same from one collection to the next; for those that change there is
    Plan.spent(history, chains=…) in Python.
    """
    besides = by_name(asked, "--asked")
    opened = [Plan.load(path) for path in plans]
    first = opened[0]
    analysis = None
    if data is not None:
        analysis = analysed(
            data, first.schema, by, weight, query, how_sure, min_records, thin="keep"
        )
    with progress_bar("putting reports together"):
        found = first.spent([*opened, *([besides] if besides else [])], analysis)
        nexts = {name: found.largest(name) for name in following or ()}
    if as_json:
        show_json(
            {
                "attributes": [
                    dict(zip(found.columns(), row, strict=True))
                    for row in zip(*found.columns().values(), strict=True)
                ],
                "left": found.left,
                "broken": found.broken,
                "next": nexts,
            }
        )
        return
    _show(found, nexts)


def _show(found: Spent, nexts: dict[str, float]) -> None:
    screen = console()
    headings = ["by", "told", BECOMES.replace(" be", "\nbe"), "sum of ε", "promise", "left"]
    rows = [
        (
            told.by,
            up_to(told.most, found.promises[name]),
            surety(told.most),
            up_to(told.plain, found.promises[name]),
            as_promised(found.promises[name]),
            rounded_down(found.left_of(name)),
        )
        for name, told in found.items()
    ]
    table = about_table(screen, list(found), headings, rows)
    screen.print(table, end="")
    for line in found.meaning:
        screen.print(escape(line))
    for name, epsilon in nexts.items():
        screen.print(
            f"{escape(printable(name))} may be asked by itself with ε of {rounded_down(epsilon)}."
        )
