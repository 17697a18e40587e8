"""Stores of reports: the tables in which a collector keeps them, in SQLite or PostgreSQL, and how they are read again.

A store holds nothing of where or when a report came from. Reports are keyed by random ids of their own; invitations
that are left are keyed by hashes of theirs; nothing is common to both.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

SQLITE, POSTGRESQL = "sqlite:///", "postgresql"
FORMAT, VERSION = "deptriad store", "1"
ROWS = 1 << 14
"""Reports that are read at a time."""

WAIT = 60.0
"""Seconds to wait for another process that writes to the same SQLite file."""


class Tables(NamedTuple):
    """What a store has: facts about itself, reports, and invitations that were not used yet."""

    facts: Table
    reports: Table
    invitations: Table


@cache
def tables() -> Tables:
    """The tables; in SQLite without row numbers, which would tell the order in which rows came."""
    import sqlalchemy as sa

    every: sa.MetaData = sa.MetaData()
    unnumbered: Any = {"sqlite_with_rowid": False}
    key = sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
    return Tables(
        sa.Table("deptriad_facts", every, *key, **unnumbered),
        sa.Table(
            "deptriad_reports",
            every,
            sa.Column("id", sa.String(32), primary_key=True),
            sa.Column("view", sa.Integer, nullable=False),
            sa.Column("answers", sa.Text, nullable=False),
            **unnumbered,
        ),
        sa.Table(
            "deptriad_invitations",
            every,
            sa.Column("hash", sa.String(64), primary_key=True),
            **unnumbered,
        ),
    )


# --- places ---------------------------------------------------------------------------------------------------


def is_store(reports: Any) -> bool:
    """Whether reports are named by the URL of a store.

    >>> is_store("sqlite:///reports.db"), is_store("postgresql://localhost/survey"), is_store("reports.parquet")
    (True, True, False)
    """
    return isinstance(reports, str) and reports.startswith(
        (SQLITE, f"{POSTGRESQL}:", f"{POSTGRESQL}+psycopg:")
    )


def url_of(store: str | os.PathLike[str]) -> str:
    """The URL of a store that is named by it, or by the path of a SQLite file.

    >>> url_of("reports.db")
    'sqlite:///reports.db'
    """
    place = os.fspath(store)
    if is_store(place):
        return place
    if "://" in place or not place:
        raise ValueError(
            f"the store is {place.partition('@')[0]!r}, expected the path of a SQLite file, sqlite:///FILE or "
            "postgresql://USER@HOST/DATABASE"
        )
    return f"{SQLITE}{place}"


def shown(url: str) -> str:
    """A URL as messages show it: without a password."""
    import sqlalchemy as sa

    return sa.make_url(url).render_as_string(hide_password=True)


def engine(url: str, mode: str) -> Engine:
    """What connects to a store; ``mode`` is that of SQLite: "ro" to read only, "rw" to write as well.

    Parameters never enter messages, since they are reports.
    """
    needed = ("sqlalchemy",) if url.startswith(SQLITE) else ("sqlalchemy", "psycopg")
    for module in needed:
        if not find_spec(module):
            extra = "collect" if module == "sqlalchemy" else "collect-postgresql"
            raise ModuleNotFoundError(
                f"a store of reports needs {module}: pip install 'deptriad[{extra}]'", name=module
            )
    import sqlalchemy as sa

    if url.startswith(SQLITE):
        return _sqlite(Path(url.removeprefix(SQLITE)), mode)
    place = sa.make_url(url).set(drivername="postgresql+psycopg")
    return sa.create_engine(place, hide_parameters=True)


def _sqlite(path: Path, mode: str) -> Engine:
    import sqlalchemy as sa

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    named = f"file:{quote(str(path.absolute()))}?mode={mode}"

    def connected() -> sqlite3.Connection:
        own = sqlite3.connect(
            named, timeout=WAIT, isolation_level=None, uri=True, check_same_thread=False
        )
        if mode == "rw":
            # a commit is on the disk before it is acknowledged, and what is deleted is overwritten
            own.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON"
            )
        return own

    # the usual pool of such a URL is one of threads: with many of them it closes connections that others are using
    pool = sa.pool.QueuePool
    made = sa.create_engine("sqlite://", creator=connected, poolclass=pool, hide_parameters=True)
    begin = "BEGIN IMMEDIATE" if mode == "rw" else "BEGIN"
    sa.event.listen(made, "begin", lambda connection: connection.exec_driver_sql(begin))
    return made


@contextmanager
def failing(url: str) -> Iterator[None]:
    """What a database says is wrong, as an error that names the store and shows none of its content."""
    import sqlalchemy as sa

    try:
        yield
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        said = getattr(error, "orig", None) or error
        reason = "; ".join(line.strip() for line in str(said).splitlines() if line.strip())
        raise OSError(f"the store {shown(url)} cannot be used: {reason}") from None


def facts(connection: Connection, url: str) -> dict[str, str]:
    """What a store says about itself; refused if it is none."""
    import sqlalchemy as sa

    own = tables().facts
    found: dict[str, str] = {}
    if sa.inspect(connection).has_table(own.name):
        found = {row.name: row.value for row in connection.execute(sa.select(own))}
    if found.get("format") != FORMAT:
        raise ValueError(
            f"{shown(url)} is no store of reports, expected one that `deptriad collect` made"
        )
    if found.get("version") != VERSION:
        raise ValueError(
            f"{shown(url)} has version {found.get('version')!r}, expected {VERSION}: it was made by another release of "
            "deptriad"
        )
    return found


# --- reading --------------------------------------------------------------------------------------------------


@contextmanager
def _reading(url: str) -> Iterator[Connection]:
    with failing(url):
        made = engine(url, "ro")
        try:
            with made.connect() as connection:
                yield connection
        finally:
            made.dispose()


def facts_of(url: str) -> dict[str, str]:
    """What the store at a URL says about itself."""
    with _reading(url) as connection:
        return facts(connection, url)


def frames(url: str, view_column: str, names: Sequence[str]) -> Iterator[Any]:
    """All reports as Arrow tables of a few thousand, with the columns named; at least one table, which may be empty."""
    import sqlalchemy as sa

    own = tables().reports
    with _reading(url) as connection:
        asked = sa.select(own.c.view, own.c.answers)
        found = connection.execution_options(yield_per=ROWS).execute(asked)
        any_rows = False
        for rows in found.partitions():
            any_rows = True
            yield _table(rows, view_column, names)
    if not any_rows:
        yield _table([], view_column, names)


def _table(rows: Sequence[Any], view_column: str, names: Sequence[str]) -> Any:
    import pyarrow as pa

    answers = [json.loads(text) for _, text in rows]
    columns = {view_column: pa.array([view for view, _ in rows], pa.int32())}
    for name in names:
        if name != view_column:
            columns[name] = pa.array([each.get(name) for each in answers], pa.string())
    return pa.table(columns)
