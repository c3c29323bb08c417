"""HTTP and WebSocket protocols with limits of bytes, time and number of connections.

uvicorn reads HTTP with httptools, which has no limit of its own: headers grow as long as somebody sends them, and a
request that is never finished stays. Here bytes are passed to the parser in pieces and counted, every phase of a
request has a time limit, and if an address has too many connections, the one that has waited longest is closed, so that
clients that send whole requests are always served.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from neuron_top.dashboard.limits import UPLOAD_PATH, ConnectionLimits, client_of

LIMITS = ConnectionLimits()
_PIECE_BYTES = 8 << 10
_MOST_UNTAKEN = 256 << 10
"""The most bytes that wait to be read from a WebSocket."""
_LINGER_SECONDS = 1.0
"""Seconds for which a refused client's input is discarded, as closing at once could lose the refusal."""


class _Stalled:
    """Closes a connection whose client does not read its response."""

    def __init__(self, transport: asyncio.Transport, limits: ConnectionLimits) -> None:
        self._transport, self._limits = transport, limits
        self._timer: asyncio.TimerHandle | None = None
        self._left = 0

    def begin(self) -> None:
        """Called when the transport's buffer is full."""
        self._left = self._transport.get_write_buffer_size()
        self._timer = asyncio.get_running_loop().call_later(self._limits.stalled_seconds, self._look)

    def end(self) -> None:
        """Called when the buffer was read, or the connection is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        if self._left - self._transport.get_write_buffer_size() < self._limits.least_progress:
            self._transport.abort()
        else:
            self.begin()


class BoundedHttp(HttpToolsProtocol):
    """One connection. `limits` can be replaced for all of a server; see `server.configured`."""

    limits: ClassVar[ConnectionLimits] = LIMITS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """A new connection: refused at once where there is no room, and given a time for its first request."""
        super().connection_made(transport)
        self.who = client_of(self.client[0]) if self.client else ""
        self.waiting_since = self.loop.time()
        self._stalled = _Stalled(transport, self.limits)
        self._timer: asyncio.TimerHandle | None = None
        self._in_head, self._in_target, self._refused = True, False, False
        self._most_body = self.limits.body_bytes
        self._excess: tuple[int, str] | None = None
        self._start_phase(self.limits.head_seconds)
        if not self._make_room():
            self._refuse(503, "too many connections; try again in a moment")

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has gone."""
        self._stop_phase()
        self._stalled.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, in pieces; a head that is too long is refused before the rest is parsed."""
        if self._timer is None and self._in_head and not self._refused:
            self._start_phase(self.limits.head_seconds)
        for start in range(0, len(data), _PIECE_BYTES):
            if self._refused or self.transport.is_closing() or self.transport.get_protocol() is not self:
                return
            self._take(data[start : start + _PIECE_BYTES])

    def _take(self, piece: bytes) -> None:
        self._phase_bytes += len(piece)
        super().data_received(piece)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._stop_phase()
            return
        if self._excess is None and self._in_head and self._phase_bytes > self.limits.head_bytes:
            self._excess = (414, "the address is too long") if self._in_target else (431, "the headers are too long")
        if self._excess is None and not self._in_head and self._phase_bytes > 2 * self._most_body + (64 << 10):
            self._excess = 413, "the body takes too many bytes in transfer"
        if self._excess is None and len(self.pipeline) > self.limits.pipelined:
            self._excess = 429, "too many requests at once on one connection"
        if self._excess is not None:
            self._refuse(*self._excess)

    # Called by the parser. Once a limit is exceeded, the rest of the piece is ignored.

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self._in_target, self._body_bytes, self._most_body = True, 0, self.limits.body_bytes

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        super().on_url(url)
        if len(self.url) > self.limits.target_bytes:
            self._excess = self._excess or (414, "the address is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; those after the body are ignored."""
        self._in_target = False
        if not self._in_head:
            return
        super().on_header(name, value)
        if len(self.headers) > self.limits.headers:
            self._excess = self._excess or (431, f"a request has at most {self.limits.headers} headers")

    def on_headers_complete(self) -> None:
        """Pass a request to the application, unless its head alone is reason to refuse it."""
        if self._is_upload():
            self._most_body = self.limits.upload_bytes
        self._excess = self._excess or self._wrong_head()
        if self._excess is not None:
            return
        self._in_head = False
        self._start_phase(self.limits.upload_seconds if self._is_upload() else self.limits.body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._body_bytes += len(body)
        if self._body_bytes > self._most_body:
            self._excess = self._excess or (413, f"the body is too large: at most {self._most_body} bytes are accepted")
        if self._excess is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """A whole request; the time of the next one begins with its first byte."""
        if self._excess is None:
            super().on_message_complete()
            self._stop_phase()
            self._in_head = True

    def on_response_complete(self) -> None:
        """A response was sent. Where its request is still being received, the time limit of that goes on."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()
        if self.transport.is_closing():
            self._stop_phase()

    def pause_writing(self) -> None:
        """Called when the transport's buffer is full."""
        super().pause_writing()
        self._stalled.begin()

    def resume_writing(self) -> None:
        """Called when the buffer was read."""
        super().resume_writing()
        self._stalled.end()

    def _is_upload(self) -> bool:
        """Whether a log is uploaded; the guard checks who may do that, before any of it is stored."""
        path = self.url.partition(b"?")[0]
        return path.endswith(f"/{UPLOAD_PATH}".encode()) and self.parser.get_method() == b"POST"

    def _wrong_head(self) -> tuple[int, str] | None:
        """Why the complete headers of a request are refused; empty if they are accepted."""
        sizes = [value for name, value in self.headers if name == b"content-length"]
        if any(len(size) > 12 or int(size) > self._most_body for size in sizes):
            return 413, f"the body is too large: at most {self._most_body} bytes are accepted"
        if self.url.startswith(b"/"):
            return None
        hosts = [value for name, value in self.headers if name == b"host"]
        try:
            parts = urlsplit(self.url.decode("ascii"))
        except ValueError:
            return 400, "the address cannot be read"
        if parts.scheme != "http" or [parts.netloc.encode()] != hosts:
            return 400, "the address and the Host header do not name the same server"
        return None

    # Time

    def _start_phase(self, seconds: float) -> None:
        self._stop_phase()
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _stop_phase(self) -> None:
        self._phase_bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if self._phase_bytes or not self._in_head:
            self._refuse(408, "the request took too long to arrive")
        else:  # browsers open connections in advance: an unused one is no error
            self.transport.close()

    # Number

    @property
    def idle(self) -> bool:
        """Whether no request of this connection is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _make_room(self) -> bool:
        """Whether there is room for this connection, if need be by closing the one that has waited longest."""
        others = [
            cast("_Connection", connection)
            for connection in self.connections
            if connection is not self and not connection.transport.is_closing()
        ]
        own = [other for other in others if other.who == self.who]
        for group, most in ((own, self.limits.connections_of_one), (others, self.limits.connections)):
            if len(group) >= most and not _close_idle(group):
                return False
        return True

    def _refuse(self, status: int, text: str) -> None:
        """Answer with the reason, unless an answer is under way, and close."""
        self._stop_phase()
        if self.transport.is_closing() or self._refused:
            return
        self._refused = True
        self._unset_keepalive_if_required()
        if not self.idle:
            if len(self.pipeline) > 0 or self.cycle.response_started:
                self.transport.abort()
                return
            self.cycle.disconnected = True  # an answer of the application would come too late
            self.cycle.message_event.set()
        body = json.dumps({"error": text}).encode()
        self.flow.resume_reading()
        self.transport.write(
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            + body
        )
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self.transport.abort)


class BoundedSocket(WebSocketsSansIOProtocol):
    """A WebSocket that only sends: a client that sends data is disconnected."""

    limits: ClassVar[ConnectionLimits] = LIMITS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection of a request that became a socket."""
        super().connection_made(transport)
        self.who = client_of(self.client[0]) if self.client else ""
        self._stalled = _Stalled(self.transport, self.limits)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has gone."""
        self._stalled.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take frames. A client that sends pings and does not read the answers is disconnected."""
        super().data_received(data)
        if self.transport.get_write_buffer_size() > _MOST_UNTAKEN:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Called when the transport's buffer is full."""
        super().pause_writing()
        self._stalled.begin()

    def resume_writing(self) -> None:
        """Called when the buffer was read."""
        super().resume_writing()
        self._stalled.end()

    def handle_text(self, event: Any) -> None:
        """Ignored, as no page sends anything."""
        self._end()

    def handle_bytes(self, event: Any) -> None:
        """Ignored, as no page sends anything."""
        self._end()

    def handle_cont(self, event: Any) -> None:
        """Ignored, as no page sends anything."""
        self._end()

    def _end(self) -> None:
        if not self.close_sent:
            self.close_sent = True
            self.conn.send_close(1008, "nothing is read on this socket")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()


_Connection = BoundedHttp | BoundedSocket


def _close_idle(connections: list[_Connection]) -> bool:
    """Close the connection that has waited longest with no request being answered; False where all are at work."""
    waiting = [connection for connection in connections if isinstance(connection, BoundedHttp) and connection.idle]
    if not waiting:
        return False
    min(waiting, key=lambda one: one.waiting_since).transport.abort()
    return True
