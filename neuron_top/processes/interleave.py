"""Joins two streams of one job into one log: whole lines, in order of arrival.

Standard output and standard error reach us through two pipes. Written as they come, half a line of one would run into a
line of the other. So an unfinished line waits for its end, but not for ever: progress dots may have none for minutes,
and after `PATIENCE` seconds they are written as they are, as on a terminal.
"""

from __future__ import annotations

PATIENCE = 0.25
_LONGEST = 1 << 16


class Interleaver:
    """Takes pieces of any number of streams; returns the bytes to write to the common log now."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, bytes]] = {}

    def feed(self, stream: str, data: bytes, now: float) -> bytes:
        """The complete lines with `data`; the last, unfinished one is held back."""
        _, held = self._waiting.pop(stream, (now, b""))
        data = held + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > _LONGEST:
            return data
        if data[end:]:
            self._waiting[stream] = (now, data[end:])
        return data[:end]

    def overdue(self, now: float) -> bytes:
        """Unfinished lines that have waited long enough."""
        ready = [stream for stream, (since, _) in self._waiting.items() if now - since >= PATIENCE]
        return b"".join(self._waiting.pop(stream)[1] for stream in ready)

    @property
    def holds(self) -> bool:
        """Whether an unfinished line waits."""
        return bool(self._waiting)

    def flush(self) -> bytes:
        """Everything that was held back, at the end of the job."""
        left = b"".join(data for _, data in self._waiting.values())
        self._waiting.clear()
        return left
