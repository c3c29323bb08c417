"""Lookups without an answer yet, and the bounds on a process's compiles that follow from its headers."""

from __future__ import annotations

import msgspec

from neuron_top.events import ComponentEvent, LogEvent


def worker_key(event: LogEvent | ComponentEvent) -> str:
    """Who an event is from: the process if it is known, else the rank, else the source; unique across nodes."""
    if event.pid is not None:
        return f"{event.node}/{event.pid}"
    if event.rank is not None:
        return f"{event.node}/rank {event.rank}"
    return f"{event.node}/{event.source}"


class _Process(msgspec.Struct):
    pending: list[float | None] = []
    """Times of announced lookups without an answer, oldest first."""
    header: float | None = None
    completed: float | None = None
    serial: bool = False
    """Whether it is a worker of a parallel compile, which starts the next compile as soon as one ends."""


class Lookups:
    """Per process: announced lookups (second format: a miss is one without a hit), last header, last completion."""

    def __init__(self) -> None:
        self.processes: dict[str, _Process] = {}
        self._asking: dict[str, dict[str, None]] = {}
        """Node → its processes with a lookup that has no answer yet."""
        self.newest: float | None = None
        """The newest header time of all processes: what a line without a clock is dated by."""

    def announced(self, worker: str, time: float | None, *, identified: bool) -> float | None:
        """A lookup began. Returns the time of an earlier one which must therefore have been a miss, else None.

        Only a known process proves that: if several share a stream, two lookups in a row may both end in hits.
        """
        process = self._process(worker)
        missed = process.pending.pop(0) if identified and process.pending else None
        process.pending.append(time)
        self._asking.setdefault(_node_of(worker), {})[worker] = None
        return missed

    def answered(self, worker: str) -> None:
        """The oldest lookup of this process was a hit, a stored failure, an extraction or a counted miss."""
        process = self.processes.get(worker)
        if process is not None and process.pending:
            process.pending.pop(0)
            if not process.pending:
                self._asking[_node_of(worker)].pop(worker)

    def oldest_pending(self, node: str) -> tuple[str, float | None] | None:
        """Worker and time of the lookup of a node that waits longest for its answer."""
        waiting = [(self.processes[worker].pending[0] or 0.0, worker) for worker in self._asking.get(node, ())]
        if not waiting:
            return None
        time, worker = min(waiting)
        return worker, time or None

    def unanswered(self) -> list[tuple[str, float | None]]:
        """All lookups without an answer."""
        return [(worker, time) for worker, process in self.processes.items() for time in process.pending]

    def header(self, worker: str, time: float | None) -> None:
        """A line with a clock came from this process."""
        if time is not None:
            self._process(worker).header = time
            self.newest = time if self.newest is None else max(self.newest, time)

    def completed(self, worker: str, time: float | None) -> None:
        """A compile of this process ended; if it compiles one after the other, the next begins now."""
        self.header(worker, time)
        self._process(worker).completed = time

    def early_bound(self, worker: str) -> tuple[float | None, bool]:
        """A time before which the compile that just ended cannot have begun, and whether it is its exact start."""
        process = self._process(worker)
        exact = process.serial and process.header is not None and process.header == process.completed
        return process.header, exact

    def serial(self, worker: str, time: float | None) -> None:
        """This process said that it is a worker that compiles one graph after the other."""
        self.header(worker, time)
        process = self._process(worker)
        process.serial, process.completed = True, time

    def _process(self, worker: str) -> _Process:
        return self.processes.setdefault(worker, _Process())


def _node_of(worker: str) -> str:
    """The node in a worker's key."""
    return worker.partition("/")[0]
