"""Reads growing files as bytes: in order, nothing lost, nothing twice.

`FileTail` follows one path whatever happens to it: it may not exist yet, grow, be cut, be rewritten in place, be
renamed away and replaced. It has no thread and no clock, so tests can call `read` step by step.

Two rules make this correct. The open file is kept until its successor stands under the same path *and* the old
one stayed silent for a whole step, because a writer goes on writing to the file it has open after a rotation. And the
last bytes handed out are kept as a fingerprint, because a file that was cut and has grown past the old position again
looks, by its size, as if it had only grown.

If a path is rotated twice between two steps, the file in between is lost, as its name is unknown.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from neuron_top.events import Rotation
from neuron_top.processes.log_input import refusal

CHUNK_BYTES = 1 << 18
_FINGERPRINT_BYTES = 256
_PAGE_BYTES = 1 << 16
"""More than a page, in which a hole ends, of any machine and file system."""


class Chunk(NamedTuple):
    """Bytes at `offset` of the file that `path` named when they were read."""

    path: str
    offset: int
    data: bytes


class FileChange(NamedTuple):
    """Something happened to the file itself."""

    path: str
    how: Rotation


class FileTail:
    """Follows one path. `from_end` skips the content at the start; later files are read from their beginning."""

    def __init__(self, path: Path | str, *, from_end: bool = False, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = os.fspath(path)
        self.chunk_bytes = chunk_bytes
        self.problem: OSError | None = None
        """Why the path cannot be read now (no permission, a folder); None when it can, or is only missing."""
        self._descriptor: int | None = None
        self._identity: tuple[int, int] | None = None
        self._streams = self._is_pipe = False
        self._position = 0
        self._fingerprint = b""
        self._vanished = False
        self._successor_seen = False
        self._open()
        if from_end:
            self.begin_near_end(0)

    def begin_near_end(self, length: int) -> None:
        """Skip the present content except its last `length` bytes. Has no effect on a pipe."""
        if self._descriptor is not None:
            self.begin_at(os.fstat(self._descriptor).st_size - length)

    def begin_at(self, offset: int) -> None:
        """Skip the content before `offset`, or all if there is less. Has no effect on a pipe."""
        if self._descriptor is not None and not self._streams:
            self._position = max(0, min(offset, os.fstat(self._descriptor).st_size))
            start = max(0, self._position - _FINGERPRINT_BYTES)
            self._fingerprint = os.pread(self._descriptor, self._position - start, start)

    @property
    def awaited(self) -> bool:
        """Whether the path has never existed so far."""
        return self._identity is None and self.problem is None

    @property
    def has_successor(self) -> bool:
        """Whether the path names another file now, which is followed once the open one is silent."""
        return self._successor_seen

    @property
    def is_silent_pipe(self) -> bool:
        """Whether this is a pipe without any data yet: a writer may be missing."""
        return self._is_pipe and self._position == 0

    @property
    def position(self) -> int:
        """Offset of the next byte that will be handed out."""
        return self._position

    def read(self, limit: int = 16) -> list[Chunk | FileChange]:
        """New data, at most `limit` chunks; empty if there is none. A rotation counts after two silent steps."""
        turns: list[Chunk | FileChange] = [*self._open()] if self._descriptor is None else []
        if self._was_rewritten():
            self._restart()
            turns.append(FileChange(self.path, Rotation.TRUNCATED))
        chunks = self._grown(limit)
        if chunks:
            self._successor_seen = False
        elif not self._streams and self._descriptor is not None:
            turns.extend(self._follow_name())
        return [*turns, *chunks]

    def drain(self) -> list[Chunk | FileChange]:
        """All present data, also after a rotation."""
        found: list[Chunk | FileChange] = []
        silent = 0
        while silent < 2:
            step = self.read()
            silent = 0 if step else silent + 1
            found.extend(step)
        return found

    def close(self) -> None:
        """Close the file. A later `read` opens it again and goes on where it was."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> list[FileChange]:
        """Open the file under the path; gives a FileChange if it is another one than before.

        O_NONBLOCK: a FIFO without a writer must not block us.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as problem:
            self.problem = None if problem.errno == errno.ENOENT else problem
            return []
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            os.close(descriptor)
            self.problem = IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.path)
            return []
        reason = refusal(status.st_mode, descriptor)
        if reason:
            os.close(descriptor)
            self.problem = OSError(errno.EINVAL, reason, self.path)
            return []
        self._descriptor, self.problem = descriptor, None
        self._streams, self._is_pipe = not stat.S_ISREG(status.st_mode), stat.S_ISFIFO(status.st_mode)
        return self._identified((status.st_dev, status.st_ino))

    def _identified(self, identity: tuple[int, int]) -> list[FileChange]:
        """Start from the beginning if the file is another one than before; the first file is not reported."""
        before, self._identity = self._identity, identity
        how = Rotation.APPEARED if self._vanished else Rotation.ROTATED
        self._successor_seen = self._vanished = False
        if identity == before:
            return []
        self._restart()
        return [FileChange(self.path, how)] if before is not None else []

    def _restart(self) -> None:
        self._position, self._fingerprint = 0, b""
        self._skip_hole()

    def _skip_hole(self) -> None:
        """Begin behind the zeros that a file has where it was cut, if its writer goes on at its old offset.

        A rotation that copies and cuts a file leaves such a hole, of gigabytes, unless the writer appends.
        """
        if self._descriptor is None or self._streams:
            return
        try:
            begin = os.lseek(self._descriptor, 0, os.SEEK_DATA)
        except OSError:  # no data at all, or a file system that knows of no holes
            return
        page = self._bytes_at(begin, _PAGE_BYTES) if begin else b""
        self._position = begin + len(page) - len(page.lstrip(b"\0"))

    def _was_rewritten(self) -> bool:
        """Whether the file is shorter than what we read, or has other bytes at the place of those."""
        if self._streams or not self._fingerprint or self._descriptor is None:
            return False
        length = len(self._fingerprint)
        found = self._bytes_at(self._position - length, length)
        return self.problem is None and found != self._fingerprint  # a file that cannot be read shows nothing

    def _grown(self, limit: int) -> list[Chunk | FileChange]:
        chunks: list[Chunk | FileChange] = []
        while len(chunks) < limit and (data := self._bytes_at(self._position, self.chunk_bytes)):
            chunks.append(Chunk(self.path, self._position, data))
            self._position += len(data)
            self._fingerprint = (self._fingerprint + data[-_FINGERPRINT_BYTES:])[-_FINGERPRINT_BYTES:]
        return chunks

    def _bytes_at(self, offset: int, length: int) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            return os.read(self._descriptor, length) if self._streams else os.pread(self._descriptor, length, offset)
        except BlockingIOError:
            return b""
        except OSError as problem:
            # A stale NFS handle, or a file in /proc whose process is gone: what was read stays read.
            self.problem = problem
            self.close()
            return b""

    def _follow_name(self) -> list[FileChange]:
        """Follow the path if it names another file than the open one, which is silent; returns whether it does."""
        try:
            status = Path(self.path).stat()
        except OSError:
            first, self._vanished = not self._vanished, True
            return [FileChange(self.path, Rotation.VANISHED)] if first else []
        if (status.st_dev, status.st_ino) == self._identity:
            self._vanished = False
            return []
        if not self._successor_seen:
            self._successor_seen = True
            return []
        self.close()
        return self._open()
