"""deptriad calibrate: budgets that keep a promise, and the plan that clients and the aggregator share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from deptriad.analysis.thin_targets import done_about
from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place
from deptriad.cli.data import analysed, attributes_of, by_name
from deptriad.mechanisms import mechanisms
from deptriad.planning.calibrate import calibrate
from deptriad.planning.plan import Guarantee, Objective
from deptriad.planning.view_wishes import refuse_for_views
from deptriad.planning.wishes import refuse_wishes
from deptriad.utils.errors import refuse_unknown
from deptriad.utils.text import told

if TYPE_CHECKING:
    MechanismName = str
else:
    MechanismName = Literal[("auto", *mechanisms)]


Names = list[str] | None


@app.command(
    "calibrate",
    epilog="Example: deptriad calibrate survey.parquet --schema schema.json --total 3 --plan plan.json",
)
def _calibrate(
    data: options.Data,
    total: options.Total = None,
    sure: options.Sure = None,
    before: options.Before = None,
    plan: Annotated[Path, options.file("Where to write the plan.")] = Path("plan.json"),
    total_of: Annotated[
        Names, options.numbers("Another promise for one attribute, inf for a public one.")
    ] = None,
    fixed: Annotated[
        Names, options.numbers("A given budget for one attribute, 0 if it is not released.")
    ] = None,
    lower: Annotated[Names, options.numbers("The least budget of one attribute.")] = None,
    upper: Annotated[Names, options.numbers("The largest budget of one attribute.")] = None,
    weights: Annotated[
        Names, options.numbers("How much one attribute matters; others matter 1.")
    ] = None,
    objective: Annotated[
        Objective,
        typer.Option(
            help="What budgets are for: the least error of marginals (utility), the largest smallest budget (even), or "
            "the paper's squared loss (paper)."
        ),
    ] = "utility",
    guarantee: Annotated[
        Guarantee | None,
        typer.Option(
            help="Which total keeps the promise: joint, exact for joint tables; certified, a bound for all with these "
            "pairs; or paired or pairwise, estimates, for --views all. By default joint for the best views, else "
            "certified.",
            metavar="WHICH",
        ),
    ] = None,
    views: Annotated[
        str,
        typer.Option(
            help="best: each person is asked a few answers, drawn by chance, for the least error. A number: the "
            "same with at most so many answers. all: everybody is asked everything.",
            metavar="WHICH",
        ),
    ] = "best",
    marginals: Annotated[
        int,
        typer.Option(min=1, help="With --views best: all marginals of up to so many answers."),
    ] = 2,
    marginal: Annotated[
        Names,
        typer.Option(
            help="Instead, one marginal that is wanted, such as sex,age; may be repeated.",
            metavar="NAMES",
        ),
    ] = None,
    together: Annotated[
        Names,
        typer.Option(
            help="Answers that one person gives together, such as sex,age; may be repeated.",
            metavar="NAMES",
        ),
    ] = None,
    mechanism: Annotated[
        MechanismName,
        typer.Option(help="What reports each answer; auto is the more exact of grr and olh."),
    ] = "auto",
    halves: Annotated[
        int,
        typer.Option(
            min=0,
            help="Plan on one half of DATA and check on the other, so often: how far a pilot of few records can be "
            "trusted.",
        ),
    ] = 0,
    users: options.Users = 100_000,
    schema: options.SchemaFile = None,
    by: options.By = None,
    weight: options.Weight = None,
    query: options.Query = None,
    how_sure: options.HowSure = None,
    min_records: options.MinRecords = 20,
    thin: options.ThinWay = "keep",
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Find who is asked what with which budgets, so that all that a person reports keeps a promise about each answer.

    DATA must be data that may be used for this, such as last year's public release. The plan holds the schema, the
    budgets and the totals; it is JSON to read, and clients and the aggregator use the same one.
    """
    refuse_place(plan, "--plan", data, schema, force=force)
    promise = options.promised(total, sure, before)
    promises = by_name(total_of, "--total-of")
    limits: dict[str, Any] = {
        "fixed": by_name(fixed, "--fixed"),
        "lower": by_name(lower, "--lower"),
        "upper": by_name(upper, "--upper"),
        "weights": by_name(weights, "--weights"),
    }
    sets = {"--marginal": marginal or (), "--together": together or ()}
    named = promises or any(limits.values()) or any(sets.values())
    names = attributes_of(data, schema, by, weight, query) if named else ("any",)
    # said now, and not after all records were counted
    for what, given in sets.items():
        refuse_unknown([name for each in given for name in _listed(each)], names, what)
    if views != "all":
        lower_upper = {name: limits[name] for name in ("lower", "upper")}
        refuse_for_views(objective=objective, **lower_upper, mechanism=mechanism)
    refuse_wishes(names, dict.fromkeys(names, promise) | promises, **limits)
    found = analysed(data, schema, by, weight, query, how_sure, min_records, thin)
    with progress_bar("calibrating budgets") as show:
        made = calibrate(
            found,
            dict.fromkeys(found.names, promise) | promises,
            objective,
            guarantee,
            views=_views(views),
            marginals=[_listed(each) for each in marginal] if marginal else marginals,
            together=[_listed(each) for each in together or ()],
            **limits,
            mechanism=mechanism,
            users=users,
            halves=halves,
            progress=show,
        )
    made.save(plan)
    if as_json:
        typer.echo(made.to_json())
        return
    screen = console()
    screen.print(escape(repr(made)))
    if before is not None:
        screen.print(f"As was asked: {told(promise, before)}.")
    if done := done_about(made.facts):
        screen.print(escape(done))
    screen.print()
    screen.print(escape(repr(made.compare())))
    screen.print(f"\nThe plan is in [bold]{escape(str(plan))}[/]", soft_wrap=True)


def _views(given: str) -> Any:
    """Which views: a word or a number."""
    return int(given) if given.isdecimal() else given


def _listed(given: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(","))
