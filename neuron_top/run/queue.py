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
        self.trial_ended: float | None = None
        self.listed: tuple[str, ...] = ()
        """Paths that extraction listed, one per rank and graph."""
        self.counts: QueueCounted | None = None
        """The newest counter line."""
        self.workers: dict[str, CompileWorker] = {}
        self.summaries: list[SummaryReported] = []
        """One per node."""
        self.reports: dict[str, GraphReported] = {}
        """By graph path."""

    @property
    def active(self) -> bool:
        """A parallel compile was seen and has not printed its totals."""
        begun = self.trial_since is not None or self.counts is not None or bool(self.workers)
        return begun and not self.summaries

    def apply(self, event: ParallelFamily) -> None:
        """Take one event into account."""
        match event:
            case TrialRunStarted():
                self.trial_since, self.trial_running, self.trial_ended = event.time, True, None
            case GraphsListed():
                self.listed = event.paths
                self.end_trial(event.time)
            case WorkerStarted():
                self.end_trial(event.time)
                worker = self._worker(event.worker, event.pid)
                worker.started, worker.items = event.time, event.items
            case WorkerFinished():
                worker = self._worker(event.worker, event.pid)
                worker.finished, worker.tasks = event.time, event.tasks
            case WorkerFailed():
                worker = self._worker(event.worker, event.pid)
                worker.finished, worker.message = event.time, event.message or "failed without a message"
            case QueueCounted():
                self.end_trial(event.time)
                self.counts = event
            case GraphReported():
                self.reports[event.path] = event
            case SummaryReported():
                self.end_trial(event.time)
                self.summaries.append(event)
            case _:
                assert_never(event)

    def end_trial(self, time: float | None) -> None:
        """Extraction is over: what is printed from now on is real."""
        if self.trial_running:
            self.trial_running, self.trial_ended = False, time

    def _worker(self, name: str, pid: int | None) -> CompileWorker:
        worker = self.workers.setdefault(name, CompileWorker(name=name))
        worker.pid = pid if pid is not None else worker.pid
        return worker
