"""Reads Neuron Observer's `/metrics` over HTTP: periodically, with limits on time and size, in a thread of ingest's.

The daemon listens on the loopback interface, port 7001. If no address is set, it is tried there, without a message if
nobody answers: most machines have no such daemon. If a person has set the address, a failure is shown.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from neuron_top.errors import UsageError
from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable
from neuron_top.parsers.neuron_observer import LONGEST_SCRAPE, MOST_UNKNOWN, ObserverScrape, read_scrape
from neuron_top.telemetry.observer_events import ObserverReader
from neuron_top.telemetry.source import Emit
from neuron_top.units import counted

if TYPE_CHECKING:  # slower to import than the rest of a command
    import http.client

DEFAULT_URL = "http://127.0.0.1:7001/metrics"
OFF = "off"
_LIMIT = 5.0
"""Seconds for one whole answer, however slowly it arrives."""
_CONNECT_LIMIT = 2.0
"""Seconds for the connection, and for each pause in an answer."""
_RETRY = 60.0
"""Seconds between two tries while there is no answer."""
_LEAST_PERIOD = 2.0
"""Least seconds between two scrapes: one of a large machine has some 10,000 samples."""
_CHUNK = 1 << 16


class NoScrape(Exception):
    """There was no usable answer; the text completes "<address> …"."""


class ObserverAddress(NamedTuple):
    """The address of Neuron Observer. `by_person`: a person set it, so that a failure is reported."""

    url: str
    by_person: bool = True

    @property
    def is_local(self) -> bool:
        """Whether it is this machine's loopback interface."""
        host = urlsplit(self.url).hostname or ""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(host).is_loopback
        return host == "localhost"


def address_of(setting: str) -> ObserverAddress | None:
    """The address in a setting: empty = the default, tried quietly; `off` = none. Raises UsageError."""
    if setting.strip().lower() == OFF:
        return None
    return ObserverAddress(checked_url(setting)) if setting.strip() else ObserverAddress(DEFAULT_URL, by_person=False)


def is_url(text: str) -> bool:
    """Whether this text is an address and not a file."""
    return text.startswith(("http://", "https://"))


def checked_url(text: str) -> str:
    """An address that can be asked; a bare host gets the path `/metrics`. Raises UsageError."""
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        parts, usable = urlsplit(""), None
    if not usable or any(not " " < letter < "\x7f" for letter in text.strip()):
        raise UsageError(
            f"{visible(text)!r} is not an address of Neuron Observer; expected, for example, {DEFAULT_URL}"
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError("the address of Neuron Observer may not hold a user name or password")
    return text.strip() if parts.path not in ("", "/") else f"{parts.scheme}://{parts.netloc}/metrics"


def fetch(
    url: str, seconds: float = _LIMIT, opened: Callable[[socket.socket | None], None] = lambda _: None
) -> ObserverScrape:
    """One scrape; `opened` gets its socket, to cut it short. No proxy, no redirect.

    Raises NoScrape where there is no answer of Neuron Observer's.
    """
    text = _ask(url, seconds, opened)
    scrape = read_scrape(text)
    if not scrape.documented:
        raise NoScrape("answers, but with none of the known metrics of Neuron Observer" + _unknown(scrape))
    return scrape


def described(scrape: ObserverScrape) -> str:
    """A summary of a scrape for people, with the unknown names."""
    parts = [f"{counted(scrape.documented, 'sample')} read"]
    if scrape.unknown_count:
        parts.append(_unknown(scrape).removeprefix("; "))
    if scrape.malformed or scrape.problem:
        parts.append(f"{counted(scrape.malformed, 'line')} could not be read: {scrape.problem}")
    return "; ".join(parts)


def _unknown(scrape: ObserverScrape) -> str:
    if not scrape.unknown_count:
        return ""
    more = f" and {scrape.unknown_count - MOST_UNKNOWN} more" if scrape.unknown_count > MOST_UNKNOWN else ""
    return f"; names not known: {', '.join(scrape.unknown)}{more}"


def _ask(url: str, seconds: float, opened: Callable[[socket.socket | None], None]) -> str:
    import http.client

    parts = urlsplit(url)
    connection = _connection(parts.scheme, parts.hostname or "", parts.port, min(seconds, _CONNECT_LIMIT))
    deadline = time.monotonic() + seconds
    guard: threading.Timer | None = None
    try:
        connection.connect()
        opened(connection.sock)
        # A timeout of the socket restarts with every byte; this one does not.
        guard = threading.Timer(max(0.0, deadline - time.monotonic()), _cut, (connection.sock,))
        guard.daemon = True
        guard.start()
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", target, headers={"Accept": "text/plain", "Accept-Encoding": "identity"})
        return _read(connection.getresponse(), deadline, seconds)
    except NoScrape:
        raise
    except TimeoutError:
        raise NoScrape(f"did not answer within {seconds:g} s") from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        if time.monotonic() >= deadline:
            raise NoScrape(f"did not answer within {seconds:g} s") from None
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        raise NoScrape(f"cannot be read ({visible(str(reason)[:200])})") from None
    finally:
        if guard is not None:
            guard.cancel()
        connection.close()


def _connection(scheme: str, host: str, port: int | None, seconds: float) -> http.client.HTTPConnection:
    import http.client

    if scheme == "https":
        import ssl

        return http.client.HTTPSConnection(host, port, timeout=seconds, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=seconds)


def _read(response: http.client.HTTPResponse, deadline: float, seconds: float) -> str:
    if response.status != 200:
        raise NoScrape(f"answered with the status {response.status}")
    if response.getheader("Content-Encoding", "identity").lower() != "identity":
        raise NoScrape("sent a compressed answer, which was not requested")
    data = bytearray()
    while chunk := response.read1(_CHUNK):
        data += chunk
        if len(data) > LONGEST_SCRAPE:
            raise NoScrape(f"answered with more than {LONGEST_SCRAPE} bytes")
        if time.monotonic() >= deadline:
            raise NoScrape(f"did not finish its answer within {seconds:g} s")
    if response.length:
        raise NoScrape("closed the connection before its answer was complete")
    if time.monotonic() >= deadline:  # the time limit has cut it off
        raise NoScrape(f"did not finish its answer within {seconds:g} s")
    return data.decode("utf-8", "replace")


def _cut(sock: socket.socket | None) -> None:
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


class ObserverSource:
    """Telemetry of Neuron Observer. While `silent()` its core samples are held back: another source gives them.

    `delivering` says whether its answers come at present, for sources that stand in for it.
    """

    name = "neuron-observer"

    def __init__(
        self,
        address: ObserverAddress,
        period: float = _LEAST_PERIOD,
        *,
        refine: Callable[[AnyEvent], AnyEvent] | None = None,
        announce_devices: bool = True,
        silent: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.time,
        retry: float = _RETRY,
    ) -> None:
        self._address, self._period, self._retry = address, max(_LEAST_PERIOD, period), retry
        self._refine = refine if address.is_local else None
        self._silent = silent
        self._reader = ObserverReader(clock=clock, announce_devices=announce_devices)
        self._stopped = threading.Event()
        self._reported = ""
        self._open: socket.socket | None = None
        self._looked = threading.Event()
        self.delivering = False

    @property
    def is_quiet(self) -> bool:
        """Whether a missing answer is not reported."""
        return not self._address.by_person

    def answers(self) -> bool:
        """Whether anybody answers; waits for the first answer or failure of a source that was started."""
        self._looked.wait(_LIMIT)
        return self.delivering

    def start(self, emit: Emit) -> None:
        """Ask until stopped."""
        while not self._stopped.is_set():
            answered = self._look(emit)
            self._looked.set()
            self._stopped.wait(self._period if answered else self._retry)

    def stop(self) -> None:
        """Stop; an answer in progress is cut off."""
        self._stopped.set()
        _cut(self._open)

    def _look(self, emit: Emit) -> bool:
        try:
            scrape = fetch(self._address.url, opened=self._opened)
        except NoScrape as problem:
            if self._stopped.is_set():
                return False
            was, self.delivering = self.delivering, False
            if self._address.by_person or was:
                self._report(emit, SourceUnavailable, f"{self._address.url} {problem}")
            return False
        self.delivering = True
        detail = (
            f"{self._address.url}: {described(scrape)}"
            if scrape.unknown_count or scrape.malformed
            else self._address.url
        )
        self._report(emit, SourceAvailable, detail)
        events = self._reader.events(scrape)  # also while silent: running totals are counted from the scrape before
        if not self._silent():
            for event in events:
                emit(self._refine(event) if self._refine else event)
        return True

    def _opened(self, sock: socket.socket | None) -> None:
        self._open = sock
        if self._stopped.is_set():
            _cut(sock)

    def _report(self, emit: Emit, kind: type[SourceAvailable] | type[SourceUnavailable], text: str) -> None:
        if text == self._reported:
            return
        self._reported = text
        if kind is SourceAvailable:
            emit(SourceAvailable(source="observer", name=self.name, detail=text))
        else:
            emit(SourceUnavailable(source="observer", name=self.name, reason=text))
