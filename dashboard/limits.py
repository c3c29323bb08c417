"""Limits per client and in total: sizes, times, requests, wrong tokens. Pure.

A client is an address; of IPv6 its network of 64 bits, because a machine has all addresses of that to choose from.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

import msgspec

UPLOAD_PATH = "dropped"
"""The only path, below the prefix, that accepts a large body."""
_CLIENTS_KEPT = 4096


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of connections and messages, enforced by `protocol.py` before the application sees anything."""

    head_bytes: int = 32 << 10
    """Request line and headers of one request."""
    target_bytes: int = 12 << 10
    """The address in the request line."""
    headers: int = 100
    body_bytes: int = 1 << 20
    upload_bytes: int = 64 << 20
    """For a log that is dropped into a page, only at `UPLOAD_PATH`."""
    head_seconds: float = 10.0
    """Seconds from the first byte (on a new connection from its beginning) to the end of the headers."""
    body_seconds: float = 20.0
    """Seconds from the end of the headers to the end of the body."""
    upload_seconds: float = 300.0
    idle_seconds: int = 5
    """Seconds between two requests on a connection."""
    stalled_seconds: float = 20.0
    """Seconds within which a client must read at least `least_progress` bytes of its answer."""
    least_progress: int = 16 << 10
    connections: int = 900
    """Below the usual limit of 1,024 open files per process."""
    connections_of_one: int = 600
    """One address may be a proxy with many browsers behind it."""
    pipelined: int = 16
    """Requests sent ahead on one connection."""
    message_bytes: int = 1 << 10
    """Of a WebSocket: pages send nothing on theirs."""


def client_of(host: str) -> str:
    """The client, for counting requests, that an address belongs to."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


class Rate:
    """`per_second` requests in the long run and `burst` at once, for each client. One thread only."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second, self._burst = per_second, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str, now: float) -> bool:
        """Whether one more request is within the limit; if so, it is counted. `now`: a monotonic clock."""
        left, since = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._per_second)
        allowed = left >= 1.0
        self._buckets[client] = (left - 1.0 if allowed else left, now)
        while len(self._buckets) > _CLIENTS_KEPT:
            self._buckets.popitem(last=False)
        return allowed


class Guesses:
    """How soon the next token of a client is compared: after some wrong ones it has to wait, each time twice as long.

    What is sent while it waits is not compared and does not lengthen the wait, which has an upper bound: somebody with
    the right token gets in, however many wrong ones come from the same address. All clients together have a limit too,
    which somebody with many addresses meets.
    """

    FREE = 20
    FIRST_SECONDS, MOST_SECONDS = 5.0, 60.0
    FORGOTTEN_SECONDS = 900.0
    ALL_PER_SECOND, ALL_AT_ONCE = 5.0, 200.0

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """By client: how many, and when the last one came."""
        self._all = self.ALL_AT_ONCE, 0.0

    def wait(self, client: str, now: float) -> float:
        """Seconds until the next token of this client is compared; 0: at once. `now`: a monotonic clock."""
        count, last = self._wrong.get(client, (0, now))
        if now - last > self.FORGOTTEN_SECONDS:
            del self._wrong[client]
            count = 0
        over = count - self.FREE
        own = last + min(self.MOST_SECONDS, self.FIRST_SECONDS * 2.0 ** min(over, 8)) - now if over >= 0 else 0.0
        return max(0.0, own, (1.0 - self._left(now)) / self.ALL_PER_SECOND)

    def wrong(self, client: str, now: float) -> None:
        """Note that a compared token of this client was wrong."""
        count, last = self._wrong.pop(client, (0, now))
        self._wrong[client] = (1 if now - last > self.FORGOTTEN_SECONDS else count + 1, now)
        self._all = self._left(now) - 1.0, now
        while len(self._wrong) > _CLIENTS_KEPT:
            self._wrong.popitem(last=False)

    def _left(self, now: float) -> float:
        left, since = self._all
        return min(self.ALL_AT_ONCE, left + (now - since) * self.ALL_PER_SECOND)
