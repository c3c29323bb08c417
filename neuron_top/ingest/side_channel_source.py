"""The source that reads the side channel of a job."""

from __future__ import annotations

from pathlib import Path

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, LineMalformed, SourceUnavailable, legacy
from neuron_top.ingest.wakeup import Wakeup
from neuron_top.plain_files import is_plain_file
from neuron_top.processes.tail import FileChange, FileTail
from neuron_top.telemetry.source import Emit

_OPEN_FILES = 128
"""Files of the side channel that are kept open; if there are more, each is opened only to be read."""


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
