"""Keeps the last output of a child process in memory, so that the reason of its failure is not lost on a full disk.

A log on a disk that the compile itself fills up is empty when somebody reads it. So the child writes into a pipe, and
its last bytes stay here, however much it says.
"""

from __future__ import annotations

import os

TAIL_BYTES = 20_000
_READ_BYTES = 1 << 16
_DRAIN_READS = 16
"""More than a pipe holds. The limit: a process that outlives the child may go on writing, and is not waited for."""


class ChildOutput:
    """A pipe for one child, whose last bytes are kept. Reading never blocks."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self._reader, self.writer = os.pipe()
        """`writer` is the child's end; whoever started the child closes its own copy with `child_started`."""
        os.set_blocking(self._reader, False)
        self._most, self._data = most, b""
        self.ended = False

    def fileno(self) -> int:
        """The descriptor to pass to `select`."""
        return self._reader

    def child_started(self) -> None:
        """Close our copy of the child's end, so that the output ends with the child."""
        os.close(self.writer)

    def take(self) -> None:
        """Read one portion of the output, if there is any."""
        try:
            data = os.read(self._reader, _READ_BYTES)
        except BlockingIOError:
            return
        self.ended = not data
        self._data = (self._data + data)[-self._most :]

    def drain(self) -> bytes:
        """The last bytes, once the child is gone; the pipe is closed."""
        for _ in range(_DRAIN_READS):
            if self.ended:
                break
            self.take()
        os.close(self._reader)
        return self._data


def text_of(data: bytes) -> str:
    """The output decoded as text."""
    return data.decode(errors="replace").strip()
