"""Serves the dashboard until it is stopped: the feed, the application and uvicorn around them."""

from __future__ import annotations

import errno
import gc
import socket
import sys
from collections.abc import Callable, Sequence

import uvicorn

from neuron_top.dashboard.access import Access
from neuron_top.dashboard.app import create_app
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.guard import App
from neuron_top.dashboard.limits import ConnectionLimits
from neuron_top.dashboard.protocol import LIMITS, BoundedHttp, BoundedSocket
from neuron_top.errors import UsageError
from neuron_top.services.feeds import Feed
from neuron_top.settings import Settings

CLOSE_SECONDS = 3
SWITCH_SECONDS = 0.0005
"""How long a thread that reads events may delay the loop; Python's default of 5 ms would occur twice per answer."""

COLLECTED_AFTER = 20_000, 5, 20
"""Objects after which Python looks for cycles among them, and how seldom among older ones. All threads stand still
meanwhile, 0.2 s for a run of a thousand nodes, which Python's own thresholds make so many pauses of that they take a
fourth of the processor time while its events come."""


def serve(
    settings: Settings,
    feed: Feed,
    access: Access,
    *,
    host: str,
    port: int,
    prefix: str,
    roots: Sequence[str] | None,
    shown: str,
    opened: Callable[[str], None],
) -> None:
    """Serve; returns after SIGINT or SIGTERM. `roots` are caches that were named, None: list none of this machine.
    `shown`: what `feed` is called among the runs. `opened` is told the address.

    Raises UsageError for a taken port.
    """
    listener = _listener(host, port)
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTED_AFTER)
    feeds = FeedRegistry(settings, feed, shown)
    caches = DashboardCaches(settings, roots, feeds.notify)
    fleet = DashboardFleet(settings)
    feeds.start()
    try:
        with listener:
            name = f"[{host}]" if ":" in host else host
            opened(f"http://{name}:{listener.getsockname()[1]}{prefix}")
            uvicorn.Server(configured(create_app(feeds, caches, access, prefix=prefix, fleet=fleet))).run(
                sockets=[listener]
            )
    finally:
        feeds.stop()
        fleet.close()


def configured(app: App, limits: ConnectionLimits = LIMITS) -> uvicorn.Config:
    """The uvicorn configuration: with the limits of `limits.py`, without a server header and an access log."""
    return uvicorn.Config(
        app,
        http=type("Http", (BoundedHttp,), {"limits": limits}),
        ws=type("Socket", (BoundedSocket,), {"limits": limits}),
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        ws_max_size=limits.message_bytes,
        ws_per_message_deflate=False,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        limit_concurrency=2000,
    )


def _listener(host: str, port: int) -> socket.socket:
    listener: socket.socket | None = None
    try:
        family, kind, proto, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)  # listen before the address is reported, so that an early client is not refused
    except OSError as problem:
        if listener is not None:
            listener.close()
        other = "; --port 0 takes a free one" if problem.errno == errno.EADDRINUSE else ""
        raise UsageError(f"cannot listen on {host} port {port}: {problem.strerror or problem}{other}") from None
    return listener
