"""Group commit: what arrives while a transaction is written to the disk goes into the next one, all of it together.

So one wait for the disk serves all who send at that time. Nobody is answered before the commit that has their report.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from deptriad.clients.store import Outcome, Submission

MOST_WAITING = 20_000
"""Reports that may wait; more are turned away until some are stored."""

MOST_TOGETHER = 2_000
"""Reports in one transaction, if not one submission alone has more."""


class Busy(Exception):
    """More reports wait already than may."""


class GroupCommit:
    """A queue, and the one task that stores what is in it, by ``add`` of a store."""

    def __init__(self, add: Callable[[Sequence[Submission]], list[Outcome]]) -> None:
        self._add = add
        self._waiting: deque[tuple[Submission, asyncio.Future[Outcome]]] = deque()
        self._reports = 0
        self._filled = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ending = False

    def start(self) -> None:
        """Begin to store what is queued."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Store what is still queued, answer all who wait, and end."""
        self._ending = True
        self._filled.set()
        if self._task is not None:
            await self._task
        while self._waiting:
            await self._store_some()

    async def add(self, submission: Submission) -> Outcome:
        """Queue a submission, and wait until its transaction is on the disk.

        Raises
        ------
        Busy
            If too many wait.
        OSError
            If it could not be written; nothing of it is stored then.
        """
        if self._reports + len(submission.reports) > MOST_WAITING:
            raise Busy
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._reports += len(submission.reports)
        self._waiting.append((submission, answer))
        self._filled.set()
        return await answer

    async def _run(self) -> None:
        while not self._ending:
            await self._filled.wait()
            self._filled.clear()
            while self._waiting:
                await self._store_some()

    async def _store_some(self) -> None:
        """One transaction."""
        some = [self._waiting.popleft()]
        held = len(some[0][0].reports)
        while self._waiting and held + len(self._waiting[0][0].reports) <= MOST_TOGETHER:
            some.append(self._waiting.popleft())
            held += len(some[-1][0].reports)
        try:
            outcomes = await asyncio.to_thread(self._add, [submission for submission, _ in some])
        except Exception as error:
            for _, answer in some:
                if not answer.done():
                    answer.set_exception(OSError(str(error)))
        else:
            for (_, answer), outcome in zip(some, outcomes, strict=True):
                if not answer.done():  # who has gone away is not told
                    answer.set_result(outcome)
        finally:
            self._reports -= held
