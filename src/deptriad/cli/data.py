"""deptriad schema, and what every command that reads data shares."""

from pathlib import Path
from typing import Annotated, Literal, cast, get_args

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deptriad import uncertainty
from deptriad.analysis import Analysis, analyze
from deptriad.cli.app import app, progress_bar
from deptriad.prior import Prior, Thin
from deptriad.schema import Schema
from deptriad.text import printable

Data = Annotated[
    str,
    typer.Argument(help="A .csv or .parquet file, or several: 'folder/*.parquet'.", metavar="DATA"),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(help="The schema of DATA; inferred from it without one.", dir_okay=False),
]
By = Annotated[
    str | None, typer.Option(help="Column whose values are separate sources, such as a state.")
]
Weight = Annotated[str | None, typer.Option(help="Column of survey weights.")]
Query = Annotated[
    str | None,
    typer.Option(
        help="SQL over DATA, whose rows are called `data`.", metavar="SQL", show_default=False
    ),
]
HowSure = Annotated[
    str | None,
    typer.Option(
        "--uncertainty",
        help="How far the truth may lie from DATA: relative:0.1, absolute:0.01, spread:std (with --by) or "
        "confidence:0.95; without it DATA is taken as the truth.",
        metavar="KIND:NUMBER",
    ),
]
MinRecords = Annotated[
    int, typer.Option(min=0, help="Values with fewer records are called thin.", metavar="N")
]
ThinWay = Annotated[str, typer.Option(help="What to do with thin values: keep, merge or drop.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def analysed(
    data: str,
    schema: Path | None,
    by: str | None,
    weight: str | None,
    query: str | None,
    how_sure: str | None,
    min_records: int,
    thin: str,
) -> Analysis:
    """From a file to an analysis, with bars; what all commands that read a prior do first."""
    known = None if how_sure is None else uncertainty.from_text(how_sure)
    if thin not in get_args(Thin):
        raise ValueError(f"--thin is {thin!r}, expected {', '.join(get_args(Thin))}")
    declared = None if schema is None else Schema.load(schema)
    if declared is not None:  # a schema of the whole file has these columns, too
        declared = declared.without(*(name for name in (by, weight) if name and name in declared))
    with progress_bar("counting records") as show:
        prior = Prior.from_data(
            data, declared, weight, by, query, min_records, cast(Thin, thin), progress=show
        )
    with progress_bar("computing triads") as show:
        return analyze(prior, known, progress=show)


@app.command("schema", epilog="Example: deptriad schema survey.csv --bins 5 --out schema.json")
def _schema(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to write the schema.", dir_okay=False)] = Path(
        "schema.json"
    ),
    bins: Annotated[int, typer.Option(min=2, help="Bins of a number with many values.")] = 10,
    binning: Annotated[
        str, typer.Option(help="Bins of equal counts (quantile) or of equal width (width).")
    ] = "quantile",
    max_categories: Annotated[
        int, typer.Option(min=2, help="Values that a column keeps; the rest is (other), or binned.")
    ] = 30,
    query: Query = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a schema that is there.")] = False,
) -> None:
    """Propose the values of every column from public data, to be edited by hand.

    Categories and bins tell about the people they are taken from: use public data here, such as last year's release,
    and not the answers that are to be protected.
    """
    if out.is_file() and not force:
        raise ValueError(
            f"{out} is there, and may have been edited: choose another --out, or --force"
        )
    kind = cast(Literal["quantile", "width"], binning)
    found = Schema.infer(data, bins, kind, max_categories, query=query)
    found.save(out)
    console = Console(highlight=False)
    table = Table("attribute", "values", "which", box=SIMPLE)
    table.columns[1].justify = "right"
    for attribute in found:
        which = ", ".join(printable(value) for value in attribute.values[:6])
        more = ", …" if attribute.size > 6 else ""
        table.add_row(escape(printable(attribute.name)), str(attribute.size), escape(which + more))
    console.print(table, end="")
    console.print(
        f"Written to [bold]{escape(str(out))}[/]: read it, and edit it by hand.", soft_wrap=True
    )
