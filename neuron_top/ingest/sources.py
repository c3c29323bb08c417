"""The sources that read files and pipes: logs, standard input, telemetry captures, the side channel of a job."""

from __future__ import annotations

import errno
import os
import select
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.errors import UsageError
from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, LineMalformed, Rotation, SourceAvailable, SourceUnavailable, legacy
from neuron_top.ingest.log_buffer import KEPT_LINES, LogBuffer
from neuron_top.ingest.log_ingestor import QUIET_SECONDS, LogIngestor
from neuron_top.ingest.log_line import STANDARD_INPUT
from neuron_top.ingest.log_span import last_clock
from neuron_top.ingest.rotated import log_of
from neuron_top.ingest.wakeup import Wakeup
from neuron_top.plain_files import is_file, is_plain_file, last_change
from neuron_top.processes.log_input import has_compressed_data, portions
from neuron_top.processes.stop_request import StopRequest
from neuron_top.processes.tail import FileChange, FileTail
from neuron_top.telemetry.source import Emit
from neuron_top.telemetry.telemetry_file import TelemetryFile

_STDIN_BYTES = 1 << 16
SUCCESSOR_SECONDS = 0.1
"""How long a log that was replaced must be quiet before the file in its place is read."""
_COPIED_BYTES = 1 << 30
"""Bytes that the copies of all unpacked logs together may take on the disk."""
_COPIED_FILES = 64
"""How many copies are kept at most: each is an open file."""
_OPEN_FILES = 128
"""Files of the side channel that are kept open; if there are more, each is opened only to be read."""

_DISK = Path("/var/tmp")  # noqa: S108 (a file without a name; /tmp is memory on many machines, and too small)

_AWAITED = "no such file yet, it is read as soon as it is there"
_EMPTY = "the file is empty, it is read as soon as something is written to it"
_SILENT_PIPE = "nothing was written to this pipe yet, it is read as soon as something is"


class LogFiles:
    """Follows logs. `paths` is called again every second: a folder may get new ones."""

    name = "logs"

    def __init__(self, paths: Callable[[], Iterable[Path]], buffer: LogBuffer, *, from_end: bool = False) -> None:
        self._paths, self._buffer, self._from_end = paths, buffer, from_end
        self._tails: dict[str, FileTail] = {}
        self._ingestors: dict[str, LogIngestor] = {}
        self._problems: dict[str, str] = {}
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
                _emit_all(ingestor.flush(), emit)
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
                self._tails[key] = FileTail(path, from_end=self._from_end)
                self._ingestors[key] = LogIngestor(
                    key,
                    self._buffer,
                    written=last_change(path),
                    last_clock=None if self._from_end else last_clock(path),
                )
                if not self._from_end and _size(path) > 0:
                    _emit_all(self._ingestors[key].found(), emit)
                self._wakeup.watch(path)
            text = self._missing(self._tails[key])
            if text != self._problems.get(key, ""):
                self._problems[key] = text
                name = f"log:{key}"
                emit(SourceUnavailable(name=name, reason=text) if text else SourceAvailable(name=name, detail=key))
        # Logs that a folder held first may be old; those that turn up later are new, and read from their beginning.
        self._from_end = False
        self._looked = True

    def _missing(self, tail: FileTail) -> str:
        """Why there is nothing to read of a log, as a sentence; "" if there is something, or may be."""
        if tail.problem is not None:
            return f"{tail.problem.strerror}: {tail.path}"
        if tail.awaited:
            return f"{_AWAITED}: {tail.path}"
        if len(self._named) == 1 and not tail.position and is_file(tail.path) and not _size(Path(tail.path)):
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
                    _emit_all(events, emit)
            _emit_all([*ingestor.quiet(), *ingestor.caught_up(), *ingestor.grew()], emit)


class WholeLog:
    """A log that no longer grows, plain or compressed: read once, to its end; screens can scroll through a copy."""

    def __init__(self, path: str, buffer: LogBuffer, has_room: Callable[[WholeLog, int], bool]) -> None:
        self._path, self._buffer, self._has_room = path, buffer, has_room
        self.copied = 0
        """Bytes of it that were copied."""
        self._source = f"log:{path}"
        self._spool: PipeCopy | None = None

    def read(self, emit: Emit, stopped: Callable[[], bool]) -> None:
        """Read all of it, or until stopped; reports what cannot be read."""
        ingestor = LogIngestor(self._path, self._buffer, written=last_change(Path(self._path)))
        self._buffer.without_file.add(self._source)
        offset, remarks = 0, list[str]()
        try:
            for data in portions(self._path, remarks.append):
                self._keep(offset, data)
                _emit_all(ingestor.take(offset, data), emit)
                offset += len(data)
                if stopped():
                    break
        except UsageError as problem:
            remarks.append(str(problem))
        _emit_all([*ingestor.flush(), *ingestor.caught_up()], emit)
        if remarks:
            reason = "; ".join(remark.removeprefix("neurontop: ") for remark in remarks)
            emit(SourceUnavailable(name=self._source, reason=reason))

    def _keep(self, offset: int, data: bytes) -> None:
        """Write to the copy that screens scroll through, while there is room; without one they show the last lines."""
        if offset > 0 and self._spool is None:
            return
        try:
            if not self._has_room(self, len(data)):
                raise OSError(errno.EFBIG, "no room for a copy of the log")
            self._spool = self._spool or PipeCopy()
            self._spool.write(offset, data)
            self._buffer.copies[self._source] = self._spool.path
            self.copied = offset + len(data)
        except OSError:
            self._spool, self.copied = None, 0
            self._buffer.copies.pop(self._source, None)


class PipeCopy:
    """A copy on disk of what came through a pipe, so that it can be read again.

    The file has no name: it is gone when our last descriptor is closed, even if we are killed.
    """

    def __init__(self) -> None:
        """Raises OSError where no file can be made."""
        folder = None if "TMPDIR" in os.environ or not os.access(_DISK, os.W_OK) else _DISK
        file = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 (it lives as long as we do)
        weakref.finalize(self, file.close)
        self._number = file.fileno()
        self.path = f"/proc/self/fd/{self._number}"
        """A path under which this process can open it."""

    def write(self, offset: int, data: bytes) -> None:
        """Write all of `data` at `offset`. If that raises OSError, all space is freed, since a job may need it."""
        try:
            while data:
                count = os.pwrite(self._number, data, offset)
                offset, data = offset + count, data[count:]
        except OSError:
            os.ftruncate(self._number, 0)
            raise


class StandardInput:
    """Reads a log from a pipe until its end; with `kept`, a copy of it can be scrolled back through."""

    name = "standard input"

    def __init__(self, buffer: LogBuffer, number: int = 0, *, kept: bool = False) -> None:
        self._ingestor = LogIngestor("-", buffer)
        self._buffer, self._number, self._kept = buffer, number, kept
        self._spool: PipeCopy | None = None
        self._stop = StopRequest()
        self.is_behind = True  # until its end, since it is unknown how much there was

    def start(self, emit: Emit) -> None:
        """Read until the writer closes its end, or until stopped."""
        offset = 0
        if self._kept:
            self._keep(emit, 0, b"")
        while (has_data := self._wait()) is not None:
            if not has_data:
                _emit_all(self._ingestor.quiet(), emit)
                continue
            data = os.read(self._number, _STDIN_BYTES)
            if not data:
                _emit_all(self._ingestor.closed(), emit)
                return
            if self._spool is not None:
                self._keep(emit, offset, data)
            _emit_all(self._ingestor.take(offset, data), emit)
            offset += len(data)
        _emit_all(self._ingestor.flush(), emit)

    def _wait(self) -> bool | None:
        """Wait for data; False after a moment of quiet, to report what the reader holds back; None: stop."""
        limit = None if self._ingestor.settled else QUIET_SECONDS
        sources: list[int | StopRequest] = [self._number, self._stop]
        ready = select.select(sources, [], [], limit)[0]
        return None if self._stop in ready else bool(ready)

    def _keep(self, emit: Emit, offset: int, data: bytes) -> None:
        """Write the bytes to the copy, before their events are emitted. A full disk ends the copy, not the reading."""
        try:
            self._spool = self._spool or PipeCopy()
            self._spool.write(offset, data)
            self._buffer.copies[STANDARD_INPUT] = self._spool.path
        except OSError as problem:
            self._spool = None
            self._buffer.copies.pop(STANDARD_INPUT, None)
            reason = f"only its last {KEPT_LINES} lines can be shown: {problem.strerror or problem}"
            emit(SourceUnavailable(name=f"copy of {self.name}", reason=reason))

    def stop(self) -> None:
        """Stop reading."""
        self._stop.make()


class TelemetryLog:
    """Follows a file of neuron-monitor's records, or a saved listing of neuron-ls."""

    def __init__(self, path: Path) -> None:
        self.name = f"telemetry:{path}"
        self._tail = FileTail(path)
        self._reader = TelemetryFile(source=self.name)
        self._wakeup = Wakeup()
        self._wakeup.watch(path)
        self._written, self._old_end = last_change(path), _size(path)
        """When what is there already was last changed, and where it ends."""
        self.is_behind = True

    def start(self, emit: Emit) -> None:
        """Read until stopped."""
        with self._wakeup:
            while True:
                last = self._wakeup.stopping
                self._read(emit)
                if self.is_behind and self._wakeup.stopping:
                    break
                self.is_behind = False
                if last:
                    break
                self._wakeup.wait()
        if not self.is_behind:
            _emit_all(map(self._dated, self._reader.flush()), emit)
        self._tail.close()

    def stop(self) -> None:
        """Read what came since the last look, then end; as `LogFiles` does."""
        self._wakeup.stop()

    def _read(self, emit: Emit) -> None:
        while (step := self._tail.read(limit=1)) and not (self.is_behind and self._wakeup.stopping):
            for item in step:
                if not isinstance(item, FileChange):
                    _emit_all(map(self._dated, self._reader.feed(item.data)), emit)
                elif item.how is not Rotation.VANISHED:
                    # An unfinished last line of the old file is not the beginning of the new one's first.
                    _emit_all(map(self._dated, self._reader.flush()), emit)
                    self._reader, self._old_end = TelemetryFile(source=self.name), -1

    def _dated(self, event: AnyEvent) -> AnyEvent:
        """Date old records, which have no timestamps, to the file's last change; they are at least that old."""
        is_old = self._tail.position <= self._old_end
        return msgspec.structs.replace(event, at=self._written) if is_old else event


class SideChannel:
    """Reads what the processes of a job report: each appends JSON lines to its own file in one folder.

    Only plain files are read; `most_files` and `longest_line` are above what a job and an event can need.
    """

    name = "side channel"

    def __init__(self, folder: Path, *, most_files: int = 10_000, longest_line: int = 1 << 24) -> None:
        self._folder, self._most_files, self._longest_line = folder, most_files, longest_line
        self._tails: dict[str, FileTail] = {}
        self._rests: dict[str, bytes] = {}
        self._too_long: set[str] = set()
        """Files in the middle of a line that is longer than any event."""
        self._too_many = False
        self._wakeup = Wakeup()

    def start(self, emit: Emit) -> None:
        """Read until stopped."""
        self._wakeup.watch(self._folder / "any")
        with self._wakeup:
            while True:
                last = self._wakeup.stopping
                self._look_for_files(emit)
                for name, tail in self._tails.items():
                    self._read(name, tail, emit)
                if last:
                    break
                self._wakeup.wait()
        for tail in self._tails.values():
            tail.close()

    def stop(self) -> None:
        """Read what is there, then end."""
        self._wakeup.stop()

    def _look_for_files(self, emit: Emit) -> None:
        for path in self._files():
            if path.name in self._tails or not is_plain_file(path):
                continue
            if len(self._tails) < self._most_files:
                self._tails[path.name] = FileTail(path)
            elif not self._too_many:
                self._too_many = True
                reason = (
                    f"more than {self._most_files} processes write events: {path.name} and those after it are not read"
                )
                emit(SourceUnavailable(name=self.name, reason=reason))

    def _files(self) -> list[Path]:
        try:
            return sorted(self._folder.glob("*.jsonl"))
        except OSError:  # it may pass; the files found before are still read
            return []

    def _read(self, name: str, tail: FileTail, emit: Emit) -> None:
        while step := tail.read(limit=1):
            for item in step:
                if not isinstance(item, FileChange):
                    self._take(name, item.data, emit)
            if all(isinstance(item, FileChange) for item in step):
                break
        if len(self._tails) > _OPEN_FILES:
            tail.close()

    def _take(self, name: str, data: bytes, emit: Emit) -> None:
        *lines, rest = (self._rests.get(name, b"") + data).split(b"\n")
        if lines and name in self._too_long:  # the end of it
            self._too_long.discard(name)
            del lines[0]
        for line in lines:
            event = _event_of(line, name)
            if event is not None:
                emit(event)
        if name in self._too_long:
            rest = b""
        elif len(rest) > self._longest_line:
            self._too_long.add(name)
            emit(_malformed(rest, name, f"a line of more than {self._longest_line} bytes"))
            rest = b""
        self._rests[name] = rest


def _event_of(line: bytes, name: str) -> AnyEvent | None:
    """The event of one line of the side channel; a line that was cut off (its writer was killed) is a malformed one."""
    if not line.strip():
        return None
    try:
        event = legacy.decode_any(line)
    except MALFORMED as problem:
        return _malformed(line, name, str(problem))
    return event if event.source else msgspec.structs.replace(event, source=_worker(name))


def _malformed(line: bytes, name: str, reason: str) -> LineMalformed:
    text = visible(line[:500].decode(errors="replace"))
    return LineMalformed(family="side channel", text=text, reason=visible(reason), source=_worker(name))


def _worker(name: str) -> str:
    return f"worker:{name.removesuffix('.jsonl')}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _emit_all(events: Iterable[AnyEvent], emit: Emit) -> None:
    for event in events:
        emit(event)
