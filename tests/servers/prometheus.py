"""A real Prometheus and a real VictoriaMetrics on loopback; only Python's own library, for `make fleet` uses it too.

Debian and Ubuntu: `apt-get install prometheus`; Debian: `apt-get install victoria-metrics`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers.ending import ended_with_us
from tests.servers.ports import free_ports

_STARTED_SECONDS = 180.0


class PrometheusMissing(Exception):
    """The server cannot be had here; says why."""


@contextmanager
def prometheus_server(folder: Path, configuration: Mapping[str, Any]) -> Iterator[str]:
    """The address of a Prometheus with this configuration; ended at the end. Raises PrometheusMissing."""
    program = _program("prometheus", "prometheus")
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    with _served(folder) as (port, start):
        yield start(
            [
                program,
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=warn",
            ],
            "/-/ready",
        )


@contextmanager
def victoria_metrics_server(folder: Path, configuration: Mapping[str, Any]) -> Iterator[str]:
    """The same of VictoriaMetrics, which has no rules of its own (vmalert evaluates them)."""
    program = _program("victoria-metrics", "victoria-metrics")
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    with _served(folder) as (port, start):
        yield start(
            [
                program,
                f"-promscrape.config={folder}/prometheus.yml",
                f"-storageDataPath={folder}/data",
                f"-httpListenAddr=127.0.0.1:{port}",
                "-promscrape.config.strictParse=false",  # settings that only Prometheus has are passed over
                "-promscrape.httpSDCheckInterval=1s",
                "-memory.allowedBytes=128MB",
                "-search.latencyOffset=0s",  # by default it hides the newest 30 seconds
            ],
            "/health",
        )


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PrometheusMissing(f"no {name} on this machine (Debian: apt-get install {package})")
    return found


class _Starter:
    """Starts one server and waits until it answers."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self._address = folder, f"http://127.0.0.1:{port}"
        self.server: subprocess.Popen[bytes] | None = None

    def __call__(self, command: Sequence[str], ready: str) -> str:
        log = self._folder / "server.log"
        with open(log, "wb") as output:
            self.server = subprocess.Popen(
                [*ended_with_us(), *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        deadline = time.monotonic() + _STARTED_SECONDS
        while time.monotonic() < deadline and self.server.poll() is None:
            try:
                urllib.request.urlopen(f"{self._address}{ready}", timeout=5).close()
            except OSError:
                time.sleep(0.1)
            else:
                return self._address
        raise RuntimeError(f"{command[0]} did not start: {log.read_text(errors='replace')[-600:]}")


@contextmanager
def _served(folder: Path) -> Iterator[tuple[int, _Starter]]:
    (port,) = free_ports(1)
    starter = _Starter(folder, port)
    try:
        yield port, starter
    finally:
        if starter.server is not None:
            starter.server.terminate()
            try:
                starter.server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                starter.server.kill()
                starter.server.wait()
