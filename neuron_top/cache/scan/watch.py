"""A cache root as a source of events: what changes below it is emitted within a fraction of a second.

Notifications only say where to look. What is emitted is always the difference between two snapshots, so a lost or
doubled notification does no harm. Entries whose state does not last are read again every second. Everything is
refreshed every few seconds, or less often if that would take more than about a hundredth of a core's time. On a large
cache, only the root and the compiler folders are watched, because the kernel limits each user's number of watches.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import UNSETTLED
from neuron_top.cache.scan import catalog, scanner
from neuron_top.errors import NothingToShow
from neuron_top.events import CacheScanned, EntryChanged, Event, SourceAvailable, SourceUnavailable

# Without it, watchdog's complaints would be printed.
logging.getLogger("watchdog").addHandler(logging.NullHandler())

SETTLE_SECONDS = 0.02
"""How long more notifications are collected after the first: publishing an entry sends a burst of them."""
OPEN_SECONDS = 1.0
"""Time between two readings of entries whose state does not last."""
FRESH_SECONDS, FRESH_FOR = 0.1, 2.0
"""Time between two readings of entries that were just written to, and how long these go on, in seconds."""
REFRESH_SECONDS = 5.0
"""Shortest time between two refreshes of everything; longer if a refresh is expensive."""
REFRESH_SHARE = 0.01
"""The share of a core's time that refreshes may take."""
WATCHED_ENTRIES = 5000
"""In a cache of up to so many entries every folder is watched; in a larger one, only the compiler folders."""
_KINDS = frozenset({"created", "modified", "moved", "deleted", "closed"})

Emit = Callable[[Event], None]


class CacheWatch:
    """Watches one root. `start` returns at once; events come from a thread of its own until `stop` has returned.

    If the root does not exist yet, it waits for it. `snapshot` is the newest, None before the first.
    """

    def __init__(self, root: str, state: Path, *, notifications: bool = True) -> None:
        self.root, self._state, self._notifications = root, state, notifications
        self.snapshot: Snapshot | None = None
        self._wake, self._ended = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._dirty: set[str] = set()
        self._dirty_all = False
        self._thread: threading.Thread | None = None
        self._emit: Emit = lambda event: None
        self._observer: Any = None

    @property
    def is_alive(self) -> bool:
        """Whether it was not started yet, or is still running."""
        return self._thread is None or self._thread.is_alive()

    def start(self, emit: Emit) -> None:
        """Start the thread, from which `emit` is called."""
        self._emit = emit
        self._thread = threading.Thread(target=self._run, name=f"cache-watch {self.root}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop; no event comes after this has returned."""
        self._ended.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        source = f"cache:{self.root}"
        if self._first_look(source):
            try:
                self._observe()
                self._follow()
            finally:
                if self._observer is not None:
                    self._observer.stop()
                    self._observer.join()

    def _first_look(self, source: str) -> bool:
        """Wait until there is a root to read; False if `stop` was called before."""
        reported = False
        while not self._ended.is_set():
            try:
                self._show(catalog.open_root(self.root, self._state))
            except NothingToShow as reason:
                if not reported:
                    self._emit(SourceUnavailable(source=source, name=source, reason=str(reason)))
                reported = True
                self._ended.wait(OPEN_SECONDS)
                continue
            self._emit(SourceAvailable(source=source, name=source))
            return True
        return False

    def _follow(self) -> None:
        next_refresh = time.monotonic()  # at once: what changed before the watches were set sent no notification
        while not self._ended.is_set():
            pause = FRESH_SECONDS if self._fresh() else OPEN_SECONDS
            woken = self._wake.wait(max(0.0, min(pause, next_refresh - time.monotonic())))
            if self._ended.is_set():
                return
            if woken:
                self._ended.wait(SETTLE_SECONDS)
            dirty, everything = self._taken()
            began = time.monotonic()
            if everything or began >= next_refresh:
                self._look(None)
                took = time.monotonic() - began
                # A new compiler folder may be filled before it is watched: refresh again soon, whatever that costs.
                next_refresh = (
                    began + took + FRESH_SECONDS if everything else began + max(REFRESH_SECONDS, took / REFRESH_SHARE)
                )
            else:
                self._look(dirty | self._open())

    def _taken(self) -> tuple[set[str], bool]:
        with self._lock:
            self._wake.clear()
            taken = self._dirty, self._dirty_all
            self._dirty, self._dirty_all = set(), False
        return taken

    def _open(self) -> set[str]:
        entries = self.snapshot.entries if self.snapshot else ()
        return {entry.path for entry in entries if entry.state in UNSETTLED} | self._fresh()

    def _fresh(self) -> set[str]:
        """Entries that were just written to: a new folder's first files may appear before it is watched."""
        entries = self.snapshot.entries if self.snapshot else ()
        if len(entries) > WATCHED_ENTRIES:
            return set()
        now = time.time()
        return {entry.path for entry in entries if abs(now - entry.changed_at) < FRESH_FOR}

    def _look(self, paths: set[str] | None) -> None:
        before = self.snapshot
        if before is None or (paths is not None and not paths):
            return
        try:
            after = scanner.refresh(before) if paths is None else scanner.refresh_entries(before, paths)
        except NothingToShow:
            # The root is gone, and all entries with it.
            after = Snapshot(root=before.root, taken_at=time.time(), seconds=0.0, entries=(), folders=())
        self._show(after)

    def _show(self, after: Snapshot) -> None:
        before, self.snapshot = self.snapshot, after
        changes = _first(after) if before is None else difference(before, after)
        for change in changes:
            self._emit(change)
        if before is None or changes:
            self._emit(_scanned(after))

    def _observe(self) -> None:
        """Ask the kernel for notifications; without them, the refreshes find everything."""
        snapshot = self.snapshot
        if snapshot is None or not self._notifications or snapshot.filesystem.shared:
            return
        from watchdog.events import FileSystemEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        # A folder that appears while its parent's watch is being added is added twice, of which watchdog warns.
        warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning)
        watch = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                if event.event_type in _KINDS:
                    for path in {os.fsdecode(event.src_path), os.fsdecode(event.dest_path)} - {""}:
                        watch.notified(path, folder=event.is_directory, modified=event.event_type == "modified")

        observer = Observer()
        few = len(snapshot.entries) <= WATCHED_ENTRIES
        try:
            observer.schedule(Handler(), snapshot.root, recursive=few)
            for folder in () if few else snapshot.folders:
                observer.schedule(Handler(), f"{snapshot.root}/{folder.name}", recursive=False)
            observer.start()
        except (OSError, RuntimeError):  # a folder that is gone, a limit of watches or threads
            observer.unschedule_all()  # those that began before it
            return
        self._observer = observer

    def notified(self, path: str, *, folder: bool = False, modified: bool = False) -> None:
        """Have what changed at `path` read soon. Called from a watcher's thread."""
        root = self.snapshot.root if self.snapshot else os.path.realpath(self.root)
        parts = path.removeprefix(root).strip("/").split("/")
        place = next((position for position, part in enumerate(parts) if part.startswith("MODULE_")), None)
        if place is None and (modified or not folder):
            return  # only a folder's time changed, or a file such as the root's lock: no entry appeared or went
        with self._lock:
            if place is None or place == 0:
                self._dirty_all = True
            else:
                self._dirty.add("/".join(parts[: place + 1]))
            self._wake.set()


def difference(before: Snapshot, after: Snapshot) -> list[EntryChanged]:
    """The changes of entries: new ones, other states, sizes or locks, and entries that are gone (state None)."""
    old = {entry.path: entry for entry in before.entries}
    changes = []
    for entry in after.entries:
        was = old.pop(entry.path, None)
        if was is entry:
            continue
        if was is None or _seen(was) != _seen(entry):
            changes.append(_changed(after, entry, was))
    changes += [
        EntryChanged(
            source=f"cache:{after.root}",
            at=after.taken_at,
            root=after.root,
            compiler=entry.compiler,
            module=entry.module,
            state=None,
            previous=entry.state,
        )
        for entry in old.values()
    ]
    return changes


def _seen(entry: Entry) -> tuple[object, ...]:
    """The values whose change is reported. A lock's proof is left out, because its text counts seconds."""
    lock = (entry.lock.verdict, entry.lock.owner) if entry.lock is not None else None
    return entry.state, entry.allocated, entry.changed_at, lock


def _first(snapshot: Snapshot) -> list[EntryChanged]:
    """The unsettled entries when the watch begins; the settled ones are in `CacheScanned` as sums."""
    return [_changed(snapshot, entry, None) for entry in snapshot.entries if entry.state in UNSETTLED]


def _changed(snapshot: Snapshot, entry: Entry, was: Entry | None) -> EntryChanged:
    lock = entry.lock
    return EntryChanged(
        source=f"cache:{snapshot.root}",
        at=snapshot.taken_at,
        root=snapshot.root,
        compiler=entry.compiler,
        module=entry.module,
        state=entry.state,
        previous=was.state if was is not None else None,
        size=entry.allocated,
        changed_at=entry.changed_at,
        lock=lock.verdict.value if lock is not None else None,
        lock_holder=lock.owner if lock is not None else None,
        lock_proof=lock.proof if lock is not None else None,
        lock_since=lock.since if lock is not None else None,
    )


def _scanned(snapshot: Snapshot) -> CacheScanned:
    totals = snapshot.totals()
    return CacheScanned(
        source=f"cache:{snapshot.root}",
        at=snapshot.taken_at,
        root=snapshot.root,
        states={name: tally.entries for name, tally in totals.states.items()},
        size=totals.all.bytes,
        free=snapshot.filesystem.free,
        seconds=snapshot.seconds,
    )
