"""Output files appear whole or not at all; input files are read with errors that name them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to, which becomes ``path`` when all went well and is removed when it did not."""
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = final.with_name(f".{final.name}.{os.getpid()}{final.suffix}")
    try:
        yield partial
        os.replace(partial, final)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a JSON file a person can read."""
    text = readable(content) + "\n"
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8")


def readable(content: dict[str, Any]) -> str:
    """JSON with one line for each entry of a list: short enough to scan, long enough to edit by hand."""
    lines = []
    for key, value in content.items():
        name = json.dumps(key)
        if isinstance(value, list) and value:
            rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in value)
            lines.append(f" {name}: [\n{rows}\n ]")
        else:
            lines.append(f" {name}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def read_json(path: str | os.PathLike[str], format: str, version: int) -> dict[str, Any]:
    """The content of a JSON file of ours, its format and version checked."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file, expected a {format} in JSON") from None
    return parse_json(text, format, version, str(path))


def parse_json(text: str, format: str, version: int, name: str) -> dict[str, Any]:
    """The object in a JSON text, its format and version checked."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is not JSON: {error}") from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != format:
        raise ValueError(f'{name} has "format": {found!r}, expected "{format}"')
    if content.get("version") != version:
        raise ValueError(
            f'{name} has "version": {content.get("version")!r}, expected {version}: it was written by another '
            "release of deptriad"
        )
    return dict(content)
