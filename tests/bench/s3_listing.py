"""A server that answers one question of S3's protocol, `ListObjectsV2`, with as many objects as one likes, at once.

A real server of the tests would be measured together with its client, and takes many minutes to be filled with 100,000
objects. Pages of 1,000 keys are written once, before the first request; the same server answers both sides.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.aws_environment import pointed_at

PREFIX, PAGE = "team/neuron/", 1000
NAMES = ("compile_flags.json", "model.done", "model.hlo_module.pb", "model.neff", "wrapped_neff.hlo")


@contextmanager
def listed(count: int) -> Iterator[str]:
    """`s3://bucket/prefix` of a cache of `count` objects, five to an entry, served by a process of its own."""
    with subprocess.Popen([sys.executable, "-m", __name__, str(count)], stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None:
            raise AssertionError("it is a pipe")
        try:
            with pointed_at(f"http://127.0.0.1:{server.stdout.readline().strip()}"):
                yield f"s3://caches/{PREFIX}"
        finally:
            server.terminate()


def pages(count: int) -> list[bytes]:
    """The answers, in order."""
    keys = [
        f"{PREFIX}neuronxcc-2.21.1.0+aaaaaaaa/MODULE_{number:020d}+f7f529f3/{name}"
        for number in range(count // len(NAMES))
        for name in NAMES
    ]
    return [_page(keys[start : start + PAGE], start + PAGE, len(keys)) for start in range(0, len(keys), PAGE)]


def _page(keys: list[str], following: int, total: int) -> bytes:
    more = following < total
    contents = "".join(
        f"<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
        f'<ETag>"{number:032x}"</ETag><Size>4096</Size><StorageClass>STANDARD</StorageClass></Contents>'
        for number, key in enumerate(keys)
    )
    token = f"<NextContinuationToken>{following}</NextContinuationToken>" if more else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>caches</Name><Prefix>{PREFIX}</Prefix><KeyCount>{len(keys)}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
        f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{contents}</ListBucketResult>"
    ).encode()


def serve(count: int) -> None:
    """Answer until ended; the port is the first line on stdout."""
    answers = pages(count)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            token = parse_qs(urlsplit(self.path).query).get("continuation-token", ["0"])[0]
            body = answers[int(token) // PAGE]
            self.send_response(200)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
