"""deptriad report: from a data file to one page that anyone can open."""

import math
from pathlib import Path
from typing import Annotated, Unpack

import typer
from rich.markup import escape

from deptriad import report
from deptriad.analysis.analysis import Analysis
from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place
from deptriad.cli.data import analysed, is_counts
from deptriad.data import readers
from deptriad.planning.plan import Plan
from deptriad.planning.plan_words import as_promised, promised
from deptriad.report.content import Options
from deptriad.report.promises import SECONDS, asked_for
from deptriad.utils.text import printable, told


@app.command(
    "report",
    epilog="Example: deptriad report survey.csv --total 3 --promises 1,6 --out report.html",
)
def _report(
    data: options.Data,
    total: options.Opening = None,
    sure: options.Sure = None,
    before: options.Before = None,
    promises: Annotated[
        str | None,
        typer.Option(
            help="Other promises to plan for, such as 1,6; without it as many of the usual ones as --seconds allows.",
            metavar="NUMBERS",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float,
        options.number("How long plans may take without --promises; the first is always made."),
    ] = SECONDS,
    out: options.Page = Path("report.html"),
    users: options.Users = 100_000,
    min_count: Annotated[int, options.whole("Smaller counts read 'fewer than N'.", 1)] = 10,
    schema: options.SchemaFile = None,
    by: options.By = None,
    weight: options.Weight = None,
    query: options.Query = None,
    how_sure: options.HowSure = None,
    min_records: options.MinRecords = 20,
    thin: options.ThinWay = "keep",
    force: options.Force = False,
) -> None:
    """Write one HTML page that shows who is asked what, what is promised, and what answers give away about each other.

    The page needs no network and holds no records. It has a slider for the promise, one for the budget of an answer,
    the plans, and what they rest on. DATA must be data that may be used for this: the page tells about it.
    """
    promise = options.promised(total, sure, before, usual=3.0)
    if not seconds >= 0.0:
        raise ValueError(f"--seconds is {seconds:g}, expected a number of at least 0")
    others = None if promises is None else _numbers(promises)
    refuse_place(out, "--out", data, schema, force=force, folders=True)
    found = analysed(data, schema, by, weight, query, how_sure, min_records, thin)
    # tables of several groups are their mean, which no records belong to
    records = None if by or is_counts(data) else readers.opened(data, query, found.schema)
    made = write(
        found,
        out,
        promise,
        promises=others,
        seconds=seconds,
        records=records,
        weight=weight,
        file=data,
        users=users,
        min_count=min_count,
    )
    screen = console()
    screen.print(escape("\n".join(in_short(made[promise]))))
    if before is not None:
        screen.print(f"As was asked: {told(promise, before)}.")
    screen.print()
    planned = ", ".join(map(as_promised, made))
    shown = f"The page is in {escape(str(out))}, with plans for these promises: {planned}"
    screen.print(shown, soft_wrap=True)
    if len(made) < len(asked_for(promise, others)):
        screen.print(
            f"Others did not fit {seconds:g} seconds: --promises 1,6 plans for these, however long it takes."
        )


MOST_NAMED = 3
"""Sets of questions that are named where a plan is put in short."""


def in_short(plan: Plan) -> list[str]:
    """A plan in a few lines: what is promised, what each person is asked, what knowing dependence buys."""
    shown = "; ".join(
        f"{printable(view.called)} ({view.share:.0%})" for view in plan.views[:MOST_NAMED]
    )
    many = len(plan.views) > 1
    more = "; …" if len(plan.views) > MOST_NAMED else ""
    sets = f"one of {len(plan.views)} sets of questions, drawn by chance: " if many else ""
    return [*promised(plan), f"each person is asked {sets}{shown}{more}", plan.compare().verdict]


def _numbers(given: str) -> list[float]:
    """Promises between commas."""
    try:
        found = [float(each) for each in given.split(",")]
    except ValueError:
        found = []
    if not found or not all(0.0 < each < math.inf for each in found):
        raise ValueError(
            f"--promises is {given!r}, expected numbers above 0 with commas, such as 1,3,6"
        )
    return found


def write(found: Analysis, out: Path, total: float, **how: Unpack[Options]) -> dict[float, Plan]:
    """Write the page, with a bar; its plans by promise."""
    with progress_bar("planning for each promise (the first time compiles, too)") as show:
        how["progress"] = show
        return report.write(found, out, total, **how)
