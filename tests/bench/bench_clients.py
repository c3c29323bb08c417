"""Fifty clients on the live page of one server: its own processor time, and how long a change takes to each of them.

The server is a process of its own, the clients are another, which does what a browser does: it listens at the socket,
asks Dash what has changed since the marks that it has, and keeps the marks of the answer. The time goes from the change
of the run to the answer that holds it. Beside it: the same server with one client.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import websockets

from neuron_top import events as ev
from tests.bench.bench_dashboard import CORES, MISSED, reported
from tests.dashboard.served import serving
from tests.tui.feeds import START, StillFeed, compiles, job, samples, steps

CLIENTS, CHANGES, PERIOD = 50, 30, 0.5
FIRST = 1000


def serve() -> None:
    """The server: a job of 32 cores, where a line on standard input makes a step. Tells its port, then each step."""
    feed = StillFeed([*job(), *samples(CORES, 600), *compiles(), *steps(600)], now=START + 600)
    with tempfile.TemporaryDirectory() as folder, serving(feed, Path(folder)) as served:
        print(served.port, flush=True)
        for step, _line in enumerate(sys.stdin, FIRST):
            changed, at = time.time(), START + step
            feed.push(
                *samples(CORES, 1, at=at), ev.StepReported(step=step, loss=2.0, at=at, rank=0, node="trn1"), now=at
            )
            print(step, changed, flush=True)


class Page:
    """The live page without a browser around it: one connection, and the marks of what it has."""

    name = "live"

    def __init__(self, port: int) -> None:
        self._port, self._known = port, {}
        self.seen: dict[int, float] = {}
        self.received = 0
        """Bytes of the last answer as it was sent, with its head."""

    async def open(self) -> None:
        """Connect, and take the whole page."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        asked_by = f"{self.name}-marks.data"
        (asked,) = (one for one in await self._ask("_dash-dependencies") if asked_by in one["output"])
        values = {
            "live-axis": "step",
            "live-measure": "utilization",
            "live-smooth": [],
            "pulse": 1,
            "theme": "dark",
            "url": "",
        }
        pairs = [part.rsplit(".", 1) for part in asked["output"].strip(".").split("...")]
        self._question = {
            "output": asked["output"],
            "outputs": [{"id": name, "property": prop} for name, prop in pairs],
            "inputs": [one | {"value": values[one["id"]]} for one in asked["inputs"]],
            "changedPropIds": ["pulse.data"],
        }
        await self.update()

    async def update(self) -> None:
        """Ask what has changed."""
        marks = f"{self.name}-marks"
        state = [{"id": marks, "property": "data", "value": self._known}]
        answer = (await self._ask("_dash-update-component", self._question | {"state": state}))["response"]
        self._known = answer[marks]["data"]
        self.saw(answer)

    def saw(self, answer: Any) -> None:
        """What an answer brought: here the steps of the job."""
        if "live-step" in answer:
            self.seen.setdefault(int(re.sub(r"\D", "", answer["live-step"]["children"])), time.time())

    async def follow(self, last: int) -> None:
        """Ask after every message, until the step `last` was seen."""
        origin: Any = f"http://127.0.0.1:{self._port}"
        async with websockets.connect(f"ws://127.0.0.1:{self._port}/push", origin=origin) as socket:
            while last not in self.seen:
                await socket.recv()
                await self.update()

    async def _ask(self, path: str, body: Any = None) -> Any:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} /{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        head += f"Origin: http://127.0.0.1:{self._port}\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n"
        self._writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        (length,) = re.findall(r"(?i)^content-length: (\d+)", answer, re.MULTILINE)
        whole = await self._reader.readexactly(int(length))
        self.received = len(answer) + len(whole)
        assert answer.startswith("HTTP/1.1 200"), (answer, whole)
        return json.loads(gzip.decompress(whole) if re.search(r"(?im)^content-encoding: gzip", answer) else whole)


async def watch(port: int, clients: int) -> None:
    """The clients: report when all are there, and in the end when each of them has seen each step."""
    pages = [Page(port) for _ in range(clients)]
    for page in pages:
        await page.open()
    print("open", flush=True)
    await asyncio.gather(*(page.follow(FIRST + CHANGES - 1) for page in pages))
    print(json.dumps([page.seen for page in pages]), flush=True)


def started(*arguments: str) -> subprocess.Popen[str]:
    """One of the two roles as a process."""
    command = [sys.executable, "-m", "tests.bench.bench_clients", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measured(clients: int) -> tuple[list[float], float, float]:
    """(milliseconds from each change to each client that showed it, processor share, share of changes skipped)."""
    with started("serve") as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        with started("watch", port, str(clients)) as followers:
            assert followers.stdout is not None
            assert followers.stdout.readline() == "open\n"
            process, began = psutil.Process(server.pid), time.perf_counter()
            before = sum(process.cpu_times()[:2])
            changed = {}
            for _ in range(CHANGES):
                print(file=server.stdin, flush=True)
                step, at = server.stdout.readline().split()
                changed[step] = float(at)
                time.sleep(PERIOD)
            share = (sum(process.cpu_times()[:2]) - before) / (time.perf_counter() - began)
            seen = json.loads(followers.stdout.readline())
        server.stdin.close()
    took = [(at - changed[step]) * 1000 for page in seen for step, at in page.items() if step in changed]
    return took, share, 1 - len(took) / (clients * CHANGES)


def main() -> int:
    """Both; the exit status is how many bounds were missed."""
    for clients in (1, CLIENTS):
        took, share, skipped = measured(clients)
        name = f"change to {'its one client' if clients == 1 else f'{clients} clients on the live page'}"
        reported(f"{name}, median", statistics.median(took), "ms", 500)
        reported(f"{name}, 99th percentile", statistics.quantiles(took, n=100)[98], "ms", 250)
        reported(f"{name}: the server's processor time per second", share * 1000, "ms", 1000)
        print(f"   ({1 / PERIOD:g} changes a second; {skipped:.0%} were seen together with the next one)")
    return len(MISSED)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["watch", port, clients]:
            asyncio.run(watch(int(port), int(clients)))
        case _:
            sys.exit(main())
