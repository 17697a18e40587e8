"""The command line: parse, call, show."""

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from io import TextIOWrapper
from math import exp, isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, cast

try:
    import typer
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
    from typer.core import TyperGroup
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"deptriad: {missing}; the command line needs it: pip install 'deptriad[cli]'"
    ) from None

from deptriad import demo, uncertainty
from deptriad.analysis import Analysis, Leak, analyze
from deptriad.prior import Prior, Thin
from deptriad.rivals import measures
from deptriad.schema import Schema
from deptriad.text import printable, rounded_up


class Commands(TyperGroup):
    """The commands; a user's mistake ends in one line, with ``--debug`` in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return super().invoke(ctx)
        except (ImportError, OSError, ValueError) as error:
            if ctx.params["debug"]:
                raise
            typer.echo(f"deptriad: {error}", err=True)
            raise typer.Exit(1) from None


def _show_warning(message: Warning | str, *_: Any) -> None:
    typer.echo(f"note: {printable(str(message))}", err=True)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on ``arguments``, or on those of this process."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without Greek letters shows others instead
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(arguments, prog_name="deptriad")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deptriad {version('deptriad')}")
        raise typer.Exit


@app.callback(epilog="Example: deptriad demo --epsilon 0.5 --top 10")
def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the whole traceback of an error.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Tell how much a locally differentially private release of one attribute leaks about others."""


@app.command("demo", epilog="Example: deptriad demo --epsilon 0.5 --top 10 --out triads.csv")
def _demo(
    epsilon: Annotated[
        float, typer.Option(help="The budget with which an answer is released, at least 0.")
    ] = 1.0,
    top: Annotated[
        int | None, typer.Option(min=0, help="Show only the N largest.", metavar="N")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Where to write all pairs, as CSV.", dir_okay=False)
    ] = Path("demo/fair-triads.csv"),
) -> None:
    """Compute the triads of a real survey, the largest leakage first.

    The survey is Fair's (1978): 6,366 married women, nine answers each, one of them about affairs. For
    each of the 72 ordered pairs of answers this shows how much releasing one with any ε-locally
    private mechanism may tell about the other. The tables are the sample's own: nothing is added for
    sampling error.
    """
    records = demo.survey()
    found = analyze(Prior.from_data(records, demo.SCHEMA))
    rows = found.worst(len(found.pairs), epsilon)
    try:
        demo.write(rows, epsilon, out)
    except OSError as error:
        message = f"cannot write {out}: {error.strerror}; choose another place with --out"
        raise OSError(message) from error

    worst = rows[0]
    affairs = next(row for row in rows if row.target == "affairs")
    console = Console(highlight=False)
    console.print(
        f"Fair's survey: {len(records):,} women, {len(found.names)} answers, "
        f"{len(rows)} ordered pairs of answers.\n"
    )
    for row in (worst,) if worst is affairs else (worst, affairs):
        console.print(_sentence(row, epsilon))
    console.print(_table(rows[:top]))
    console.print(
        f"Leakage runs from 0, nothing is learnt, to ε = {epsilon:g}. Every number is rounded up.\n"
        "The sample's frequencies are taken as the truth: no sampling error is added.\n"
        "Affairs are grouped by the survey's measure: none / up to 1 / over 1.\n"
    )
    console.print(f"All {len(rows)} pairs are in [bold]{escape(str(out))}[/]", soft_wrap=True)


Data = Annotated[
    str,
    typer.Argument(help="A .csv or .parquet file, or several: 'folder/*.parquet'.", metavar="DATA"),
]
Query = Annotated[
    str | None,
    typer.Option(
        help="SQL over DATA, whose rows are called `data`.", metavar="SQL", show_default=False
    ),
]


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
) -> None:
    """Propose the values of every column from public data, to be edited by hand.

    Categories and bins tell about the people they are taken from: use public data here, such as last year's release,
    and not the answers that are to be protected.
    """
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


@app.command(
    "analyze",
    epilog="Example: deptriad analyze survey.parquet --schema schema.json --uncertainty confidence:0.95",
)
def _analyze(
    data: Data,
    schema: Annotated[
        Path | None,
        typer.Option(help="The schema of DATA; inferred from it without one.", dir_okay=False),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column whose values are separate sources, such as a state.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column of survey weights.")] = None,
    query: Query = None,
    how_sure: Annotated[
        str | None,
        typer.Option(
            "--uncertainty",
            help="How far the truth may lie from DATA: relative:0.1, absolute:0.01, spread:std (with --by) or "
            "confidence:0.95; without it DATA is taken as the truth.",
            metavar="KIND:NUMBER",
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option(help="The budget with which each answer is released, at least 0.")
    ] = 1.0,
    top: Annotated[int, typer.Option(min=0, help="Show the N largest leakages.", metavar="N")] = 10,
    min_records: Annotated[
        int, typer.Option(min=0, help="Values with fewer records are called thin.", metavar="N")
    ] = 20,
    thin: Annotated[
        str, typer.Option(help="What to do with thin values: keep, merge or drop.")
    ] = "keep",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of the table.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Write all triads to this .json or .parquet file.", dir_okay=False),
    ] = None,
) -> None:
    """Tell how much releasing each answer gives away about each other answer.

    DATA must be data that may be used for this, such as last year's public release: the result tells about it.
    """
    known = None if how_sure is None else uncertainty.from_text(how_sure)
    if save is not None and save.suffix.lower() not in (".json", ".parquet"):
        raise ValueError(f"--save is {save}, expected a name that ends in .json or .parquet")
    declared = _public_schema(data, by, weight, query) if schema is None else Schema.load(schema)
    with _progress("counting records") as show:
        prior = Prior.from_data(
            data, declared, weight, by, query, min_records, cast(Thin, thin), progress=show
        )
    with _progress("computing triads") as show:
        found = analyze(prior, known, progress=show)
    rows = found.worst(top, epsilon)
    if save is not None:
        found.save(save)
    if as_json:
        typer.echo(json.dumps(_in_json(found, rows, epsilon), indent=1, ensure_ascii=False))
        return
    _show_analysis(found, rows, epsilon)
    if save is not None:
        typer.echo(f"All {len(found.pairs)} triads are in {save}")


def _public_schema(data: str, by: str | None, weight: str | None, query: str | None) -> Schema:
    typer.echo(
        "note: without --schema the values of each column are taken from DATA, which is right for public data only; "
        "`deptriad schema` writes a schema to edit",
        err=True,
    )
    return Schema.infer(
        data, without=[name for name in (by, weight) if name is not None], query=query
    )


def _in_json(found: Analysis, rows: Sequence[Leak], epsilon: float) -> dict[str, Any]:
    known = None if found.uncertainty is None else uncertainty.as_text(found.uncertainty)
    return {
        "attributes": list(found.names),
        "epsilon": epsilon,
        "uncertainty": known,
        "prior": found.facts,
        "worst": [
            {
                "source": row.source,
                "target": row.target,
                "alpha": _finite(row.triad.alpha),
                "beta": _finite(row.triad.beta),
                "phi": _finite(row.triad.phi),
                "delta": _finite(row.triad.delta),
                "leakage": row.leakage,
                "in_words": str(found.where(row.source, row.target, epsilon)),
            }
            for row in rows
        ],
    }


def _finite(number: Any) -> float | str:
    """A number for JSON, which has no infinity."""
    return float(number) if isfinite(number) else "inf"


def _show_analysis(found: Analysis, rows: Sequence[Leak], epsilon: float) -> None:
    console = Console(highlight=False)
    prior = found.prior
    records = f"{prior.counts.records:,} records, " if prior else ""
    sources = f", {len(prior.sources)} sources" if prior and len(prior.sources) > 1 else ""
    console.print(
        f"{records}{len(found.names)} attributes, {len(found.pairs)} ordered pairs{sources}."
    )
    known = found.uncertainty
    how = "The tables are taken as they are." if known is None else uncertainty.in_words(known)
    console.print(f"{how[0].upper()}{how[1:].rstrip('.')}.\n")
    for row in rows[:3]:
        console.print(escape(str(found.where(row.source, row.target, epsilon))))
    console.print(_table(rows), end="")
    console.print(
        f"Leakage runs from 0, nothing is learnt, to ε = {epsilon:g}. Every number is a bound, rounded up;\n"
        "the sentences give the sharper leakage of their pair."
    )
    if thin := found.facts.get("thin"):
        shown = "; ".join(f"{name} = {value}: {action}" for name, value, action in thin[:10])
        more = f"; and {len(thin) - 10} more" if len(thin) > 10 else ""
        console.print(f"Thin values: {escape(printable(shown))}{more}.")


@contextmanager
def _progress(what: str) -> Iterator[Any]:
    """A bar on the terminal while long work goes on; nothing where the output is piped."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}"))
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@app.command("rivals", epilog="Example: deptriad rivals --json")
def _rivals(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a list of objects instead of the table.")
    ] = False,
) -> None:
    """List every leakage measure that can be compared with the triad, and what it costs.

    For each: what its number bounds, for which mechanisms, and the order of the time to prepare a table, of the time
    to answer for one budget ε, and of the memory kept in between. In Python they are
    `deptriad.rivals.measures[name].measure(table, epsilon)`.
    """
    facts = [measure.facts for measure in measures.values()]
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    says = Table("name", "measure", "bounds", "mechanisms", box=SIMPLE)
    costs = Table("name", "precompute", "query", "memory", "uncertainty", box=SIMPLE)
    says.columns[0].no_wrap = True
    for each in measures.values():
        says.add_row(each.name, each.title, each.bounds, each.mechanisms)
        takes = "yes" if each.takes_uncertainty else "no"
        costs.add_row(each.name, each.precompute, each.query, each.memory, takes)
    console = Console(highlight=False)
    console.print("What each measure says about the leakage", says, sep="\n", end="")
    console.print("What it costs, and whether it takes an uncertain table", costs, sep="\n", end="")
    console.print(
        "a: target values, b: source values, m: reports of a mechanism, k: pieces of the leakage curve.\n"
        "The worst case is that over all ε-LDP mechanisms. Where precompute is –, the table is kept."
    )


def _sentence(row: Leak, epsilon: float) -> str:
    times = f" ({_up(exp(row.leakage))} times)" if row.leakage < 10 else ""
    return (
        f"Releasing [bold]{row.source}[/] with ε = {epsilon:g} may move the odds about "
        f"[bold]{row.target}[/] by up to e^{_up(row.leakage)}{times}."
    )


def _table(rows: Sequence[Leak]) -> Table:
    table = Table("released", "about", box=SIMPLE)
    for heading in ("α", "β", "φ", "δ", "leakage"):
        table.add_column(heading, justify="right")
    for row in rows:
        each = row.triad
        numbers = (each.alpha, each.beta, each.phi, each.delta, row.leakage)
        names = (escape(printable(name)) for name in (row.source, row.target))
        table.add_row(*names, *(_up(float(number)) for number in numbers))
    return table


def _up(number: float) -> str:
    """Print a bound so that the print is still a bound: rounded up."""
    return rounded_up(number) if isfinite(number) else "∞"
