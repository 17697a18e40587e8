"""What all commands share: the application, its errors and notes, bars, tables."""

import json
import os
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from shutil import get_terminal_size
from threading import TIMEOUT_MAX, Event, Thread
from time import monotonic
from typing import Annotated, Any, Self

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from typer.core import TyperGroup

from deptriad.analysis.leakage_matrix import Leak
from deptriad.cli.interruption import came, tidily
from deptriad.cli.words import reason
from deptriad.data import readers
from deptriad.utils.files import spelt
from deptriad.utils.progress import BEFORE_COMPILING
from deptriad.utils.text import printable, rounded_up, told_apart

SECONDS = 5.0
"""Between two lines of progress."""

UNLIMITED = 10_000
"""Columns of output that is piped: lines stay whole for whatever reads them."""


COMPILING = 60
"""Seconds that it may take on two quiet cores to compile all that commands use, an estimate; one needs a part of it."""


class Commands(TyperGroup):
    """The commands; a mistake ends in one line, with ``--debug`` in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return super().invoke(ctx)
        except (BrokenPipeError, typer.Abort):
            raise
        except Exception as error:
            if came:
                raise SystemExit(128 + came[0]) from None
            # what has an exit code is Typer's own, which shows mistakes in the arguments itself
            if ctx.params["debug"] or hasattr(error, "exit_code"):
                raise
            _tell(f"deptriad: {_in_short(error)}")
            raise typer.Exit(1) from None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            _show_no_types(found.get_params(ctx))
        return found

    def get_params(self, ctx: Any) -> Any:
        """The options of the whole."""
        params = super().get_params(ctx)
        _show_no_types(params)
        return params


def _show_no_types(params: Sequence[Any]) -> None:
    """Help without <bool> after a flag, which takes no value, and without <list[str]> after an argument's name."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None


def _in_short(error: Exception) -> str:
    """One line for a mistake of the user's; for one of ours also what to do about it."""
    lines = [printable(line) for line in reason(error).splitlines()]
    said = "\n".join(lines)
    if isinstance(error, ImportError | OSError | ValueError):
        return said
    return (
        f"unexpected {type(error).__name__}: {said}; this should not happen: please report what "
        "`deptriad --debug` shows when the same command is run again"
    )


def _show_warning(message: Warning, *_: Any) -> None:
    _tell(f"note: {printable(reason(message))}")


def _tell(said: str) -> None:
    """To the errors; on a terminal no line ends within a word."""
    if sys.stderr.isatty():
        width = max(get_terminal_size().columns, 40)
        lines = (textwrap.wrap(line, width, break_on_hyphens=False) for line in said.splitlines())
        said = "\n".join("\n".join(each) for each in lines)
    typer.echo(said, err=True)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on ``arguments``, or on those of this process."""
    if _say_that_it_compiles not in BEFORE_COMPILING:
        BEFORE_COMPILING.append(_say_that_it_compiles)
    with tidily(last=arguments is None):
        app(arguments, prog_name="deptriad")


@cache
def _say_that_it_compiles() -> None:
    """Once, and only to people: without a word they would take it for broken."""
    if sys.stderr.isatty():
        typer.echo(
            f"compiling, once: up to about {COMPILING} s; `deptriad compile` does it beforehand",
            err=True,
        )


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


# --- what is shown ------------------------------------------------------------------------------------------------


def console() -> Console:
    """Where results are shown: as wide as the terminal or as COLUMNS says, and unlimited where they are piped."""
    shown = Console(highlight=False)
    if shown.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return shown
    return Console(highlight=False, width=UNLIMITED)


def show_json(content: Any) -> None:
    """Results for machines."""
    typer.echo(json.dumps(spelt(content), indent=1, ensure_ascii=False))


class Lines:
    """Progress where there is no terminal: a line to the errors every few seconds, the first one after as many.

    A thread says it, so that a step which takes long is not silence.
    """

    def __init__(self, what: str) -> None:
        self.what, self.began = what, monotonic()
        self.done = 0
        self.total: int | None = None
        self.ended = Event()

    def __call__(self, done: int, total: int | None) -> None:
        """How far it is."""
        self.done, self.total = done, total

    def __enter__(self) -> Self:
        Thread(target=self._say, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()

    def _say(self) -> None:
        with suppress(OSError, ValueError):  # nobody reads the errors any more
            while not self.ended.wait(min(SECONDS, TIMEOUT_MAX)):
                typer.echo(self.line, err=True)

    @property
    def line(self) -> str:
        """How far it is, and what is left."""
        done, total = self.done, self.total
        past = monotonic() - self.began
        of = f" of {total:,}" if total else ""
        left = f", about {past * (total - done) / done:,.0f} s left" if total and done else ""
        return f"{self.what}: {done:,}{of} after {past:,.0f} s{left}"


@contextmanager
def progress_bar(what: str) -> Iterator[Any]:
    """A bar on the terminal while long work goes on; where errors are piped, a line every few seconds.

    Rich takes FORCE_COLOR for a terminal, which notebooks set: there a bar would be a page of control characters.
    """
    if not sys.stderr.isatty():
        with Lines(what) as lines:
            yield lines
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}"))
    with Progress(
        *columns,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def number_table(names: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table without rows: columns of names, to the left, and then columns of numbers, to the right.

    Where it is too wide, names take more lines, and numbers never.
    """
    table = Table(*names, box=SIMPLE)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def about_table(
    screen: Console, names: Sequence[str], headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> Table:
    """A row of numbers about each attribute, whose names are cut to the room that the numbers leave."""
    wide = [
        max(len(line) for text in column for line in text.split("\n"))
        for column in zip(headings, *rows, strict=True)
    ]
    room = screen.width - sum(width + 2 for width in wide) - 5
    table = number_table(["about"], headings)
    table.title_justify, table.padding = "left", (0, 1, 0, 0)
    for name, row in zip(told_apart([*map(printable, names)], max(room, 8)), rows, strict=True):
        table.add_row(escape(name), *row)
    return table


PARTS = ("alpha", "beta", "phi", "delta")


def leak_table(rows: Sequence[Leak], budgets: Mapping[str, float] | None = None) -> Table:
    """Triads and leakages of ordered pairs, every number rounded up.

    Parameters
    ----------
    rows
        The pairs.
    budgets
        The budget of each source, where they are not all the same.
    """
    names = ["released", *(["with ε"] if budgets else []), "about"]
    headings = ["α", "β", "φ", "δ", "leakage"]
    table = number_table(names, headings)
    if budgets:
        table.columns[1].justify = "right"
    own = [[f"{budgets[row.source]:g}"] if budgets else [] for row in rows]
    shown = [
        [*map(up, map(float, (*(getattr(row.triad, name) for name in PARTS), row.leakage)))]
        for row in rows
    ]
    every = zip([*names[1:-1], *headings], *map(list.__add__, own, shown), strict=True)
    room = console().width - sum(max(map(len, column)) + 3 for column in every) - 8
    both = dict.fromkeys(name for row in rows for name in (row.source, row.target))
    labels = dict(zip(both, told_apart([*map(printable, both)], max(room // 2, 8)), strict=True))
    for row, budget, numbers in zip(rows, own, shown, strict=True):
        table.add_row(escape(labels[row.source]), *budget, escape(labels[row.target]), *numbers)
    return table


def up(number: float) -> str:
    """Print a bound so that the print is still a bound: rounded up."""
    return rounded_up(number) if isfinite(number) else "∞"


# --- what is written ----------------------------------------------------------------------------------------------


def refuse_place(
    path: Path, option: str, *inputs: object, force: bool, folders: bool = False
) -> None:
    """Say before the work what would stop its result from being written: no folder, an input, a file that is there."""
    if not (path.parent.is_dir() or folders):
        raise ValueError(f"{option} is {path}, but there is no folder {path.parent}: make it first")
    if not path.is_file():
        return
    for given in filter(None, inputs):
        if any(path.samefile(each) for each in readers.files_of(str(given))):
            raise ValueError(f"{option} is {path}, which is an input: choose another place")
    if not force:
        raise ValueError(f"{path} is there: choose another {option}, or --force to replace it")
