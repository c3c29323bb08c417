"""The clock readings between which a log was written: one answer for logs that are followed or read once.

Lines that no parser reads have clocks too, and a job often begins and ends with such lines. A date that stands in
front of a line without being its clock (a stored failure that is quoted) is older than the lines around it: so the
newest reading of a log's last lines counts, not the last one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from neuron_top.errors import UsageError
from neuron_top.escapes import strip_ansi
from neuron_top.parsers import timestamps, wide
from neuron_top.plain_files import open_plain
from neuron_top.processes.log_input import has_compressed_data

END_BYTES = 16 * 1024
"""How much of a log's beginning, and of its end, is looked at."""


class LogSpan:
    """The first and the last clock reading of a log whose bytes pass."""

    def __init__(self, changed: float) -> None:
        """`changed`: when it was last written to, at the latest."""
        self.until = changed
        """No line is younger, as far as is known: what tells the year of stamps without one."""
        self.first: float | None = None
        self._changed = changed
        self._tail: bytes | None = None

    def take(self, data: bytes) -> None:
        """Look at the next bytes."""
        if self._tail is None:
            head = data[:END_BYTES]
            self.until = timestamps.written_before("\n".join(_heads(head)), self._changed)
            self.first = next(_readings(head, self.until), None)
        self._tail = (self._tail or b"")[-END_BYTES:] + data[-END_BYTES:]

    @property
    def last(self) -> float | None:
        """The newest reading of its last lines."""
        return max(_readings((self._tail or b"")[-END_BYTES:], self.until), default=None)


def last_clock(path: str | Path) -> float | None:
    """The newest reading of the last lines of a plain file, which need not have been read; None without one."""
    if has_compressed_data(str(path)):
        return None
    try:
        with open(open_plain(str(path), follow=True), "rb") as file:
            span = LogSpan(os.fstat(file.fileno()).st_mtime)
            file.seek(max(0, file.seek(0, os.SEEK_END) - END_BYTES))
            span.take(file.read(END_BYTES))
    except (OSError, UsageError):
        return None
    return span.last


def _heads(data: bytes) -> list[str]:
    """The beginnings of lines, as far as a logger's stamp reaches, without colors."""
    lines = (wide.narrowed(line[: 2 * timestamps.LONGEST]) for line in data.split(b"\n"))
    return [strip_ansi(line.decode(errors="replace"))[: timestamps.LONGEST] for line in lines]


def _readings(data: bytes, until: float) -> Iterator[float]:
    clocks = (timestamps.leading(line, until) for line in _heads(data))
    return (clock for clock in clocks if clock is not None)
