"""A dashboard served for a test: the real application behind a real socket, on a feed that the test moves."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

from neuron_top.dashboard.access import rules
from neuron_top.dashboard.app import create_app
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.limits import ConnectionLimits
from neuron_top.dashboard.protocol import LIMITS
from neuron_top.dashboard.server import configured
from neuron_top.services.caches import CacheService
from neuron_top.settings import Settings
from tests.tui.feeds import StillFeed

READ, ACT = "read-token-of-the-test", "act-token-of-the-test"


class Response(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served(NamedTuple):
    """A running server and what is behind it."""

    port: int
    prefix: str
    feed: StillFeed
    feeds: FeedRegistry
    caches: DashboardCaches

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        host: str | None = None,
        token: str = "",
        **headers: str,
    ) -> Response:
        """One request; `path` as it goes over the wire, header names with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"Authorization": f"Bearer {token}"} if token else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host if host is not None else f"127.0.0.1:{self.port}")
        sent.setdefault("Content-Length", str(len(body or b"")))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send(body or b"")
        answer = connection.getresponse()
        got = Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return got

    def post(self, path: str, value: Any, *, token: str = ACT, **more: Any) -> Response:
        """JSON, as a program with a token sends it."""
        return self.ask(
            path, method="POST", body=json.dumps(value).encode(), token=token, Content_Type="application/json", **more
        )


@contextlib.contextmanager
def serving(
    feed: StillFeed,
    state: Path,
    *,
    read: str = "",
    act: str = ACT,
    prefix: str = "/",
    roots: tuple[str, ...] = (),
    port: int = 0,
    hosts: Mapping[str, None] | frozenset[str] = frozenset(),
    limits: ConnectionLimits = LIMITS,
    service: CacheService | None = None,
    store: str = "",
) -> Iterator[Served]:
    """Serve until the block ends. `store`: the database of a fleet."""
    settings = Settings(state_dir=str(state), store=store)
    feeds = FeedRegistry(settings, feed)
    caches = DashboardCaches(settings, roots, feeds.notify, service)
    fleet = DashboardFleet(settings)
    app = create_app(feeds, caches, rules(read, act, frozenset(hosts)), prefix=prefix, fleet=fleet)
    config = configured(app, limits)
    config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", port, 1
    server = uvicorn.Server(config)
    begun = threading.Event()

    async def run() -> None:
        serving_ = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        begun.set()
        await serving_

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    feeds.start()
    thread.start()
    if not begun.wait(150):
        raise AssertionError("the server did not start")
    try:
        yield Served(server.servers[0].sockets[0].getsockname()[1], prefix, feed, feeds, caches)
    finally:
        server.should_exit = True
        thread.join(60)
        feeds.stop()
        fleet.close()
