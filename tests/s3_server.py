"""A real S3-speaking server (moto's), as a process of its own on loopback, and a bucket in it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import boto3

from tests.aws_environment import pointed_at

BUCKET, PREFIX = "caches", "team/neuron"


@contextmanager
def served(*, versioned: bool = False) -> Iterator[str]:
    """`s3://bucket/prefix` of an empty cache; the environment points AWS's clients at it, with made-up credentials."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        with pointed_at(url):
            _wait(url, server)
            client = boto3.client("s3")
            client.create_bucket(Bucket=BUCKET)
            if versioned:
                client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            yield f"s3://{BUCKET}/{PREFIX}"
    finally:
        server.terminate()
        server.wait()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/moto-api/", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the S3 server did not answer at {url}")
