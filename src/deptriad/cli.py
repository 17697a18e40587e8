"""The command line: parse, call, show."""

import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from math import exp, isfinite
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from typer.core import TyperGroup
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"deptriad: {missing}; the command line needs it: pip install 'deptriad[cli]'"
    ) from None

from deptriad import demo
from deptriad.rivals import measures
from deptriad.text import rounded_up


class Commands(TyperGroup):
    """The commands; a user's mistake ends in one line, with ``--debug`` in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except (ImportError, OSError, ValueError) as error:
            if ctx.params["debug"]:
                raise
            typer.echo(f"deptriad: {error}", err=True)
            raise typer.Exit(1) from None


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
    answers = demo.survey()
    rows = demo.rows(demo.tables(answers), epsilon)
    try:
        demo.write(rows, out)
    except OSError as error:
        message = f"cannot write {out}: {error.strerror}; choose another place with --out"
        raise OSError(message) from error

    worst = rows[0]
    affairs = next(row for row in rows if row.target == demo.NAMES["affairs"])
    console = Console(highlight=False)
    console.print(
        f"Fair's survey: {len(answers[0].codes):,} women, {len(answers)} answers, "
        f"{len(rows)} ordered pairs of answers.\n"
    )
    for row in (worst,) if worst is affairs else (worst, affairs):
        console.print(_sentence(row))
    console.print(_table(rows[:top]))
    console.print(
        f"Leakage runs from 0, nothing is learnt, to ε = {epsilon:g}. Every number is rounded up.\n"
        "The sample's frequencies are taken as the truth: no sampling error is added.\n"
        "Affairs are grouped by the survey's measure: none / up to 1 / over 1.\n"
    )
    console.print(f"All {len(rows)} pairs are in [bold]{escape(str(out))}[/]", soft_wrap=True)


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


def _sentence(row: demo.Row) -> str:
    times = f" ({_up(exp(row.leakage))} times)" if row.leakage < 10 else ""
    return (
        f"Releasing [bold]{row.source}[/] with ε = {row.epsilon:g} may move the odds about "
        f"[bold]{row.target}[/] by up to e^{_up(row.leakage)}{times}."
    )


def _table(rows: Sequence[demo.Row]) -> Table:
    table = Table("released", "about", box=SIMPLE)
    for heading in ("α", "β", "φ", "δ", "leakage"):
        table.add_column(heading, justify="right")
    for row in rows:
        numbers = (row.alpha, row.beta, row.phi, row.delta, row.leakage)
        table.add_row(row.source, row.target, *map(_up, numbers))
    return table


def _up(number: float) -> str:
    """Print a bound so that the print is still a bound: rounded up."""
    return rounded_up(number) if isfinite(number) else "∞"
