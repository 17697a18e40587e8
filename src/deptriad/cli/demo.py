"""deptriad demo."""

from math import exp
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from deptriad import demo
from deptriad.analysis import analyze
from deptriad.cli.app import app, leak_table, up
from deptriad.matrix import Leak
from deptriad.prior import Prior


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
    console.print(leak_table(rows[:top]))
    console.print(
        f"Leakage runs from 0, nothing is learnt, to ε = {epsilon:g}. Every number is rounded up.\n"
        "The sample's frequencies are taken as the truth: no sampling error is added.\n"
        "Affairs are grouped by the survey's measure: none / up to 1 / over 1.\n"
    )
    console.print(f"All {len(rows)} pairs are in [bold]{escape(str(out))}[/]", soft_wrap=True)


def _sentence(row: Leak, epsilon: float) -> str:
    times = f" ({up(exp(row.leakage))} times)" if row.leakage < 10 else ""
    return (
        f"Releasing [bold]{row.source}[/] with ε = {epsilon:g} may move the odds about "
        f"[bold]{row.target}[/] by up to e^{up(row.leakage)}{times}."
    )
