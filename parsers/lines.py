"""Bytes in any portions → lines. The cuts depend on the bytes alone, never on the portions they came in."""

from __future__ import annotations

LINE_LIMIT = 64 * 1024
"""Longer lines are given in pieces: progress bars may write megabytes of carriage returns without a line end."""


class LineSplitter:
    """Keeps the unfinished end of the stream, less than `limit` bytes of it."""

    def __init__(self, limit: int = LINE_LIMIT, offset: int = 0) -> None:
        """`offset`: where in its file the stream begins."""
        self._limit = limit
        self.offset = offset
        """Where the next block begins."""
        self._parts: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> bytes:
        """As many whole lines as there are now, in one block; long unfinished lines in pieces that end the block."""
        end = data.rfind(b"\n") + 1
        if end == 0 and self._size + len(data) < self._limit:
            self._keep(data)
            return b""
        whole = b"".join((*self._parts, data)) if self._parts else data
        end = end + self._size if end else 0
        end += (len(whole) - end) // self._limit * self._limit
        self._parts, self._size = [], 0
        self._keep(whole[end:])
        self.offset += end
        return whole[:end]

    def rest(self) -> bytes:
        """The unfinished line, which the end of the stream finishes."""
        whole = b"".join(self._parts)
        self._parts, self._size = [], 0
        self.offset += len(whole)
        return whole

    def peek(self) -> bytes:
        """The unfinished line so far: dots of a compiler stand there for minutes."""
        return b"".join(self._parts)

    def _keep(self, data: bytes) -> None:
        if data:
            self._parts.append(data)
            self._size += len(data)
