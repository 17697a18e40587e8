"""deptriad counts: what later commands need of the records, in one file."""

from pathlib import Path
from typing import Annotated

from rich.markup import escape

from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place
from deptriad.cli.data import declared
from deptriad.data.joint_counting import kept_counts
from deptriad.data.joint_counts import USUAL_CELLS
from deptriad.data.schema import taken_as_public


@app.command(
    "counts",
    epilog="Example: deptriad counts survey.parquet --schema schema.json --save counts.npz",
)
def _counts(
    data: options.Data,
    save: Annotated[Path, options.file("Where to write the counts, a .npz file.")] = Path(
        "counts.npz"
    ),
    schema: options.SchemaFile = None,
    by: options.By = None,
    weight: options.Weight = None,
    query: options.Query = None,
    cells: Annotated[
        int,
        options.whole("Cells of all joint tables that are kept, the smallest tables first.", 1),
    ] = USUAL_CELLS,
    force: options.Force = False,
) -> None:
    """Count DATA once and keep the counts: analyze and calibrate take them in the place of DATA.

    Kept are the tables of all pairs, and joint tables of more answers as far as they are small; no record. Small counts
    may still point to a person: treat the file as you would treat DATA.
    """
    if save.suffix.lower() != ".npz":
        raise ValueError(f"--save is {save}, expected a name that ends in .npz")
    refuse_place(save, "--save", data, schema, force=force)
    known = declared(schema, by, weight)
    if known is None:
        known = taken_as_public(data, [name for name in (by, weight) if name], query)
    with progress_bar("counting records") as show:
        found = kept_counts(data, known, weight, by, query, cells, show)
    found.save(save)
    screen = console()
    tables = found.joint.sets if found.joint else ()
    largest = max(map(len, tables), default=0)
    screen.print(
        f"Counted: {found.summary}; all pairs, and {len(tables)} joint tables of up to {largest} attributes."
    )
    if found.joint and found.joint.few:
        screen.print(
            f"{found.joint.few:,} cells of these tables have fewer than ten records: they may point to a person. "
            "Treat the file as you would treat the data."
        )
    screen.print(
        f"The counts are in [bold]{escape(str(save))}[/]: deptriad analyze {escape(str(save))}",
        soft_wrap=True,
    )
