"""Splits a stream of bytes into lines. Where it is split depends on the bytes alone, not on their portions."""

from __future__ import annotations

LINE_LIMIT = 64 * 1024
"""Bytes. A longer line is returned in pieces: a progress bar may write megabytes without a line end."""
ZERO = b"\0"
"""What a file has before a line whose writer had it open while it was cut to nothing (logrotate's `copytruncate`)."""


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
        """Add bytes; returns the whole lines there are as one block, at its end pieces of a long unfinished line."""
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
        """Take out the unfinished line, at the end of the stream."""
        whole = b"".join(self._parts)
        self._parts, self._size = [], 0
        self.offset += len(whole)
        return whole

    def overwritten(self) -> bytes:
        """Take out the unfinished line up to its last carriage return: states of a progress bar that are followed by
        another one. One at the very end may be half of a line end."""
        whole = b"".join(self._parts)
        end = whole.rfind(b"\r", 0, max(0, len(whole) - 1)) + 1
        self._parts, self._size = [], 0
        self._keep(whole[end:])
        self.offset += end
        return whole[:end]

    def peek(self) -> bytes:
        """The unfinished line so far, which is kept: a compiler's dots stay without a line end for minutes."""
        return b"".join(self._parts)

    def _keep(self, data: bytes) -> None:
        if data:
            self._parts.append(data)
            self._size += len(data)
