"""When to look at files again: at once when the kernel says so, else after a while.

Notifications are a promptness, never the truth: they do not exist on network file systems, in /proc and behind FUSE,
they say nothing of another machine's writes, and the kernel drops them when there are too many. So every wait also
ends by itself: after `POLL_SECONDS` where notifications do not work, after `IDLE_SECONDS` where they do. While a file
grows all the time its notifications are not needed either; a short pause after each wake-up gathers a burst of writes
into one look.
"""

from __future__ import annotations

import threading
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

POLL_SECONDS = 0.1
IDLE_SECONDS = 1.0
_GATHER_SECONDS = 0.03
_EVENTS: list[type[FileSystemEvent]] = [
    FileModifiedEvent, FileCreatedEvent, FileMovedEvent, FileDeletedEvent, FileClosedEvent,
]  # fmt: skip
_SILENT_SYSTEMS = filesystem.SHARED_KINDS | {"proc", "sysfs", "overlay", "fuse", "fuseblk", "vboxsf", None}
"""No notifications at all, or none of what others write. None: a kind that could not be told."""


class Wakeup(FileSystemEventHandler):
    """Waits for files in watched folders. A context manager; one thread waits, any may call `stop`."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._stopped = threading.Event()
        self._observer = Observer()
        self._folders: set[Path] = set()
        self._notified = True

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
        try:
            self._observer.schedule(self, str(folder), recursive=False, event_filter=_EVENTS)
        except OSError:  # the folder does not exist yet, or the user's inotify watches are used up
            self._notified = False

    def wait(self, at_most: float | None = None) -> None:
        """Return when there may be something new, or after `at_most` seconds."""
        usual = IDLE_SECONDS if self._notified else POLL_SECONDS
        self._event.wait(usual if at_most is None else min(usual, at_most))
        if not self._stopped.is_set():
            self._stopped.wait(_GATHER_SECONDS)
        self._event.clear()

    def stop(self) -> None:
        """End the wait, now and for ever."""
        self._stopped.set()
        self._event.set()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog's thread."""
        self._event.set()
