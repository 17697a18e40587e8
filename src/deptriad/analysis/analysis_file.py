"""The file of an analysis, as JSON or Parquet: what is known about it, and the triads column by column."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deptriad.utils import files

FORMAT, VERSION = "deptriad analysis", 1


def write(path: str | os.PathLike[str], about: dict[str, Any], columns: dict[str, Any]) -> None:
    """Write a .json or .parquet file, whole or not at all."""
    content = {"format": FORMAT, "version": VERSION} | about
    _by_suffix(path, {".json": _write_json, ".parquet": _write_parquet})(path, content, columns)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What ``write`` wrote, its format and version checked."""
    found: tuple[dict[str, Any], dict[str, list[Any]]] = _by_suffix(
        path, {".json": _read_json, ".parquet": _read_parquet}
    )(path)
    return found


def _write_json(
    path: str | os.PathLike[str], about: dict[str, Any], columns: dict[str, Any]
) -> None:
    files.write_json(
        path, about | {"digest": _digest(about, _rows(columns)), "triads": _rows(columns)}
    )


def _write_parquet(
    path: str | os.PathLike[str], about: dict[str, Any], columns: dict[str, Any]
) -> None:
    arrow, parquet = _arrow()
    told = about | {"digest": _digest(about, _rows(columns))}
    table = arrow.table(columns).replace_schema_metadata({"deptriad": json.dumps(told)})
    with files.whole(path) as partial:
        parquet.write_table(table, partial)


def _read_json(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    about = files.read_json(path, FORMAT, VERSION)
    rows = about.get("triads")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} has no list of triads")
    names = ("source", "target", "alpha", "phi", "delta")
    try:
        columns = {name: [row[name] for row in rows] for name in names}
    except KeyError as missing:
        raise ValueError(f"{path} has a triad without {missing}") from None
    del about["triads"]
    _check_digest(path, about, rows)
    return about, columns


def _read_parquet(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
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
    about = files.parse_json(held.decode(), FORMAT, VERSION, str(path))
    columns = {name: table[name].to_pylist() for name in table.column_names}
    _check_digest(path, about, _rows(columns))
    return about, columns


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _digest(about: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    text = json.dumps(files.spelt(about | {"triads": rows}), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _check_digest(
    path: str | os.PathLike[str], about: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    """A number that was changed by hand or by an accident is noticed; files of before had no digest."""
    said = about.pop("digest", None)
    if said is not None and said != (found := _digest(about, rows)):
        raise ValueError(
            f"{path} has the digest {said!r}, but its content has {found!r}: it was changed after it was saved; save "
            "the analysis again"
        )


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


def _by_suffix(
    path: str | os.PathLike[str], ways: dict[str, Callable[..., Any]]
) -> Callable[..., Any]:
    suffix = Path(path).suffix.lower()
    if suffix not in ways:
        raise ValueError(f"{path} ends in {suffix!r}, expected {' or '.join(ways)}")
    return ways[suffix]
