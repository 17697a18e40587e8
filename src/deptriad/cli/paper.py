"""deptriad paper and datasets: the paper's tables and figures, and where their data is to be had."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from deptriad.cli import options
from deptriad.cli.app import app, console, progress_bar, refuse_place, show_json


@app.command(
    "paper",
    epilog="Example: deptriad paper table-3 figure-5 --data data --out paper-results --quick",
)
def _paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Tables and figures, such as table-3, or all.", metavar="[ITEM]..."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show all items and exit.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the datasets; `deptriad datasets` says where to get them.",
            file_okay=False,
            exists=True,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="The folder for numbers, figures and results.json.", file_okay=False),
    ] = Path("paper-results"),
    quick: Annotated[bool, typer.Option("--quick", help="Small samples and short grids.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of all chance.")] = 0,
    again: Annotated[bool, typer.Option("--again", help="Run also what is there already.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write tables, figures, and which claims hold, to this Markdown file, too.",
            dir_okay=False,
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Compute tables and figures of the paper again, and say which of its claims hold.

    Each item gives a CSV in the folder, a figure a PNG and an SVG, too, and an entry in its results.json. A run that
    was stopped goes on where it was. An item whose data is absent is skipped and named.
    """
    from deptriad.paper import items

    if listed or not names:
        return _list(items(), as_json)
    chosen = items(names)
    if page is not None:
        refuse_place(page, "--page", force=force, folders=True)
    done = _run(chosen, data, out, quick, seed, again, as_json)
    if page is not None:
        _write_page(out, page)
    if as_json:
        show_json(done)
    elif done["skipped"]:
        typer.echo(f"skipped: {', '.join(done['skipped'])}", err=True)


def _list(found: list[Any], as_json: bool) -> None:
    rows = [{"name": item.name, "title": item.title, "needs": list(item.needs)} for item in found]
    if as_json:
        return show_json({"items": rows})
    table = Table("item", "what it shows", "needs", box=SIMPLE)
    for item in found:
        table.add_row(item.name, escape(item.title), ", ".join(item.needs))
    console().print(table, end="")
    return None


def _run(
    chosen: list[Any],
    data: Path | None,
    out: Path,
    quick: bool,
    seed: int,
    again: bool,
    silent: bool,
) -> dict[str, Any]:
    from deptriad.paper.data import Library
    from deptriad.paper.runner import run

    screen = console()
    found: dict[str, Any] = {"items": [], "skipped": {}}
    library = Library(data)
    for item in chosen:
        with progress_bar(item.name) as show:

            def progress(_: Any, steps: int, total: int | None, show: Any = show) -> None:
                show(steps, total)

            (done,) = run([item], library, out, quick, seed, again, progress)
        if done.entry is None:
            found["skipped"][item.name] = done.why
        else:
            found["items"].append(done.entry)
        if not silent:
            screen.print(_line(done), soft_wrap=True)
    return found


def _line(done: Any) -> str:
    from deptriad.paper.item import verdicts

    name = f"[bold]{done.item.name}[/]"
    if done.entry is None:
        return f"{name} is skipped: {escape(done.why)}"
    found = verdicts(done.entry["claims"])
    kept = " (from an earlier run)" if done.how == "kept" else f" in {done.entry['seconds']:g} s"
    broken = found.count(False)
    return f"{name}: {found.count(True)} of {len(found)} claims hold, {broken} do not{kept}"


def _write_page(out: Path, path: Path) -> None:
    from deptriad.paper.page import page
    from deptriad.utils import files

    text = page(out, Path(os.path.relpath(out, path.parent)).as_posix())
    with files.whole(path, folders=True) as partial:
        partial.write_text(text, encoding="utf-8")
    typer.echo(f"written to {path}", err=True)


@app.command("datasets", epilog="Example: deptriad datasets --data data")
def _datasets(
    data: Annotated[
        Path | None,
        typer.Option(help="A folder to look into for what is there.", file_okay=False, exists=True),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say for each dataset of the paper where to get it, its licence, and how to convert it."""
    from deptriad.paper.data import DATASETS, Library

    library = Library(data)
    rows = [
        {
            "name": each.name,
            "file": each.file,
            "stands for": each.paper,
            "origin": each.origin,
            "licence": each.licence,
            "convert": each.convert,
            "records": each.rows,
            "sha256": each.sha256,
            "here": _state(library, each.name) if data is not None else None,
        }
        for each in DATASETS.values()
    ]
    if as_json:
        show_json({"datasets": rows})
        return
    screen = console()
    for row in rows:
        screen.print(f"[bold]{row['file']}[/]  {row['stands for']}", soft_wrap=True)
        for key in ("origin", "licence", "convert", "records", "sha256", "here"):
            if row[key] is not None:
                shown = f"{row[key]:,}" if key == "records" else escape(str(row[key]))
                screen.print(f"  {key:8} {shown}", soft_wrap=True)


def _state(library: Any, name: str) -> str:
    from deptriad.paper.data import DATASETS

    if not library.has(name):
        return "absent"
    if library.fingerprint(name) == DATASETS[name].sha256:
        return "there, and the same"
    try:
        found, expected = library.count(name), DATASETS[name].rows
    except ValueError as error:
        return f"there, but not a Parquet file: {error}"
    if found != expected:
        return f"there, with {found:,} records, not {expected:,}: numbers will differ"
    return "there, with another checksum: Parquet files differ by the program that wrote them"
