"""What a parallel compile reports about all its graphs: counters, workers, totals, and whether extraction is on.

The counters are about the whole cache folder of one compiler version, the totals only about this run. Both are kept as
printed, and neither is combined with the graphs that the run itself met.
"""

from __future__ import annotations

from typing import assert_never

import msgspec

from neuron_top.events import (
    GraphReported,
    GraphsListed,
    ParallelFamily,
    QueueCounted,
    SummaryReported,
    TrialRunStarted,
    WorkerFailed,
    WorkerFinished,
    WorkerStarted,
)


class CompileWorker(msgspec.Struct, kw_only=True):
    """One worker of a parallel compile, as it named itself."""

    name: str
    pid: int | None = None
    started: float | None = None
    finished: float | None = None
    items: int | None = None
    """Entries of its list: ranks times graphs, not distinct graphs."""
    tasks: int | None = None
    """Compiles it did, as printed at its end."""
    message: str = ""
    """Why it failed; empty when it did not."""


class QueueTracker:
    """A parallel compile as a whole."""

    def __init__(self) -> None:
        self.trial_since: float | None = None
        self.trial_running = False
        """Graph extraction is on: what the script prints now is meaningless."""
        self.listed: tuple[str, ...] = ()
        """Paths that extraction listed, one per rank and graph."""
        self.counts: QueueCounted | None = None
        """The newest counter line."""
        self.workers: dict[str, CompileWorker] = {}
        """By `<node>/<pid>`, as several runs and nodes each have a worker 0; by name without one."""
        self.summaries: list[SummaryReported] = []
        """One per node."""
        self.reports: dict[str, GraphReported] = {}
        """By graph path."""
        self.active = False
        """A parallel compile goes on: one was seen that has not printed its totals yet. Others may have, before it."""

    def apply(self, event: ParallelFamily) -> None:
        """Take one event into account."""
        match event:
            case TrialRunStarted():
                self.trial_since, self.trial_running = event.time, True
                self.active, self.counts = True, None  # a counter of an earlier run tells nothing of this one
            case GraphsListed():
                self.listed = event.paths
                self.trial_running = False
            case WorkerStarted():
                self.trial_running = False
                self.active = True
                self.workers.pop(_key(event), None)  # of an earlier run
                worker = self._worker(event)
                worker.started, worker.items = event.time, event.items
            case WorkerFinished():
                worker = self._worker(event)
                worker.finished, worker.tasks = event.time, event.tasks
            case WorkerFailed():
                worker = self._worker(event)
                worker.finished, worker.message = event.time, event.message or "failed without a message"
            case QueueCounted():
                self.trial_running = False
                self.active, self.counts = True, event
            case GraphReported():
                self.reports[event.path] = event
            case SummaryReported():
                self.trial_running = False
                self.active = False
                self.summaries.append(event)
            case _:
                assert_never(event)

    def _worker(self, event: WorkerStarted | WorkerFinished | WorkerFailed) -> CompileWorker:
        key = _key(event)
        if isinstance(event, WorkerFailed) and f"{event.node}/{event.worker}" in self.workers:
            key = f"{event.node}/{event.worker}"  # its process
        worker = self.workers.setdefault(key, CompileWorker(name=event.worker))
        worker.pid = event.pid if event.pid is not None else worker.pid
        return worker


def _key(event: WorkerStarted | WorkerFinished | WorkerFailed) -> str:
    return f"{event.node}/{event.pid}" if event.pid is not None else f"{event.node}/worker {event.worker}"
