"""Stands between clients and the tests' S3 server; answers are lost or held back as a test wants."""

from __future__ import annotations

import http.client
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.aws_environment import pointed_at

_HOP_BY_HOP = frozenset({"connection", "expect", "content-length", "transfer-encoding"})


class Relay:
    """What becomes of requests."""

    def __init__(self) -> None:
        self.losing = 0
        """Answers to writes that are yet to be lost, after the server has carried them out."""
        self.cutting = False
        """Whether the answers to reads break off."""
        self.paths: list[str] = []
        """Of the requests so far."""
        self.silent = ""
        """Requests for another path than this one get no answer; empty: all are answered."""
        self.ended = threading.Event()


@contextmanager
def relayed() -> Iterator[Relay]:
    """A relay to the server that the environment names; while it is open the environment names the relay."""
    relay, upstream = Relay(), urlsplit(os.environ["AWS_ENDPOINT_URL"])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            path = self.path.partition("?")[0]
            relay.paths.append(path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if relay.silent not in ("", path):
                relay.ended.wait()
                self.close_connection = True
                return
            status, headers, answer = self._answered(body)
            if self.command == "PUT" and relay.losing:
                relay.losing -= 1
                self.close_connection = True
                return
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            length = dict(headers).get("Content-Length", "0") if self.command == "HEAD" else str(len(answer))
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command == "GET" and relay.cutting:
                answer, self.close_connection = answer[:-1], True
            self.wfile.write(answer)

        def _answered(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            server = http.client.HTTPConnection(str(upstream.hostname), upstream.port or 80)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            try:
                server.request(self.command, self.path, body, headers)
                answer = server.getresponse()
                return answer.status, answer.getheaders(), answer.read()
            finally:
                server.close()

        do_GET = do_HEAD = do_PUT = do_DELETE = pass_on  # noqa: N815 (names that the library asks for)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (as the library calls it)
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pointed_at(f"http://127.0.0.1:{server.server_port}"):
            yield relay
    finally:
        relay.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
