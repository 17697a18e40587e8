"""What a query over a file may do: read that file's rows, called ``data``, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

ROWS_OF_ITS_OWN = ("generate_series", "range", "unnest")
"""Functions that make rows from what they are given; others may read files or run text as SQL."""


def refuse_unsafe(connection: Any, query: str) -> None:
    """Refuse whatever is not one SELECT over ``data``, as DuckDB's own parser takes it apart.

    Parameters
    ----------
    connection
        Of DuckDB; without a lookup of Python's variables, so that a plain name can be no table but one of the query's.
    query
        SQL of a user.

    Raises
    ------
    ValueError
        For other statements (COPY, ATTACH, …), several of them, and for tables and functions that read anything else.
    """
    expected = "expected one SELECT over the rows of the file, which are called data"
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise ValueError(f"the query has {len(statements)} statements, {expected}")
    with connection.cursor() as cursor:
        content = cursor.execute("select json_serialize_sql(?)", [query]).fetchone()[0]
    parsed = json.loads(content)
    if parsed.get("error"):
        other = str(statements[0].type).rpartition(".")[2]
        raise ValueError(f"the query is of the kind {other}, {expected}")
    parts = list(_parts(parsed))
    named = {"data"} | {entry["key"] for part in parts for entry in _defined(part)}
    for part in parts:
        kind, table = part.get("type"), part.get("table_name")
        if kind == "TABLE_FUNCTION" and (name := part["function"]["function_name"]):
            if name not in ROWS_OF_ITS_OWN:
                raise ValueError(f"the query calls {name}(), {expected}")
        elif kind == "SHOW_REF":
            raise ValueError(f"the query describes a table, {expected}")
        # a file would have a suffix, so that a plain name is never one
        elif kind == "BASE_TABLE" and (
            table not in named
            or not str(table).isidentifier()
            or part["schema_name"]
            or part["catalog_name"]
        ):
            raise ValueError(f"the query reads the table {table!r}, {expected}")


def _parts(node: Any) -> Iterator[dict[str, Any]]:
    """Every object within parsed SQL."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node:
        if isinstance(inner, dict | list):
            yield from _parts(inner)


def _defined(part: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables that a WITH names."""
    held = part.get("cte_map")
    return held["map"] if isinstance(held, dict) else []
