"""Decides which graph is compiled next, and keeps the progress of the whole set. Pure: no process and no clock.

The graph that is expected to take longest goes first, so that the last worker is not left alone with the longest
compile. A compile starts when a worker is free *and* there is enough memory: what the running compiles may still take,
judged by the largest compile observed, is kept for them. One compile always runs, however little memory there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from statistics import median

import msgspec

FIRST_GUESS = {"model.fxgraph": 700 * 1024**2}
"""Peak bytes of a local compile before one was observed: twice what the largest process of a two-layer BERT's compile
took (347 MB measured, in float32 on x86-64), since a C++ compiler runs beside the process that calls it."""
FIRST_GUESS_NEURON = 64 * 1024**3
"""The SDK's own rule of thumb for its compiler: one compile per 64 GiB of memory."""


class CollectedGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A collected graph: its file in the cache entry, the entry's key, and the file's size in bytes."""

    path: Path
    module: str
    bytes: int = 0
    operators: int | None = None
    seconds: float | None = None
    """How long its compile is expected to take; None if there are no past compiles to judge by."""


class Fault(StrEnum):
    """The cause of a failed compile, which decides whether another attempt makes sense."""

    GRAPH = "graph"
    """The graph itself, or a cause that cannot be told from it."""
    MEMORY = "memory"
    """The compile was killed, most often because memory ran out."""
    NODE = "node"
    """The node cannot compile it: no compiler, another compiler or instruction set, no room for scratch."""
    LOST = "lost"
    """The node or the task is gone; how far the compile was is unknown."""
    CACHE = "cache"
    """The cache root itself cannot take the artifact."""


class CompileResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one graph ended, over all its attempts. `retries` counts the attempts after the first.

    `seconds` is what its node measured; 0.0 if nothing did.
    """

    ok: bool
    seconds: float = 0.0
    retries: int = 0
    peak_rss_bytes: int | None = None
    message: str = ""
    fault: Fault = Fault.GRAPH
    """The cause, if the compile did not end well."""
    node: str = ""
    """The node that it ran on; "" is this machine."""


class Running(msgspec.Struct, frozen=True):
    """A compile under way: its key, the worker that has it, seconds since it began, attempts after the first."""

    module: str
    worker: int
    seconds: float
    retries: int = 0
    node: str = ""
    """The node that it runs on; "" is this machine."""
    queued: bool = False
    """It was submitted and has not begun."""


class QueueProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What a progress display shows. `left` counts the graphs that neither run nor have finished; None is unknown."""

    total: int | None
    done: int
    failed: int
    left: int | None
    running: tuple[Running, ...] = ()
    running_count: int = 0
    elapsed: float = 0.0
    remaining: float | None = None
    """Estimated seconds until all is compiled."""
    held_back: str = ""
    """Why fewer compiles run than there are workers, "" when they don't."""


class Queue:
    """The state of a parallel compile."""

    def __init__(
        self, graphs: Iterable[CollectedGraph], workers: int, began: float, observed_peak: int | None = None
    ) -> None:
        graphs = tuple(graphs)
        self._waiting = sorted(graphs, key=_expected_length(graphs))
        self.total = len(self._waiting)
        self.workers = workers
        self.outcomes: dict[CollectedGraph, CompileResult] = {}
        self._running: dict[int, tuple[CollectedGraph, float]] = {}
        self._began = began
        self._peak = observed_peak
        self._held_back = ""

    @property
    def finished(self) -> bool:
        """True when no graph waits and none is being compiled."""
        return not self._waiting and not self._running

    def expected_peak(self, graph: CollectedGraph) -> int:
        """Bytes that a compile of `graph` is expected to need at its peak."""
        return self._peak or FIRST_GUESS.get(graph.path.name, FIRST_GUESS_NEURON)

    def start_next(self, now: float, available: int | None, in_use: int = 0) -> tuple[int, CollectedGraph] | None:
        """The next graph for a free worker, or None when there is nothing to start now.

        `available` is the memory that can still be allocated (None: unknown, no bound), `in_use` what the running
        compiles hold already; the rest of their expected peaks is kept for them.
        """
        self._held_back = ""
        free = next((worker for worker in range(self.workers) if worker not in self._running), None)
        if free is None or not self._waiting:
            return None
        graph = self._waiting[-1]
        if self._running and available is not None:
            promised = sum(self.expected_peak(running) for running, _ in self._running.values())
            if available - max(0, promised - in_use) < self.expected_peak(graph):
                self._held_back = "memory"
                return None
        self._waiting.pop()
        self._running[free] = (graph, now)
        return free, graph

    def finish(self, worker: int, outcome: CompileResult) -> None:
        """The worker's compile ended."""
        graph, _ = self._running.pop(worker)
        self.outcomes[graph] = outcome
        if outcome.peak_rss_bytes is not None:
            self._peak = max(self._peak or 0, outcome.peak_rss_bytes)

    def put_back(self, worker: int) -> None:
        """The worker's compile ended without a result for its graph, which becomes the next to be given out."""
        graph, _ = self._running.pop(worker)
        self._waiting.append(graph)

    def progress(self, now: float) -> QueueProgress:
        """The progress at `now`."""
        failed = sum(not outcome.ok for outcome in self.outcomes.values())
        return QueueProgress(
            total=self.total,
            done=len(self.outcomes) - failed,
            failed=failed,
            left=len(self._waiting),
            running=tuple(
                Running(graph.module, worker, now - began) for worker, (graph, began) in sorted(self._running.items())
            ),
            running_count=len(self._running),
            elapsed=now - self._began,
            remaining=self._remaining(now),
            held_back=self._held_back,
        )

    def _remaining(self, now: float) -> float | None:
        """Estimate from the mean of the finished compiles and the number of workers that really ran in parallel."""
        if not self.outcomes or self.finished:
            return 0.0 if self.finished and self.total else None
        mean = sum(outcome.seconds for outcome in self.outcomes.values()) / len(self.outcomes)
        under_way = sum(max(0.0, mean - (now - began)) for _, began in self._running.values())
        return (under_way + mean * len(self._waiting)) / max(1, min(self.workers, len(self._running) or self.workers))


def _expected_length(graphs: Sequence[CollectedGraph]) -> Callable[[CollectedGraph], float]:
    """Seconds, if they are known for some graphs; for the others in proportion to their bytes."""
    rates = [graph.seconds / graph.bytes for graph in graphs if graph.seconds is not None and graph.bytes]
    rate = median(rates) if rates else 1.0
    return lambda graph: graph.bytes * rate if graph.seconds is None else graph.seconds
