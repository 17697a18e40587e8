import json
import re
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import collector
import deptriad as dt
from deptriad.clients.store import Store, Submission, hashed
from deptriad.clients.wire import Wire
from deptriad.collection import report_store
from deptriad.collection.marginal import estimate


@pytest.fixture
def store(plan, url):
    opened = Store.opened(url, plan)
    yield opened
    opened._engine.dispose()


def some(plan, count, seed=1):
    wire = Wire.of(plan)
    return [
        wire.read(each) for each in collector.messages(plan, count, np.random.default_rng(seed))
    ]


def alone(report, invitation=None):
    return Submission([report], invitation)


def held(store):
    return set(collector.stored_reports(store.url))


def test_a_report_is_counted_once_and_a_batch_is_stored_whole_or_not_at_all(store, plan):
    a, b, c, d = some(plan, 4)
    other = a._replace(view=a.view % 7 + 1)
    assert store.add([alone(a), alone(a), Submission([b, b])]) == ["stored", "known", "stored"]
    assert store.add([Submission([c, other]), alone(other)]) == ["another", "another"]
    assert held(store) == {a.id, b.id}
    clash = c._replace(answers="{}")
    assert store.add([Submission([c, clash]), Submission([c, d, a])]) == ["another", "stored"]
    assert held(store) == {a.id, b.id, c.id, d.id}
    assert collector.stored_reports(store.url)[a.id] == (a.view, json.loads(a.answers))


def test_an_invitation_is_good_for_one_report_and_a_retry_needs_none(store, plan):
    a, b, c, d = some(plan, 4)
    assert store.add([alone(a)]) == ["stored"]
    one, two = store.invite(2)
    assert store.add([alone(b), alone(b, "no"), Submission([b, c], one)]) == ["uninvited"] * 3
    assert store.add([alone(b, one), alone(c, one), alone(d, two)]) == [
        "stored",
        "uninvited",
        "stored",
    ]
    assert store.add([alone(b, one), alone(b), alone(c, one)]) == ["known", "known", "uninvited"]
    (three,) = store.invite(1)
    other = b._replace(view=b.view % 7 + 1)
    assert store.add([alone(other, three), alone(c, three)]) == ["another", "stored"]


def test_a_store_of_another_plan_is_refused_and_so_is_what_is_none(plan, url, tmp_path):
    Store.opened(url, plan).close()
    other = collector.survey("grr", "olh")
    with pytest.raises(ValueError, match="has reports of another plan"):
        Store.opened(url, other)
    with pytest.raises(ValueError, match="holds reports of another plan"):
        other.estimate(url, "sex")
    if url.startswith("sqlite"):
        path = tmp_path / "no.db"
        path.write_text("neither here nor there" * 100)
        with pytest.raises(OSError, match="not a database"):
            Store.opened(path, plan)
        with pytest.raises(OSError, match="not a database"):
            plan.estimate(f"sqlite:///{path}", "sex")
        path.write_bytes(b"")
        with pytest.raises(ValueError, match="no store of reports"):
            plan.estimate(f"sqlite:///{path}", "sex")
        with pytest.raises(FileNotFoundError, match="no file"):
            plan.estimate(f"sqlite:///{tmp_path}/absent.db", "sex")
        with pytest.raises(FileNotFoundError, match="no folder"):
            Store.opened(tmp_path / "absent" / "r.db", plan)
    with pytest.raises(ValueError, match="expected the path of a SQLite file"):
        Store.opened("mysql://me:secret@host/x", plan)


def test_a_store_serves_many_threads_at_once(store):
    import sqlalchemy as sa

    every = threading.Barrier(8)

    def one(_):
        with store._engine.connect() as connection:
            every.wait(60)
            return connection.execute(sa.text("SELECT 7")).scalar()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(one, range(8))) == [7] * 8


def test_estimates_are_those_of_the_same_reports_in_a_frame(store, plan, monkeypatch):
    monkeypatch.setattr(report_store, "ROWS", 700)  # several batches
    messages = collector.messages(plan, 3000, np.random.default_rng(5))
    wire = Wire.of(plan)
    store.add([Submission([wire.read(each) for each in messages])])
    import pandas as pd

    frame = pd.DataFrame(
        [{"view": each["view"]} | dict.fromkeys(plan.names) | each["answers"] for each in messages]
    )  # fmt: skip
    for names in ("sex", "by olh", "by subset", ["sex", "income"], ["sex", "by oue"]):
        here, there = (plan.estimate(reports, names) for reports in (store.url, frame))
        assert (here.unbiased == there.unbiased).all()
        assert (here.standard_errors == there.standard_errors).all()
        assert here.n == there.n
        assert here.note == "people sent these reports: not checked is whether each was perturbed"


def test_what_cannot_be_reports_is_refused_by_the_estimate(store, plan):
    wire = Wire.of(plan)
    alike = [
        each | {"view": 1, "answers": {"sex": "f", "income": "low"}}
        for each in collector.messages(plan, 2000, np.random.default_rng(1))
    ]
    store.add([Submission([wire.read(each) for each in alike])])
    with pytest.raises(ValueError, match="these are no reports of"):
        plan.estimate(store.url, ["sex", "income"])


def test_nothing_is_acknowledged_when_the_disk_is_full(plan, tmp_path):
    store = Store.opened(tmp_path / "r.db", plan)
    first, rest = some(plan, 1, 1), some(plan, 3000, 2)
    assert store.add([alone(first[0])]) == ["stored"]
    with store._engine.connect() as connection:
        connection.connection.dbapi_connection.execute("PRAGMA max_page_count=20")
    with pytest.raises(OSError, match="full") as error:
        store.add([Submission(rest)])
    assert not re.search("[0-9a-f]{32}", str(error.value))  # no report in what may be logged
    assert held(store) == {first[0].id}
    store._engine.dispose()


# --- what a store reveals ---


def without_counters(path):
    """A SQLite file but for the numbers in its head that count changes."""
    content = bytearray(Path(path).read_bytes())
    for start in (24, 40, 92):
        content[start : start + 4] = bytes(4)
    return bytes(content)


def test_a_closed_file_does_not_tell_the_order_of_reports_nor_a_used_invitation(plan, tmp_path):
    reports = some(plan, 300)
    invitations = None
    files, before = [], []
    for name, turn in (("a.db", 1), ("b.db", -1)):
        store = Store.opened(tmp_path / name, plan)
        if invitations is None:
            invitations = store.invite(301)
        else:  # the same ones
            monkey = pytest.MonkeyPatch()
            given = iter(invitations)
            monkey.setattr("secrets.token_urlsafe", lambda _, given=given: next(given))
            store.invite(301)
            monkey.undo()
        for place in range(300)[::turn]:
            store.add([alone(reports[place], invitations[place])])
        driver = store._engine.raw_connection()
        driver.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        driver.close()
        before.append(without_counters(tmp_path / name))
        store.close()
        files.append(without_counters(tmp_path / name))
    assert before[0] != before[1]  # the order in which they came is there
    assert files[0] == files[1]  # and is gone
    assert hashed(invitations[-1]).encode() in files[0]
    assert not any(hashed(each).encode() in files[0] for each in invitations[:-1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "b.db"]
    assert stat.S_IMODE((tmp_path / "a.db").stat().st_mode) == 0o600


def test_a_closed_database_does_not_tell_the_order_either(plan, postgresql, request):
    import sqlalchemy as sa

    request.getfixturevalue("postgresql")
    made = report_store.engine(postgresql, "rw")
    with made.begin() as connection:
        for table in report_store.tables():
            connection.execute(sa.text(f"DROP TABLE IF EXISTS {table.name}"))
    store = Store.opened(postgresql, plan)
    invitations = store.invite(50)
    for each, invitation in zip(some(plan, 49), invitations, strict=False):
        store.add([alone(each, invitation)])
    asked = sa.text("SELECT id, xmin::text FROM deptriad_reports ORDER BY ctid")

    def rows():
        with made.connect() as connection:
            return [tuple(row) for row in connection.execute(asked)]

    before = rows()
    assert len({number for _, number in before}) == 49
    store.close()
    after = rows()
    assert [own for own, _ in after] == sorted(own for own, _ in before)
    assert len({number for _, number in after}) == 1
    with made.connect() as connection:
        left = connection.execute(
            sa.text("SELECT hash, ctid::text FROM deptriad_invitations")
        ).all()
    assert [tuple(row) for row in left] == [(hashed(invitations[-1]), "(0,1)")]
    made.dispose()


def test_who_closes_a_store_that_is_read_is_told_that_its_order_stays(plan, url, monkeypatch):
    monkeypatch.setattr(report_store, "WAIT", 0.05)
    monkeypatch.setattr(report_store, "ROWS", 1)
    store = Store.opened(url, plan)
    store.add([alone(each) for each in some(plan, 500)])
    reading = report_store.frames(store.url, "view", plan.names)
    next(reading)
    with pytest.raises(OSError, match="all reports are kept, but the store still tells in which"):
        store.close()
    assert sum(1 for _ in reading) == 499  # who reads is not disturbed
    Store.opened(url, plan).close()
    assert len(held(store)) == 500


def test_an_empty_label_is_an_answer_and_an_empty_store_is_none(tmp_path):
    split = dt.Split(dt.Schema([dt.Attribute("q", ["", "a"], missing="error")]), 1.0)
    store, wire = Store.opened(tmp_path / "r.db", split), Wire.of(split)
    with pytest.raises(ValueError, match=r"no reports|nobody|empty"):
        estimate(split, store.url, "q")
    store.add([Submission([wire.read(each) for each in wire.sent(np.zeros((200, 1), int))])])
    store.close()
    assert estimate(split, store.url, "q").n == 200
