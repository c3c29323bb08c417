"""First paint and time to interactive of the dashboard in headless Chromium, beside TensorBoard's on the same machine.

Interleaved, each time in a fresh browser context without a cache, loopback, both servers warm. Interactive: ours when
the navigation answers and the numbers are there, TensorBoard's when its first chart or its "no data" message is.
TensorBoard is looked for at `NEURONTOP_BENCH_TENSORBOARD` (the program of a virtual environment of its own), then on
PATH; without it only ours are printed. Then: how long a change takes until the page shows it, from the moment it is
usable; and how long a day of 128 cores takes from the navigation until all lines of its chart are drawn.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from neuron_top import events as ev
from tests.bench.bench_dashboard import MISSED, day, reported
from tests.dashboard.browser import chromium
from tests.dashboard.served import serving
from tests.tui.feeds import START, StillFeed, compiles, job, samples, steps

ROUNDS, CHANGES = 7, 40
OURS = "() => document.querySelector('#live-step')?.innerText === '600'"
DRAWN = """() => { const plot = document.querySelector('#cores-lines .js-plotly-plot');
    const lines = plot?.querySelectorAll('.scatterlayer .trace').length ?? 0;
    return lines && lines === plot.data.length; }"""
WATCH = """() => { window.seen = {}; new MutationObserver(() => {
    window.seen[document.querySelector('#live-step').innerText] ??= Date.now(); })
    .observe(document.querySelector('#live-step'), {childList: true, characterData: true, subtree: true}); }"""
THEIRS = """() => { const seen = (root) => [...root.querySelectorAll('*')].some((e) =>
    /No dashboards are active|Filter tags|Filter runs/.test(e.textContent + (e.placeholder ?? '')));
    return document.querySelector('tb-webapp') && seen(document.body); }"""


def opened(browser: Any, address: str, ready: str) -> tuple[float, float]:
    """(first contentful paint, interactive), seconds from the beginning of the navigation."""
    page = browser.new_context(viewport={"width": 1440, "height": 1000}).new_page()
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(ready, timeout=120_000)
    interactive = time.perf_counter() - began
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN") / 1000
    page.context.close()
    return paint, interactive


def changes_seen(browser: Any, address: str, feed: StillFeed) -> list[float]:
    """Milliseconds from each change of the run to the moment when the open page shows it."""
    page = browser.new_page()
    page.goto(address)
    page.wait_for_function(OURS, timeout=120_000)
    page.evaluate(WATCH)
    took = []
    for step in range(601, 601 + CHANGES):
        sent = time.time()
        feed.push(ev.StepReported(step=step, loss=2.0, at=START + step, rank=0, node="trn1"), now=START + step)
        page.wait_for_function(f"() => window.seen['{step}']", timeout=120_000)
        took.append(page.evaluate(f"window.seen['{step}']") - sent * 1000)
    page.close()
    return took


def tensorboard(program: str, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A TensorBoard on an empty folder, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    command = [program, "--logdir", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return process, address
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    process.kill()
    raise RuntimeError("TensorBoard did not start")


def main() -> int:
    """Both; the exit status is how many bounds were missed."""
    program = os.environ.get("NEURONTOP_BENCH_TENSORBOARD") or shutil.which("tensorboard")
    feed = StillFeed([*job(), *samples(32, 600), *compiles(), *steps(600)], now=START + 600)
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder, serving(feed, Path(folder)) as served, chromium() as browser:
        peer = tensorboard(program, Path(folder)) if program else None
        try:
            for _ in range(ROUNDS):
                ours.append(opened(browser, served.address, OURS))
                if peer is not None:
                    theirs.append(opened(browser, peer[1], THEIRS))
            seen = changes_seen(browser, served.address, feed)
        finally:
            if peer is not None:
                peer[0].terminate()
                peer[0].wait()
    with tempfile.TemporaryDirectory() as folder, serving(day(), Path(folder)) as served, chromium() as browser:
        days = [opened(browser, f"{served.address}memory", DRAWN)[1] for _ in range(3)]
    print(f"   (load average {os.getloadavg()[0]:.1f}, {ROUNDS} rounds, medians)")
    for number, name in enumerate(("first paint", "time to interactive")):
        mine = statistics.median(pair[number] for pair in ours)
        reported(name, mine, "s", 1.0)
        if theirs:
            other = statistics.median(pair[number] for pair in theirs)
            print(f"   (TensorBoard: {other:.3g} s)")
            reported(f"{name} ÷ TensorBoard's", mine / other, "times", 0.8)
    reported("change to browser, median", statistics.median(seen), "ms", 500)
    reported("change to browser, 99th percentile", statistics.quantiles(seen, n=100, method="inclusive")[98], "ms", 250)
    reported("a day of 128 cores, until its chart is drawn", statistics.median(days), "s", 1.0)
    return len(MISSED)


if __name__ == "__main__":
    sys.exit(main())
