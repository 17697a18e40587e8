"""deptriad perturb and estimate: what a client does, and what the aggregator makes of it."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from deptriad.cli import options
from deptriad.cli.app import app, console, number_table, progress_bar, refuse_place, show_json
from deptriad.collection.marginal import Marginal
from deptriad.collection.perturb import perturb_file
from deptriad.collection.post_processing import Post
from deptriad.planning.plan import Plan
from deptriad.utils.arrays import as_share
from deptriad.utils.text import interval, printable, share


def _attributes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names that a shell may complete to: those of the plan that was typed before."""
    try:
        names = Plan.load(ctx.params["plan"]).names
    except (KeyError, TypeError, OSError, ValueError):
        return []
    return [name for name in names if name.startswith(incomplete)]


@app.command(
    "perturb", epilog="Example: deptriad perturb plan.json survey.parquet --out reports.parquet"
)
def _perturb(
    plan: options.PlanFile,
    data: options.Data,
    out: Annotated[Path, options.file("Where to write the reports, as Parquet.")] = Path(
        "reports.parquet"
    ),
    seed: Annotated[
        int | None,
        options.whole(
            "For a simulation that can be repeated. NOT for real data: it can be undone.", 0
        ),
    ] = None,
    force: options.Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON.")
    ] = False,
) -> None:
    """Perturb every answer with the mechanism and the budget of the plan.

    Files larger than memory are streamed. Chance comes from the operating system's secure source. The file of reports
    appears when all went well, and not at all otherwise; values outside the plan's schema are refused.
    """
    refuse_place(out, "--out", plan, data, force=force)
    rng = None if seed is None else np.random.default_rng(seed)
    asked = Plan.load(plan)
    with progress_bar("perturbing records") as show:
        number = perturb_file(asked, data, out, rng, progress=show)
    if as_json:
        show_json({"reports": number, "out": str(out), "plan": asked.digest})
    else:
        typer.echo(f"{number:,} reports are in {out}")


@app.command(
    "estimate", epilog="Example: deptriad estimate plan.json reports.parquet sex race --json"
)
def _estimate(
    plan: options.PlanFile,
    reports: Annotated[
        str,
        typer.Argument(
            help="A file of reports, or a collector's store: sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
            metavar="REPORTS",
        ),
    ],
    attributes: Annotated[
        list[str],
        typer.Argument(
            help="One attribute, or several for their joint distribution.",
            metavar="NAME",
            autocompletion=_attributes,
        ),
    ],
    post: Annotated[
        Post,
        typer.Option(
            help="norm_sub and clip give a distribution; raw is unbiased, and may be below 0."
        ),
    ] = "norm_sub",
    level: Annotated[float, options.number("Level of the confidence intervals.")] = 0.95,
    weight: Annotated[
        str | None, options.column("Column of survey weights, beside the reports.")
    ] = None,
    unmarked: Annotated[
        bool, typer.Option("--unmarked", help="Take a Parquet file that carries no mark of a plan.")
    ] = False,
    seeded: Annotated[
        bool, typer.Option("--seeded", help="Take reports that a seed was used for.")
    ] = False,
    implausible: Annotated[
        bool,
        typer.Option(
            "--implausible", help="Take reports that the law of the mechanisms all but rules out."
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Estimate how many people gave each answer, or each combination of answers, from their reports.

    Reports are read batch by batch. A file that `deptriad perturb` wrote carries a mark of its plan; of reports without
    one it is checked whether they can be reports of the plan at all, and said what that leaves open.
    """
    as_share(level, "--level")
    with progress_bar("reading reports"):
        allowed = {"unmarked": unmarked, "seeded": seeded, "implausible": implausible}
        found = Plan.load(plan).estimate(reports, attributes, post, weight=weight, **allowed)
    rows = _rows(found, level)
    if as_json:
        content = {
            "attributes": list(found.attributes),
            "reports": found.n,
            "post": post,
            "note": found.note,
        }
        show_json(content | {"estimates": rows})
        return
    names = [escape(printable(name)) for name in found.attributes]
    table = number_table(names, ["share", "standard error", f"{level:g} interval"])
    for row in rows:
        values = (escape(printable(row["values"][name])) for name in found.attributes)
        between = interval(row["from"], row["to"])
        table.add_row(*values, share(row["share"]), share(row["standard_error"]), between)
    screen = console()
    screen.print(table, end="")
    screen.print(
        f"Estimates from {found.n:,} reports. The errors are those of perturbing; who was asked is not in them."
    )
    if found.note:
        screen.print(f"Note: {escape(found.note)}.")


def _rows(found: Marginal, level: float) -> list[dict[str, Any]]:
    low, high = found.interval(level)
    return [
        {
            "values": {
                name: labels[place]
                for name, labels, place in zip(found.attributes, found.values, cell, strict=True)
            },
            "share": float(found.frequencies[cell]),
            "standard_error": float(found.standard_errors[cell]),
            "from": float(low[cell]),
            "to": float(high[cell]),
        }
        for cell in np.ndindex(found.frequencies.shape)
    ]
