"""deptriad demo."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import exp
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from deptriad.analysis.analyze import analyze
from deptriad.analysis.leakage_matrix import Leak
from deptriad.analysis.prior import Prior
from deptriad.cli import demo_survey, options
from deptriad.cli.app import app, console, leak_table, progress_bar, refuse_place, up
from deptriad.cli.report import in_short, write


@app.command("demo", epilog="Example: deptriad demo --epsilon 0.5 --top 10 --csv triads.csv")
def _demo(
    epsilon: Annotated[
        float, typer.Option(help="The budget with which an answer is released, at least 0.")
    ] = 1.0,
    top: options.Top = 5,
    total: options.Opening = None,
    sure: options.Sure = None,
    before: options.Before = None,
    out: options.Page = Path("demo/report.html"),
    csv: Annotated[Path, options.file("Where to write all pairs, as CSV.")] = Path(
        "demo/fair-triads.csv"
    ),
    force: options.Force = False,
) -> None:
    """Plan and analyse a real survey, and write a page to look at.

    The survey is Fair's (1978): 6,366 married women, nine answers each, one of them about affairs. This finds who is to
    be asked what under a promise, and for each of the 72 ordered pairs of answers how much releasing one with any
    ε-locally private mechanism may tell about the other. The page is the one that `deptriad report` writes. The tables
    are the sample's own: nothing is added for sampling error.
    """
    promise = options.promised(total, sure, before, usual=3.0)
    for place, option in ((out, "--out"), (csv, "--csv")):
        refuse_place(place, option, force=force, folders=True)
    records = demo_survey.survey()
    with progress_bar("computing triads (the first time compiles, too)") as show:
        found = analyze(Prior.from_data(records, demo_survey.SCHEMA), progress=show)
    rows = found.worst(len(found.pairs), epsilon)
    with _named(csv, "--csv"):
        demo_survey.write(rows, epsilon, csv)
    with _named(out, "--out"):
        plans = write(found, out, promise, records=records, file="Fair's survey")

    worst = rows[0]
    affairs = next(row for row in rows if row.target == "affairs")
    screen = console()
    screen.print(f"Fair's survey: {len(records):,} women, {len(found.names)} answers.\n")
    for line in in_short(plans[promise]):
        screen.print(escape(line))
    screen.print(
        f"\nThis is because answers tell about each other, in {len(rows)} ordered pairs.\n"
    )
    for row in (worst,) if worst is affairs else (worst, affairs):
        screen.print(_sentence(row, epsilon))
    screen.print(leak_table(rows[:top]))
    screen.print(
        f"Leakage runs from 0, nothing is learnt, to ε = {epsilon:g}. Every number is rounded up.\n"
        "The sample's frequencies are taken as the truth: no sampling error is added.\n"
        "Affairs are grouped by the survey's measure: none / up to 1 / over 1.\n"
    )
    screen.print(f"All {len(rows)} pairs are in {escape(str(csv))}", soft_wrap=True)
    screen.print(f"Open [bold]{escape(str(out))}[/] in a browser", soft_wrap=True)


@contextmanager
def _named(path: Path, option: str) -> Iterator[None]:
    """Errors of writing a file that say which option to change."""
    try:
        yield
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}; choose another place with {option}"
        raise OSError(message) from error


def _sentence(row: Leak, epsilon: float) -> str:
    times = f" ({up(exp(row.leakage))} times)" if row.leakage < 10 else ""
    return (
        f"Releasing [bold]{row.source}[/] with ε = {epsilon:g} may move the odds about "
        f"[bold]{row.target}[/] by up to e^{up(row.leakage)}{times}."
    )
