"""Log lines of a node from its agent: real sockets, wrong tokens, dead agents, hostile names, TLS."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from neuron_top.dashboard import agent_server
from neuron_top.dashboard.agent_server import LIMITS, serve_agent
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.identity import machine_id
from neuron_top.ingest.agent_logs import LogRequest, LogsUnreachable, fetch
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_line import LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.ingest.node_logs import NodeLogs
from neuron_top.services.agent import NodeAgent
from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeRecord
from neuron_top.store.postgres.fleet import FleetStore

TOKEN = "a token of agents, 1234".replace(" ", "-")
TELL = b"GET \x1b]0;evil\x07\x1b[2J ERROR step 7 \xe2\x80\xae\n"


def following(log: Path) -> NodeAgent:
    """An agent as the server sees it, whose feed follows one log."""
    buffer = LogBuffer()
    buffer.add(f"log:{log}", 0, log.read_bytes())
    agent = SimpleNamespace(feed=LiveFeed([], buffer=buffer), agent=SimpleNamespace(notes=lambda: {"dropped": 3}))
    return cast("NodeAgent", agent)


@contextmanager
def serving_logs(log: Path, settings: Settings = Settings()) -> Iterator[str]:  # noqa: B008 (frozen)
    """An agent's server; its address."""
    server = serve_agent(following(log), settings, 0)
    try:
        yield server.address
    finally:
        server.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "rank0.log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(500)) + TELL)
    return path


def test_lines_of_a_log_whose_name_is_no_utf_8_are_served_and_paged_by_the_name_that_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    log = tmp_path / os.fsdecode(b"\xff.log")
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(50)))
    with serving_logs(log) as address:
        page = fetch(Settings(), "n1", address, True, LogRequest(way="older", count=2))
        older = fetch(Settings(), "n1", address, True, LogRequest(way="older", at=page.at, count=2))
        (only,) = page.at
        tail = fetch(Settings(), "n1", address, True, LogRequest(count=1, only=only))
    texts = [[line.text for line in found.lines] for found in (page, older, tail)]
    assert texts == [["line 48", "line 49"], ["line 46", "line 47"], ["line 49"]]


@pytest.fixture
def address(log: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server on loopback, with a token."""
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    with serving_logs(log) as address:
        yield address


def ask(
    address: str, body: object = b"{}", path: str = "/logs", method: str = "POST", **headers: str
) -> tuple[int, bytes]:
    """What a plain client gets."""
    host, _, port = address.removeprefix("http://").removesuffix("/metrics").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, data if method == "POST" else None, given)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


ALLOWED = {"Authorization": f"Bearer {TOKEN}"}


def test_a_page_has_the_lines_of_followed_logs_without_escapes(address: str, log: Path) -> None:
    page = fetch(Settings(), "n1", address, True, LogRequest(way="older", count=3))
    assert [line.text for line in page.lines[:2]] == ["line 498", "line 499"]
    assert page.lines[2].text == "GET  ERROR step 7 \\u202e"
    older = fetch(Settings(), "n1", address, True, LogRequest(way="older", at=page.at, count=2))
    assert [line.text for line in older.lines] == ["line 496", "line 497"]
    assert [
        line.text for line in fetch(Settings(), "n1", address, True, LogRequest(query="/line 4[0-2]$/")).lines
    ] != []
    found = fetch(Settings(), "n1", address, True, LogRequest(way="newer", query="/line 4[0-2]$/"))
    assert [line.text for line in found.lines] == ["line 40", "line 41", "line 42"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "n1:/etc/passwd", "\0", "%2fetc%2fpasswd"])
@pytest.mark.parametrize("way", ["tail", "older", "newer"])
def test_only_files_that_the_agent_follows_are_read_whatever_is_asked_for(address: str, way: str, name: str) -> None:
    status, body = ask(address, {"way": way, "at": {f"log:{name}": 1 << 40}, "only": f"log:{name}"}, **ALLOWED)
    assert (status, json.loads(body)["lines"]) == (200, [])
    assert b"root:" not in ask(address, {"way": way, "at": {f"log:{name}": 1 << 40, name: -5}}, **ALLOWED)[1]


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {}),
        (401, {"Authorization": f"Bearer {TOKEN}x"}),
        (401, {"Authorization": f"Basic {TOKEN}"}),
        (401, {"Authorization": "Bearer"}),
        (401, {"Authorization": "Bearer \xff"}),
        (421, ALLOWED | {"Host": "evil.example"}),
        (415, ALLOWED | {"Content_Type": "text/plain"}),
        (200, ALLOWED),
    ],
)
def test_requests_that_are_not_allowed_are_refused(address: str, status: int, headers: dict[str, str]) -> None:
    assert ask(address, **headers)[0] == status


def test_guessing_a_token_is_slowed_down(address: str) -> None:
    answers = [ask(address, Authorization=f"Bearer wrong-{number:020}")[0] for number in range(25)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert ask(address, **ALLOWED)[0] == 429


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no json", 400),
        ({"way": "sideways"}, 400),
        ({"path": "/etc/passwd"}, 400),
        ({"count": 0}, 400),
        ({"count": 10**9}, 400),
        ({"query": "/(/"}, 400),
        (b" " * (LIMITS.body_bytes + 1), 413),
    ],
)
def test_what_is_no_question_is_refused(address: str, body: object, status: int) -> None:
    assert ask(address, body, **ALLOWED)[0] == status


def test_metrics_are_on_loopback_without_a_token_and_nothing_else_is_served(address: str) -> None:
    status, body = ask(address, path="/metrics", method="GET")
    assert (status, b"neurontop_agent_dropped 3.0" in body) == (200, True)
    for method, path in (("GET", "/logs"), ("POST", "/metrics"), ("GET", "/"), ("GET", "/../etc/passwd")):
        assert ask(address, path=path, method=method, **ALLOWED)[0] == 404


def test_an_unexpected_error_is_answered_and_reported(log: Path, caplog: pytest.LogCaptureFixture) -> None:
    def notes() -> dict[str, int]:
        raise ZeroDivisionError("notes")

    node = cast("NodeAgent", SimpleNamespace(feed=following(log).feed, agent=SimpleNamespace(notes=notes)))
    server = serve_agent(node, Settings(), 0)
    try:
        answers = [ask(server.address, path="/metrics", method="GET") for _ in range(2)]
    finally:
        server.close()
    assert [(status, b"its own output" in body) for status, body in answers] == [(500, True)] * 2
    assert "ZeroDivisionError: notes" in caplog.text


def test_without_a_token_an_agent_gives_no_lines_away(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEURONTOP_AGENT_TOKEN", raising=False)
    with serving_logs(log) as address:
        assert ask(address, path="/metrics", method="GET")[0] == 200
        for headers in ({}, ALLOWED, {"Authorization": "Bearer "}):
            assert ask(address, **headers)[0] == 403
    with pytest.raises(LogsUnreachable, match="need the agents' token"):
        fetch(Settings(), "n1", address, True, LogRequest())


def test_the_token_may_lie_in_a_file_and_a_short_one_is_refused(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NEURONTOP_AGENT_TOKEN", raising=False)
    file = tmp_path / "token"
    settings = Settings(agent_token_file=str(file))
    for unreadable in (settings, Settings(agent_token_file="~no-such-user/token")):
        with pytest.raises(UsageError, match="cannot read the agents' token"):
            serve_agent(following(log), unreadable, 0)
    file.write_text("short")
    with pytest.raises(UsageError, match="at least 16"):
        serve_agent(following(log), settings, 0)
    file.write_text(TOKEN + "\n")
    with serving_logs(log, settings) as address:
        assert fetch(settings, "n1", address, True, LogRequest()).lines


@pytest.mark.parametrize(
    ("address", "is_here", "words"),
    [
        ("", True, "reports no address"),
        ("http://127.0.0.1:1/metrics", True, "cannot be reached"),
        ("http://127.0.0.1:9999/metrics", False, "answers on n1 alone"),
        ("http://203.0.113.7:80/metrics", True, "without TLS: its token is not sent"),
        ("file:///etc/passwd", True, "without TLS"),
        ("https://user:x@127.0.0.1:1/", True, "an invalid address"),
        ("https://[broken", True, "an invalid address"),
    ],
)
def test_where_a_token_may_not_go_and_an_agent_that_is_dead_are_reported(
    monkeypatch: pytest.MonkeyPatch, address: str, is_here: bool, words: str
) -> None:
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    with pytest.raises(LogsUnreachable, match=words) as failed:
        fetch(Settings(), "n1", address, is_here, LogRequest())
    assert TOKEN not in str(failed.value)


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """An agent that answers as it likes."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def said(status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


EVIL = "\x1b]0;evil\x07\x1b[2J"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (said(302, b"", Location="http://127.0.0.1:1/"), "HTTP status 302"),
        (said(200, b"<html>"), "not a page of log lines"),
        (said(200, b'{"lines": [{"source": 1}], "at": {}, "ended": true}'), "not a page of log lines"),
        (said(200, b'{"other": ' + b"[" * 100_000), "not a page of log lines"),
        (said(503, b'{"other": ' + b"[" * 30_000), "HTTP status 503"),
        (said(401, json.dumps({"error": f"no {EVIL}"}).encode()), "refuses: no ␛]0;evil␇␛"),
        (said(500, b"\xff" * 100), "HTTP status 500"),
    ],
)
def test_an_agent_that_answers_with_anything_else_is_reported_as_such(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[BaseHTTPRequestHandler], None], words: str
) -> None:
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    with answering(answer) as address, pytest.raises(LogsUnreachable, match=words.replace("[", r"\[")):
        fetch(Settings(), "n1", address, True, LogRequest())


def test_names_and_texts_of_a_hostile_agent_reach_nobody_as_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    line = {"source": f"log:{EVIL}", "offset": 0, "text": EVIL * 1000, "family": EVIL}
    body = json.dumps({"lines": [line] * 100, "at": {f"log:{EVIL}": 7}, "ended": False}).encode()
    with answering(said(200, body)) as address:
        page = fetch(Settings(), "n1", address, True, LogRequest(count=50))
    assert len(page.lines) == 50
    assert "\x1b" not in repr(page)
    assert len(page.lines[0].text) <= 4096


def certificates(folder: Path, name: str) -> None:
    """An authority's certificate and one for 127.0.0.1 that it signed."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")

    def run(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run("req", "-x509", *key, "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.crt", "-subj", f"/CN={name}")
    run("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=node")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    ca = ("-CA", f"{name}-ca.crt", "-CAkey", f"{name}-ca.key", "-CAcreateserial")
    run("x509", "-req", "-in", f"{name}.csr", *ca, "-out", f"{name}.crt", "-extfile", "names")


def test_tls_is_verified_and_a_wrong_authority_or_name_refused(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    for name in ("right", "wrong"):
        certificates(tmp_path, name)
    files = {"agent_certificate": str(tmp_path / "right.crt"), "agent_key": str(tmp_path / "right.key")}
    with serving_logs(log, Settings(agent_listen="127.0.0.1:0", **files)) as address:
        assert address.startswith("https://127.0.0.1:")
        trusting = Settings(agent_ca=str(tmp_path / "right-ca.crt"))
        assert fetch(trusting, "n1", address, True, LogRequest()).lines
        for settings in (Settings(agent_ca=str(tmp_path / "wrong-ca.crt")), Settings()):
            with pytest.raises(LogsUnreachable, match="certificate verify failed"):
                fetch(settings, "n1", address, True, LogRequest())
        with pytest.raises(LogsUnreachable, match=r"(?i)hostname mismatch|not valid for"):
            fetch(trusting, "n1", address.replace("127.0.0.1", "localhost"), True, LogRequest())
        with pytest.raises(UsageError, match="agent_ca"):
            fetch(Settings(agent_ca=str(tmp_path / "none")), "n1", address, True, LogRequest())
        # A client that speaks no TLS, or says nothing, is no trouble to the next one.
        port = int(address.rpartition(":")[2].partition("/")[0])
        with (
            socket.create_connection(("127.0.0.1", port)) as silent,
            socket.create_connection(("127.0.0.1", port)) as plain,
        ):
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert fetch(trusting, "n1", address, True, LogRequest()).lines
            assert silent.fileno() >= 0
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with old.wrap_socket(socket.create_connection(("127.0.0.1", port))) as connection:
            assert connection.version() in ("TLSv1.2", "TLSv1.3")


def test_nothing_is_served_to_others_without_a_certificate_and_a_token(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", TOKEN)
    with pytest.raises(RefusedForSafety, match="reachable from other machines"):
        serve_agent(following(log), Settings(agent_listen="0.0.0.0:0"), 0)
    with pytest.raises(UsageError, match="expected host:port"):
        serve_agent(following(log), Settings(agent_listen="somewhere"), 0)
    with pytest.raises(UsageError, match="agent_certificate"):
        serve_agent(following(log), Settings(agent_certificate="/none"), 0)


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (value := found()) is not None and value is not False:
            return value
        time.sleep(0.02)
    raise AssertionError("it never came")


def test_a_log_is_looked_through_page_by_page_and_named_with_its_node(address: str, log: Path) -> None:
    logs = NodeLogs("n1", lambda request: fetch(Settings(), "n1", address, True, request))
    assert "asking" in logs.state
    tail = until(lambda: logs.log_tail(50) or None)
    assert (tail[-2].text, tail[-2].source, logs.state) == ("line 499", f"log:n1:{log}", "")
    at: dict[str, int] = {}
    texts: list[str] = []
    for _ in range(500):
        page = logs.log_older(at, 100)
        texts[:0] = [line.text for line in page.lines]
        at = {**at, **page.at}
        if page.ended:
            break
    assert texts[:-1] == [f"line {number}" for number in range(500)]

    def found_lines() -> tuple[LogLine, ...] | None:
        """All five: a page that is asked for and slow to come brings fewer at first."""
        lines = logs.log_newer({}, 5, LogQuery("/^line 33/", f"log:n1:{log}")).lines
        return lines if len(lines) == 5 else None

    found = until(found_lines)
    assert [line.text for line in found] == ["line 33", *(f"line 33{number}" for number in range(4))]


def test_a_dead_agent_is_reported_and_ends_every_search_and_a_living_one_is_found_again(address: str) -> None:
    alive = False

    def answer(request: LogRequest) -> LogPage:
        return fetch(Settings(), "n1", address if alive else "http://127.0.0.1:1/metrics", True, request)

    changes: list[int] = []
    logs = NodeLogs("n1", answer, lambda: changes.append(1))
    assert logs.log_tail(10) == []
    until(lambda: "cannot be reached" in logs.state)
    assert logs.log_older({}, 10).ended
    alive = True
    until(lambda: logs.log_tail(10) or None)
    assert logs.state == ""
    assert len(changes) >= 2


def test_the_fleet_asks_the_address_that_the_database_has(address: str, postgres_url: str) -> None:
    with FleetStore(postgres_url) as store, FleetService(Settings(store=postgres_url)) as fleet:
        store.register(NodeRecord(node="n1", machine_id=machine_id(), address=address))
        store.register(NodeRecord(node="n2", machine_id="another", address=address))
        assert fleet.log_page("n1", LogRequest(way="older", count=2)).lines[0].text == "line 499"
        with pytest.raises(LogsUnreachable, match="answers on n2 alone"):
            fleet.log_page("n2", LogRequest())
        with pytest.raises(LogsUnreachable, match="no node 'n3'"):
            fleet.log_page("n3", LogRequest())


def test_a_request_whose_bytes_trickle_in_is_given_up_in_time(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes well before a read gives up; the whole does not."""
    monkeypatch.setattr(agent_server._Handler, "request_seconds", 0.5)
    host, _, port = address.removeprefix("http://").removesuffix("/metrics").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            for byte in itertools.cycle(b"GET /metrics HTTP/1.1\r\nX-Slow: " + b"x" * 1000):
                connection.sendall(bytes([byte]))
                time.sleep(0.02)
        with suppress(ConnectionResetError):
            assert connection.recv(100) == b""
    assert ask(address, method="GET", path="/metrics")[0] == 200
