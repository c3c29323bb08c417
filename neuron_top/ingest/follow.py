"""A recording in progress, made by another process, as a source: events from the store, lines from its log.

Nothing is parsed a second time, so screens show exactly what the recording holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from neuron_top.events import AnyEvent, RunFinished
from neuron_top.events.log_sources import log_source
from neuron_top.ingest.feed import View
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.recordings import OUTPUT_NAME, is_recording, missing_end, run_folder, store_path
from neuron_top.parsers.lines import LineSplitter
from neuron_top.processes.tail import FileChange, FileTail
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.telemetry.source import Emit

FOLLOW_SECONDS = 0.1
_OLD_LINES_BYTES = 1 << 20
"""How much of what the log already holds is read for the screen's tail."""


class FollowedRun:
    """One recording, from its beginning to its end."""

    def __init__(self, settings: Settings, run: str, buffer: LogBuffer) -> None:
        self.name = f"recording {run}"
        self.run = run
        self._store_path = store_path(settings)
        self._folder = run_folder(settings, run)
        self._buffer = buffer
        self._stopped = threading.Event()
        self._lines: _Lines | None = None
        self._after = -1
        """Number of the last batch that was emitted."""
        self.is_behind = True

    def start(self, emit: Emit) -> None:
        """Emit the events that the recording holds and those that come; returns when it ends, or its recorder is gone.

        Raises StoreUnusable. Started again after that, it goes on where it was.
        """
        lines = self._lines = self._lines or _Lines(self._folder / OUTPUT_NAME, self._buffer)
        try:
            with SqliteStore(self._store_path, read_only=True) as store:
                self._follow(store, lines, emit)
        finally:
            lines.close()

    def _follow(self, store: SqliteStore, lines: _Lines, emit: Emit) -> None:
        while True:
            # Checked before reading, so that all that was written before the recorder ended is read.
            is_recorded, has_end = is_recording(self._folder), False
            last = self._stopped.is_set() or not is_recorded
            lines.read()
            for number, events in store.batches(self.run, self._after):
                self._after = number
                lines.mark(events)
                for event in events:
                    emit(event)
                has_end = has_end or any(isinstance(event, RunFinished) for event in events)
            self.is_behind = False
            if not is_recorded and not has_end:
                self._end(store, emit)
            if last or has_end:
                return
            self._stopped.wait(FOLLOW_SECONDS)

    def _end(self, store: SqliteStore, emit: Emit) -> None:
        record = store.run(self.run)
        if record is not None and (end := missing_end(record, store)) is not None:
            emit(end)

    def stop(self) -> None:
        """End; the recording goes on."""
        self._stopped.set()


class FollowedFeed(LiveFeed):
    """A feed of one recording. `read` first waits for the events that it holds, so that it never shows an empty run."""

    def __init__(self, settings: Settings, run: str) -> None:
        buffer = LogBuffer()
        super().__init__([FollowedRun(settings, run, buffer)], buffer=buffer)

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Return `view(run, now)`, called while no event is applied."""
        self.settle(0.0)
        return super().read(view)


class _Lines:
    """The last lines of a recording's log."""

    def __init__(self, path: Path, buffer: LogBuffer) -> None:
        self._source = log_source(path)
        self._buffer = buffer
        self._tail = FileTail(path)
        self._tail.begin_near_end(_OLD_LINES_BYTES)
        self._splitter = LineSplitter(offset=self._tail.position)

    def read(self) -> None:
        for item in self._tail.drain():
            if not isinstance(item, FileChange):
                begin, block = self._splitter.offset, self._splitter.take(item.data)
                self._buffer.add(self._source, begin, block, self._splitter.peek())

    def mark(self, events: list[AnyEvent]) -> None:
        self._buffer.mark(self._source, [event for event in events if event.source == self._source])

    def close(self) -> None:
        self._tail.close()
