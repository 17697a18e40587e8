"""deptriad schema, and what every command that reads data shares."""

from collections.abc import Iterable
from math import isnan, nan
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.analyze import analyze
from deptriad.analysis.prior import Prior, Thin
from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place
from deptriad.data import readers
from deptriad.data.schema import Schema
from deptriad.tables import uncertainty
from deptriad.utils.text import printable


def analysed(
    data: str,
    schema: Path | Schema | None,
    by: str | None,
    weight: str | None,
    query: str | None,
    how_sure: str | None,
    min_records: int,
    thin: Thin,
) -> Analysis:
    """From a file to an analysis, with bars; what all commands that read a prior do first."""
    known = None if how_sure is None else _uncertainty(how_sure)
    declared = schema if isinstance(schema, Schema) else _declared(schema, by, weight)
    with progress_bar("counting records") as show:
        prior = Prior.from_data(data, declared, weight, by, query, min_records, thin, progress=show)
    with progress_bar("computing triads") as show:
        return analyze(prior, known, progress=show)


def _uncertainty(text: str) -> uncertainty.Uncertainty:
    try:
        return uncertainty.from_text(text)
    except ValueError as error:
        raise ValueError(f"--uncertainty {text}: {error}") from None


def _declared(schema: Path | None, by: str | None, weight: str | None) -> Schema | None:
    """The attributes that a file declares; a schema of the whole data has these columns, too."""
    if schema is None:
        return None
    found = Schema.load(schema)
    apart = [name for name in (by, weight) if name and name in found]
    for name in apart:
        typer.echo(f"note: {name!r} is in {schema}, and left out as an attribute here", err=True)
    return found.without(*apart)


# --- numbers by name ----------------------------------------------------------------------------------------------


def by_name(given: list[str] | None, option: str) -> dict[str, float]:
    """The numbers that a repeated option gives: NAME=NUMBER, where the name may have an = in it."""
    numbers: dict[str, float] = {}
    for each in given or []:
        name, _, number = each.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = nan
        if not name or isnan(value):
            message = f"{each!r} is not NAME=NUMBER, such as age=2"
            raise typer.BadParameter(message, param_hint=option)
        if name in numbers:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint=option)
        numbers[name] = value
    return numbers


def attributes_of(
    data: str, schema: Path | None, by: str | None, weight: str | None, query: str | None
) -> tuple[str, ...]:
    """Names of the attributes, before the data is counted."""
    names: Iterable[str] = (
        Schema.load(schema).names
        if schema
        else readers.opened(data, query).collect_schema().names()
    )
    return tuple(name for name in names if name not in (by, weight))


# --- deptriad schema ----------------------------------------------------------------------------------------------


@app.command("schema", epilog="Example: deptriad schema survey.csv --bins 5 --out schema.json")
def _schema(
    data: options.Data,
    out: Annotated[Path, options.file("Where to write the schema.")] = Path("schema.json"),
    bins: Annotated[int, options.whole("Bins of a number with many values.", 2)] = 10,
    binning: Annotated[
        Literal["quantile", "width"],
        typer.Option(help="Bins of equal counts (quantile) or of equal width (width)."),
    ] = "quantile",
    max_categories: Annotated[
        int, options.whole("Values that a column keeps; the rest is (other), or binned.", 2)
    ] = 30,
    query: options.Query = None,
    force: options.Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the schema instead of a table.")
    ] = False,
) -> None:
    """Propose the values of every column from public data, to be edited by hand.

    Categories and bins tell about the people they are taken from: use public data here, such as last year's release,
    and not the answers that are to be protected.
    """
    refuse_place(out, "--out", data, force=force)
    with progress_bar("reading values"):
        found = Schema.infer(data, bins, binning, max_categories, query=query)
    found.save(out)
    if as_json:
        typer.echo(found.to_json())
        return
    table = Table("attribute", "values", "which", box=SIMPLE)
    table.columns[1].justify = "right"
    for attribute in found:
        which = ", ".join(printable(value) for value in attribute.values[:6])
        more = ", …" if attribute.size > 6 else ""
        table.add_row(escape(printable(attribute.name)), str(attribute.size), escape(which + more))
    screen = console()
    screen.print(table, end="")
    screen.print(
        f"Written to [bold]{escape(str(out))}[/]: read it, and edit it by hand.", soft_wrap=True
    )
