"""Decides when to look at files again: at once when the kernel says so, else after a while.

Notifications only make the next look earlier; nothing depends on them. They do not exist on network file systems, in
/proc and on FUSE, they do not cover writes of other machines, and the kernel drops them when there are too many. So
every wait also ends by itself: after `POLL_SECONDS` where notifications do not work, after `IDLE_SECONDS` where they
do. A short pause after each wake-up gathers a burst of writes into one look. While files grow all the time,
notifications cost more than they are worth (each write of a job is one): they are turned off for half a minute, and
files are looked at every `POLL_SECONDS`.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from watchdog.events import (
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from neuron_top.cache import filesystem

# Without it, watchdog's complaints would be printed: that notifications were turned off while one came, or overflowed.
logging.getLogger("watchdog").addHandler(logging.NullHandler())

POLL_SECONDS = 0.21
"""Short enough that a line is seen within a quarter of a second, and long enough that a log which grows all the time
costs few looks and redraws."""
IDLE_SECONDS = 1.0
_GATHER_SECONDS = 0.03
_BUSY_WAKEUPS = 10
"""This many wake-ups in a row mean that files grow all the time."""
_REST_SECONDS = 30.0
"""How long notifications are then turned off."""
_EVENTS: list[type[FileSystemEvent]] = [
    FileModifiedEvent, FileCreatedEvent, FileMovedEvent, FileDeletedEvent, FileClosedEvent,
]  # fmt: skip
_SILENT_SYSTEMS = filesystem.SHARED_KINDS | {"proc", "sysfs", "overlay", "fuse", "fuseblk", "vboxsf", None}
"""File systems with no notifications at all, or none of other machines' writes. None: the kind is unknown."""


class Wakeup(FileSystemEventHandler):
    """Waits for files in watched folders. A context manager; one thread waits, any may call `stop`."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._stopped = threading.Event()
        self._observer = Observer()
        self._folders: set[Path] = set()
        self._watched: list[Path] = []
        """Those of them for which the kernel sends notifications."""
        self._notified = True
        self._in_a_row = 0
        self._rest_until: float | None = None

    def __enter__(self) -> Self:
        self._observer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._observer.stop()
        self._observer.join()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def watch(self, path: Path) -> None:
        """Wake up when something happens in the folder of this path."""
        folder = path.parent.absolute()
        if folder in self._folders:
            return
        self._folders.add(folder)
        if filesystem.describe(str(folder)).kind in _SILENT_SYSTEMS:
            self._notified = False
            return
        self._watched.append(folder)
        if self._rest_until is None:
            self._listen_to(folder)

    def wait(self, at_most: float | None = None) -> None:
        """Return when there may be something new, or after `at_most` seconds."""
        began = time.monotonic()
        usual = IDLE_SECONDS if self._notified and self._rest_until is None else POLL_SECONDS
        woken = self._event.wait(usual if at_most is None else min(usual, at_most))
        self._count(at_once=woken and time.monotonic() - began < POLL_SECONDS)
        if woken and not self._stopped.is_set():
            self._stopped.wait(_GATHER_SECONDS)
        self._event.clear()

    def _count(self, *, at_once: bool) -> None:
        """Turn notifications off while they come all the time, and on again later."""
        now = time.monotonic()
        self._in_a_row = self._in_a_row + 1 if at_once else 0
        if self._rest_until is None and self._in_a_row >= _BUSY_WAKEUPS:
            self._observer.unschedule_all()
            self._rest_until = now + _REST_SECONDS
        elif self._rest_until is not None and now >= self._rest_until:
            self._rest_until, self._in_a_row = None, 0
            for folder in self._watched:  # the caller looks after this wait, so nothing is missed in between
                self._listen_to(folder)

    def _listen_to(self, folder: Path) -> None:
        try:
            self._observer.schedule(self, str(folder), recursive=False, event_filter=_EVENTS)
        except OSError:  # the folder does not exist yet, or the user's inotify watches are used up
            self._notified = False

    def stop(self) -> None:
        """End the wait, now and for ever."""
        self._stopped.set()
        self._event.set()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog's thread."""
        self._event.set()
