"""Means of attack on the web server: the real program in a process of its own, and plain sockets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE = 120.0
"""Seconds that a test waits for what takes a moment; what it attacks would take hours."""


class Program(NamedTuple):
    """`neurontop serve`, running."""

    process: subprocess.Popen[str]
    port: int

    @property
    def resident_bytes(self) -> int:
        """Memory that it holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def program(folder: Path, *arguments: str, **environment: str) -> Iterator[Program]:
    """The real program on a free port; killed at the end, whatever it does by then."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("NEURON")}
    surroundings |= {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), **environment}
    command = [sys.executable, "-m", "neuron_top", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=surroundings)
    assert process.stderr is not None
    drained = threading.Thread(target=process.stderr.read)
    try:
        reported: list[str] = []
        for line in process.stderr:
            reported.append(line)
            found = re.search(r"http://[^/]*:(\d+)/", line)
            if found:
                break
        else:
            raise AssertionError("".join(reported))
        drained.start()
        yield Program(process, int(found[1]))
    finally:
        process.kill()
        process.wait()
        if drained.ident is not None:
            drained.join()
        process.stderr.close()


def connect(port: int, seconds: float = PATIENCE) -> socket.socket:
    """A plain connection."""
    return socket.create_connection(("127.0.0.1", port), timeout=seconds)


def head(port: int, target: str = "/alive", *lines: str, host: str | None = None, method: str = "GET") -> bytes:
    """A request without a body; `lines` are further headers."""
    host = f"127.0.0.1:{port}" if host is None else host
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode("latin-1")


def exchange(port: int, data: bytes, seconds: float = PATIENCE) -> bytes:
    """What comes back for these bytes until the server closes; what it has closed takes no more bytes."""
    with connect(port, seconds) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(data)
        return read_all(line)


def read_all(line: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := line.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 where there is none."""
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(found[1]) if found else 0


def ask(port: int, target: str = "/alive", *lines: str, **more: Any) -> int:
    """The status of one request by somebody who does everything right."""
    return status_of(exchange(port, head(port, target, "Connection: close", *lines, **more)))


def dependencies(layout: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The callbacks that a page of Dash knows, by the first thing that they write to."""
    return {one["output"].strip(".").partition("...")[0].partition("@")[0]: one for one in layout}


def callback(dependency: Mapping[str, Any], **values: Any) -> bytes:
    """The body of a question to a callback; `values` by component id with underscores, else null."""

    def filled(one: Mapping[str, Any]) -> dict[str, Any]:
        value = values.get(str(one["id"]).replace("-", "_"))
        return {"id": one["id"], "property": one["property"], "value": value}

    names = [name.rpartition(".") for name in dependency["output"].strip(".").split("...")]
    outputs = [{"id": name, "property": what} for name, _, what in names]
    inputs = [filled(one) for one in dependency["inputs"]]
    changed = [f"{one['id']}.{one['property']}" for one in dependency["inputs"][:1]]
    return json.dumps(
        {
            "output": dependency["output"],
            "outputs": outputs if dependency["output"].startswith("..") else outputs[0],
            "inputs": inputs,
            "state": [filled(one) for one in dependency["state"]],
            "changedPropIds": changed,
        }
    ).encode()
