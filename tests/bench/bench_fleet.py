"""A fleet of 1,000 nodes with 128 cores each, on a real PostgreSQL and a real Prometheus of this machine.

    python -m tests.bench.bench_fleet                20 seconds of each load (what `make bench` runs)
    python -m tests.bench.bench_fleet --seconds 300  five minutes of each

A recording is multiplied to the nodes (`fleet_load`): 1,000 rows a second, then 10,000. Fifty viewers look at the page
of the fleet at the same time. Measured are the age of the newest row that is shown, how long an update of the page
takes and how large it is, and what the server costs. Then 128,000 series in Prometheus: the questions of the page with
our recording rules, and the same over the cores. Agents, database, viewers and server share the cores of this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import psutil
import websockets

from neuron_top.store.batches import FORMAT, Packed, pack
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.postgres.landing import in_transaction, land
from neuron_top.store.postgres.migration import migrate
from tests.bench.bench_clients import Page
from tests.bench.bench_dashboard import MISSED, reported
from tests.bench.figures import Figure, own_folders, report
from tests.bench.fleet_load import JOB, NODES, recorded
from tests.bench.fleet_series import bench_prometheus
from tests.bench.synthetic_fleet import fill, heartbeats
from tests.servers.ending import ended_with_us
from tests.servers.ports import free_ports
from tests.servers.postgresql import PostgresMissing, running

RATES = 1000, 10_000
VIEWERS = 50
FLEET_SECONDS = 1.0, 1.3
"""A page of a fleet rests between these after each answer."""
MIB = 1024**2


@asynccontextmanager
async def pushed_by(port: int) -> AsyncIterator[asyncio.Event]:
    """Set whenever the server pushes; read all the while, as a browser does.

    Pings wait behind messages that nobody takes, and the connection ends.
    """
    origin: Any = f"http://127.0.0.1:{port}"
    async with websockets.connect(f"ws://127.0.0.1:{port}/push", origin=origin) as socket:
        pushed = asyncio.Event()

        async def read() -> None:
            async for _message in socket:
                pushed.set()

        reading = asyncio.create_task(read())
        try:
            yield pushed
        finally:
            reading.cancel()


async def next_push(pushed: asyncio.Event, end: float) -> None:
    """Until the server has pushed since the last time this was asked, or until `end` of the monotonic clock."""
    with suppress(TimeoutError):
        await asyncio.wait_for(pushed.wait(), max(0.0, end - time.monotonic()))
    pushed.clear()


class FleetPageViewer(Page):
    """The page of the fleet; how long each update took, and how large it was."""

    name = "fleet"

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.updates: list[tuple[float, int]] = []

    def saw(self, answer: Any) -> None:
        """The update itself is what is measured."""

    async def _ask(self, path: str, body: Any = None) -> Any:
        try:
            return await super()._ask(path, body)
        except (asyncio.IncompleteReadError, ConnectionError):  # the server closes what is idle; browsers connect anew
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
            return await super()._ask(path, body)

    async def follow_for(self, seconds: float) -> None:
        """Ask after every message, so long."""
        end, rests_until = time.monotonic() + seconds, 0.0
        async with pushed_by(self._port) as pushed:
            while time.monotonic() < end:
                await next_push(pushed, end)
                began = time.perf_counter()
                if began < rests_until:  # as in `neurontop.js`
                    continue
                await self.update()
                self.updates.append((time.perf_counter() - began, self.received))
                rests_until = time.perf_counter() + random.uniform(*FLEET_SECONDS)


class LivePageViewer(Page):
    """The job's page; when it was shown which step first."""

    def saw(self, answer: Any) -> None:
        """Also where no step has been reported yet."""
        if re.search(r"\d", str(answer.get("live-step", {}).get("children", ""))):
            super().saw(answer)

    async def follow_for(self, seconds: float) -> None:
        """Ask after every message, so long."""
        end = time.monotonic() + seconds
        async with pushed_by(self._port) as pushed:
            while time.monotonic() < end:
                await next_push(pushed, end)
                await self.update()


async def look(port: int, seconds: float) -> None:
    """Fifty viewers of the fleet and one of the job as a process of their own."""
    pages, job = [FleetPageViewer(port) for _ in range(VIEWERS)], LivePageViewer(port)
    for page in (*pages, job):
        await page.open()
    print("open", flush=True)
    before = time.process_time()
    await asyncio.gather(*(page.follow_for(seconds) for page in (*pages, job)))
    updates = [update for page in pages for update in page.updates]
    seen = {"updates": updates, "steps": sorted(job.seen.items()), "cpu": time.process_time() - before}
    print(json.dumps(seen), flush=True)


def worst_age(steps: list[tuple[float, float]], began: float, end: float) -> float:
    """How old the newest shown step ever was; of (step, when it was shown first), a step named as its second."""
    newest, worst = began, 0.0
    for step, shown in [*((step, shown) for step, shown in steps if step >= began - 1), (0.0, end)]:
        worst = max(worst, min(shown, end) - newest)
        newest = max(newest, step)
    return worst


def processor_seconds(root: int) -> float:
    """Of a process and all that it started."""
    process = psutil.Process(root)
    times = process.cpu_times()
    seconds = times.user + times.system + times.children_user + times.children_system
    for child in process.children():
        with suppress(psutil.Error):  # a backend that ended meanwhile
            seconds += sum(child.cpu_times()[:2])
    return float(seconds)


def python(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    """A part of the measurement as a process."""
    command = [*ended_with_us(), sys.executable, "-m", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environ)


@contextmanager
def server(url: str, environ: dict[str, str]) -> Iterator[tuple[int, psutil.Process]]:
    """`neurontop serve` of the job and its fleet."""
    (port,) = free_ports(1)
    options = ("--store", url, "--job", JOB, "--port", str(port), "--read-only")
    with python("neuron_top", "serve", *options, **environ) as process:
        try:
            while process.poll() is None:
                try:
                    ask(port, "alive")
                    break
                except OSError:
                    time.sleep(0.1)
            yield port, psutil.Process(process.pid)
        finally:
            process.terminate()


def ask(port: int, path: str) -> Any:
    """The API."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
        body = answer.read()
    return json.loads(body) if body else None


def rows_of(port: int) -> int:
    """Events of the job that the fleet's page counts now."""
    return next(int(job["events"]) for job in ask(port, "api/fleet/jobs") if job["job"] == JOB)


def bench_load(url: str, port: int, process: psutil.Process, rate: int, seconds: float, postgres: int) -> None:
    """So many rows a second while fifty look."""
    before = rows_of(port)
    with python("tests.bench.bench_fleet", "look", str(port), str(seconds + 2)) as viewers:
        assert viewers.stdout is not None
        assert viewers.stdout.readline() == "open\n"
        with python("tests.bench.fleet_load", url, str(rate), str(seconds)) as load:
            assert load.stdout is not None
            began = float(load.stdout.readline())
            used, most, ages = sum(process.cpu_times()[:2]), 0, list[float]()
            stored = processor_seconds(postgres)
            time.sleep(max(0.0, began + 3 - time.time()))
            while time.time() < began + seconds:
                shown = rows_of(port) - before
                ages.append(time.time() - began - shown / rate)
                most = max(most, process.memory_info().rss)
                time.sleep(0.5)
            share = (sum(process.cpu_times()[:2]) - used) / (time.time() - began)
            stored = (processor_seconds(postgres) - stored) / (time.time() - began)
            landed = json.loads(load.stdout.readline())
        seen = json.loads(viewers.stdout.readline())
    updates, steps = seen["updates"], worst_age(seen["steps"], began, began + seconds)
    name = f"{rate:,} rows a second for {seconds:g} s"
    took_them = landed["seconds"]
    print(f"{name}: {landed['rows']:,} of {rate * seconds:,.0f} rows landed in {took_them:.1f} s,")
    print(
        f"   the slowest batch in {landed['slowest'] * 1000:.0f} ms; of a core, agents took "
        f"{landed['cpu'] / took_them:.2f}, the database {stored:.2f}, viewers {seen['cpu'] / (seconds + 2):.2f}"
    )
    reported(f"{name}: age of the newest row on the fleet's page, worst", max(ages), "s", 5)
    reported(f"{name}: age of the newest step on the job's page, worst", steps, "s", 5)
    took = sorted(seconds for seconds, _ in updates)
    sizes = sorted(size for _, size in updates)
    reported(
        f"{name}: an update of the fleet's page for {VIEWERS} viewers, p95",
        took[len(took) * 95 // 100] * 1000,
        "ms",
        200,
    )
    reported(f"{name}: its size, p95", sizes[len(sizes) * 95 // 100] / 1000, "kB", 10)
    median = statistics.median(took) * 1000
    print(f"   ({len(updates)} updates, median {median:.0f} ms, largest {sizes[-1] / 1000:.1f} kB)")
    reported(f"{name}: the server's share of a core", share, "", 1)
    reported(f"{name}: the server's memory", most / MIB, "MiB", 500)


def bench_landing(url: str) -> Figure:
    """A second of a thousand nodes landed by COPY, against a statement for each batch (executemany)."""
    one = pack(recorded()[:10])
    ours, theirs = list[float](), list[float]()
    with Database(url) as database:
        for turn in range(6):
            for how, took in ((_copy, ours), (_one_by_one, theirs)):
                began = time.perf_counter()
                how(database, _rows(one, f"{how.__name__}-{turn}"))
                took.append(time.perf_counter() - began)
    return Figure("1,000 batches landed by COPY", "executemany", ours, theirs, 1.0)


def _rows(one: Packed, spool: str) -> list[tuple[Any, ...]]:
    return [("bench", f"n{node}", spool, 1, one.first, one.last, one.count, FORMAT, one.data) for node in range(NODES)]


def _copy(database: Database, rows: list[tuple[Any, ...]]) -> None:
    in_transaction(database, lambda connection: land(connection, rows))


def _one_by_one(database: Database, rows: list[tuple[Any, ...]]) -> None:
    with database.transaction() as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO neurontop.events (run, node, spool, sequence, first, last, count, format, data) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            rows,
        )


def beating(url: str, stop: threading.Event) -> None:
    """Heartbeats of all nodes, a round every five seconds as far as this machine keeps up.

    Spread over the five seconds, as those of agents are that started at different moments. Several rounds were made
    before: a thousand machines would have their own processors for that.
    """
    names = [f"trn-{number:04}" for number in range(NODES)]
    rounds = [list(heartbeats(names)) for _ in range(4)]
    with FleetStore(url) as store:
        for beats in itertools.cycle(rounds):
            began = time.monotonic()
            for place, now in enumerate(beats):
                if stop.wait(max(0.0, began + 5.0 * place / len(beats) - time.monotonic())):
                    return
                store.beat(now)
            if stop.wait(max(0.0, began + 5.0 - time.monotonic())):
                return


def bench_database(seconds: float, rates: Sequence[int]) -> int:
    """Everything with PostgreSQL."""
    with own_folders() as (_folder, environ), running(settings="max_wal_size = 4GB") as postgres:
        url = postgres.url(postgres.new_database())
        with Database(url, prepared=False) as database:
            migrate(database)
        with FleetStore(f"{url}?options=-csynchronous_commit%3Doff") as store:  # not what is measured
            fill(store, NODES)
        missed = report([bench_landing(url)])
        stop = threading.Event()
        hearts = threading.Thread(target=beating, args=(url, stop))
        hearts.start()
        try:
            with server(url, environ) as (port, process):  # one for all loads, as a fleet has one
                for rate in rates:
                    bench_load(url, port, process, rate, seconds, postgres.pid)
        finally:
            stop.set()
            hearts.join()
    return missed


def main() -> int:
    """All; the exit status is how many bounds were missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each load (default: 20)")
    parser.add_argument("--rate", type=int, action="append", help="rows a second, repeatable (default: 1000 and 10000)")
    parser.add_argument("--only", choices=("database", "prometheus"), help="one half")
    arguments = parser.parse_args()
    print(f"{NODES:,} nodes of 128 cores; {arguments.seconds:g} seconds of each load (--seconds 300 for five minutes)")
    missed = 0
    if arguments.only != "prometheus":
        try:
            missed += bench_database(arguments.seconds, arguments.rate or RATES)
        except PostgresMissing as reason:
            print(f"left out: {reason}")
    if arguments.only != "database":
        missed += bench_prometheus()
    return missed + len(MISSED)


if __name__ == "__main__":
    if sys.argv[1:2] == ["look"]:
        asyncio.run(look(int(sys.argv[2]), float(sys.argv[3])))
    else:
        sys.exit(main())
