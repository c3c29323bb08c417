"""The live feed: a thread for each source, one run that adds up their events, and one thread that writes and notifies.

A source emits an event; it is stamped (when, from which node) and applied to the run under the lock; the writer thread
then writes what has gathered to the store and calls `changed`. So a screen never waits for a disk, and a burst of
thousands of events is one call. The store holds exactly what was applied, in the same order: that is why a replay shows
the run as it was.

Sources may be made `later`, in a thread: what they import (the parsers' patterns alone take a tenth of a second) then
comes after the first frame.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from neuron_top.events import AnyEvent, DevicesFound, JobFound, RunStarted, SourceAvailable, SourceUnavailable
from neuron_top.events.log_sources import path_of
from neuron_top.identity import node_name
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_file_map import LogFileMap
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.model import Run
from neuron_top.telemetry.source import BacklogSource, TelemetrySource, drive, lost

View = TypeVar("View")

CHANGED_SECONDS = 0.05
"""`changed` is called at most twenty times a second."""
_RESTS = 2.0
"""Rest between two calls, as a multiple of the time that views held the lock since the last: events have the lock for
two thirds of the time, so that slow views, of a job with a thousand nodes, never keep its events away."""
_LONGEST_REST = 1.0
WRITE_SECONDS = 0.1
"""The store is written at most ten times a second."""
_STOP_SECONDS = 5.0
_SETTLED_SECONDS = 0.5
_CATCH_UP_SECONDS = 0.05


class EventSink(Protocol):
    """Keeps events; called only from the writer thread."""

    def append(self, events: Sequence[AnyEvent], now: float) -> None:
        """Keep these events, in order. Does not raise."""

    def end(self) -> None:
        """Give back what belongs to the writer thread, such as a database's connection: no event follows."""


class LiveFeed:
    """A `Feed` of what happens now."""

    def __init__(
        self,
        sources: Iterable[TelemetrySource],
        *,
        buffer: LogBuffer,
        later: Callable[[], Iterable[TelemetrySource]] = tuple,
        sink: Callable[[], EventSink] | None = None,
        history_seconds: float = 8 * 3600.0,
        clock: Callable[[], float] = time.time,
        node: str | None = None,
    ) -> None:
        """`later` is called in a thread of its own once the feed has begun, and returns further sources.

        `sink` is called in the writer thread, because an open store belongs to one thread. `node`: that of events which
        name none, "" for sources that are of no node; None is this one.
        """
        self._run, self._history = Run(history_seconds), history_seconds
        self._machine: dict[str, AnyEvent] = {}
        """The last event about the machine's devices, and about each source."""
        self._buffer, self._clock, self._make_sink = buffer, clock, sink
        self._node = node_name().value if node is None else node
        self._lock = threading.Lock()
        self._viewed = 0.0
        """Seconds that views took under the lock since the last rest."""
        self._unwritten: list[AnyEvent] = []
        self._dirty = threading.Event()
        self._stopping = threading.Event()
        self._sources: list[TelemetrySource] = list(sources)
        self._threads: list[threading.Thread] = []
        self._later, self._maker = later, threading.Thread(target=self._make_later, name="late sources", daemon=True)
        self._writer: threading.Thread | None = None
        self._changed: Callable[[], None] = lambda: None

    def start(self, changed: Callable[[], None]) -> None:
        """Start all sources."""
        self._changed = changed
        writer = threading.Thread(target=self._write_and_notify, name="writer", daemon=True)
        writer.start()
        self._writer = writer
        for source in self._sources:
            self._start_source(source)
        self._maker.start()

    def subscribe(self, changed: Callable[[], None]) -> None:
        """Call this function at changes from now on, instead of the one given to `start`."""
        self._changed = changed
        self._dirty.set()

    def add(self, source: TelemetrySource) -> None:
        """Start one more source, while running."""
        self._sources.append(source)
        self._start_source(source)

    def stop_sources(self) -> None:
        """Ask the sources to end, and wait until they have sent what they had."""
        if self._maker.ident is not None:
            self._maker.join()
        for source in self._sources:
            source.stop()
        for thread in self._threads:
            thread.join(_STOP_SECONDS)

    def stop(self) -> None:
        """Stop the sources, then write their last events and notify of them."""
        self.stop_sources()
        self._stopping.set()
        self._dirty.set()
        if self._writer is not None:
            self._writer.join()
            self._writer = None

    @property
    def ended(self) -> bool:
        """Whether every source has ended (a pipe that was closed, a job that is over)."""
        return not self._maker.is_alive() and not any(thread.is_alive() for thread in self._threads)

    def settle(self, seconds: float) -> None:
        """Wait until the present content of logs and caches was read, however long that takes; then, for at most
        `seconds`, until no event has come for a while or every source has ended."""
        while self.is_behind:
            self._stopping.wait(_CATCH_UP_SECONDS)
        deadline = time.monotonic() + seconds
        before = -1
        while time.monotonic() < deadline and not self.ended:
            with self._lock:
                events = self._events_applied()
            if events == before and events:
                return
            before = events
            self._stopping.wait(_SETTLED_SECONDS)

    @property
    def is_behind(self) -> bool:
        """Whether a source still reads what was there before it started."""
        alive = (source for source, thread in zip(self._sources, self._threads, strict=False) if thread.is_alive())
        return self._maker.is_alive() or any(isinstance(source, BacklogSource) and source.is_behind for source in alive)

    def _events_applied(self) -> int:
        """How many events were applied so far; called under the lock."""
        return self._run.events

    def wait_for(self, name: str) -> None:
        """Block until the sources of this name have ended."""
        for source, thread in zip(self._sources, self._threads, strict=True):
            if source.name == name:
                thread.join()

    def publish(self, event: AnyEvent) -> None:
        """Take one event from a source; from any thread."""
        self.publish_all((event,))

    def publish_all(self, events: Sequence[AnyEvent]) -> None:
        """As `publish`, for many events under one acquisition of the lock."""
        stamped = list(map(self._stamped, events))
        with self._lock:
            for event in stamped:
                self._apply(event)
            if self._make_sink is not None:
                self._unwritten += stamped
        if not self._dirty.is_set():  # setting it wakes the writer, which costs as much as all the rest
            self._dirty.set()

    def _stamped(self, event: AnyEvent) -> AnyEvent:
        if event.seen is not None and event.node:  # an agent has set both
            return event
        seen = event.seen if event.seen is not None else self._clock()
        return msgspec.structs.replace(event, seen=seen, node=event.node or self._node)

    def _apply(self, event: AnyEvent) -> None:
        """Add an event to the run; under the lock."""
        if isinstance(event, RunStarted | JobFound) and self._is_of_another_job(event):
            self._begin_anew()
        if isinstance(event, SourceAvailable | SourceUnavailable | DevicesFound):
            self._machine[getattr(event, "name", "devices")] = event
        self._run.apply(event)

    def _is_of_another_job(self, event: RunStarted | JobFound) -> bool:
        """Whether what is known belongs to another job than the one that this event begins."""
        job = self._run.job
        known = bool(job.run or job.command)
        return known and (isinstance(event, JobFound) or job.run != event.run)

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Return `view(run, now)`, called while no event is applied."""
        with self._lock:
            began = time.monotonic()
            try:
                return view(self._run, self._clock())
            finally:
                self._viewed += time.monotonic() - began

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last lines of all logs, or of one."""
        return self._buffer.tail(count, source)

    def log_tail_of(self, count: int, sources: Sequence[str]) -> list[LogLine]:
        """The last lines of these logs."""
        return self._buffer.tail(count, sources=sources)

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that ends before these offsets, read from the files."""
        return self.log_older_of(None, before, count, query)

    def log_older_of(
        self, sources: Container[str] | None, before: Mapping[str, int], count: int, query: LogQuery | None = None
    ) -> LogPage:
        """The same of these logs; None: of all."""
        from neuron_top.ingest.log_files import older

        return older(self._ends(sources), before, count, query, file_map=self._file_map())

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that begins at these offsets, read from the files."""
        return self.log_newer_of(None, after, count, query)

    def log_newer_of(
        self, sources: Container[str] | None, after: Mapping[str, int], count: int, query: LogQuery | None = None
    ) -> LogPage:
        """The same of these logs; None: of all."""
        from neuron_top.ingest.log_files import newer

        return newer(self._ends(sources), after, count, query, file_map=self._file_map())

    def _ends(self, sources: Container[str] | None) -> dict[str, int]:
        ends = self._buffer.ends()
        return ends if sources is None else {source: end for source, end in ends.items() if source in sources}

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines at these places."""
        from neuron_top.ingest.log_files import lines_at

        return lines_at(self._buffer.ends(), places, self._file_map())

    def log_state(self) -> str:
        """Always "": the logs are files of this machine."""
        return ""

    def log_chains(self) -> list[LogChain]:
        """Each log with its rotated files."""
        from neuron_top.ingest.rotated import unread

        ends, file_map = self._buffer.ends(), self._file_map()
        chains = file_map.chains(file_map.with_earlier(ends))
        return [LogChain(files=tuple(files), unread=unread(path_of(files[0]))) for files in chains]

    def _file_map(self) -> LogFileMap:
        """Where copies of pipes lie, and the rotated files of each log."""
        from neuron_top.ingest.rotated import earlier_files

        return LogFileMap(self._buffer.copies, earlier_files(self._buffer.ends(), self._buffer.earlier))

    def _begin_anew(self) -> None:
        """Begin a new run for another job, with what is known of the machine."""
        self._run = Run(self._history)
        for event in self._machine.values():
            self._run.apply(event)

    def _make_later(self) -> None:
        try:
            for source in self._later():
                self.add(source)
        except Exception as problem:  # noqa: BLE001 (as in `drive`: what was made goes on)
            self.publish(lost("sources", problem))

    def _start_source(self, source: TelemetrySource) -> None:
        thread = threading.Thread(target=drive, args=(source, self.publish), name=f"source {source.name}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _write_and_notify(self) -> None:
        sink = self._make_sink() if self._make_sink is not None else None
        written = 0.0
        while True:
            self._dirty.wait(WRITE_SECONDS if self._unwritten else None)
            last = self._stopping.is_set()
            changed = self._dirty.is_set()
            self._dirty.clear()
            if changed:
                self._changed()
            if sink is not None and (last or time.monotonic() - written >= WRITE_SECONDS):
                self._write(sink)
                written = time.monotonic()
            if last:
                break
            rest, self._viewed = _RESTS * self._viewed, 0.0
            self._stopping.wait(max(CHANGED_SECONDS, min(_LONGEST_REST, rest)))
        if sink is not None:
            sink.end()

    def _write(self, sink: EventSink) -> None:
        with self._lock:
            events, self._unwritten = self._unwritten, []
        if events:
            sink.append(events, self._clock())
