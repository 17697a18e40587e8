import asyncio
import json
import secrets
import sqlite3
import threading

import numpy as np
import pytest
from starlette.requests import Request

import collector
from deptriad.clients import service
from deptriad.clients.service import Rate, Settings, standard_errors
from deptriad.clients.store import Store
from deptriad.clients.wire import Wire

PAGE = "<!doctype html><title>a survey</title>"


@pytest.fixture(scope="module")
def folder(plan, tmp_path_factory):
    made = tmp_path_factory.mktemp("survey")
    plan.save(made / "plan.json")
    (made / "page").mkdir()
    (made / "page" / "survey.html").write_text(PAGE)
    (made / "page" / "invitations.txt").write_text("not for others")
    return made


@pytest.fixture(scope="module")
def port(folder):
    """A collector that all tests here use; at its end it has said nothing but where it is."""
    more = ("--most-bytes", "20000", "--origin", "https://survey.example", "--estimates")
    url = f"sqlite:///{folder / 'reports.db'}"
    with collector.running(folder / "plan.json", url, *more, "--page", str(folder / "page")) as (
        port,
        process,
    ):
        yield port
        process.terminate()
        assert process.wait() in (0, -15, 143)
        assert process.stderr.read() == ""


def some(plan, count):
    return collector.messages(plan, count, np.random.default_rng(secrets.randbits(32)))


def test_one_report_or_a_batch_is_acknowledged_and_so_is_a_retry(port, plan, folder):
    one, *others = some(plan, 6)
    for message in (one, others, one, others):
        answer = collector.post(port, message)
        assert answer.status == 200
        assert answer.content == {"acknowledged": 1 if message is one else 5}
    held = collector.stored_reports(f"sqlite:///{folder / 'reports.db'}")
    assert {one["id"], *(each["id"] for each in others)} <= set(held)
    other = next(each for each in some(plan, 500) if each["view"] != one["view"])
    answer = collector.post(port, other | {"id": one["id"]})
    assert (answer.status, list(answer.content)) == (409, ["error"])


def test_what_is_no_report_of_the_plan_is_refused_and_the_batch_with_it(port, plan, folder):
    good, bad = some(plan, 2)
    answer = collector.post(port, [good, bad | {"plan": "\ud800"}])
    assert answer.status == 422
    assert "of the plan" in answer.content["error"]
    assert collector.post(port, b"no").status == 422
    assert collector.post(port, b"[" + b" " * 20_000 + b"]").status == 413
    held = collector.stored_reports(f"sqlite:///{folder / 'reports.db'}")
    assert good["id"] not in held


class Sick:
    """A store that fails, hangs or works, as it is told."""

    def __init__(self):
        self.checks, self.broken, self.free = 0, False, threading.Event()

    def add(self, _):
        return []

    def check(self):
        self.checks += 1
        self.free.wait(60.0)
        if self.broken:
            raise OSError("gone")


def test_health_asks_the_store_once_at_a_time_and_recovers_without_reports(plan, monkeypatch):
    monkeypatch.setattr(service, "HEALTHY", 0.0)
    monkeypatch.setattr(service, "UNWELL", 0.01)

    async def run():
        store = Sick()
        collector_ = service.Collector(plan, store, Settings())

        async def asked(times=1):
            told = await asyncio.gather(*(collector_.health(None) for _ in range(times)))
            return {answer.status_code for answer in told}

        assert await asked(20) == await asked(20) == {503}  # it hangs
        assert store.checks == 1
        monkeypatch.setattr(service, "UNWELL", 60.0)
        store.free.set()
        assert await asked() == {200}
        store.broken = True
        await asyncio.sleep(0.001)
        assert await asked() == {503}
        store.broken = False
        await asyncio.sleep(0.001)
        assert await asked() == {200}

    asyncio.run(run())


def test_a_store_that_cannot_be_written_is_told_by_its_check(plan, tmp_path):
    store = Store.opened(tmp_path / "own.db", plan)
    store.check()
    other = sqlite3.connect(tmp_path / "own.db")
    other.execute("DROP TABLE deptriad_facts")
    other.close()
    with pytest.raises(OSError, match="no such table"):
        store.check()
    store._engine.dispose()


def test_health_page_and_nothing_else(port, plan):
    answer = collector.post(port, b"", line="GET /health")
    assert answer.status == 200
    assert answer.content["status"] == "ok"
    import urllib.error
    import urllib.request

    place = f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(f"{place}/") as page:
        assert page.read().decode() == PAGE
        assert page.url == f"{place}/survey.html"
        assert page.headers["content-security-policy"] == "frame-ancestors 'none'"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-cache"
    for path in ("/../plan.json", "/%2e%2e/plan.json", "/reports.db", "/invitations.txt"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{place}{path}")
    for origin, allowed in (("https://survey.example", True), ("https://other.example", False)):
        asked = urllib.request.Request(f"{place}/health", headers={"Origin": origin})
        with urllib.request.urlopen(asked) as told:
            found = told.headers.get("access-control-allow-origin") == origin
            assert found == allowed
            assert "server" not in told.headers


def test_running_standard_errors_are_those_of_the_estimates(plan, folder):
    store = f"sqlite:///{folder / 'own.db'}"
    Store.opened(store, plan).close()
    assert standard_errors(Wire.of(plan), store) == {"attributes": {}}
    with collector.running(folder / "plan.json", store, "--estimates") as (port, _):
        assert collector.post(port, some(plan, 2000)).status == 200
        told = collector.post(port, b"", line="GET /estimates").content["attributes"]
    assert set(told) == set(plan.names)
    for name, each in told.items():
        found = plan.estimate(store, name)
        assert each["reports"] == found.n
        shown = [
            float(f"{error:.2g}") for error in found.standard_errors
        ]  # a report alone moves none
        assert list(each["standard_errors"].values()) == shown
        assert "share" not in json.dumps(each)


def test_an_invitation_comes_in_the_header(plan, folder):
    place = folder / "invited.db"
    store = Store.opened(place, plan)
    (invitation,) = store.invite(1)
    store.close()
    one, two = some(plan, 2)
    with collector.running(folder / "plan.json", str(place)) as (port, _):
        statuses = [
            collector.post(port, message, headers).status
            for message, headers in (
                (one, ""),
                (one, f"X-Invitation: {invitation}\r\n"),
                (two, f"X-Invitation: {invitation}\r\n"),
                (one, f"X-Invitation: {invitation}\r\n"),
            )
        ]
    assert statuses == [403, 200, 403, 200]


@pytest.mark.slow
def test_nothing_acknowledged_is_missing_after_kills_under_load(tmp_path):
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    found = collector.kills(tmp_path, 3, seed)
    assert found["missing"] == 0
    assert found["acknowledged"] > 0


def test_so_many_messages_a_second_are_taken():
    clock = [0.0]
    rate = Rate(10, now=lambda: clock[0])
    assert [rate.takes() for _ in range(12)] == [True] * 10 + [False] * 2
    clock[0] = 0.35
    assert [rate.takes() for _ in range(4)] == [True] * 3 + [False]
    clock[0] = 100.0
    assert sum(rate.takes() for _ in range(20)) == 10


def test_what_may_be_sent_again_is_answered_so(plan, monkeypatch):
    monkeypatch.setattr(service, "PATIENCE", 0.01)

    class Full(Sick):
        def add(self, _):
            raise OSError("no space is left")

    async def run():
        own = service.Collector(plan, Full(), Settings())
        own.rate = Rate(2, now=lambda: 0.0)
        own.writer.start()
        body = json.dumps(some(plan, 1)).encode()

        async def whole():
            return {"type": "http.request", "body": body, "more_body": False}

        async def never():
            await asyncio.Event().wait()

        told = [
            await own.reports(Request({"type": "http", "headers": []}, receive))
            for receive in (whole, never, whole)
        ]
        await own.writer.stop()
        return told

    told = asyncio.run(run())
    assert [each.status_code for each in told] == [503, 408, 429]
    assert {each.headers["retry-after"] for each in told} == {"1"}


def test_standard_errors_of_a_store_that_cannot_be_read_are_asked_again(plan, tmp_path):
    store = Sick()
    store.url = f"sqlite:///{tmp_path / 'absent.db'}"
    own = service.Collector(plan, store, Settings())
    assert asyncio.run(own.estimates(None)).status_code == 503
    Store.opened(store.url, plan).close()
    assert asyncio.run(own.estimates(None)).status_code == 200


@pytest.mark.parametrize(
    "given, said",
    [
        ({"origins": ["survey.example"]}, "the origin is 'survey.example', expected the scheme"),
        ({"origins": ["https://survey.example/page"]}, "expected the scheme"),
        ({"rate": 0}, "rate"),
        ({"most_bytes": 0}, "most_bytes"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        Settings(**given)
    with pytest.raises(ValueError, match=r"has no survey\.html"):
        Settings(page=tmp_path)
