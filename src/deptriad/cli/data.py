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
from deptriad.analysis.prior import Prior
from deptriad.analysis.thin_targets import Thin
from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place
from deptriad.data import readers
from deptriad.data.counts import Counts
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
    if is_counts(data):
        given = None if isinstance(schema, Schema) else schema
        counts = _counts(data, schema=given, by=by, weight=weight, query=query)
        if isinstance(schema, Schema) and counts.schema != schema:
            raise ValueError(
                f"{data} has counts of another schema: count the records again with it"
            )
        prior = Prior.from_counts(counts, min_records, thin)
    else:
        prior = _counted(data, schema, by, weight, query, min_records, thin)
    with progress_bar("computing triads") as show:
        return analyze(prior, known, progress=show)


def _counted(
    data: str,
    schema: Path | Schema | None,
    by: str | None,
    weight: str | None,
    query: str | None,
    min_records: int,
    thin: Thin,
) -> Prior:
    known = schema if isinstance(schema, Schema) else declared(schema, by, weight)
    with progress_bar("counting records") as show:
        return Prior.from_data(data, known, weight, by, query, min_records, thin, progress=show)


def is_counts(data: str) -> bool:
    """Whether it is a file that `deptriad counts` wrote, and has no records."""
    return data.lower().endswith(".npz")


def _counts(data: str, **given: object) -> Counts:
    """Counts that were kept, which have a schema and all that goes with the records."""
    if more := [name for name, value in given.items() if value is not None]:
        raise ValueError(f"--{more[0]} is for records, and {data} holds counts: drop it")
    return Counts.load(data)


def _uncertainty(text: str) -> uncertainty.Uncertainty:
    try:
        return uncertainty.from_text(text)
    except ValueError as error:
        raise ValueError(f"--uncertainty {text}: {error}") from None


def declared(schema: Path | None, by: str | None, weight: str | None) -> Schema | None:
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
        Counts.load(data).schema.names
        if is_counts(data)
        else Schema.load(schema).names
        if schema
        else readers.opened(data, query).collect_schema().names()
    )
    return tuple(name for name in names if name not in (by, weight))


# --- deptriad schema ----------------------------------------------------------------------------------------------


@app.command(
    "schema",
    epilog="Example: deptriad schema survey.csv --bins 5 --bins age=8 --public --out schema.json",
)
def _schema(
    data: options.Data,
    out: Annotated[Path, options.file("Where to write the schema.")] = Path("schema.json"),
    columns: Annotated[
        list[str] | None, options.names("Only this column; others can be named with it: age,sex.")
    ] = None,
    without: Annotated[list[str] | None, options.names("All columns but this one.")] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            help="Bins of a number with many values, 10 if not given; or of one column, as age=8. May be repeated.",
            metavar="N or NAME=N",
        ),
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(
            help="Where the bins of a column begin and end: age=0,18,65,inf. May be repeated.",
            metavar="NAME=EDGES",
        ),
    ] = None,
    binning: Annotated[
        Literal["quantile", "width"],
        typer.Option(help="Bins of equal counts (quantile) or of equal width (width)."),
    ] = "quantile",
    max_categories: Annotated[
        int, options.whole("Values that a column keeps; the rest is (other), or binned.", 2)
    ] = 30,
    public: Annotated[
        bool | None,
        typer.Option(
            "--public/--private",
            help="Whether anyone may know DATA. The schema records it; of private data it holds no counts.",
            show_default=False,
        ),
    ] = None,
    no_counts: Annotated[
        bool,
        typer.Option("--no-counts", help="Leave out about how many records have each value."),
    ] = False,
    query: options.Query = None,
    force: options.Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the schema instead of a table.")
    ] = False,
) -> None:
    """Propose the values of every column from public data, to be edited by hand.

    Categories and bins tell about the people they are taken from: use public data here, such as last year's release,
    and not the answers that are to be protected. In the file each attribute may get another name (with "column" for
    that of the data), "labels" for its values, and "groups" of them: {"West": ["CA", "OR"]}.
    """
    numbers, cuts = _bins(bins), _edges(edges)
    refuse_place(out, "--out", data, force=force)
    with progress_bar("reading values"):
        found = Schema.infer(
            data,
            numbers,
            binning,
            max_categories,
            columns=_parted(columns) or None,
            without=_parted(without),
            query=query,
            edges=cuts,
            public=public,
        )
    counts = not no_counts
    found.save(out, counts)
    if as_json:
        typer.echo(found.to_json(counts))
        return
    _show_schema(found, out)


def _show_schema(found: Schema, out: Path) -> None:
    table = Table("attribute", "values", "which", box=SIMPLE)
    table.columns[1].justify = "right"
    for attribute in found:
        which = ", ".join(printable(value) for value in attribute.values[:6])
        more = ", …" if attribute.size > 6 else ""
        table.add_row(escape(printable(attribute.name)), str(attribute.size), escape(which + more))
    screen = console()
    screen.print(table, end="")
    if found.origin and found.origin.public is None:
        screen.print("Nobody said whether the data is public: --public or --private says so.")
    if found.origin and found.origin.public is False:
        screen.print(
            "The data is private, and the schema tells about its people: keep it, and plans made with it, from others."
        )
    screen.print(
        f"Written to [bold]{escape(str(out))}[/]: read it, and edit it by hand.", soft_wrap=True
    )


def _parted(given: list[str] | None) -> list[str]:
    """Names, several of them between commas or an option each."""
    return [name.strip() for each in given or () for name in each.split(",")]


def _bins(given: list[str] | None) -> dict[str | None, int]:
    """One number for all, or those of single columns, which may be mixed."""
    plain = [each for each in given or () if "=" not in each]
    if len(plain) > 1:
        raise typer.BadParameter("one number for all is given twice", param_hint="--bins")
    own: dict[str | None, int] = {None: _whole(plain[0], "")} if plain else {}
    return own | {name: _whole(number, name) for name, number in _named(given, "--bins", "age=8")}


def _edges(given: list[str] | None) -> dict[str, list[float]]:
    found = {}
    for name, numbers in _named(given, "--edges", "age=0,18,65,inf"):
        try:
            found[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            message = f"{numbers!r} are not numbers between commas, such as 0,18,65,inf"
            raise typer.BadParameter(message, param_hint="--edges") from None
    return found


def _named(given: list[str] | None, option: str, example: str) -> list[tuple[str, str]]:
    """NAME=… of an option, where the name may have an = in it."""
    found = [each.rpartition("=") for each in given or () if "=" in each or option == "--edges"]
    names = [name for name, _, _ in found]
    for name in names:
        if not name or names.count(name) > 1:
            said = f"{name!r} is given twice" if name else f"it is not as in {example}"
            raise typer.BadParameter(said, param_hint=option)
    return [(name, value) for name, _, value in found]


def _whole(text: str, name: str) -> int:
    if text.isdecimal() and int(text) > 1:
        return int(text)
    of = f" of {name!r}" if name else ""
    message = f"{text!r}{of} is not a whole number of at least 2, such as 8, or NAME=8"
    raise typer.BadParameter(message, param_hint="--bins")
