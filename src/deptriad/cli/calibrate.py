"""deptriad calibrate: budgets that keep a promise, and the plan that clients and the aggregator share."""

from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape

from deptriad.budget import calibrate
from deptriad.cli.app import app, progress_bar
from deptriad.cli.data import (
    AsJson,
    By,
    Data,
    HowSure,
    MinRecords,
    Query,
    SchemaFile,
    ThinWay,
    Weight,
    analysed,
)
from deptriad.constraints import Guarantee
from deptriad.plan import Objective

Each = Annotated[
    list[str] | None,
    typer.Option(
        "--total-of",
        help="Another promise for one attribute, inf for a public one. May be repeated.",
        metavar="NAME=NUMBER",
    ),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(
        "--fixed",
        help="A given budget for one attribute, 0 if it is not released. May be repeated.",
        metavar="NAME=NUMBER",
    ),
]


@app.command(
    "calibrate",
    epilog="Example: deptriad calibrate survey.parquet --schema schema.json --total 3 --plan plan.json",
)
def _calibrate(
    data: Data,
    total: Annotated[
        float,
        typer.Option(help="The promise: no attribute's total is above this.", metavar="NUMBER"),
    ],
    plan: Annotated[Path, typer.Option(help="Where to write the plan.", dir_okay=False)] = Path(
        "plan.json"
    ),
    total_of: Each = None,
    fixed: Fixed = None,
    objective: Annotated[
        str, typer.Option(help="What to spend budgets on: utility, even or paper.")
    ] = "utility",
    guarantee: Annotated[
        str,
        typer.Option(help="certified, a bound; or paired or pairwise, which are estimates."),
    ] = "certified",
    users: Annotated[int, typer.Option(min=1, help="How many people will answer.")] = 100_000,
    schema: SchemaFile = None,
    by: By = None,
    weight: Weight = None,
    query: Query = None,
    how_sure: HowSure = None,
    min_records: MinRecords = 20,
    thin: ThinWay = "keep",
    as_json: AsJson = False,
) -> None:
    """Find a budget for each answer, so that all answers together keep a promise about each.

    DATA must be data that may be used for this, such as last year's public release. The plan holds the schema, the
    budgets and the totals; it is JSON to read, and clients and the aggregator use the same one.
    """
    promises, given = _by_name(total_of, "--total-of"), _by_name(fixed, "--fixed")
    found = analysed(data, schema, by, weight, query, how_sure, min_records, thin)
    with progress_bar("calibrating budgets") as show:
        made = calibrate(
            found,
            {name: promises.get(name, total) for name in found.names} | promises,
            cast(Objective, objective),
            cast(Guarantee, guarantee),
            fixed=given,
            users=users,
            progress=show,
        )
    made.save(plan)
    if as_json:
        typer.echo(plan.read_text(encoding="utf-8"), nl=False)
        return
    console = Console(highlight=False)
    console.print(escape(repr(made)), soft_wrap=True)
    console.print()
    console.print(escape(repr(made.compare())), soft_wrap=True)
    console.print(f"\nThe plan is in [bold]{escape(str(plan))}[/]", soft_wrap=True)


def _by_name(given: list[str] | None, option: str) -> dict[str, float]:
    numbers = {}
    for each in given or []:
        name, equals, number = each.rpartition("=")
        try:
            numbers[name] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(f"{option} is {each!r}, expected NAME=NUMBER, such as age=2")
    return numbers
