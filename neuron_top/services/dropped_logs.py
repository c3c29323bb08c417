"""Logs and captures that a browser uploads to the dashboard: each is shown to that browser alone, for a while.

The file lies in a private folder of this server, is never recorded, and is deleted when nobody has viewed it for a
while, when the server ends, or, after a crash, when the next server of the same state folder starts. Paths of caches
and other files in such a log are not followed, as its author may have written anything.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from neuron_top.errors import LimitReached, NothingToShow, RefusedForSafety, UsageError
from neuron_top.folders import remove_folders
from neuron_top.ingest.rotated import log_of
from neuron_top.private_files import make_folder, open_file
from neuron_top.services.feeds import Feed, live_feed
from neuron_top.settings import Settings
from neuron_top.units import bytes_text

DROPPED = "dropped-"
"""Prefix of the names of dropped logs; other runs have the id of a recording."""
MOST_BYTES = 64 << 20
OF_ONE = 3
"""The most open logs of one browser; another one replaces the one that it viewed longest ago."""
MOST = 16
"""The most open logs of all browsers together."""
IDLE_SECONDS = 900.0
"""A page polls every second, but a background tab or a closed laptop may pause that for a while."""
LEFT_SECONDS = 60.0
"""If there is no room, a log that nobody has requested for this long is closed."""
LIFE_SECONDS = 12 * 3600.0
_LOOK_SECONDS = 15.0
_SPARE_BYTES = 256 << 20
"""Bytes that must stay free on the disk."""
_HEAD_BYTES = 1 << 16
_NAME_BYTES = 120
_LOCK = "in-use"
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"PK\x03\x04", b"\xfd7zXZ")


class DroppedLog:
    """One uploaded file, and the feed that reads it once it is complete."""

    def __init__(self, folder: Path, name: str, owner: str, size: int) -> None:
        """Raises OSError, RefusedForSafety if the file cannot be made."""
        self.identity, self.name, self.owner, self.size = DROPPED + secrets.token_hex(16), name, owner, size
        self.begun = self.used = time.monotonic()
        self.feed: Feed | None = None
        self._place = tempfile.TemporaryDirectory(prefix="log-", dir=folder, ignore_cleanup_errors=True)
        self.path = Path(self._place.name) / name
        try:
            self._file = os.fdopen(open_file(self.path, os.O_WRONLY | os.O_EXCL), "wb")
        except (OSError, RefusedForSafety):
            self._place.cleanup()
            raise
        self._written = 0

    def write(self, data: bytes) -> None:
        """Write the next bytes. Raises UsageError if they are not a log's, or more than announced; LimitReached if the
        log was closed meanwhile."""
        if self._file.closed:
            raise LimitReached(_REPLACED)
        if not self._written:
            _check_content(data)
        self._written += len(data)
        if self._written > self.size:
            raise UsageError("the file is longer than the browser said: drop it again")
        self._file.write(data)

    def begin(self, settings: Settings, modified: float, changed: Callable[[], None]) -> None:
        """Begin to read the file. `modified`: its last change. Raises UsageError if bytes are missing."""
        self._file.close()
        if self._written != self.size:
            raise UsageError("the file did not arrive whole: drop it again")
        if 0.0 < modified < time.time():
            os.utime(self.path, (modified, modified))
        self.feed = live_feed(settings, [str(self.path)])
        self.feed.start(changed)

    def close(self) -> None:
        """End the feed and delete the file."""
        if self.feed is not None:
            self.feed.stop()
        with contextlib.suppress(OSError):  # closing writes remaining bytes, which fails on a full disk
            self._file.close()
        self._place.cleanup()


class DroppedLogs:
    """The dropped logs of a server. Safe from any thread."""

    def __init__(
        self,
        settings: Settings,
        changed: Callable[[str], None] = lambda _run: None,
        closed: Callable[[str], None] = lambda _run: None,
    ) -> None:
        """`changed` and `closed` are called with the name of a log, in threads of their own."""
        self._settings, self._changed, self._closed = settings, changed, closed
        self._top = settings.state_path / "dropped"
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._held = -1
        self._logs: dict[str, DroppedLog] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._keeper: threading.Thread | None = None

    def remove_left(self) -> None:
        """Delete files of servers that crashed; running servers hold a lock."""
        with contextlib.suppress(OSError):  # the folder is missing or unreadable
            above = os.open(self._top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                for place in list(self._top.iterdir()):
                    _remove_if_left(above, place.name)
            finally:
                os.close(above)

    def receive(self, owner: str, name: str, size: int) -> DroppedLog:
        """Prepare for a file to be uploaded. Raises UsageError, LimitReached, RefusedForSafety, OSError."""
        if size > MOST_BYTES:
            raise UsageError(
                f"{bytes_text(size)} is too large: a dropped log may have {bytes_text(MOST_BYTES)}. {_WAY}"
            )
        if size <= 0:
            raise UsageError("the file is empty")
        with self._lock:
            if self._ended.is_set():
                raise LimitReached("the server is ending")
            folder = self._folder()
            if shutil.disk_usage(folder).free < size + _SPARE_BYTES:
                raise RefusedForSafety(f"the disk of {self._top} has too little room for the file. {_WAY}")
            replaced = self._in_the_way_of(owner)
            log = DroppedLog(folder, plain_name(name), owner, size)
            for old in replaced:
                del self._logs[old.identity]
            self._logs[log.identity] = log
            self._keeper = self._keeper or self._start_keeper()
        for old in replaced:
            self._close(old)
        return log

    def begin(self, log: DroppedLog, modified: float = 0.0) -> None:
        """Show a file that has arrived completely. Raises UsageError, LimitReached if it was closed meanwhile."""
        self._check_open(log)
        log.begin(self._settings, modified, lambda: self._changed(log.identity))
        try:
            self._check_open(log)
        except LimitReached:
            log.close()  # again, now with its feed
            raise

    def _check_open(self, log: DroppedLog) -> None:
        with self._lock:
            if log.identity not in self._logs:
                raise LimitReached(_REPLACED)

    def give_up(self, log: DroppedLog) -> None:
        """Delete a file that is not needed any more or did not arrive completely."""
        with self._lock:
            known = self._logs.pop(log.identity, None)
        if known is not None:
            self._close(known)

    def feed(self, identity: str, owner: str) -> Feed:
        """The feed of a log, for the browser that dropped it. Raises NothingToShow for other browsers."""
        with self._lock:
            log = self._logs.get(identity)
            if log is None or log.feed is None or not owner or not secrets.compare_digest(log.owner, owner):
                raise NothingToShow("this log was closed, or dropped into another browser: drop the file once more")
            log.used = time.monotonic()
            return log.feed

    def of(self, owner: str) -> list[DroppedLog]:
        """The logs that a browser has open."""
        with self._lock:
            return [log for log in self._logs.values() if owner and log.owner == owner and log.feed is not None]

    def close_all_of(self, owner: str) -> None:
        """Close all logs of a browser whose session is over."""
        for log in self.of(owner):
            self.give_up(log)

    def close_idle(self) -> None:
        """Close logs that nobody has viewed for a while."""
        now = time.monotonic()
        with self._lock:
            old = [
                log for log in self._logs.values() if now - log.used > IDLE_SECONDS or now - log.begun > LIFE_SECONDS
            ]
        for log in old:
            self.give_up(log)

    def stop(self) -> None:
        """Close all logs and delete their files."""
        self._ended.set()
        if self._keeper is not None:
            self._keeper.join()
        for log in list(self._logs.values()):
            self.give_up(log)
        if self._own is not None:
            self._own.cleanup()
            os.close(self._held)
            self._own = None

    def _folder(self) -> Path:
        """Make this server's folder, with a lock that shows that it runs."""
        if self._own is None:
            make_folder(self._top)
            self._own = tempfile.TemporaryDirectory(prefix="server-", dir=self._top, ignore_cleanup_errors=True)
            self._held = open_file(Path(self._own.name) / _LOCK, os.O_RDWR)
            fcntl.flock(self._held, fcntl.LOCK_EX)
        return Path(self._own.name)

    def _in_the_way_of(self, owner: str) -> list[DroppedLog]:
        """The older logs that one more of this browser replaces. Raises LimitReached if there is no room for it."""
        by_use = sorted(self._logs.values(), key=lambda log: log.used)
        own = [log for log in by_use if log.owner == owner]
        replaced = own[: max(0, len(own) - OF_ONE + 1)]
        if not replaced and len(by_use) >= MOST:
            replaced = [log for log in by_use if time.monotonic() - log.used > LEFT_SECONDS][:1]
            if not replaced:
                raise LimitReached(f"{MOST} dropped logs are open in browsers, which is all there may be. {_WAY}")
        return replaced

    def _start_keeper(self) -> threading.Thread:
        keeper = threading.Thread(target=self._keep, name="dropped logs", daemon=True)
        keeper.start()
        return keeper

    def _keep(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.close_idle()

    def _close(self, log: DroppedLog) -> None:
        log.close()
        self._closed(log.identity)


def plain_name(name: str) -> str:
    """The name of a file without parts that could lead out of its folder or name something other than a file."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(one for one in last if one.isprintable()).strip()
    short = printable.encode()[-_NAME_BYTES:].decode(errors="ignore").lstrip(".- ") or "dropped"
    return f"{short}.log" if log_of(short) else short


def _check_content(head: bytes) -> None:
    if head.startswith(_PACKED):
        raise UsageError("the file is compressed: unpack it, and drop what was in it")
    if b"\0" in head[:_HEAD_BYTES]:
        raise UsageError("the file is not text: drop a log, or a capture of neuron-monitor")


def _remove_if_left(above: int, name: str) -> None:
    """Delete a server's folder if no server holds its lock."""
    with contextlib.suppress(OSError):
        held = os.open(f"{name}/{_LOCK}", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_folders(above, [name])
        finally:
            os.close(held)


_REPLACED = "the log was closed while it arrived, as others were dropped after it: drop it again"
_WAY = "In a terminal, `neurontop watch FILE` reads files of any size."
