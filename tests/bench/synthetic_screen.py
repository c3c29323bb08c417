"""The real screen on a made-up feed: N cores at 1 Hz, hours of them at once, or a log. Run in a pty by bench_screen."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from neuron_top import events as ev
from neuron_top.cli.on_screen import disable_gc, show
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer

GIB = 1024**3
Emit = Callable[[ev.AnyEvent], None]


class Cores:
    """Samples of N cores once a second, as neuron-monitor would give them."""

    name = "cores"

    def __init__(self, count: int) -> None:
        self._count, self._stopped = count, threading.Event()

    def start(self, emit: Emit) -> None:
        """Emit until stopped."""
        second = 0
        emit(ev.RunStarted(run="bench", name="bench", command=("train.py",), at=time.time()))
        while not self._stopped.wait(1.0 if second else 0.0):
            second += 1
            cores = tuple(self.core(core, second) for core in range(self._count))
            emit(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=time.time()))
            emit(
                ev.StepReported(step=second, loss=10 / second, throughput=31.0, throughput_unit="seq/s", at=time.time())
            )

    @staticmethod
    def core(core: int, second: int) -> ev.CoreSample:
        return ev.CoreSample(
            core=core,
            device=core // 2,
            utilization=((core * 7 + second * 13) % 101) / 100,
            memory=(4 + core % 9) * GIB + second * 2**20,
            capacity=16 * GIB,
            pid=4000 + core,
            kinds={"tensors": (3 + core % 7) * GIB, "model_code": GIB // 2},
        )

    def stop(self) -> None:
        """End."""
        self._stopped.set()


class Hours:
    """A run of so many hours, second by second on a clock of its own, as fast as it is taken."""

    name = "hours"

    def __init__(self, hours: float, count: int) -> None:
        self._seconds, self._count, self._stopped = int(hours * 3600), count, threading.Event()
        self.now = 1_790_000_000.0

    def start(self, emit: Emit) -> None:
        """Emit everything, then the end of the run."""
        emit(ev.RunStarted(run="bench", name="bench", command=("train.py",), at=self.now))
        for second in range(1, self._seconds + 1):
            if self._stopped.is_set():
                return
            self.now += 1.0
            cores = tuple(Cores.core(core, second) for core in range(self._count))
            emit(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=self.now))
            emit(ev.StepReported(step=second, loss=10 / second, at=self.now))
        emit(ev.RunFinished(run="bench", exit_code=0, at=self.now))

    def stop(self) -> None:
        """End."""
        self._stopped.set()


def main() -> None:
    """`synthetic_screen.py cores N`, `… hours HOURS CORES`, `… log FILE` or `… busy FILE CORES` (both at once)."""
    disable_gc()
    from neuron_top.ingest.assembly import paths_feed
    from neuron_top.ingest.followed_logs import LogFiles
    from neuron_top.settings import Settings
    from neuron_top.tui.app import TopApp

    what, value, *more = sys.argv[1:]
    if what == "cores":
        feed = LiveFeed([Cores(int(value))], buffer=LogBuffer())
    elif what == "hours":
        source = Hours(float(value), int(more[0]))
        feed = LiveFeed([source], buffer=LogBuffer(), clock=lambda: source.now)
    elif what == "busy":
        buffer = LogBuffer()
        feed = LiveFeed([Cores(int(more[0]))], buffer=buffer, later=lambda: [LogFiles(lambda: [Path(value)], buffer)])
    else:
        feed = paths_feed(Settings(), [value])
    sys.exit(show(TopApp(feed, Settings())))


if __name__ == "__main__":
    main()
