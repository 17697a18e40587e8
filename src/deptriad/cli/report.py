"""deptriad report: from a data file to one page that anyone can open."""

from pathlib import Path
from typing import Annotated, Unpack

import typer

from deptriad import report
from deptriad.analysis.analysis import Analysis
from deptriad.cli import options
from deptriad.cli.app import app, progress_bar, refuse_place
from deptriad.cli.data import analysed
from deptriad.data import readers
from deptriad.report.content import Options


@app.command("report", epilog="Example: deptriad report survey.csv --total 3 --out report.html")
def _report(
    data: options.Data,
    total: options.Opening = None,
    sure: options.Sure = None,
    before: options.Before = None,
    out: options.Page = Path("report.html"),
    users: options.Users = 100_000,
    min_count: Annotated[int, options.whole("Smaller counts read 'fewer than N'.", 1)] = 10,
    schema: options.SchemaFile = None,
    by: options.By = None,
    weight: options.Weight = None,
    query: options.Query = None,
    how_sure: options.HowSure = None,
    min_records: options.MinRecords = 20,
    thin: options.ThinWay = "keep",
    force: options.Force = False,
) -> None:
    """Write one HTML page that shows what answers give away about each other, for any budget.

    The page needs no network and holds no records. It has a slider for the budget, one for the promise, the plans, and
    what they rest on. DATA must be data that may be used for this: the page tells about it.
    """
    promise = options.promised(total, sure, before, usual=3.0)
    refuse_place(out, "--out", data, schema, force=force, folders=True)
    found = analysed(data, schema, by, weight, query, how_sure, min_records, thin)
    # tables of several sources are their mean, which no records belong to
    records = None if by else readers.opened(data, query, found.schema)
    write(
        found,
        out,
        promise,
        records=records,
        weight=weight,
        file=data,
        users=users,
        min_count=min_count,
    )
    typer.echo(f"The page is in {out}")


def write(found: Analysis, out: Path, total: float, **how: Unpack[Options]) -> None:
    """Write the page, with a bar."""
    with progress_bar("planning for each promise (the first time compiles, too)") as show:
        how["progress"] = show
        report.write(found, out, total, **how)
