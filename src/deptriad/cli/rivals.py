"""deptriad rivals."""

from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table

from deptriad.cli.app import app, console, show_json
from deptriad.rivals import measures


@app.command("rivals", epilog="Example: deptriad rivals --json")
def _rivals(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a list of objects instead of the table.")
    ] = False,
) -> None:
    """List every leakage measure that can be compared with the triad, and what it costs.

    For each: what its number bounds, for which mechanisms, and the order of the time to prepare a table, of the time
    to answer for one budget ε, and of the memory kept in between. In Python they are
    `deptriad.rivals.measures[name].measure(table, epsilon)`.
    """
    facts = [measure.facts for measure in measures.values()]
    if as_json:
        show_json(facts)
        return
    says = Table("name", "measure", "bounds", "mechanisms", box=SIMPLE)
    costs = Table("name", "precompute", "query", "memory", "uncertainty", box=SIMPLE)
    says.columns[0].no_wrap = True
    for each in measures.values():
        says.add_row(each.name, each.title, each.bounds, each.mechanisms)
        takes = "yes" if each.takes_uncertainty else "no"
        costs.add_row(each.name, each.precompute, each.query, each.memory, takes)
    screen = console()
    screen.print("What each measure says about the leakage", says, sep="\n", end="")
    screen.print("What it costs, and whether it takes an uncertain table", costs, sep="\n", end="")
    screen.print(
        "a: target values, b: source values, m: reports of a mechanism, k: pieces of the leakage curve.\n"
        "The worst case is that over all ε-LDP mechanisms. Where precompute is –, the table is kept."
    )
