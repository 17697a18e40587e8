"""Options that several commands have, and kinds of options that one has."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from deptriad.analysis.thin_targets import Thin
from deptriad.planning.promise import promise


def file(help: str) -> Any:
    """An option that names a file."""
    return typer.Option(help=help, dir_okay=False, metavar="FILE")


MOST = 1 << 128
"""What no number of anything reaches, nor a seed."""


def whole(help: str, least: int) -> Any:
    """An option that is a whole number of at least so much."""

    def checked(param: typer.CallbackParam, value: int | None) -> int | None:
        if value is not None and value < least:
            said = f"it is {value}, expected a whole number of at least {least}"
            raise typer.BadParameter(said, param_hint=param.opts[0])
        if value is not None and value >= MOST:
            said = f"it has {len(str(value))} digits, expected a whole number below 2^128"
            raise typer.BadParameter(said, param_hint=param.opts[0])
        return value

    return typer.Option(help=f"{help[:-1]}, at least {least}.", callback=checked, metavar="N")


def number(help: str) -> Any:
    """An option that is any number."""
    return typer.Option(help=help, metavar="NUMBER")


def numbers(help: str) -> Any:
    """An option that gives numbers by name."""
    return typer.Option(help=f"{help} May be repeated.", metavar="NAME=NUMBER")


def names(help: str) -> Any:
    """An option that names attributes."""
    return typer.Option(help=f"{help} May be repeated.", metavar="NAME")


def column(help: str) -> Any:
    """An option that names a column of the data."""
    return typer.Option(help=help, metavar="COLUMN")


Data = Annotated[
    str,
    typer.Argument(help="A .csv or .parquet file, or several: 'folder/*.parquet'.", metavar="DATA"),
]
PlanFile = Annotated[
    Path, typer.Argument(help="A plan that `deptriad calibrate` wrote.", metavar="PLAN")
]
SchemaFile = Annotated[Path | None, file("The schema of DATA; inferred from it without one.")]
By = Annotated[
    str | None, column("Column whose values are groups with tables of their own, such as a state.")
]
Weight = Annotated[str | None, column("Column of survey weights.")]
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
MinRecords = Annotated[int, whole("Values with fewer records are called thin.", 0)]
ThinWay = Annotated[
    Thin, typer.Option(help="What to do with thin values: keep them, merge them or drop them.")
]
Users = Annotated[int, whole("How many people will answer.", 1)]
Top = Annotated[int, whole("Show the N largest leakages.", 1)]
Total = Annotated[
    float | None, number("The promise: nothing tells more about any attribute, in nats, such as 3.")
]
Sure = Annotated[
    float | None,
    number(
        "The promise in words, instead of --total: nobody becomes surer of an answer than this, such as 0.9."
    ),
]
Before = Annotated[
    float | None, number("With --sure: how sure of it one was before, 0.5 if not given.")
]
Opening = Annotated[float | None, number("The promise that the page opens with, 3 if not given.")]
Page = Annotated[Path, file("Where to write the page.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
AsJson = Annotated[
    bool, typer.Option("--json", help='Print JSON instead of tables; an infinity is "inf".')
]


def promised(
    total: float | None, sure: float | None, before: float | None, usual: float | None = None
) -> float:
    """The total that --total gives, or --sure and --before; of the first two exactly one, or none where one is usual.

    >>> promised(None, 0.9, 0.1) == promise(sure=0.9, before=0.1)
    True
    """
    if before is not None and sure is None:
        raise typer.BadParameter("it goes with --sure: add that", param_hint="--before")
    if total is not None and sure is not None:
        raise ValueError("--total and --sure are both given, expected one: they say the same thing")
    if sure is not None:
        return promise(sure, 0.5 if before is None else before)
    given = usual if total is None else total
    if given is None:
        raise ValueError("there is no promise: give --total, such as 3, or --sure, such as 0.9")
    if not 0.0 < given < math.inf:
        raise ValueError(f"--total is {given:g}, expected a finite number > 0, such as 3")
    return given
