"""deptriad chain: the same answer, asked again and again."""

from math import inf, isinf
from typing import Annotated, Literal

import typer
from rich.markup import escape

from deptriad.chains.chain import Chain
from deptriad.cli import options
from deptriad.cli.app import app, console, number_table, progress_bar, show_json
from deptriad.data.schema import Schema
from deptriad.planning.plan_words import as_promised
from deptriad.tables.table import Box
from deptriad.tables.uncertainty import Confidence
from deptriad.utils.text import printable, spent, times, told

Start = Literal["stationary", "unknown"]

HORIZONS = (1, 2, 3, 6, 12, 24, 60, 120, inf)
"""Numbers of releases that are shown."""


@app.command(
    "chain",
    epilog="Example: deptriad chain panel.csv --person id --time month --value job --total 3",
)
def _chain(
    data: options.Data,
    person: Annotated[str, options.column("Column that tells persons apart.")],
    time: Annotated[str, options.column("Column of the time: a number, a date, or text in order.")],
    value: Annotated[str, options.column("Column of the answer.")],
    total: options.Total = None,
    sure: options.Sure = None,
    before: options.Before = None,
    start: Annotated[
        Start,
        typer.Option(
            help="What is assumed of the first release: answers as common as they stay (stationary), or nothing "
            "(unknown)."
        ),
    ] = "stationary",
    level: Annotated[
        float | None,
        options.number(
            "Certify the tables with this probability, such as 0.95; without it they are taken as true."
        ),
    ] = None,
    schema: options.SchemaFile = None,
    query: options.Query = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the budget at which one answer may be collected again and again, for so many times or for ever.

    DATA has a row for each person and time, and must be data that may be used for this. Between neighbouring times it
    is counted who went from which answer to which; a person's answers are taken as a Markov chain.
    """
    promise = options.promised(total, sure, before)
    known = None if level is None else Confidence(level)
    declared = None if schema is None else Schema.load(schema)
    with progress_bar("counting transitions"):
        chain = Chain.from_sequences(
            data,
            person=person,
            time=time,
            value=value,
            schema=declared,
            uncertainty=known,
            initial="stationary" if start == "stationary" else None,
            query=query,
        )
    with progress_bar("calibrating budgets"):
        rows = [_row(chain, promise, count) for count in HORIZONS]
    if as_json:
        facts = {"value": value, "total": promise, "assumed": chain.assumed}
        limits = {"threshold": chain.threshold, "threshold_total": chain.threshold_total}
        show_json(facts | limits | {"budgets": rows})
        return
    _show(chain, promise, rows, before)


def _row(chain: Chain, total: float, count: float) -> dict[str, float]:
    """The constant budget for so many releases, and what splitting the promise between them would leave."""
    steps = None if isinf(count) else int(count)
    epsilon = chain.calibrate(total, steps)
    told = (
        chain.limit_total(epsilon) if steps is None else chain.totals([epsilon] * steps).total.max()
    )
    return {"releases": count, "epsilon": epsilon, "split": total / count, "total": float(told)}


def _show(chain: Chain, total: float, rows: list[dict[str, float]], before: float | None) -> None:
    screen = console()
    table = number_table([], ["releases", "budget for each", "if budgets are added up"])
    for row in rows:
        forever = isinf(row["releases"])
        table.add_row(
            "for ever" if forever else f"{row['releases']:.0f}",
            spent(row["epsilon"]),
            spent(row["split"]),
        )
    screen.print(table, end="")
    name = escape(printable(chain.forward.target))
    screen.print(
        f"In words: all releases together, past and to come, move the odds between two answers of {name} at any one "
        f"time at most {times(total)} times (e^{as_promised(total)}): {told(total)} at any one time."
    )
    if before is not None:
        screen.print(f"As was asked: {told(total, before)}.")
    if not rows[-1]["epsilon"]:
        screen.print("No budget keeps this for ever: what was told is not forgotten.")
    known = (
        ""
        if isinstance(chain.forward, Box)
        else " (the frequencies in DATA; --level certifies them)"
    )
    screen.print(f"Taken as known: a Markov chain, {escape(chain.assumed)}{known}.")
