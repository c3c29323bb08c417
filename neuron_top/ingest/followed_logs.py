"""The source that follows logs as they are written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from neuron_top.events import SourceAvailable, SourceUnavailable
from neuron_top.events.log_sources import folder_source, log_source
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_ingestor import QUIET_SECONDS, LogIngestor
from neuron_top.ingest.log_span import last_clock
from neuron_top.ingest.rotated import log_of
from neuron_top.ingest.wakeup import Wakeup
from neuron_top.ingest.whole_log import WholeLog
from neuron_top.plain_files import is_file, last_change, size_of
from neuron_top.processes.log_input import has_compressed_data
from neuron_top.processes.tail import FileChange, FileTail
from neuron_top.run import log_activity
from neuron_top.telemetry.source import Emit, emit_all
from neuron_top.units import counted

NOWHERE: Mapping[str, int] = MappingProxyType({})
SUCCESSOR_SECONDS = 0.1
"""How long a log that was replaced must be quiet before the file in its place is read."""
WAITING_SECONDS = log_activity.QUIET_SECONDS / 3
"""How often it is said of a log that it will be read after those that are read now."""
_COPIED_BYTES = 1 << 30
"""Bytes that the copies of all unpacked logs together may take on the disk."""
_COPIED_FILES = 64
"""How many copies are kept at most: each is an open file."""
_AWAITED = "no such file yet, it is read as soon as it is there"
_EMPTY = "the file is empty, it is read as soon as something is written to it"
_NO_LOGS = "no log in this folder yet (a name that ends in .log, .txt, .out or .err is one), those that come are read"
_SILENT_PIPE = "nothing was written to this pipe yet, it is read as soon as something is"


class LogFiles:
    """Follows logs. `paths` is called again every second: a folder may get new ones."""

    name = "logs"

    def __init__(
        self,
        paths: Callable[[], Iterable[Path]],
        buffer: LogBuffer,
        *,
        from_end: bool = False,
        begins: Mapping[str, int] = NOWHERE,
        left_out: Callable[[], Sequence[Path]] = tuple,
        without_logs: Callable[[], Mapping[Path, OSError | None]] = dict,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`begins`: by path, the offset at which reading begins; looked up when a log is first met.

        `left_out`: logs that `paths` did not name because they are too many. `without_logs`: folders in which it found
        none, with the reason why a folder cannot be read.
        """
        self._paths, self._buffer, self._from_end = paths, buffer, from_end
        self._begins, self._left_out, self._without_logs = begins, left_out, without_logs
        self._clock, self._waiting_said = clock, clock()
        self._tails: dict[str, FileTail] = {}
        self._ingestors: dict[str, LogIngestor] = {}
        self._problems: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        """What was reported of folders without logs, by source."""
        self._left: tuple[str, str] = "", ""
        """What was last reported of the logs that are not read: the first one as a source, and the sentence."""
        self._whole: dict[str, WholeLog | None] = {}
        """Logs that no longer grow; None for one that was already read before it was rotated. They own copies of what
        they read, which screens scroll through for as long as this source runs."""
        self._unread: list[WholeLog] = []
        self._named: frozenset[str] = frozenset()
        """What `paths` last returned."""
        self._looked = False
        self.is_behind = True
        self._wakeup = Wakeup()

    def start(self, emit: Emit) -> None:
        """Read until stopped."""
        with self._wakeup:
            while True:
                last = self._wakeup.stopping
                self._look_for_files(emit)
                self._read_all(emit)
                if self.is_behind and self._wakeup.stopping:
                    break
                self.is_behind = False
                if last:
                    break
                self._wakeup.wait(self._pause)
        if not self.is_behind:
            for ingestor in self._ingestors.values():
                emit_all(ingestor.flush(), emit)
        for tail in self._tails.values():
            tail.close()

    @property
    def _pause(self) -> float | None:
        """Seconds after which a quiet log has something to report; None if only new bytes do."""
        if any(tail.has_successor for tail in self._tails.values()):
            return SUCCESSOR_SECONDS
        return None if all(ingestor.settled for ingestor in self._ingestors.values()) else QUIET_SECONDS

    def stop(self) -> None:
        """Read what came since the last look, then end. Older content that was not read yet is given up: that may
        take minutes; a caller that wants all of it waits before (`is_behind`)."""
        self._wakeup.stop()

    def _look_for_files(self, emit: Emit) -> None:
        paths = list(self._paths())
        self._named = frozenset(map(os.fspath, paths))
        for path in paths:
            key = os.fspath(path)
            if key in self._whole or (key not in self._tails and self._takes_whole(key)):
                continue
            if key not in self._tails:
                self._tails[key] = tail = FileTail(path, from_end=self._from_end)
                if 0 < self._begins.get(key, 0) <= size_of(path):  # else somebody has emptied it
                    tail.begin_at(self._begins[key])
                is_old = tail.position == 0
                self._ingestors[key] = LogIngestor(
                    key,
                    self._buffer,
                    written=last_change(path),
                    size=size_of(path) if is_old else None,
                    last_clock=last_clock(path) if is_old else None,
                )
                if is_old and size_of(path) > 0:
                    emit_all(self._ingestors[key].found(), emit)
                self._wakeup.watch(path)
            text = self._missing(self._tails[key])
            if text != self._problems.get(key, ""):
                self._problems[key] = text
                name = log_source(key)
                unreadable = self._tails[key].problem is not None
                emit(
                    SourceUnavailable(name=name, reason=text, unreadable=unreadable)
                    if text
                    else SourceAvailable(name=name, detail=key)
                )
        for key in [key for key, text in self._problems.items() if text and key not in self._named]:
            self._problems[key] = ""  # it is a folder now, or was deleted
            emit(SourceAvailable(name=log_source(key)))
        self._report_left_out(emit)
        self._report_folders(emit)
        # Logs that a folder held first may be old; those that turn up later are new, and read from their beginning.
        self._from_end = False
        self._looked = True

    def _report_left_out(self, emit: Emit) -> None:
        left, (before, said) = self._left_out(), self._left
        name = log_source(left[0]) if left else ""
        more = counted(len(left), "log is", "logs are") if left else ""
        text = f"{more} not read, beside {len(self._named)}: {left[0]}, …; name the ones to read" if left else ""
        if before not in ("", name):
            emit(SourceAvailable(name=before))
        if text != said and text:
            emit(SourceUnavailable(name=name, reason=text))
        self._left = name, text

    def _report_folders(self, emit: Emit) -> None:
        now = dict[str, str]()
        for path, problem in self._without_logs().items():
            name = folder_source(path)
            now[name] = text = f"{problem.strerror}: {path}" if problem else f"{_NO_LOGS}: {path}"
            if self._folders.get(name) != text:
                emit(SourceUnavailable(name=name, reason=text, unreadable=problem is not None))
        for name in self._folders.keys() - now.keys():
            emit(SourceAvailable(name=name))
        self._folders = now

    def _missing(self, tail: FileTail) -> str:
        """Why there is nothing to read of a log, as a sentence; "" if there is something, or may be."""
        if tail.problem is not None:
            return f"{tail.problem.strerror}: {tail.path}"
        if tail.awaited:
            return f"{_AWAITED}: {tail.path}"
        if len(self._named) == 1 and not tail.position and is_file(tail.path) and not size_of(tail.path):
            return f"{_EMPTY}: {tail.path}"  # not for a folder's logs, many of which may stay empty
        # At the first look it has not been read yet.
        return f"{_SILENT_PIPE}: {tail.path}" if self._looked and tail.is_silent_pipe else ""

    def _takes_whole(self, key: str) -> bool:
        """Take a log that no longer grows: a rotated one beside its log, or a compressed one; True if it is one.

        A rotated file that turns up later was already read before it was rotated.
        """
        beside = log_of(key) in {*self._tails, *self._named}
        if not beside and not has_compressed_data(key):
            return False
        was_read = self._from_end or (self._looked and beside)
        self._whole[key] = whole = None if was_read else WholeLog(key, self._buffer, self._has_room)
        if whole is not None:
            self._unread.append(whole)
        return True

    def _has_room(self, whole: WholeLog, size: int) -> bool:
        """Whether the copy of a log may grow by `size` bytes."""
        others = [each.copied for each in self._whole.values() if each not in (None, whole) and each.copied]
        return len(others) < _COPIED_FILES and sum(others) + whole.copied + size <= _COPIED_BYTES

    def _read_all(self, emit: Emit) -> None:
        while self._unread:
            self._unread.pop(0).read(emit, lambda: self._wakeup.stopping)
        for key, tail in self._tails.items():
            ingestor = self._ingestors[key]
            while step := tail.read(limit=1):
                if self.is_behind and self._wakeup.stopping:
                    return
                for item in step:
                    events = (
                        ingestor.on_rotation(item.how)
                        if isinstance(item, FileChange)
                        else ingestor.take(item.offset, item.data)
                    )
                    emit_all(events, emit)
                self._say_who_waits(emit)
            emit_all([*ingestor.quiet(), *ingestor.caught_up(), *ingestor.grew()], emit)

    def _say_who_waits(self, emit: Emit) -> None:
        now = self._clock()
        if now - self._waiting_said < WAITING_SECONDS:
            return
        self._waiting_said = now
        for ingestor in self._ingestors.values():
            emit_all(ingestor.waits(), emit)
