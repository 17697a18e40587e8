"""deptriad perturb and estimate: what a client does, and what the aggregator makes of it."""

import json
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deptriad.cli.app import app, progress_bar
from deptriad.cli.data import AsJson, Data
from deptriad.collection import perturb_file
from deptriad.marginals import Marginal, Post
from deptriad.plan import Plan
from deptriad.text import printable

PlanFile = Annotated[
    Path, typer.Argument(help="A plan that `deptriad calibrate` wrote.", metavar="PLAN")
]


@app.command(
    "perturb", epilog="Example: deptriad perturb plan.json survey.parquet --out reports.parquet"
)
def _perturb(
    plan: PlanFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write the reports, as Parquet.", dir_okay=False)
    ] = Path("reports.parquet"),
    seed: Annotated[
        int | None,
        typer.Option(
            help="For a simulation that can be repeated. NOT for real data: it can be undone."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace reports that are there.")] = False,
) -> None:
    """Perturb every answer with the mechanism and the budget of the plan.

    Files larger than memory are streamed. Chance comes from the operating system's secure source. The file of reports
    appears when all went well, and not at all otherwise; values outside the plan's schema are refused.
    """
    if out.is_file() and not force:
        raise ValueError(
            f"{out} is there, and may be an earlier collection: choose another --out, or --force"
        )
    rng = None if seed is None else np.random.default_rng(seed)
    with progress_bar("perturbing records") as show:
        number = perturb_file(Plan.load(plan), data, out, rng, progress=show)
    typer.echo(f"{number:,} reports are in {out}")


@app.command(
    "estimate", epilog="Example: deptriad estimate plan.json reports.parquet sex race --json"
)
def _estimate(
    plan: PlanFile,
    reports: Annotated[Path, typer.Argument(help="A file of reports.", metavar="REPORTS")],
    attributes: Annotated[
        list[str], typer.Argument(help="One attribute, or several for their joint distribution.")
    ],
    post: Annotated[
        str,
        typer.Option(
            help="norm_sub or clip, which give a distribution; or raw, which is unbiased."
        ),
    ] = "norm_sub",
    level: Annotated[float, typer.Option(help="Level of the confidence intervals.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Estimate how many people gave each answer, or each combination of answers, from their reports."""
    if post not in get_args(Post):
        raise ValueError(f"--post is {post!r}, expected {', '.join(get_args(Post))}")
    found = Plan.load(plan).estimate(reports, attributes, cast(Post, post))
    rows = _rows(found, level)
    if as_json:
        content = {"attributes": list(found.attributes), "reports": found.n, "post": post}
        typer.echo(json.dumps(content | {"estimates": rows}, indent=1, ensure_ascii=False))
        return
    console = Console(highlight=False)
    table = Table(*(escape(printable(name)) for name in found.attributes), box=SIMPLE)
    for heading in ("share", "standard error", f"{level:g} interval"):
        table.add_column(heading, justify="right")
    for row in rows:
        values = (escape(printable(row["values"][name])) for name in found.attributes)
        interval = f"{row['from']:.4f} to {row['to']:.4f}"
        table.add_row(*values, f"{row['share']:.4f}", f"{row['standard_error']:.4f}", interval)
    console.print(table, end="")
    console.print(
        f"Estimates from {found.n:,} reports. The errors are those of perturbing; who was asked is not in them."
    )


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
