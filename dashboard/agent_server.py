"""The HTTP server of an agent: `/metrics` for the site's collector, and `/logs`, pages of the logs that it follows.

    GET  /metrics     on loopback for everybody who is on this machine, else with the token
    POST /logs        with the token (`Authorization: Bearer`), a `LogRequest` as JSON; the answer is a `LogPage`

A log is named as the agent named it itself: no path of a client is ever opened. Limits are those of the web server.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from neuron_top.dashboard.access import Access, Permission, rules
from neuron_top.dashboard.limits import ConnectionLimits, Guesses, Rate, client_of
from neuron_top.dashboard.metrics import slim_metrics_of
from neuron_top.decoders import MALFORMED
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.escapes import json_bytes
from neuron_top.identity import is_loopback
from neuron_top.services.agent import LogRequest, agent_token, log_page
from neuron_top.settings import Settings
from neuron_top.views.overview import overview

if TYPE_CHECKING:
    from neuron_top.services.agent import NodeAgent

LOOPBACK = "127.0.0.1"
LIMITS = ConnectionLimits(body_bytes=64 << 10, head_seconds=10.0, connections=64)
_PER_SECOND, _AT_ONCE = 20.0, 60.0
"""The rate limit of one client's requests."""
_ANYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 (compared)


class _Refused(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _AgentMetrics(Collector):
    def __init__(self, node: NodeAgent) -> None:
        self._node = node

    def collect(self) -> Iterator[Metric]:
        yield from slim_metrics_of(self._node.feed.read(overview))
        for name, count in self._node.agent.notes().items():
            yield GaugeMetricFamily(f"neurontop_agent_{name}", "Of the agent: see docs/fleet.md", value=count)

    def describe(self) -> Iterator[Metric]:
        return iter(())


class _Gate:
    """Decides who may send requests, and how often. Safe for several threads."""

    def __init__(self, access: Access, open_metrics: bool) -> None:
        self.access, self.open_metrics = access, open_metrics
        self._rate, self._guesses, self._lock = Rate(_PER_SECOND, _AT_ONCE), Guesses(), threading.Lock()

    def check(self, path: str, address: str, host: str, authorization: str) -> None:
        """Raise _Refused for a client that may not send requests."""
        client, now = client_of(address), time.monotonic()
        if not self.access.allows_host(host):
            raise _Refused(421, "the Host header does not name this agent; use the address that the agent reports")
        with self._lock:
            if not self._rate.allows(client, now):
                raise _Refused(429, "too many requests")
        if path == "/metrics" and self.open_metrics:
            return
        if not self.access.read_token:
            raise _Refused(403, "this agent has no token, so it serves no log lines: set NEURONTOP_AGENT_TOKEN for it")
        scheme, _, token = authorization.partition(" ")
        with self._lock:
            wait = self._guesses.wait(client, now)
            if wait > 0:
                raise _Refused(429, f"too many wrong tokens; wait {ceil(wait)} s and try again")
            if scheme.lower() == "bearer" and self.access.permission_of_token(token.strip()) is not Permission.NONE:
                return
            self._guesses.wrong(client, now)
        raise _Refused(
            401,
            "the token is missing or is not that of this agent; set NEURONTOP_AGENT_TOKEN to the same value here "
            "and for the agent",
        )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext | None, handler: type[_Handler]) -> None:
        self._context = context
        self._free = threading.BoundedSemaphore(LIMITS.connections)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        connection.settimeout(LIMITS.head_seconds)
        if self._context is not None:  # the thread of the connection does the handshake
            connection = self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def process_request(self, request: object, client_address: object) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[arg-type]
            return
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: clients that go away, or do not speak TLS, are normal."""


class _Handler(BaseHTTPRequestHandler):
    """Handles one request per connection; for further pages a client connects again."""

    gate: _Gate
    node: NodeAgent
    metrics: Callable[[], bytes]
    timeout = LIMITS.head_seconds
    request_seconds = LIMITS.head_seconds
    """From the first byte to the end of the request, however slowly its bytes come."""
    _taken = False
    """Whether the body was read."""
    server_version, sys_version = "neurontop", ""

    def handle_one_request(self) -> None:
        """Read one request within its time limit, and answer it."""
        self._deadline = threading.Timer(self.request_seconds, self._give_up)
        self._deadline.daemon = True
        self._deadline.start()
        try:
            super().handle_one_request()
        finally:
            self._deadline.cancel()

    def _give_up(self) -> None:
        with suppress(OSError):  # the client is gone already
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        """`/metrics`."""
        self._answer("/metrics", lambda: (self.metrics(), CONTENT_TYPE_LATEST))

    def do_POST(self) -> None:
        """`/logs`."""
        self._answer("/logs", lambda: (self._page(), "application/json"))

    def _answer(self, path: str, make: Callable[[], tuple[bytes, str]]) -> None:
        try:
            if self.path != path:
                raise _Refused(404, "this path is not served")
            self.gate.check(
                path,
                self.client_address[0],
                self.headers.get("host", ""),
                self.headers.get("authorization", ""),
            )
            if self.command == "GET":
                self._deadline.cancel()
            body, kind = make()
        except _Refused as refused:
            self._pass_over()
            self._send_error(refused.status, str(refused))
        except Exception:  # the client is told, instead of losing its connection, and the agent goes on
            logging.getLogger("neuron_top.agent").exception("%s cannot be answered", path)
            self._send_error(500, "the agent met an unexpected error; what it is stands in its own output")
        else:
            self._send(200, body, kind)

    def _send_error(self, status: int, text: str) -> None:
        self._send(status, msgspec.json.encode({"error": text}), "application/json")

    def _pass_over(self) -> None:
        """Read and drop a body: if the connection were closed with the body unread, the client would not get the
        answer."""
        length = self.headers.get("content-length", "")
        if not self._taken and length.isascii() and length.isdigit() and len(length) <= 9:
            self.rfile.read(min(int(length), 2 * LIMITS.body_bytes))

    def _page(self) -> bytes:
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise _Refused(415, "the body must be JSON (Content-Type: application/json)")
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()) or len(length) > 9 or int(length) > LIMITS.body_bytes:
            raise _Refused(413, f"the body is too large: at most {LIMITS.body_bytes} bytes are accepted")
        try:
            self._taken = True
            body = self.rfile.read(int(length))
            self._deadline.cancel()  # a search may take longer
            request = msgspec.json.decode(body, type=LogRequest)
            return json_bytes(log_page(self.node.feed, request))
        except (*MALFORMED, UsageError) as problem:
            raise _Refused(400, str(problem)) from None

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name)
        """Print nothing, as input of clients is not logged."""


class AgentServer(NamedTuple):
    """A running server."""

    address: str
    close: Callable[[], None]


def serve_agent(node: NodeAgent, settings: Settings, port: int) -> AgentServer:
    """Answer in threads until closed. `port`: on loopback, 0 takes a free one.

    Raises UsageError for a taken port or a certificate that cannot be read, RefusedForSafety where others could read
    along or nobody would be asked for a token.
    """
    host, number = _place(settings, port)
    token, local = agent_token(settings), is_loopback(host)
    context = _tls(settings)
    if not local and (context is None or not token):
        raise RefusedForSafety(
            f"agent_listen {settings.agent_listen} is reachable from other machines: it needs agent_certificate and "
            "agent_key, and a token in NEURONTOP_AGENT_TOKEN or agent_token_file"
        )
    name = socket.getfqdn() if host in _ANYWHERE else host
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_AgentMetrics(node))
    gate = _Gate(rules(token, "", frozenset({name.lower(), socket.gethostname().lower()})), open_metrics=local)
    members = {"gate": gate, "node": node, "metrics": lambda _self: generate_latest(registry)}
    try:
        server = _Server((host, number), context, type("Handler", (_Handler,), members))
    except OSError as problem:
        raise UsageError(f"cannot listen on {host} port {number}: {problem.strerror or problem}") from None
    threading.Thread(target=server.serve_forever, name="agent server", daemon=True).start()
    shown = f"[{name}]" if ":" in name else name
    scheme = "https" if context is not None else "http"

    def close() -> None:
        server.shutdown()
        server.server_close()

    return AgentServer(f"{scheme}://{shown}:{server.server_port}/metrics", close)


def _place(settings: Settings, port: int) -> tuple[str, int]:
    if not settings.agent_listen:
        return LOOPBACK, port
    host, _, number = settings.agent_listen.rpartition(":")
    if not number.isascii() or not number.isdigit() or int(number) > 65535:
        raise UsageError(f"agent_listen {settings.agent_listen!r}: expected host:port")
    return host.strip("[]"), int(number)


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if not settings.agent_certificate:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.agent_certificate, settings.agent_key or None, password=lambda: "")
    except OSError as problem:  # also raised for a file that is no certificate, or a key with a password
        raise UsageError(f"agent_certificate {settings.agent_certificate}: {problem}") from None
    return context
