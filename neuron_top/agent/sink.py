"""Takes events from a live feed to the spool: skips those that were sent before, keeps samples here, folds the rest."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Sequence

from neuron_top.agent.marks import ReadingMarks
from neuron_top.agent.spool import Spool, is_sample
from neuron_top.events import (
    AnyEvent,
    CoreCountersRead,
    CoresSampled,
    EntryChanged,
    EventsFolded,
    HostSampled,
    NeuronProcessesSampled,
    WorkerMemoryReported,
)
from neuron_top.run.fold import Fold

COMMIT_SECONDS = 1.0
MOST_HELD = 50_000
"""The most events kept in memory while the disk is full, apart from those that are never dropped."""
STAY_HERE = CoresSampled | HostSampled | NeuronProcessesSampled | WorkerMemoryReported | CoreCountersRead
"""Samples taken each second, which are not spooled: `/metrics` has them, and the heartbeat the newest."""


class SpoolSink:
    """Puts the events of a feed into the spool; an `EventSink`. Call `tick` about once a second."""

    def __init__(self, spool: Spool, run: str, warn: Callable[[str], None]) -> None:
        """`run`: the job that the events belong to. `warn` is called once for each problem."""
        self._spool, self._run, self._warn = spool, run, warn
        self._fold, self._marks = Fold(), ReadingMarks(spool.marks())
        self._unsaved: list[AnyEvent] = spool.pending()
        self._dirty = bool(self._unsaved)
        self._committed = time.monotonic()
        self._lock = threading.Lock()
        self._locked: set[tuple[str, str]] = set()
        self._problem = ""
        self._most_held = MOST_HELD
        self.dropped = 0
        """Events that neither the disk nor the memory had room for."""

    def append(self, events: Sequence[AnyEvent], now: float) -> None:
        """Add events of the feed, in order."""
        with self._lock:
            for event in events:
                self._take(event, now)
            self._step(now)

    def end(self) -> None:
        """Does nothing: events of the agent itself follow those of the feed, until `close`."""

    def emit(self, event: AnyEvent) -> None:
        """Add an event of the agent itself."""
        with self._lock:
            self._unsaved.append(event)
            self._dirty = True

    def tick(self, now: float) -> None:
        """Do what is due as time passes: fold, commit."""
        with self._lock:
            self._step(now)

    def close(self, now: float) -> bool:
        """Commit everything at the end of the feed; returns whether there was room for it."""
        with self._lock:
            self._unsaved += self._fold.flush(now, everything=True)
            is_kept = self._commit()
            if not is_kept:
                self._warn(f"{self._spool.path}: no room until the end; the last events were not kept")
            return is_kept

    def _take(self, event: AnyEvent, now: float) -> None:
        if isinstance(event, STAY_HERE) or (isinstance(event, EntryChanged) and not self._is_about_a_lock(event)):
            return
        new = self._marks.is_new(event)
        self._unsaved += self._fold.add(event, now, known=not new)
        if new:
            self._marks.remember(event)
            self._dirty = True

    def _is_about_a_lock(self, event: EntryChanged) -> bool:
        """Whether a cache event says who holds a lock. Of the events about a cache only these are shipped; the rest is
        in its index (`agent/keys.py`)."""
        entry = (event.root, event.module)
        was = entry in self._locked
        (self._locked.add if event.lock is not None else self._locked.discard)(entry)
        return was or event.lock is not None

    def _step(self, now: float) -> None:
        self._unsaved += self._fold.flush(now)
        if time.monotonic() - self._committed >= COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> bool:
        """Commit to the spool; returns whether it has everything."""
        self._committed = time.monotonic()
        if not self._dirty and not self._unsaved:
            return True
        try:
            self._spool.commit(self._run, self._unsaved, self._fold.pending(), self._marks.changed())
        except sqlite3.Error as problem:
            self._no_room(problem)
            return False
        self._unsaved, self._dirty, self._problem, self._most_held = [], False, "", MOST_HELD
        self._marks.kept()
        return True

    def _no_room(self, problem: sqlite3.Error) -> None:
        """Keep the events in memory while the disk is full, thinned to a bounded number. Logs can be read again."""
        if not self._problem:
            self._problem = str(problem)
            self._warn(f"{self._spool.path}: {problem}; events are held in memory until there is room")
        if len(self._unsaved) > self._most_held:
            self._unsaved, dropped = thinned(self._unsaved, MOST_HELD * 3 // 4)
            self._most_held = max(MOST_HELD, len(self._unsaved) * 5 // 4)
            if dropped and not self.dropped:
                self._warn(f"{self._spool.path}: samples and repeated events are dropped now, the oldest first")
            self.dropped += dropped


def thinned(events: Sequence[AnyEvent], most: int) -> tuple[list[AnyEvent], int]:
    """The events thinned to `most`, as far as events may be dropped, and how many were dropped.

    Samples go first, then events that only repeat others; the oldest first. The first and the last of each kind stay,
    and so do all other events: failures, alerts, changes of state.
    """
    kinds = [_kind(event) for event in events]
    ends = _ends(kinds)
    may_go = [index for index, kind in enumerate(kinds) if kind is not None and index not in ends]
    may_go.sort(key=lambda index: not is_sample(events[index]))  # stable: each half stays in the order of time
    going = set(may_go[: max(0, len(events) - most)])
    dropped = sum(_count(events[index]) for index in going)
    return [event for index, event in enumerate(events) if index not in going], dropped


def _kind(event: AnyEvent) -> Hashable | None:
    """The group of events in which this one may be thinned; None if it must stay."""
    if not (is_sample(event) or isinstance(event, EventsFolded)):
        return None
    inner = event.last if isinstance(event, EventsFolded) else event
    about = (getattr(inner, name, None) for name in ("rank", "module", "path", "text"))
    return (type(inner), inner.node, inner.source, *about)


def _ends(kinds: Sequence[Hashable | None]) -> set[int]:
    """Indexes of the first and the last event of each kind."""
    last = {kind: index for index, kind in enumerate(kinds)}
    first = {kind: index for index, kind in reversed(list(enumerate(kinds)))}
    return {*first.values(), *last.values()}


def _count(event: AnyEvent) -> int:
    return event.count if isinstance(event, EventsFolded) else 1
