"""deptriad report: from a data file to one page that anyone can open."""

import math
from pathlib import Path
from typing import Annotated, Unpack

import typer

from deptriad import report
from deptriad.analysis.analysis import Analysis
from deptriad.cli.app import app, progress_bar
from deptriad.cli.data import (
    By,
    Data,
    HowSure,
    MinRecords,
    Query,
    SchemaFile,
    ThinWay,
    Users,
    Weight,
    analysed,
)
from deptriad.data import readers
from deptriad.report.content import Options

Opening = Annotated[
    float, typer.Option(help="The promise that the page opens with.", metavar="NUMBER")
]
Page = Annotated[
    Path, typer.Option(help="Where to write the page.", dir_okay=False, metavar="FILE")
]


@app.command("report", epilog="Example: deptriad report survey.csv --total 3 --out report.html")
def _report(
    data: Data,
    total: Opening = 3.0,
    out: Page = Path("report.html"),
    users: Users = 100_000,
    min_count: Annotated[
        int, typer.Option(min=1, help="Smaller counts read 'fewer than N'.", metavar="N")
    ] = 10,
    schema: SchemaFile = None,
    by: By = None,
    weight: Weight = None,
    query: Query = None,
    how_sure: HowSure = None,
    min_records: MinRecords = 20,
    thin: ThinWay = "keep",
) -> None:
    """Write one HTML page that shows what answers give away about each other, for any budget.

    The page needs no network and holds no records. It has a slider for the budget, one for the promise, the plans, and
    what they rest on. DATA must be data that may be used for this: the page tells about it.
    """
    if not 0.0 < total < math.inf:
        raise ValueError(f"--total is {total:g}, expected a number above 0, such as 3")
    found = analysed(data, schema, by, weight, query, how_sure, min_records, thin)
    # tables of several sources are their mean, which no records belong to
    records = None if by else readers.opened(data, query, found.schema)
    write(
        found,
        out,
        total,
        records=records,
        weight=weight,
        file=data,
        users=users,
        min_count=min_count,
    )
    typer.echo(f"The page is in {out}")


def write(found: Analysis, out: Path, total: float, **options: Unpack[Options]) -> None:
    """Write the page, with a bar."""
    with progress_bar("planning for each promise (the first time compiles, too)") as show:
        options["progress"] = show
        report.write(found, out, total, **options)
