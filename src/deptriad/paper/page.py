"""docs/paper.md: the paper's claims against ours, written from a folder of results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deptriad.paper import NAMES, items
from deptriad.paper.item import Cells, verdicts
from deptriad.paper.runner import read, read_rows

VERDICTS = {True: "holds", False: "**does not hold**", None: "cannot be compared"}

HEAD = """# The paper, reproduced

Every table and figure of *Dependency Triad* that reports a computation, run again by `deptriad paper all`. This page is
written by that command from its results: the numbers, the paper's statement, ours, and where they differ why.

How the paper's plan, sampling and the plans of this package compare is in [figure-10](#figure-10): how near their
tables come to the truth under one promise; and in [table-5](#table-5): which promise they need for tables as near.
"""


def page(folder: Path, seen_as: str) -> str:
    """Markdown for a folder that ``runner.run`` has written: tables from its CSV files, figures by their names.

    Parameters
    ----------
    folder
        Where the results are.
    seen_as
        The same folder as the page sees it, which has to find the figures.
    """
    results = read(folder)
    known = [results[name] for name in NAMES if name in results]
    sections = [_section(entry, _shown(entry, folder, seen_as)) for entry in known]
    parts = [HEAD, _summary(known), *sections]
    absent = [name for name in NAMES if name not in results]
    if absent:
        parts.append(f"Not run: {', '.join(absent)}.\n")
    return "\n".join(parts)


def _shown(entry: Mapping[str, Any], folder: Path, seen_as: str) -> str:
    """The item itself: its figure, a table of the kept numbers, or both."""
    (item,) = items([entry["name"]])
    shown = []
    if item.draw is not None:
        shown.append(f"![{_text(item.words or entry['title'])}]({seen_as}/{item.name}.png)")
    if item.table is not None:
        shown.append(_markdown(item.table(read_rows(folder / f"{item.name}.csv"))))
    return "\n\n".join(shown)


def _markdown(lines: Sequence[Cells]) -> str:
    heads = list(lines[0])
    cells = [
        heads,
        ["---"] * len(heads),
        *([_text(line[head]) for head in heads] for line in lines),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _summary(entries: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| item | | claims | hold | do not | cannot be compared |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for entry in entries:
        found = verdicts(entry["claims"])
        counts = (len(found), *(found.count(each) for each in (True, False, None)))
        numbers = " | ".join(str(count) for count in counts)
        lines.append(
            f"| [{entry['name']}](#{entry['name']}) | {_text(entry['title'])} | {numbers} |"
        )
    return "\n".join(lines) + "\n"


def _section(entry: Mapping[str, Any], shown: str) -> str:
    lines = [f"## {entry['name']}", "", f"{_text(entry['title'])}.", "", shown, ""]
    lines += ["| the paper | ours | |", "|---|---|---|"]
    for claim in entry["claims"]:
        why = f": {_text(claim['why'])}" if claim["why"] else ""
        lines.append(
            f"| {_text(claim['paper'])} | {_text(claim['ours'])} | {VERDICTS[claim['holds']]}{why} |"
        )
    lines += ["", f"Data: {_text(entry['data'])}", ""]
    lines += [f"- {_text(note)}" for note in entry["notes"]] + [""] * bool(entry["notes"])
    lines += [f"*{_run(entry)}*", ""]
    return "\n".join(lines)


def _run(entry: Mapping[str, Any]) -> str:
    settings, machine = entry["settings"], entry["machine"]
    how = "quick, on small samples" if settings["quick"] else "in full"
    resumed = ", after it was stopped before: the time is that of the last part" * bool(
        entry.get("resumed")
    )
    return (
        f"Run {how} with deptriad {settings['deptriad']}, seed {settings['seed']}, in {entry['seconds']:g} s "
        f"on {machine['cores']} cores{resumed}."
    )


def _text(words: str) -> str:
    """Text that cannot end a table's cell or open a tag."""
    plain = " ".join(words.split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;")
