"""deptriad attack: guess answers from reports, and audit the promise."""

from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.markup import escape

from deptriad.attacks.result import AttackResults
from deptriad.attacks.run import attack_all
from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place, show_json
from deptriad.collection.split import Split
from deptriad.planning.plan import Plan
from deptriad.utils import files
from deptriad.utils.text import printable

BROKEN = 3
"""Exit code where an audit fails."""


@app.command(
    "attack", epilog="Example: deptriad attack plan.json survey.parquet --targets income --seed 1"
)
def _attack(
    plan: options.PlanFile,
    data: options.Data,
    attacker: Annotated[
        Literal["bayes", "boosting", "tabtransformer"],
        typer.Option(
            help="Who guesses: bayes knows the mechanisms and the distribution; the others learn from reports."
        ),
    ] = "bayes",
    targets: Annotated[
        list[str] | None,
        typer.Option(
            help="An attribute to guess; all by default. May be repeated.", metavar="NAME"
        ),
    ] = None,
    own: Annotated[
        bool, typer.Option("--own", help="Let the attacker see the target's own report, too.")
    ] = False,
    split: Annotated[
        bool,
        typer.Option(
            "--split", help="Attack splitting the smallest promise evenly instead of the plan."
        ),
    ] = False,
    sample: Annotated[int | None, options.whole("Use so many records, at random.", 2)] = None,
    seed: Annotated[int | None, options.whole("For results that can be repeated.", 0)] = None,
    as_json: options.AsJson = False,
    out: Annotated[Path | None, options.file("Write the results as JSON, too.")] = None,
    force: options.Force = False,
) -> None:
    """Guess each answer of people in DATA from their perturbed reports, and audit the promise.

    Half of the records teach the attacker, the others are guessed. The baseline guesses without reports, the ceiling
    has the other answers without noise; odds allowed is the bound on what reports can do to odds about the target.
    Ends with exit code 3 if an audit proves a promise broken.
    """
    if out is not None:
        refuse_place(out, "--out", plan, data, force=force)
    known = Plan.load(plan)
    rng = None if seed is None else np.random.default_rng(seed)
    asked = _splitting(known) if split else known
    with progress_bar("attacking") as show:
        found = attack_all(
            data, asked, targets, attacker, own or None, sample=sample, rng=rng, progress=show
        )
    content = {"strategy": "splitting" if split else "plan"} | found.facts()
    if out is not None:
        files.write_json(out, content)
    if as_json:
        show_json(content)
    else:
        _show(found, None if split else known)
    if not found.holds:
        typer.echo(
            "deptriad: an audit failed: the reports tell more than the mechanisms claim", err=True
        )
        raise typer.Exit(BROKEN)


def _splitting(plan: Plan) -> Split:
    """What keeps the same promise without knowing anything: its smallest, in equal parts."""
    promise = min(plan.total.values())
    if not isfinite(promise):
        raise ValueError("every promise of the plan is infinite, so that there is nothing to split")
    return Split(plan.schema, promise)


def _show(found: AttackResults, plan: Plan | None) -> None:
    screen = console()
    first, *rest = found.notes()
    screen.print(escape("\n".join([first, "", *found.table(screen.width), "", *rest])))
    above = [name for name, each in found.items() if plan and each.allowed > plan.total[name]]
    if above:
        screen.print(
            f"Odds allowed are above the plan's promise about {escape(', '.join(map(printable, above)))}: they come "
            "from the tables of these records, which are others than those that the plan was made from, or a part of "
            "them. The promise is about people who are as the plan's tables say."
        )
