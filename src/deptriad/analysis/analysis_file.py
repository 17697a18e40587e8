"""The file of an analysis, as JSON or Parquet: what is known about it, and the triads column by column."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from deptriad.utils import files

FORMAT, VERSION = "deptriad analysis", 1


def write(path: str | os.PathLike[str], about: dict[str, Any], columns: dict[str, Any]) -> None:
    """Write a .json or .parquet file, whole or not at all."""
    rows = _rows(columns)
    content = {"format": FORMAT, "version": VERSION} | about
    content |= {"digest": _digest(content, rows)}
    if _suffix(path) == ".json":
        files.write_json(path, content | {"triads": rows})
        return
    arrow, parquet = _arrow()
    table = arrow.table(columns).replace_schema_metadata({"deptriad": json.dumps(content)})
    with files.whole(path) as partial:
        parquet.write_table(table, partial)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What ``write`` wrote, its format, version and digest checked.

    A number that was changed by hand or by an accident is noticed; files of before had no digest.
    """
    about, rows = _read_json(path) if _suffix(path) == ".json" else _read_parquet(path)
    names = ("source", "target", "alpha", "phi", "delta")
    try:
        columns = {name: [row[name] for row in rows] for name in names}
    except KeyError as missing:
        raise ValueError(f"{path} has a triad without {missing}") from None
    said = about.pop("digest", None)
    if said is not None and said != (found := _digest(about, rows)):
        raise ValueError(
            f"{path} has the digest {said!r}, but its content has {found!r}: it was changed after it was saved; save "
            "the analysis again"
        )
    return about, columns


def _read_json(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    about = files.read_json(path, FORMAT, VERSION)
    rows = about.pop("triads", None)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} has no list of triads")
    return about, rows


def _read_parquet(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    arrow, parquet = _arrow()
    try:
        table = parquet.read_table(os.fspath(path))
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a whole Parquet file: {error}") from None
    held = (table.schema.metadata or {}).get(b"deptriad")
    if held is None:
        raise ValueError(
            f"{path} is a Parquet file of something else, expected one saved by Analysis.save"
        )
    return files.parse_json(held.decode(), FORMAT, VERSION, str(path)), table.to_pylist()


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _digest(about: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    text = json.dumps(files.spelt(about | {"triads": rows}), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"Parquet files need {missing.name}: pip install 'deptriad[files]', or save as .json",
            name=missing.name,
        ) from None
    return pyarrow, pyarrow.parquet


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".json", ".parquet"):
        raise ValueError(f"{path} ends in {suffix!r}, expected .json or .parquet")
    return suffix
