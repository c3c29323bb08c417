"""The dashboard's own cost: one update of the live page, change to message, fifty clients, a day of 128 cores.

Peers: the same figure sent whole (what a page without patches costs), measured in the same run. The aims are issue 6's;
what a browser sees beside TensorBoard is measured in `bench_first_paint`.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import websockets
from dash._utils import to_json

from neuron_top import events as ev
from neuron_top.dashboard import figures, sections
from neuron_top.dashboard.look import DARK
from neuron_top.dashboard.memory_figures import lines
from neuron_top.dashboard.pages import live
from neuron_top.views.answers import answers
from neuron_top.views.memory import memory_table
from neuron_top.views.overview import overview
from neuron_top.views.trends import trends
from tests.dashboard.served import Served, serving
from tests.tui.feeds import START, StillFeed, compiles, job, samples, steps

CORES, SECONDS, CLIENTS = 32, 600, 50
DAY_CORES, DAY_SECONDS = 128, 86_400
MISSED: list[str] = []


def told(name: str, value: float, unit: str, bound: float) -> None:
    """One line of the report."""
    verdict = "kept" if value <= bound else "MISSED"
    if value > bound:
        MISSED.append(name)
    print(f"{name}: {value:.3g} {unit} (bound {bound:g} {unit}, {verdict})", flush=True)


def rendered(feed: StillFeed) -> dict[str, Any]:
    """The live page with one core chosen."""
    core = feed.read(lambda run, now: live.chosen_core(run, now, "trn1/neuron/3"))
    return live.render(feed.read(overview), core, feed.read(trends), feed.read(answers), "utilization", DARK)


def one_update() -> None:
    """Milliseconds and bytes of what a browser is sent after one second, beside the whole page."""
    feed = StillFeed([*job(), *samples(CORES, SECONDS), *compiles(), *steps(SECONDS)], now=START + SECONDS)
    whole, known = sections.outputs_of(rendered(feed), {})
    took, spent, sizes = [], [], []
    for second in range(40):
        at = START + SECONDS + second
        moved = samples(CORES, 1, at=at)
        feed.push(*moved, ev.StepReported(step=SECONDS + second, loss=2.0, at=at, rank=0, node="trn1"), now=at)
        began, used = time.perf_counter(), time.thread_time()
        values, known = sections.outputs_of(rendered(feed), known)
        took.append((time.perf_counter() - began) * 1000)
        spent.append((time.thread_time() - used) * 1000)
        sizes.append(len(str(to_json([value for value in values if value is not sections.no_update]))) / 1000)
    told(f"one update, {CORES} cores, processor time", statistics.median(spent), "ms", 5)
    print(f"   ({statistics.median(took):.1f} ms on the clock)")
    told(f"one update, {CORES} cores", statistics.median(sizes), "kB", 10)
    print(f"   (the whole page: {len(str(to_json(whole))) / 1000:.0f} kB)")


async def _messages(served: Served, changes: int) -> tuple[list[float], float]:
    """Milliseconds from a change to its message, over all clients; and the processor share meanwhile."""
    address = f"ws://127.0.0.1:{served.port}/push"
    origin: Any = f"http://127.0.0.1:{served.port}"
    sockets = [await websockets.connect(address, origin=origin) for _ in range(CLIENTS)]
    for socket in sockets:
        await socket.recv()
    await asyncio.sleep(0.5)
    latencies: list[float] = []
    process, began = psutil.Process(), time.perf_counter()
    before = sum(process.cpu_times()[:2])
    for number in range(changes):
        sent = time.perf_counter()
        served.feed.push(*samples(CORES, 1, at=START + number))
        target = served.hub.version("")

        async def received(socket: Any, sent: float = sent, target: int = target) -> float:
            while int(await socket.recv()) < target:
                pass
            return (time.perf_counter() - sent) * 1000

        latencies += await asyncio.gather(*(received(socket) for socket in sockets))
        await asyncio.sleep(0.5)
    share = (sum(process.cpu_times()[:2]) - before) / (time.perf_counter() - began)
    await asyncio.gather(*(socket.close() for socket in sockets))
    return latencies, share


def many_clients() -> None:
    """Fifty browsers' sockets on one server, server and clients in one process."""
    feed = StillFeed([*job(), *samples(CORES, 30)], now=START + 30)
    with tempfile.TemporaryDirectory() as folder, serving(feed, Path(folder)) as served:
        latencies, share = asyncio.run(_messages(served, 20))
    told(f"change to message, {CLIENTS} clients, median", statistics.median(latencies), "ms", 100)
    told(
        f"change to message, {CLIENTS} clients, 99th percentile", statistics.quantiles(latencies, n=100)[98], "ms", 500
    )
    print(f"   ({share:.0%} of a processor for server and clients together, two changes a second)")


def a_day() -> None:
    """A day of 128 cores at 1 Hz, one sample in twenty made: time until the chart of it can be sent."""
    feed = StillFeed(job())
    for second in range(0, DAY_SECONDS, 20):
        for event in samples(DAY_CORES, 1, at=START + second):
            feed.run.apply(event)
    feed.now = START + DAY_SECONDS
    began = time.perf_counter()
    text = str(to_json(lines(feed.read(memory_table), DARK)))
    told("a day of 128 cores, chart of memory", time.perf_counter() - began, "s", 1.5)
    began = time.perf_counter()
    to_json(figures.heat(feed.read(overview).cores, "memory", DARK))
    told("a day of 128 cores, heat map", time.perf_counter() - began, "s", 1.5)
    print(f"   ({len(text) / 1000:.0f} kB)")


def main() -> int:
    """All of them; the exit status is how many bounds were missed."""
    one_update()
    many_clients()
    a_day()
    return len(MISSED)


if __name__ == "__main__":
    sys.exit(main())
