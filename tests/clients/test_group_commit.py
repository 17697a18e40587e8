import asyncio
import threading

import pytest

from deptriad.clients import group_commit
from deptriad.clients.group_commit import Busy, GroupCommit
from deptriad.clients.store import Submission
from deptriad.clients.wire import Report

REPORTS = [Report(f"{number:032x}", 1, "{}") for number in range(100)]


def test_what_arrives_during_a_commit_goes_into_the_next_one_together():
    transactions, gate = [], threading.Event()

    def add(submissions):
        gate.wait()
        transactions.append([each.reports[0].id for each in submissions])
        return ["stored"] * len(submissions)

    async def run():
        writer = GroupCommit(add)
        writer.start()
        first = asyncio.create_task(writer.add(Submission(REPORTS[:1])))
        await asyncio.sleep(0.01)
        others = [asyncio.create_task(writer.add(Submission([each]))) for each in REPORTS[1:]]
        others[0].cancel()  # who goes away is stored all the same
        await asyncio.sleep(0.01)
        assert not first.done()  # nobody is answered before the commit
        gate.set()
        found = await asyncio.gather(first, *others, return_exceptions=True)
        await writer.stop()
        return found

    found = asyncio.run(run())
    assert found.count("stored") == 99
    assert list(map(len, transactions)) == [1, 98]


def test_a_failure_is_told_to_all_in_the_transaction_and_the_next_one_is_tried():
    works = iter([False, True])

    def add(submissions):
        if not next(works):
            raise OSError("no space is left")
        return ["stored"] * len(submissions)

    async def run():
        writer = GroupCommit(add)
        writer.start()
        both = [writer.add(Submission([each])) for each in REPORTS[:2]]
        failed = await asyncio.gather(*both, return_exceptions=True)
        assert [type(each) for each in failed] == [OSError, OSError]
        assert await writer.add(Submission(REPORTS[:1])) == "stored"
        await writer.stop()

    asyncio.run(run())


def test_too_many_that_wait_are_turned_away_and_what_waits_is_stored_at_the_end(monkeypatch):
    monkeypatch.setattr(group_commit, "MOST_WAITING", 50)
    stored = []

    def add(submissions):
        stored.extend(submissions)
        return ["stored"] * len(submissions)

    async def run():
        writer = GroupCommit(add)  # not started: all wait
        waiting = asyncio.create_task(writer.add(Submission(REPORTS[:40])))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await writer.add(Submission(REPORTS[:20]))
        await writer.stop()
        return await waiting

    assert asyncio.run(run()) == "stored"
    assert len(stored) == 1


def test_who_is_in_a_transaction_when_the_writer_ends_is_answered():
    begun, gate = threading.Event(), threading.Event()

    def add(submissions):
        begun.set()
        gate.wait()
        return ["stored"] * len(submissions)

    async def run():
        writer = GroupCommit(add)
        writer.start()
        one = asyncio.create_task(writer.add(Submission(REPORTS[:1])))
        await asyncio.to_thread(begun.wait)
        other = asyncio.create_task(writer.add(Submission(REPORTS[1:2])))
        await asyncio.sleep(0)
        ending = asyncio.create_task(writer.stop())
        await asyncio.sleep(0)
        gate.set()
        await ending
        return [one.done(), other.done()]

    assert asyncio.run(run()) == [True, True]
