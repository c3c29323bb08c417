"""Follows PyTorch's structured traces of a job: one file per process, in the folder of TORCH_TRACE.

A trace takes about half a megabyte per graph. Our own folder keeps the first `TRACE_BYTES` (enough for tlparse and most
jobs); the disk blocks of what is read beyond that are freed at once (a hole in the file), so a job that recompiles all
night fills no disk. In a folder that the user named, files are only read, and only those that are new.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from neuron_top.events import SourceUnavailable
from neuron_top.ingest.wakeup import Wakeup
from neuron_top.parsers.torch_trace import TorchTraceReader
from neuron_top.processes.tail import FileChange, FileTail
from neuron_top.telemetry.source import Emit

TRACE_VARIABLE = "TORCH_TRACE"
"""PyTorch's variable for the folder to which each process of a job writes its structured trace of torch.compile."""
TRACE_BYTES = 256 << 20
_PREFIX = "dedicated_log_torch_trace_"
_MOST_FILES = 2000
_OPEN_FILES = 128
"""Traces that are kept open; if there are more, each is opened only to be read."""
_LEFT_BYTES = 1 << 20
"""Bytes kept at the end of what was read: the tail recognizes the file by them."""
_HOLE = 0x03
"""FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE (linux/falloc.h)."""


class TorchTraces:
    """A source that follows every trace in a folder, which need not exist yet; "" as the folder: nothing to follow."""

    name = "torch trace"

    def __init__(self, folder: str, *, keep_bytes: int | None = None) -> None:
        """`keep_bytes`: how much stays on the disk; None leaves the files alone."""
        self._folder = Path(folder) if folder else None
        self._keep_bytes = keep_bytes
        self._old = frozenset(self._names())
        self._tails: dict[str, tuple[FileTail, TorchTraceReader]] = {}
        self._holes: dict[str, int] = {}
        self._wakeup = Wakeup()

    def start(self, emit: Emit) -> None:
        """Read until stopped."""
        if self._folder is None:
            return
        with self._wakeup:
            while True:
                last = self._wakeup.stopping
                self._look_for_files(emit)
                for path, (tail, reader) in self._tails.items():
                    self._read(path, tail, reader, emit)
                if last:
                    break
                self._wakeup.wait()
        for tail, reader in self._tails.values():
            for event in reader.flush():
                emit(event)
            tail.close()

    def stop(self) -> None:
        """Read what is there, then end."""
        self._wakeup.stop()

    def _names(self) -> list[str]:
        if self._folder is None:
            return []
        try:
            return sorted(path.name for path in self._folder.iterdir() if path.name.startswith(_PREFIX))
        except OSError:
            return []

    def _look_for_files(self, emit: Emit) -> None:
        for name in self._names():
            if self._folder is None or name in self._old or name in self._tails:
                continue
            if len(self._tails) >= _MOST_FILES:
                emit(SourceUnavailable(name=self.name, reason=f"more than {_MOST_FILES} traces: {name} is not read"))
                self._old |= {name}
                continue
            path = self._folder / name
            self._tails[name] = FileTail(path), TorchTraceReader.of_file(str(path))
            self._wakeup.watch(path)

    def _read(self, name: str, tail: FileTail, reader: TorchTraceReader, emit: Emit) -> None:
        while step := tail.read(limit=1):
            for item in step:
                if not isinstance(item, FileChange):
                    for event in reader.feed(item.data):
                        emit(event)
            if all(isinstance(item, FileChange) for item in step):
                break
        if self._keep_bytes is not None:
            self._give_back(name, tail, max(_LEFT_BYTES, self._keep_bytes // len(self._tails)))
        if len(self._tails) > _OPEN_FILES:
            tail.close()

    def _give_back(self, name: str, tail: FileTail, keep: int) -> None:
        """Free the blocks of what was read, after the part that is kept."""
        begin = max(keep, self._holes.get(name, 0))
        length = tail.position - _LEFT_BYTES - begin
        if length >= _LEFT_BYTES and _punch(tail.path, begin, length):
            self._holes[name] = begin + length


def _punch(path: str, begin: int, length: int) -> bool:
    """Free disk blocks without changing the file's size; False if the file system cannot do that."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        offset, count = ctypes.c_int64(begin), ctypes.c_int64(length)
        return bool(ctypes.CDLL(None).fallocate64(number, _HOLE, offset, count) == 0)
    except AttributeError:  # a C library without it
        return False
    finally:
        os.close(number)
