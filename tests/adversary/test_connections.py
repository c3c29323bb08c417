"""Connections that are held open, grow without end or are never finished: each ends, and others are served meanwhile.

Times are shorter here than in the product, and nothing asserts that something is quick: what is attacked would stay
for ever.
"""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neuron_top.dashboard.limits import ConnectionLimits, client_of
from tests.adversary import web
from tests.adversary.attacker import LONG
from tests.dashboard.served import Served, serving
from tests.tui.feeds import StillFeed, job

SHORT = ConnectionLimits(head_seconds=1.5, body_seconds=1.5, idle_seconds=1, stalled_seconds=1.0, connections=60,
               connections_of_one=40)  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose times are short."""
    with serving(StillFeed(job()), tmp_path_factory.mktemp("state"), limits=SHORT) as running:
        yield running


def drip(line: socket.socket, data: Callable[[int], bytes], seconds: float = web.PATIENCE) -> bytes:
    """Send a little ten times a second until the server has had enough; what it says then."""
    ended = threading.Event()
    answer: list[bytes] = []

    def listen() -> None:
        answer.append(web.read_all(line))
        ended.set()

    listener = threading.Thread(target=listen)
    listener.start()
    deadline, number = time.monotonic() + seconds, 0
    while not ended.is_set() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            line.sendall(data(number))
        number += 1
        ended.wait(0.1)
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    listener.join()
    assert time.monotonic() < deadline, "the server let it go on"
    return answer[0]


def test_a_request_that_comes_a_byte_at_a_time_is_given_up(served: Served) -> None:
    head = web.head(served.port, "/alive", *(f"X-{number}: {number}" for number in range(90)))
    with web.connect(served.port) as line:
        assert web.status_of(drip(line, lambda number: head[number : number + 1])) == 408
    with web.connect(served.port) as line:
        line.sendall(head[:40])
        assert web.status_of(drip(line, lambda number: f"X-{number}: 1\r\n".encode())) in (408, 431)
    with web.connect(served.port) as line:
        assert web.status_of(drip(line, lambda _number: b"\r\n")) == 408, "line ends in front of a request"


def test_a_connection_on_which_nothing_comes_is_closed_without_a_word(served: Served) -> None:
    assert web.exchange(served.port, b"") == b""
    assert web.status_of(web.exchange(served.port, web.head(served.port))) == 204, "and one that says no more"


def test_a_second_request_has_no_more_time_than_the_first(served: Served) -> None:
    with web.connect(served.port) as line:
        line.sendall(web.head(served.port))
        assert web.status_of(line.recv(4096)) == 204
        assert web.status_of(drip(line, lambda number: b"GET /alive"[number : number + 1])) == 408


def test_a_body_that_does_not_come_is_given_up(served: Served) -> None:
    kind = ("Content-Type: application/json", f"Origin: http://127.0.0.1:{served.port}")
    sized = web.head(served.port, "/api/cache/plans", *kind, "Content-Length: 500000", method="POST")
    chunked = web.head(served.port, "/api/cache/plans", *kind, "Transfer-Encoding: chunked", method="POST")
    ignored = web.head(served.port, "/alive", "Content-Length: 900000")
    with web.connect(served.port) as line:
        line.sendall(sized)
        assert web.status_of(drip(line, lambda _number: b"x")) == 408
    with web.connect(served.port) as line:
        line.sendall(chunked)
        assert web.status_of(drip(line, lambda _number: b"1\r\nx\r\n")) == 408
    with web.connect(served.port) as line:  # answered at once, and still its body comes in
        line.sendall(ignored)
        assert web.status_of(drip(line, lambda _number: b"x" * 100)) == 204


def test_what_is_too_large_is_refused_while_it_comes(served: Served) -> None:
    port, mebibyte = served.port, b"x" * (1 << 20)
    begun = web.head(port)[:-2]
    kind = (f"Origin: http://127.0.0.1:{port}", "Content-Type: application/json")
    many = [b"X-%d: 1\r\n" % number for number in range(100_000)]
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    chunked = web.head(port, "/api/cache/plans", *kind, "Transfer-Encoding: chunked", method="POST")
    sized = web.head(port, "/api/cache/plans", *kind, f"Content-Length: {SHORT.body_bytes + 1}", method="POST")
    huge = web.head(port, "/api/cache/plans", *kind, "Content-Length: 99999999999999999999", method="POST")
    attacks = {
        "a header of 10 MiB": (begun + b"X: " + mebibyte * 10 + b"\r\n\r\n", {431}),
        "a header name of 10 MiB": (begun + mebibyte * 10, {400, 431}),
        "100,000 headers": (begun + b"".join(many) + b"\r\n", {431}),
        "101 headers": (begun + b"".join(many[:100]) + b"\r\n", {431}),
        "a cookie of 60 KiB": (begun + b"Cookie: " + b"x" * 60_000 + b"\r\n\r\n", {431}),
        "an address of 10 MiB": (b"GET /" + mebibyte * 10, {414}),
        "an address of 13 KiB": (web.head(port, "/" + "a" * 13_000), {414}),
        "no line end ever": (mebibyte * 10, {400, 431}),
        "line ends only": (b"\r\n" * (1 << 20), {431}),
        "zero bytes": (b"\0" * (1 << 20), {400, 431}),
        "a chunked body without end": (chunked + chunk * 80, {413}),
        "a body of tiny chunks": (chunked + b"1\r\nx\r\n" * 600_000, {413}),
        "chunk extensions without end": (chunked + b"1;" + mebibyte * 10, {400, 413}),
        "trailers without end": (chunked + b"0\r\nX: " + mebibyte * 10, {400, 413}),
        "a body that says it is too large": (sized, {413}),
        "a body of an absurd size": (huge, {400, 413}),
        "a body of less than nothing": (huge.replace(b"9" * 20, b"-1"), {400}),
        "two sizes": (sized.replace(b"\r\n\r\n", b"\r\nContent-Length: 1\r\n\r\n"), {400}),
        "a size and chunks": (sized.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"), {400}),
    }
    got = {name: web.status_of(web.exchange(port, data)) for name, (data, _expected) in attacks.items()}
    wrong = {name: got[name] for name, (_data, expected) in attacks.items() if got[name] not in expected}
    assert not wrong
    assert web.ask(port) == 204


def test_requests_that_are_never_finished_hold_no_memory(tmp_path: Path) -> None:
    """The program itself, with its own limits: fifty connections, each with as much of a header as it takes."""
    with web.program(tmp_path) as program, contextlib.ExitStack() as lines:
        assert web.ask(program.port) == 204
        before = program.resident_bytes
        for _number in range(50):
            line = lines.enter_context(web.connect(program.port))
            line.sendall(web.head(program.port)[:-2] + b"X: ")
            with contextlib.suppress(OSError):
                for _piece in range(48):  # 3 MiB in all
                    line.sendall(b"x" * (64 << 10))
        assert web.ask(program.port) == 204
        assert program.resident_bytes - before < 50 << 20


def test_whoever_does_it_right_is_served_beside_many_that_do_not(served: Served) -> None:
    with contextlib.ExitStack() as lines:
        for number in range(3 * SHORT.connections):
            line = lines.enter_context(web.connect(served.port))
            line.sendall(web.head(served.port)[: number % 60])
            if number % 10 == 0:
                assert web.ask(served.port) == 204, number
        assert web.ask(served.port) == 204


def test_whoever_is_being_answered_keeps_the_connection(served: Served) -> None:
    """Room is made by those that wait; what is open and at work stays."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
        f"Origin: http://127.0.0.1:{served.port}",
    )
    with web.connect(served.port) as pushed, contextlib.ExitStack() as lines:
        pushed.sendall(web.head(served.port, "/push", *upgrade))
        assert web.status_of(pushed.recv(4096)) == 101
        for _number in range(2 * SHORT.connections):
            lines.enter_context(web.connect(served.port))
        for _number in range(3):
            assert pushed.recv(4096), "it still tells of changes"


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack("!BB4s", 0x81, 0x80, b"mask"),  # a text
        struct.pack("!BB4s", 0x82, 0x80, b"mask"),  # bytes
        struct.pack("!BB4s", 0x01, 0x80, b"mask"),  # the beginning of a text
        struct.pack("!BB4s", 0x80, 0x80, b"mask"),  # the rest of one that was not begun
        struct.pack("!BBQ4s", 0x81, 0xFF, 1 << 40, b"mask"),  # a text of a tebibyte
        struct.pack("!BB", 0x81, 0x01) + b"x",  # not masked
        b"\xff" * 64,
    ],
)
def test_a_socket_on_which_something_is_sent_ends(served: Served, frame: bytes) -> None:
    with open_socket(served.port) as line:
        line.sendall(frame)
        web.read_all(line)
    assert web.ask(served.port) == 204


def test_a_socket_that_asks_and_takes_no_answer_ends(served: Served) -> None:
    ping = struct.pack("!BB4s", 0x89, 0x80 | 125, b"\0" * 4) + b"p" * 125
    with open_socket(served.port) as line:
        send_until_refused(line, ping * 100)
    assert web.ask(served.port) == 204


def send_until_refused(line: socket.socket, data: bytes, pause: float = 0.0) -> None:
    """Send the same again and again, and take nothing, until the other side ends it."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deadline = time.monotonic() + web.PATIENCE
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < deadline:
            line.sendall(data)
            time.sleep(pause)
        raise AssertionError("the server let it go on")


@contextlib.contextmanager
def open_socket(port: int) -> Iterator[socket.socket]:
    """A WebSocket as a page opens it."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
        f"Origin: http://127.0.0.1:{port}",
    )
    with web.connect(port) as line:
        line.sendall(web.head(port, "/push", *upgrade))
        assert web.status_of(line.recv(4096)) == 101
        yield line


def test_an_answer_that_nobody_takes_is_given_up(served: Served) -> None:
    """Somebody asks for much, again and again, and reads nothing."""
    with web.connect(served.port) as line:
        request = web.head(served.port, "/assets/plotly/plotly.min.js")
        send_until_refused(line, request, pause=0.01)
    assert web.ask(served.port) == 204


def test_many_requests_at_once_on_one_connection_are_bounded(served: Served) -> None:
    answers = web.exchange(served.port, web.head(served.port, "/api/overview") * 5000)
    assert answers.count(b"HTTP/1.1 200") < 1000
    few = web.exchange(served.port, web.head(served.port) * 4 + web.head(served.port, "/alive", "Connection: close"))
    assert few.count(b"HTTP/1.1 204") == 5, "some are answered, in their order"


def test_a_half_closed_connection_ends(served: Served) -> None:
    with web.connect(served.port) as line:
        line.sendall(web.head(served.port)[:-2])
        line.shutdown(socket.SHUT_WR)
        web.read_all(line)
    assert web.ask(served.port) == 204


@pytest.mark.skipif(not LONG, reason="takes minutes: make adversary")
def test_with_its_own_times_the_program_outlives_a_thousand_slow_clients(tmp_path: Path) -> None:
    with web.program(tmp_path) as program, contextlib.ExitStack() as lines:
        waiting = [lines.enter_context(web.connect(program.port)) for _number in range(400)]
        for second in range(60):
            for line in waiting:
                with contextlib.suppress(OSError):
                    line.sendall(web.head(program.port)[second : second + 1])
            assert web.ask(program.port) == 204
            time.sleep(0.5)


def test_a_network_of_ipv6_is_one_client() -> None:
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff") != client_of("2001:db8:1::1")
    assert client_of("10.0.0.1") != client_of("10.0.0.2")
    assert client_of("fe80::1%eth0") == client_of("fe80::2")
