"""Running items: a CSV, for a figure its pictures, and an entry in results.json; a run that was killed goes on."""

from __future__ import annotations

import csv
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.paper.data import Library
from deptriad.paper.item import Item, Row, Work
from deptriad.utils import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT, VERSION = "deptriad paper results", 1
RESULTS = "results.json"


@dataclass(frozen=True)
class Done:
    """How an item ended: "run", "kept" from an earlier run, or "skipped", and why."""

    item: Item
    how: str
    why: str = ""
    entry: dict[str, Any] | None = None


def run(
    items: Sequence[Item],
    library: Library,
    out: str | os.PathLike[str],
    quick: bool = False,
    seed: int = 0,
    again: bool = False,
    progress: Callable[[Item, int, int | None], object] | None = None,
) -> Iterator[Done]:
    """Run items one after the other; results.json is written after each.

    Parameters
    ----------
    items
        What to run.
    library
        The datasets; an item that lacks one is skipped.
    out
        A folder for the results. Items that it holds from the same settings and data are kept.
    quick
        Small samples and short grids.
    seed
        Of all chance.
    again
        Run also what is there.
    progress
        Called with the item, the steps done and their number.
    """
    folder = Path(out)
    results = read(folder)
    for item in items:
        absent = [name for name in item.needs if not library.has(name)]
        if absent:
            yield Done(item, "skipped", f"it needs {library.described(absent)}")
            continue
        settings = _settings(item, library, quick, seed)
        entry = results.get(item.name)
        if not again and entry is not None and entry["settings"] == settings:
            yield Done(item, "kept", entry=entry)
            continue
        try:
            entry = _run_one(item, library, folder, settings, again, progress)
        except ImportError as missing:  # of an extra; its message says what to install
            yield Done(item, "skipped", str(missing))
            continue
        results = {**read(folder), item.name: entry}
        _write(folder, results)
        yield Done(item, "run", entry=entry)


def read(folder: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """The entries of a folder's results.json by item; none where there is no such file."""
    path = Path(folder) / RESULTS
    if not path.is_file():
        return {}
    content = files.read_json(path, FORMAT, VERSION)
    return {entry["name"]: entry for entry in content["items"]}


def _write(folder: Path, results: dict[str, dict[str, Any]]) -> None:
    content = {"format": FORMAT, "version": VERSION, "items": list(results.values())}
    with files.whole(folder / RESULTS, folders=True) as partial:
        partial.write_text(
            json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def _settings(item: Item, library: Library, quick: bool, seed: int) -> dict[str, Any]:
    used = [name for name in (*item.needs, *item.uses) if library.has(name)]
    return {
        "deptriad": version("deptriad"),
        "quick": quick,
        "seed": seed,
        "data": {name: library.fingerprint(name) for name in used},
    }


def _run_one(
    item: Item,
    library: Library,
    folder: Path,
    settings: dict[str, Any],
    again: bool,
    progress: Callable[[Item, int, int | None], object] | None,
) -> dict[str, Any]:
    parts = folder / ".parts" / item.name
    stamp = parts / "settings.json"
    resumed = not again and stamp.is_file() and json.loads(stamp.read_text()) == settings
    if not resumed:
        shutil.rmtree(parts, ignore_errors=True)
        with files.whole(stamp, folders=True) as partial:
            partial.write_text(json.dumps(settings))

    def show(done: int, total: int | None) -> None:
        if progress is not None:
            progress(item, done, total)

    work = Work(item.name, library, settings["quick"], settings["seed"], parts, show)
    start = perf_counter()
    outcome = item.run(work)
    seconds = perf_counter() - start
    write_rows(folder / f"{item.name}.csv", outcome.rows)
    if item.draw is not None:
        _save_figure(item.draw(outcome.rows), folder / item.name)
    shutil.rmtree(parts, ignore_errors=True)
    return {
        "name": item.name,
        "title": item.title,
        "claims": [asdict(claim) for claim in outcome.claims],
        "data": outcome.data,
        "notes": list(outcome.notes),
        "settings": settings,
        "seconds": round(seconds, 1),
        "resumed": resumed,
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """What the numbers were computed on."""
    found = {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    return found | _accelerator()


def _accelerator() -> dict[str, Any]:
    try:
        import torch
    except ImportError:
        return {}
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {"torch": str(torch.__version__), "accelerator": name}


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """A CSV of rows, numbers in full."""
    with (
        files.whole(path, folders=True) as partial,
        partial.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV, every cell as text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _save_figure(figure: Figure, path: Path) -> None:
    for kind in ("png", "svg"):
        with files.whole(path.with_name(f"{path.name}.{kind}")) as partial:
            figure.savefig(partial, dpi=150, metadata={"Date": None} if kind == "svg" else None)
