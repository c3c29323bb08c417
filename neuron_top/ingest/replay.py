"""Plays a recording back: the same events, at the pace at which they came, through the same run and the same views.

Events come when they arrived (`seen`), because that is when a screen could show them. To go back, it begins again and
applies everything up to the requested moment, which is exact, and quick enough: some 100,000 events a second.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from neuron_top.errors import NeuronTopError
from neuron_top.events import AnyEvent, RunStarted
from neuron_top.events.log_sources import log_source, path_of
from neuron_top.ingest.log_file_map import LogFileMap
from neuron_top.ingest.log_files import lines_at, newer, older
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.ingest.recordings import find_recording, missing_end
from neuron_top.plain_files import is_file
from neuron_top.run.model import Run
from neuron_top.store.errors import StoreCorrupt
from neuron_top.store.location import StoreLocation
from neuron_top.store.protocol import Store

View = TypeVar("View")
_TICK_SECONDS = 0.05
_RETRY_SECONDS = 1.0
_MOST_SPEED = 1000.0


class ReplayClock:
    """Recorded time, which passes `speed` times as fast as real time and can be stopped and moved. Thread-safe."""

    def __init__(self, start: float, end: float, speed: float = 1.0, now: Callable[[], float] = time.monotonic) -> None:
        self.start, self.end = start, end
        self.paused = False
        self._speed = speed
        self._real = now
        self._lock = threading.Lock()
        self._anchor = (start, now())

    @property
    def now(self) -> float:
        """The recorded moment, seconds since the epoch, between start and end."""
        with self._lock:
            return self._moment()

    @property
    def speed(self) -> float:
        """Recorded seconds per real second."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        with self._lock:
            self._anchor = (self._moment(), self._real())
            self._speed = min(max(value, 1 / _MOST_SPEED), _MOST_SPEED)

    def pause(self) -> None:
        """Stop; the moment stays."""
        with self._lock:
            self._anchor = (self._moment(), self._real())
            self.paused = True

    def resume(self) -> None:
        """Go on."""
        with self._lock:
            self._anchor = (self._moment(), self._real())
            self.paused = False

    def seek(self, moment: float) -> None:
        """Go to a recorded moment."""
        with self._lock:
            self._anchor = (min(max(moment, self.start), self.end), self._real())

    def skip(self, seconds: float) -> None:
        """Go forward, or back, by recorded seconds."""
        self.seek(self.now + seconds)

    def _moment(self) -> float:
        moment, since = self._anchor
        passed = 0.0 if self.paused else (self._real() - since) * self._speed
        return min(moment + passed, self.end)


class ReplayFeed:
    """A `Feed` from the store, controlled by its `clock`."""

    def __init__(
        self, kept: StoreLocation, run: str, *, name: str = "", speed: float = 1.0, history_seconds: float = 8 * 3600.0
    ) -> None:
        """`kept`: the store. `name`: what a person has called the recording since it was made.

        Raises StoreUnusable when it cannot be opened, NothingToShow when the run is not in it.
        """
        with kept.open() as store:
            record = find_recording(store, run)
            self._missing_end = missing_end(record, store)
        self._kept, self._id, self._name, self._history = kept, record.id, name, history_seconds
        self._folder = kept.path.parent / "runs" / record.id
        self._recorded_in = Path(record.folder or self._folder)
        # Not the times of the events: a log line has the clock, and the time zone, of the program that wrote it.
        start = record.started if record.started is not None else record.touched
        end = record.finished if record.finished is not None else record.touched
        self.clock = ReplayClock(start, max(start, end), speed)
        self._run = Run(history_seconds)
        self._applied = start
        self._store: Store | None = None
        self._events: _Lookahead | None = None
        self._lock = threading.Lock()
        self._shown = threading.Event()
        """Set once the run was brought to where replay begins; `read` waits for it, so it never shows an empty run."""
        self._problem: NeuronTopError | None = None
        """Why the recording could not be read up to the present moment."""
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, changed: Callable[[], None]) -> None:
        """Play."""
        self._thread = threading.Thread(target=self._play, args=(changed,), name="replay", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, and close the recording."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self._close()  # also what was read without a thread, or after it had ended

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Return `view(run, now)` at the recorded moment.

        Raises StoreUnusable if it cannot be read up to there: a part of a run must not be taken for all of it.
        """
        self._await_start()
        with self._lock:
            if self._problem is not None:
                raise self._problem.with_traceback(None)  # without this it would keep the frames of every call
            return view(self._run, self.clock.now)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last lines of the recorded output, as far as it had grown by that moment."""
        ends = self._ends()
        if source is not None:
            ends = {name: end for name, end in ends.items() if name == source}
        return list(older(ends, {}, count, file_map=self._file_map(ends)).lines) if count > 0 else []

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that ends before these offsets."""
        ends = self._ends()
        return older(ends, before, count, query, file_map=self._file_map(ends))

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that begins at these offsets."""
        ends = self._ends()
        return newer(ends, after, count, query, file_map=self._file_map(ends))

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines at these places, as far as they had been written by that moment."""
        ends = self._ends()
        return lines_at(ends, places, self._file_map(ends))

    def log_state(self) -> str:
        """Always "": the logs are files of this machine."""
        return ""

    def log_chains(self) -> list[LogChain]:
        """A recording's own log is never rotated."""
        return [LogChain(files=(source,)) for source in self._ends()]

    def _ends(self) -> dict[str, int]:
        """How far the recording's own log had grown. Other files are left out: an event may name any file as a log."""
        self._await_start()
        with self._lock:
            sources = self._run.job.sources.items()
            return {log_source(path): log.end for path, log in sources if self._own_file(path) is not None}

    def _file_map(self, ends: Mapping[str, int]) -> LogFileMap:
        """Where the recording's own log is now: the state folder may have been moved, or copied from elsewhere."""
        places = ((source, self._own_file(path_of(source))) for source in ends)
        return LogFileMap({source: str(place) for source, place in places if place is not None})

    def _own_file(self, path: str) -> Path | None:
        """The plain file in the recording's folder for a log that is, or was, in that folder; None for other logs."""
        log = Path(path)
        if log.parent not in (self._folder, self._recorded_in):
            return None
        place = self._folder / log.name
        return place if is_file(place) and not place.is_symlink() else None

    def show(self, moment: float) -> bool:
        """Bring the run to a recorded moment; whether that changed anything. For one thread at a time.

        Raises StoreUnusable; called again after that, it opens the store anew.
        """
        try:
            return self._bring_to(moment)
        except NeuronTopError:
            self._close()
            raise

    def _bring_to(self, moment: float) -> bool:
        if self._store is None:
            self._store = self._kept.open()
        events = self._events if moment >= self._applied else None
        anew = events is None
        if events is None:
            events = self._events = _Lookahead(self._store.replay(self._id))
        moved = moment != self._applied
        # The recorder stores the end a moment after it came; so at the end of a replay everything is applied.
        reached = moment if moment < self.clock.end else math.inf
        with self._lock:
            if anew:
                self._run = Run(self._history)
            for event in events.until(reached):
                self._run.apply(event)
            self._run.job.name = self._name or self._run.job.name
            if self._missing_end is not None and reached == math.inf and self._run.job.finished is None:
                self._run.apply(self._missing_end)
            self._applied = moment
        return moved

    def _await_start(self) -> None:
        if self._thread is not None:
            self._shown.wait()

    def _play(self, changed: Callable[[], None]) -> None:
        try:
            while not self._stopped.is_set():
                before = self._problem
                if self._step() or str(self._problem) != str(before):
                    changed()
                if isinstance(self._problem, StoreCorrupt):  # it stays so; anything else may pass
                    return
                self._stopped.wait(_TICK_SECONDS if self._problem is None else _RETRY_SECONDS)
        finally:
            self._shown.set()
            self._close()

    def _step(self) -> bool:
        """Go on to the clock's moment, or note the problem; whether the run changed."""
        try:
            moved, self._problem = self.show(self.clock.now), None
        except NeuronTopError as problem:
            moved, self._problem = False, problem
        self._shown.set()
        return moved

    def _close(self) -> None:
        store, self._store, self._events = self._store, None, None
        if store is not None:
            store.close()


class _Lookahead:
    """Events in order, handed out up to a moment."""

    def __init__(self, events: Iterator[AnyEvent]) -> None:
        self._events = events
        self._next = next(events, None)

    def until(self, moment: float) -> Iterator[AnyEvent]:
        """The next events, up to those that had arrived by then. One without any time comes with the one before it."""
        while self._next is not None and (_arrival(self._next) or moment) <= moment:
            event, self._next = self._next, next(self._events, None)
            yield event


def _arrival(event: AnyEvent) -> float | None:
    if isinstance(event, RunStarted):  # it is stored a moment after the start, at which a replay begins
        return event.at
    return event.seen if event.seen is not None else event.at
