"""Store: where a collector keeps reports, each once; and invitations, of which nothing is kept once they are used."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from deptriad.clients.wire import Report
from deptriad.collection import report_store
from deptriad.collection.report_mark import STRATEGY
from deptriad.collection.split import as_strategy

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

Outcome = Literal["stored", "known", "another", "uninvited"]
"""All new ones were stored; all were known; an id was known with another content; no invitation that is left."""

INVITED = "invitations"
AT_ONCE = 5_000
"""Ids in one query."""


class Submission(NamedTuple):
    """Reports that are stored together or not at all, and the invitation that came with them."""

    reports: Sequence[Report]
    invitation: str | None = None


@dataclass(frozen=True)
class Store:
    """A store of one plan's reports, open for writing. Other processes may write to it, too.

    Made by ``opened``; to be closed.
    """

    url: str
    _engine: Engine = field(repr=False)

    @classmethod
    def opened(cls, place: str | os.PathLike[str], strategy: Any) -> Store:
        """The store at a URL, or in a SQLite file, of a plan or strategy; made if there is none.

        Raises
        ------
        ValueError
            If it has reports of another plan.
        """
        url, own = report_store.url_of(place), as_strategy(strategy).fingerprint
        if url.startswith(report_store.SQLITE):
            _make_file(url.removeprefix(report_store.SQLITE))
        store = cls(url, report_store.engine(url, "rw"))
        try:
            with store._writing() as connection:
                _make_tables(connection, own)
                found = report_store.facts(connection, url)
            if found[STRATEGY] != own:
                raise ValueError(
                    f"{report_store.shown(url)} has reports of another plan: attributes, mechanisms or budgets differ; "
                    "expected a store of this plan, or a new one"
                )
        except BaseException:
            store._engine.dispose()
            raise
        return store

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that no other writer is in; SQLite has one at a time anyway."""
        import sqlalchemy as sa

        with report_store.failing(self.url), self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("SET LOCAL synchronous_commit TO on"))
                # a number of our own: before there are tables there is nothing else to lock
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(1684369524)"))
            yield connection

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store many submissions in one transaction; when this returns, they are on the disk.

        Who sends the same reports again is told so, whatever the invitation: the first answer may have been lost on its
        way. Within the transaction rows are written in the order of their random ids, not as they came.
        """
        import sqlalchemy as sa

        facts, reports, invitations = report_store.tables()
        with self._writing() as connection:
            ids = [each.id for submission in submissions for each in submission.reports]
            known = dict(_found(connection, reports.c.id, ids, reports.c.view, reports.c.answers))
            asked = sa.select(facts.c.value).where(facts.c.name == INVITED)
            open_to_all = connection.execute(asked).first() is None
            hashes = [hashed(each.invitation) for each in submissions if each.invitation]
            left = (
                set()
                if open_to_all
                else {own for own, _ in _found(connection, invitations.c.hash, hashes)}
            )
            unused, new = set(left), dict[str, Report]()
            outcomes = [_decide(each, known, new, unused, open_to_all) for each in submissions]
            if new:
                rows = [new[own]._asdict() for own in sorted(new)]
                connection.execute(sa.insert(reports), rows)
            for some in _parts(sorted(left - unused)):
                connection.execute(sa.delete(invitations).where(invitations.c.hash.in_(some)))
        return outcomes

    def check(self) -> None:
        """Write a row anew, with what it holds: whether what comes can be stored.

        Raises
        ------
        OSError
            If it cannot.
        """
        import sqlalchemy as sa

        facts = report_store.tables().facts
        with self._writing() as connection:
            connection.execute(
                sa.update(facts).where(facts.c.name == "version").values(value=report_store.VERSION)
            )

    def invite(
        self, count: int, keep: Callable[[Sequence[str]], object] = lambda made: None
    ) -> list[str]:
        """New invitations, each good for one report; from now on the store takes no report without one.

        ``keep`` is given them before they count: where it fails, none is made.
        """
        import sqlalchemy as sa

        facts, _, invitations = report_store.tables()
        made = [secrets.token_urlsafe(16) for _ in range(count)]
        with self._writing() as connection:
            asked = sa.select(facts.c.value).where(facts.c.name == INVITED)
            if connection.execute(asked).first() is None:
                connection.execute(sa.insert(facts), [{"name": INVITED, "value": "needed"}])
            rows = [{"hash": own} for own in sorted(map(hashed, made))]
            connection.execute(sa.insert(invitations), rows)
            keep(made)
        return made

    def forget_order(self) -> None:
        """Rewrite all rows in the order of their random keys, so that their places tell nothing of when they came.

        Until then a copy of the files tells it to who looks at pages, logs and numbers of transactions.

        Raises
        ------
        OSError
            If it cannot, such as for want of space, or while somebody reads.
        """
        import sqlalchemy as sa

        if self._engine.dialect.name == "sqlite":
            with report_store.failing(self.url), self._engine.connect() as connection:
                driver: Any = connection.connection.dbapi_connection
                driver.execute("VACUUM")
                busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise OSError(f"the store {report_store.shown(self.url)} is being read")
            return
        with self._writing() as connection:
            patience = f"SET LOCAL lock_timeout = {int(1000 * report_store.WAIT)}"  # for who reads
            connection.execute(sa.text(patience))
            for table in report_store.tables()[1:]:
                name, key = table.name, next(iter(table.primary_key)).name
                for statement in (
                    f"CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM {name}",
                    f"TRUNCATE {name}",
                    f"INSERT INTO {name} SELECT * FROM kept ORDER BY {key}",
                    "DROP TABLE kept",
                ):
                    connection.execute(sa.text(statement))

    def close(self) -> None:
        """Forget the order, and let the store go.

        Raises
        ------
        OSError
            If the order could not be forgotten; nothing is lost then.
        """
        try:
            self.forget_order()
        except OSError as error:
            raise OSError(
                f"all reports are kept, but the store still tells in which order they came: {error}; when that is "
                "mended, start and stop the collector once more"
            ) from None
        finally:
            self._engine.dispose()


def hashed(invitation: str) -> str:
    """What is kept of an invitation; 128 random bits need no salt."""
    return sha256(invitation.encode("utf-8", "replace")).hexdigest()


def _make_file(path: str) -> None:
    """An empty file that only its owner may read, if there is none; SQLite's own files beside it take after it."""
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(
            f"the store is {path}, but there is no folder {Path(path).parent}: make it first"
        )
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _make_tables(connection: Connection, fingerprint: str) -> None:
    """The tables, if there are none, and what the store says about itself."""
    import sqlalchemy as sa

    every = report_store.tables()
    if sa.inspect(connection).has_table(every.facts.name):
        return
    every.facts.metadata.create_all(connection)
    about = {"format": report_store.FORMAT, "version": report_store.VERSION, STRATEGY: fingerprint}
    rows = [{"name": name, "value": value} for name, value in about.items()]
    connection.execute(sa.insert(every.facts), rows)


def _parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))


def _found(connection: Connection, key: Any, keys: Iterable[str], *others: Any) -> Iterator[Any]:
    """The rows that have some keys: the key, and the other columns."""
    import sqlalchemy as sa

    for some in _parts(sorted(set(keys))):
        for own, *rest in connection.execute(sa.select(key, *others).where(key.in_(some))):
            yield own, tuple(rest)


def _decide(
    submission: Submission,
    known: dict[str, tuple[int, str]],
    new: dict[str, Report],
    unused: set[str],
    open_to_all: bool,
) -> Outcome:
    """What becomes of a submission; what it adds is in ``known`` and ``new`` for those after it."""
    own: dict[str, Report] = {}
    for each in submission.reports:
        before = known.get(each.id) or (own[each.id][1:] if each.id in own else None)
        if before is None:
            own[each.id] = each
        elif before != (each.view, each.answers):
            return "another"
    if not own:
        return "known"
    if not open_to_all:
        invitation = hashed(submission.invitation or "")
        if len(own) > 1 or invitation not in unused:
            return "uninvited"
        unused.discard(invitation)
    new |= own
    known |= {each.id: (each.view, each.answers) for each in own.values()}
    return "stored"
