"""The real screen on a made-up feed: N cores at 1 Hz, or a log that grows. Run inside a pty by bench_screen."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from neuron_top import events as ev
from neuron_top.pipeline.lines import LogBook
from neuron_top.pipeline.live import LiveFeed

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
            cores = tuple(self._core(core, second) for core in range(self._count))
            emit(ev.CoresSampled(kind="neuron", cores=cores, period=1.0, at=time.time()))
            emit(
                ev.StepReported(step=second, loss=10 / second, throughput=31.0, throughput_unit="seq/s", at=time.time())
            )

    @staticmethod
    def _core(core: int, second: int) -> ev.CoreSample:
        return ev.CoreSample(core=core, device=core // 2, utilization=((core * 7 + second * 13) % 101) / 100,
                             memory=(4 + core % 9) * GIB + second * 2**20, capacity=16 * GIB, pid=4000 + core,
                             kinds={"tensors": (3 + core % 7) * GIB, "model_code": GIB // 2})  # fmt: skip

    def stop(self) -> None:
        """End."""
        self._stopped.set()


def main() -> None:
    """`synthetic_screen.py cores N` or `synthetic_screen.py log FILE`."""
    from neuron_top.pipeline.assembly import paths_feed
    from neuron_top.settings import Settings
    from neuron_top.tui.app import TopApp

    what, value = sys.argv[1:3]
    feed = LiveFeed([Cores(int(value))], book=LogBook()) if what == "cores" else paths_feed(Settings(), [value])
    sys.exit(TopApp(feed, Settings()).run() or 0)


if __name__ == "__main__":
    main()
