"""The collector: reports a second that it holds, how long senders wait, kills under load, estimates from its store.

    python benchmarks/collect.py [SECONDS]
    python benchmarks/collect.py kills [TIMES] [SEED]
    python benchmarks/collect.py script

A real collector in a process of its own, senders on the loopback address only. First as fast as 64 senders can, each
the next report when the last is acknowledged; then at four fifths of that rate, evenly, where waiting is that of a
service that is busy but not flooded. ``kills`` ends it by SIGKILL under load, 100 times by default, and looks for
reports that were acknowledged and are missing, or are counted twice. ``script`` measures what runs on devices: its
size, and the answers that it perturbs in a second, by mechanism, in Chromium and in Node, on one core.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _history import add, at_most, seconds

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

import client_vectors
import collector
import javascript
import surroundings
from deptriad.clients.script import script
from deptriad.mechanisms import mechanisms

SECONDS = 10.0
CONNECTIONS = 64
MOST = 60_000
"""Reports that are made beforehand for one run: half to flood with, half to send evenly."""


def waits(answers: dict[int, collector.Answer]) -> dict[str, float]:
    assert all(answer.status == 200 for answer in answers.values())
    every = np.array([answer.seconds for answer in answers.values()]) * 1e3
    names = {"median": 50, "p99": 99, "p99.9": 99.9}
    return {f"{name}, ms": float(np.percentile(every, part)) for name, part in names.items()}


async def flood(port: int, bodies: list[bytes], limit: float) -> tuple[dict, float]:
    """As fast as they are acknowledged, for so long."""
    answers: dict[int, collector.Answer] = {}
    start = time.perf_counter()
    sending = asyncio.create_task(collector.load(port, bodies, CONNECTIONS, answers))
    await asyncio.wait([sending], timeout=limit)
    taken, done = time.perf_counter() - start, dict(answers)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    return done, len(done) / taken


async def evenly(port: int, bodies: list[bytes], rate: float) -> dict[int, collector.Answer]:
    """One each 1/rate seconds, over connections that take turns; waiting counts from when it was due."""
    answers: dict[int, collector.Answer] = {}
    start = time.perf_counter() + 0.1
    due = [start + place / rate for place in range(len(bodies))]
    places = iter(range(len(bodies)))

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for place in places:
            await asyncio.sleep(max(0.0, due[place] - time.perf_counter()))
            answer = await collector.ask(reader, writer, bodies[place])
            answers[place] = answer._replace(seconds=time.perf_counter() - due[place])
        writer.close()

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    return answers


def speed(limit: float) -> dict[str, object]:
    plan, rng = collector.survey(), np.random.default_rng(1)
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        path, url = Path(folder) / "plan.json", f"sqlite:///{folder}/reports.db"
        plan.save(path)
        bodies = [json.dumps(each).encode() for each in collector.messages(plan, MOST, rng)]
        with collector.running(path, url) as (port, _):
            answers, rate = asyncio.run(flood(port, bodies[: MOST // 2], limit))
            found["flooded"] = {"reports a second": rate} | waits(answers)
            even = bodies[MOST // 2 :][: int(0.8 * rate * limit)]
            answers = asyncio.run(evenly(port, even, 0.8 * rate))
            found["at four fifths"] = {"reports a second": 0.8 * rate} | waits(answers)
            batch = b"[" + b",".join(
                json.dumps(each).encode() for each in collector.messages(plan, 1000, rng)
            ) + b"]"  # fmt: skip
            taken = asyncio.run(evenly(port, [batch], 1.0))[0].seconds
            found["in a batch, reports a second"] = 1000 / taken
        stored = len(collector.stored_reports(url))
        taken = seconds(lambda: plan.estimate(url, ["sex", "income"], implausible=True))
        found["estimated from the store, reports a second"] = stored / taken
    return found


PERTURBING = """
const rates = {};
for (const [way, plan] of Object.entries(given)) {
  const survey = await open(plan);
  const record = Object.fromEntries(survey.schema.map((each) => [each.name, each.values[1]]));
  for (let each = 0; each < 300; each++) survey.report(record); // compiled by then
  const start = performance.now();
  let count = 0;
  do count += survey.report(record).view && survey.schema.length;
  while (performance.now() - start < 1000);
  rates[way] = count / (performance.now() - start) * 1000;
}
"""


def perturbing() -> dict[str, object]:
    """Answers a second of ten attributes of eight values, at ε = 1 each."""
    found: dict[str, object] = {"script, bytes": len(script().encode("utf-8"))}
    schema = client_vectors.plain(*[8] * 10)
    given = {
        way: json.loads(
            client_vectors.plan_of(
                schema, client_vectors.separate(schema, dict.fromkeys(schema.names, way), 1.0)
            ).to_json()
        )
        for way in mechanisms
    }
    if why := javascript.why_not():
        print(f"not measured in Node: {why}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            rates = javascript.run(Path(folder), f"{PERTURBING} tell(rates);", given)
        found["script in Node, answers a second"] = rates
    if not (browser := surroundings.chromium()):
        print("not measured in Chromium: there is none")
    else:
        found["script in Chromium, answers a second"] = in_chromium(browser, given)
    return found


def in_chromium(place: str, given: dict[str, object]) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        page = browser.new_page()
        page.route(
            "https://localhost/",
            lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"),
        )
        page.goto("https://localhost/")  # which has WebCrypto; nothing is asked of any network
        rates = page.evaluate(
            f"""async ([text, given]) => {{
            const module = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
            const {{ open }} = await import(module);
            {PERTURBING} return rates;
            }}""",
            [script(), given],
        )
        browser.close()
    return dict(rates)


def main() -> None:
    if sys.argv[1:2] != ["kills"]:
        limit = 0.0 if sys.argv[1:] == ["script"] else float([*sys.argv, SECONDS][1])
        figures = (speed(limit) if limit else {}) | perturbing()
        print(json.dumps(figures, indent=1))
        add("collect", figures, {"script, bytes": at_most(20_000)})
        return
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else secrets.randbits(32)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        found = collector.kills(Path(folder), times, seed)
    print(json.dumps(found))
    add("collect killed under load", found, {"missing": at_most(0)})


if __name__ == "__main__":
    main()
