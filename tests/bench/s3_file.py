"""A server that answers what a fetch asks of S3's protocol about one large object, as fast as the kernel sends a file.

The tests' S3 server keeps objects in memory and answers one request after the other in Python: it would be measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from tests.aws_environment import pointed_at

BUCKET, PREFIX = "caches", "team/neuron/"


@contextmanager
def serving(files: Mapping[str, Path]) -> Iterator[str]:
    """`s3://bucket/prefix` with these objects (path below the prefix → file), served by a process of its own."""
    named = json.dumps({name: str(path) for name, path in files.items()})
    with subprocess.Popen([sys.executable, "-m", __name__, named], stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None:
            raise AssertionError("it is a pipe")
        try:
            with pointed_at(f"http://127.0.0.1:{server.stdout.readline().strip()}"):
                yield f"s3://{BUCKET}/{PREFIX}".rstrip("/")
        finally:
            server.terminate()


def _listing(files: Mapping[str, Path], asked: Mapping[str, list[str]]) -> bytes:
    prefix, delimiter = asked.get("prefix", [""])[0], asked.get("delimiter", [""])[0]
    contents, folders = "", set()
    for name, path in sorted(files.items()):
        key = PREFIX + name
        rest = key.removeprefix(prefix)
        if not key.startswith(prefix):
            continue
        if delimiter and delimiter in rest:
            folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
            continue
        contents += (
            f"<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
            f'<ETag>"{path.stat().st_size:032x}"</ETag><Size>{path.stat().st_size}</Size></Contents>'
        )
    common = "".join(f"<CommonPrefixes><Prefix>{each}</Prefix></CommonPrefixes>" for each in sorted(folders))
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{BUCKET}</Name><Prefix>{prefix}</Prefix><KeyCount>{len(files)}</KeyCount><MaxKeys>1000</MaxKeys>"
        f"<IsTruncated>false</IsTruncated>{contents}{common}</ListBucketResult>"
    ).encode()


def serve(files: Mapping[str, Path]) -> None:
    """Answer until ended; the port is the first line on stdout."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._object(body=False)

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if "list-type" in parse_qs(asked.query):
                found = _listing(files, parse_qs(asked.query))
                self.send_response(200)
                self.send_header("Content-Type", "application/xml")
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)
            else:
                self._object(body=True)

        def _object(self, *, body: bool) -> None:
            path = files[unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}/{PREFIX}")]
            size = path.stat().st_size
            start, end = 0, size - 1
            given = self.headers.get("Range", "")
            if given:
                first, _, last = given.removeprefix("bytes=").partition("-")
                start, end = int(first), min(int(last) if last else end, end)
            self.send_response(206 if given else 200)
            self.send_header("ETag", f'"{size:032x}"')
            self.send_header("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
            self.send_header("Content-Length", str(end - start + 1))
            if given:
                self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
            self.end_headers()
            self.wfile.flush()
            if body:
                with path.open("rb") as file:
                    while start <= end:
                        start += os.sendfile(self.connection.fileno(), file.fileno(), start, end - start + 1)

        def log_message(self, *words: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve({name: Path(path) for name, path in json.loads(sys.argv[1]).items()})
