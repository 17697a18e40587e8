"""A real collector in a process of its own, senders on the loopback address, and what is left after it is killed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import deptriad as dt
from deptriad.clients.wire import Wire
from deptriad.collection import report_store
from deptriad.collection.view import View

COMMAND = [sys.executable, "-c", "from deptriad.cli import main; main()"]


def survey(*ways: str, users: int = 1000) -> dt.Plan:
    """A plan of several views, by several mechanisms; one of its attributes is asked in each, two as one value."""
    ways = ways or ("grr", "olh", "oue", "subset", "hadamard", "staircase")
    every = [
        dt.Attribute("sex", ["f", "m"], missing="error"),
        dt.Attribute("income", ["low", "middle", "high"], missing="error"),
        *(dt.Attribute(f"by {way}", list("abcde"), missing="error") for way in ways),
    ]
    views = [View.of_one_value(["sex", "income"], 2.0, "grr", 0.5)]
    for each, way in zip(every[2:], ways, strict=True):
        names, budgets = ("sex", each.name), {"sex": 1.0, each.name: 1.0}
        views.append(View(names, budgets, {"sex": "grr", each.name: way}, share=0.5 / len(ways)))
    names = [each.name for each in every]
    total = dict.fromkeys(names, 3.0)
    totals = {name: {"joint": 3.0} for name in names}
    return dt.Plan(dt.Schema(every), tuple(views), total, "joint", "utility", totals, users=users)


def messages(plan: Any, count: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Reports to send, of people whose answers are drawn evenly."""
    wire = Wire.of(plan)
    sizes = [each.size for each in wire.strategy.schema]
    codes = np.column_stack([rng.integers(0, size, count) for size in sizes])
    return wire.sent(codes)


@contextmanager
def running(plan: Path, store: str, *more: str) -> Iterator[tuple[int, subprocess.Popen]]:
    """The port of a collector, and its process."""
    process = subprocess.Popen(
        [*COMMAND, "collect", str(plan), "--store", store, "--port", "0", "--rate", "1000000", *more],
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
        assert found, said + (process.stderr.read() if process.poll() is not None else "")
        yield int(found[1]), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait()
        process.stderr.close()


class Answer(NamedTuple):
    """What a collector said."""

    status: int
    content: Any
    seconds: float


async def ask(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    body: bytes,
    headers: str = "",
    line: str = "POST /reports",
) -> Answer:
    """One request on an open connection."""
    start = time.perf_counter()
    writer.write(
        f"{line} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {len(body)}\r\n\r\n".encode()
        + body
    )
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(re.search(r"content-length: (\d+)", head)[1])
    content = await reader.readexactly(length)
    return Answer(int(head.split()[1]), json.loads(content), time.perf_counter() - start)


def post(port: int, content: Any, headers: str = "", line: str = "POST /reports") -> Answer:
    """One request on a connection of its own; content is sent as JSON, bytes as they are."""

    async def whole() -> Answer:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        try:
            return await ask(reader, writer, body, headers, line)
        finally:
            writer.close()

    return asyncio.run(whole())


async def load(
    port: int, bodies: Sequence[bytes], connections: int, answers: dict[int, Answer]
) -> None:
    """Send all messages over some connections, each the next when the last is answered; answers are by place."""
    places = iter(range(len(bodies)))

    async def one() -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                for place in places:
                    answers[place] = await ask(reader, writer, bodies[place])
            finally:
                writer.close()

    await asyncio.gather(*(one() for _ in range(connections)))


def kills(folder: Path, rounds: int, seed: int, connections: int = 16) -> dict[str, int]:
    """Kill a collector under load again and again; who was not answered sends the same again to the next one.

    Raises
    ------
    AssertionError
        If a report that was acknowledged is missing or another, or one is counted twice.
    """
    chance, plan = random.Random(seed), survey()
    path, url = folder / "plan.json", f"sqlite:///{folder / 'reports.db'}"
    plan.save(path)
    rng = np.random.default_rng(seed)
    sent: dict[str, dict[str, Any]] = {}
    unanswered: list[dict[str, Any]] = []
    acknowledged: set[str] = set()
    for _ in range(rounds):
        new = messages(plan, 1000, rng)
        queue = unanswered + new
        sent |= {each["id"]: each for each in new}
        with running(path, url) as (port, process):
            answers = asyncio.run(_until_killed(port, process, queue, chance, connections))
        for place, answer in answers.items():
            assert answer.status == 200, answer
            acknowledged.add(queue[place]["id"])
        # those in flight when it was killed, and a few that were answered, are sent again
        again = chance.sample(sorted(acknowledged), min(20, len(acknowledged)))
        reached = max(answers, default=-1) + connections
        rest = [each for place, each in enumerate(queue[:reached]) if place not in answers]
        unanswered = rest + [sent[own] for own in again]
    stored = stored_reports(url)
    missing = acknowledged - set(stored)
    assert not missing, f"{len(missing)} of {len(acknowledged)} acknowledged reports are missing"
    for own, (view, answers) in stored.items():
        assert (view, answers) == (sent[own]["view"], sent[own]["answers"])
    counted = plan.estimate(url, "sex", implausible=True).n
    assert counted == len(stored), f"{counted} were counted of {len(stored)} stored"
    return {
        "kills": rounds,
        "acknowledged": len(acknowledged),
        "stored": len(stored),
        "missing": len(missing),
    }


async def _until_killed(
    port: int,
    process: subprocess.Popen,
    queue: Sequence[dict[str, Any]],
    chance: random.Random,
    connections: int,
) -> dict[int, Answer]:
    answers: dict[int, Answer] = {}
    bodies = [json.dumps(each).encode() for each in queue]
    sending = asyncio.create_task(load(port, bodies, connections, answers))
    enough = chance.randrange(len(queue) // 2)
    while len(answers) < enough and not sending.done():
        await asyncio.sleep(0.001)
    await asyncio.sleep(chance.uniform(0.0, 0.02))
    os.kill(process.pid, signal.SIGKILL)
    await sending
    return answers


def stored_reports(url: str) -> dict[str, tuple[int, dict[str, str]]]:
    """All reports of a store, by their ids."""
    import sqlalchemy as sa

    own = report_store.tables().reports
    made = report_store.engine(url, "rw")
    with made.connect() as connection:
        rows = connection.execute(sa.select(own.c.id, own.c.view, own.c.answers)).all()
    made.dispose()
    found = {own: (view, json.loads(answers)) for own, view, answers in rows}
    assert len(found) == len(rows)
    return found
