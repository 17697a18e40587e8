"""The collector: a service that takes reports of one plan over HTTP, and answers once they are stored for good.

It looks at no address, keeps no time, and writes no log of who asked for what.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from deptriad.clients.group_commit import Busy, GroupCommit
from deptriad.clients.script import FILES
from deptriad.clients.store import Outcome, Store, Submission
from deptriad.clients.wire import Wire
from deptriad.collection.marginal import estimates
from deptriad.collection.split import as_strategy
from deptriad.planning.plan import Plan
from deptriad.utils.arrays import as_whole

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PATIENCE = 30.0
"""Seconds in which a message must have arrived."""

HEALTHY = 1.0
"""Seconds for which health is told again without asking the store."""

UNWELL = 10.0
"""Seconds in which a store that is well writes a row."""

FRESH = 60.0
"""Seconds for which standard errors are told again without reading the store."""

PAGE = "survey.html"
REFUSALS: dict[Outcome, tuple[int, str]] = {
    "another": (409, "a report with this id, but of another content, was stored before: nothing was"),
    "uninvited": (403, "this survey takes one report for each invitation (X-Invitation), this one is unknown or used"),
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What a collector may be told.

    Parameters
    ----------
    origins
        Pages of which other sites may send reports, such as "https://survey.example".
    rate
        Messages a second, over all senders; a second's worth may come at once.
    most_bytes
        Of one message.
    page
        A folder to serve, with survey.html in it.
    estimates
        Whether to tell everybody how many reports there are, and the standard errors of estimates.
    """

    origins: Sequence[str] = ()
    rate: int = 1000
    most_bytes: int = 1_000_000
    page: Path | None = None
    estimates: bool = False

    def __post_init__(self) -> None:
        for name in ("rate", "most_bytes"):
            as_whole(getattr(self, name), name, 1)
        for origin in self.origins:
            if not origin.startswith(("http://", "https://")) or origin.count("/") > 2:
                raise ValueError(
                    f"the origin is {origin!r}, expected the scheme and the host of a page, such as "
                    "'https://survey.example'"
                )
        if self.page is not None and not (self.page / PAGE).is_file():
            raise ValueError(
                f"the page is {self.page}, which has no {PAGE}, expected a folder that `deptriad client` wrote"
            )


@dataclass
class Rate:
    """So many messages a second over all senders: a bucket that fills evenly and holds a second's worth."""

    each_second: int
    now: Callable[[], float] = time.monotonic
    _left: float = field(init=False)
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._last = float(self.each_second), self.now()

    def takes(self) -> bool:
        """Whether one more may come now."""
        now = self.now()
        gained = (now - self._last) * self.each_second
        self._left, self._last = min(self._left + gained, float(self.each_second)), now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Collector:
    """The answers to requests, and what they need."""

    def __init__(self, plan: Any, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.wire = Wire.of(plan)
        self.rate = Rate(settings.rate)
        self.writer = GroupCommit(store.add)
        self._checking: asyncio.Task[bool] | None = None
        self._checked = -np.inf
        self._told: tuple[float, Any] | None = None
        self._telling = asyncio.Lock()

    async def reports(self, request: Request) -> Response:
        """Take a message of reports."""
        if not self.rate.takes():
            return _refused(429, "too many messages at this time: send it again")
        try:
            async with asyncio.timeout(PATIENCE):
                body = await self._body(request)
        except (TimeoutError, ClientDisconnect):
            return _refused(408, f"the message did not arrive within {PATIENCE:g} seconds")
        if body is None:
            most = f"{self.settings.most_bytes:,}"
            return _refused(413, f"the message has more than {most} bytes: send fewer reports")
        try:
            found = self.wire.parsed(body)
        except ValueError as error:
            return _refused(422, str(error))
        try:
            outcome = await self.writer.add(Submission(found, request.headers.get("x-invitation")))
        except Busy:
            return _refused(503, "too many reports wait to be stored: send it again")
        except OSError:
            return _refused(503, "the reports could not be stored, and none of them is: send again")
        if outcome in REFUSALS:
            return _refused(*REFUSALS[outcome])
        return _answer(200, {"acknowledged": len(found)})

    async def _body(self, request: Request) -> bytes | None:
        """The body of a message; None if it is too long, which is known before all of it is read."""
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self.settings.most_bytes:
                return None
        return bytes(body)

    async def health(self, request: Request) -> Response:
        """Whether reports can be stored at this time, and which plan's: the store is asked, whether any come or not."""
        if self._checking is None or (
            self._checking.done() and time.monotonic() > self._checked + HEALTHY
        ):
            self._checking = asyncio.create_task(self._check())
        done, _ = await asyncio.wait([self._checking], timeout=UNWELL)
        well = bool(done) and self._checking.result()
        content = {"status": "ok" if well else "failing", "plan": self.wire.strategy.fingerprint}
        return _answer(200 if well else 503, content)

    async def _check(self) -> bool:
        """Whether the store writes; one check at a time, however many ask."""
        try:
            await asyncio.to_thread(self.store.check)
        except OSError:
            return False
        finally:
            self._checked = time.monotonic()
        return True

    async def estimates(self, request: Request) -> Response:
        """How many reports there are, and the standard errors of the shares of each attribute's values."""
        async with self._telling:
            if self._told is None or time.monotonic() - self._told[0] > FRESH:
                try:
                    content = await asyncio.to_thread(standard_errors, self.wire, self.store.url)
                except OSError:
                    return _refused(503, "the store cannot be read at this time: ask again")
                self._told = time.monotonic(), content
        return _answer(200, self._told[1])

    @asynccontextmanager
    async def running(self, app: Starlette) -> AsyncIterator[None]:
        """While the service runs."""
        self.writer.start()
        try:
            yield
        finally:
            await self.writer.stop()


def standard_errors(wire: Wire, url: str) -> dict[str, Any]:
    """Of the running estimates, without the estimates: who still answers should not know them.

    To two digits: all of them would tell who asks again and again what the one report said that came in between.
    """
    try:
        found = estimates(wire.strategy, url, 1, implausible=True)
    except ValueError:  # nobody was asked some attribute yet
        return {"attributes": {}}
    return {
        "attributes": {
            names[0]: {
                "reports": each.n,
                "standard_errors": {
                    label: float(f"{error:.2g}") if np.isfinite(error) else None
                    for label, error in zip(each.values[0], each.standard_errors, strict=True)
                },
            }
            for names, each in found.items()
        }
    }


def service(plan: Any, store: Store, settings: Settings | None = None) -> ASGIApp:
    """The ASGI application of a plan's collector; the store stays open when it ends."""
    own = settings or Settings()
    collector = Collector(plan, store, own)
    _refuse_page_of_another(own.page, collector.wire)
    routes: list[BaseRoute] = [
        Route("/reports", collector.reports, methods=["POST"]),
        Route("/health", collector.health),
    ]
    if own.estimates:
        routes.append(Route("/estimates", collector.estimates))
    if own.page is not None:
        routes.append(Route("/", lambda request: RedirectResponse(f"/{PAGE}")))
        routes.append(Mount("/", _Page(directory=own.page)))
    allowed = Middleware(
        CORSMiddleware,
        allow_origins=list(own.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["content-type", "x-invitation"],
    )
    return Starlette(
        routes=routes, middleware=[allowed] if own.origins else [], lifespan=collector.running
    )


def _refuse_page_of_another(page: Path | None, wire: Wire) -> None:
    """A page of another plan, whose reports would all be refused: `deptriad client` puts the plan beside it."""
    beside = page / "plan.json" if page else None
    if beside and beside.is_file():
        other = as_strategy(Plan.load(beside)).fingerprint
        if other != wire.strategy.fingerprint:
            raise ValueError(
                f"the page is {page}, which was written for another plan: run `deptriad client` with this one"
            )


class _Page(StaticFiles):
    """The files of the page and no others, which may be a store; no other page may show it in a frame of its own."""

    def lookup_path(self, path: str) -> Any:
        return super().lookup_path(path) if path in FILES else ("", None)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["content-security-policy"] = "frame-ancestors 'none'"
        response.headers["x-content-type-options"] = "nosniff"
        response.headers["referrer-policy"] = "no-referrer"
        response.headers["cache-control"] = (
            "no-cache"  # a page of another plan would ask for nothing
        )
        return response


def _answer(status: int, content: Any, **headers: str) -> Response:
    """In ASCII, whatever labels hold; kept by nobody on the way."""
    return Response(
        json.dumps(content),
        status,
        {"cache-control": "no-store", "x-content-type-options": "nosniff"} | headers,
        "application/json",
    )


def _refused(status: int, why: str) -> Response:
    """What was wrong; where the same message may be sent again, after how many seconds."""
    later = {"retry-after": "1"} if status in (408, 429, 503) else {}
    return _answer(status, {"error": why}, **later)
