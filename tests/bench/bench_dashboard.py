"""The dashboard's own cost: one update of the live page, and a day of 128 cores.

Peers: the same figure sent whole (what a page without patches costs), measured in the same run. The aims are issue 6's;
what a browser sees beside TensorBoard is measured in `bench_first_paint`,
and fifty clients in `bench_clients`.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

from dash._utils import to_json

from neuron_top import events as ev
from neuron_top.dashboard import figures, page_diff
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.compiles_panel import run_compiles
from neuron_top.dashboard.memory_figures import lines
from neuron_top.dashboard.pages import live
from neuron_top.views.device_map import shown_metric
from neuron_top.views.memory import memory_table
from neuron_top.views.overview import overview
from neuron_top.views.trends import trends
from tests.bench.figures import Row, summarize
from tests.tui.feeds import START, StillFeed, compiles, job, samples, steps

CORES, SECONDS = 32, 600
DAY_CORES, DAY_SECONDS = 128, 86_400
MISSED: list[str] = []


def reported(name: str, value: float, unit: str, bound: float) -> None:
    """One line of the report."""
    summarize(Row(name, value, unit, bound))
    verdict = "kept" if value <= bound else "MISSED"
    if value > bound:
        MISSED.append(name)
    print(f"{name}: {value:.3g} {unit} (bound {bound:g} {unit}, {verdict})", flush=True)


def rendered(feed: StillFeed) -> dict[str, Any]:
    """The live page with one core chosen."""
    core = feed.read(lambda run, now: live.selected_core(run, now, "trn1/neuron/3"))
    return live.render(feed.read(overview), core, feed.read(trends), feed.read(run_compiles), "utilization", DARK)


def one_update() -> None:
    """Milliseconds and bytes of what a browser is sent after one second, beside the whole page."""
    feed = StillFeed([*job(), *samples(CORES, SECONDS), *compiles(), *steps(SECONDS)], now=START + SECONDS)
    whole, known = page_diff.outputs_of(rendered(feed), {})
    took, spent, sizes = [], [], []
    for second in range(40):
        at = START + SECONDS + second
        moved = samples(CORES, 1, at=at)
        feed.push(*moved, ev.StepReported(step=SECONDS + second, loss=2.0, at=at, rank=0, node="trn1"), now=at)
        began, used = time.perf_counter(), time.thread_time()
        values, known = page_diff.outputs_of(rendered(feed), known)
        took.append((time.perf_counter() - began) * 1000)
        spent.append((time.thread_time() - used) * 1000)
        sizes.append(len(str(to_json([value for value in values if value is not page_diff.no_update]))) / 1000)
    reported(f"one update, {CORES} cores, processor time", statistics.median(spent), "ms", 5)
    print(f"   ({statistics.median(took):.1f} ms on the clock)")
    reported(f"one update, {CORES} cores", statistics.median(sizes), "kB", 10)
    print(f"   (the whole page: {len(str(to_json(whole))) / 1000:.0f} kB)")


def day() -> StillFeed:
    """A day of 128 cores at 1 Hz, of which one sample in twenty is made: the history keeps no more points of it."""
    feed = StillFeed(job())
    for second in range(0, DAY_SECONDS, 20):
        for event in samples(DAY_CORES, 1, at=START + second):
            feed.run.apply(event)
    feed.now = START + DAY_SECONDS
    return feed


def a_day() -> None:
    """Time until the chart of a day can be sent; until it is drawn is in `bench_first_paint`."""
    feed = day()
    began = time.perf_counter()
    text = str(to_json(lines(feed.read(memory_table), DARK)))
    reported("a day of 128 cores, chart of memory", time.perf_counter() - began, "s", 1.0)
    began = time.perf_counter()
    cores = feed.read(overview).cores
    to_json(figures.heat(cores, shown_metric(cores, "memory"), DARK))
    reported("a day of 128 cores, heat map", time.perf_counter() - began, "s", 1.0)
    print(f"   ({len(text) / 1000:.0f} kB)")


def main() -> int:
    """All of them; the exit status is how many bounds were missed."""
    one_update()
    a_day()
    return len(MISSED)


if __name__ == "__main__":
    sys.exit(main())
