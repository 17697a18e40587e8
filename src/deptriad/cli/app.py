"""What all commands share: the application, its errors and notes, bars, tables."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from io import TextIOWrapper
from math import isfinite
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from typer.core import TyperGroup

from deptriad.matrix import Leak
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


@contextmanager
def progress_bar(what: str) -> Iterator[Any]:
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


def leak_table(rows: Sequence[Leak]) -> Table:
    """Triads and leakages of ordered pairs, every number rounded up."""
    table = Table("released", "about", box=SIMPLE)
    for heading in ("α", "β", "φ", "δ", "leakage"):
        table.add_column(heading, justify="right")
    for row in rows:
        each = row.triad
        numbers = (each.alpha, each.beta, each.phi, each.delta, row.leakage)
        names = (escape(printable(name)) for name in (row.source, row.target))
        table.add_row(*names, *(up(float(number)) for number in numbers))
    return table


def up(number: float) -> str:
    """Print a bound so that the print is still a bound: rounded up."""
    return rounded_up(number) if isfinite(number) else "∞"


def finite(number: Any) -> float | str:
    """A number for JSON, which has no infinity."""
    return float(number) if isfinite(number) else "inf"
