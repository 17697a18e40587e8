"""docs/paper.md: the paper's claims against ours, written from results.json alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deptriad.paper import NAMES
from deptriad.paper.item import verdicts

VERDICTS = {True: "holds", False: "**does not hold**", None: "cannot be compared"}

HEAD = """# The paper, reproduced

Every table and figure of *Dependency Triad* that reports a computation, run again by `deptriad paper all`. This page is
written by that command from its `results.json`: the paper's statement, ours, and where they differ why.
"""


def page(results: Mapping[str, Mapping[str, Any]], figures: str | None = None) -> str:
    """Markdown for the entries of a results.json.

    Parameters
    ----------
    results
        Entries by item, as ``runner.read`` gives them.
    figures
        The folder of the figures as the page sees it; without one the page has none.
    """
    known = [results[name] for name in NAMES if name in results]
    parts = [HEAD, _summary(known), *(_section(entry, figures) for entry in known)]
    absent = [name for name in NAMES if name not in results]
    if absent:
        parts.append(f"Not run: {', '.join(absent)}.\n")
    return "\n".join(parts)


def _summary(entries: list[Mapping[str, Any]]) -> str:
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


def _section(entry: Mapping[str, Any], figures: str | None) -> str:
    lines = [f"## {entry['name']}", "", f"{_text(entry['title'])}.", ""]
    if figures is not None:
        lines += [f"![{_text(entry['title'])}]({figures}/{entry['name']}.png)", ""]
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
