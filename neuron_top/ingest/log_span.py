"""The timestamps between which a log was written, the same for logs that are followed or read once.

Lines that no parser reads have timestamps too, and a job often begins and ends with such lines. A date before a line
that is not its own (of a stored failure that is quoted) is older than the lines around it: so the newest timestamp of a
log's last lines counts, not the last one.
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
    """The first and the last timestamp of a log, found while its bytes are read."""

    def __init__(self, changed: float) -> None:
        """`changed`: no byte was written later."""
        self.until = changed
        """No line is newer, as far as is known, which gives timestamps without a year theirs."""
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
        """The newest timestamp of its last lines."""
        return max(_readings((self._tail or b"")[-END_BYTES:], self.until), default=None)


def last_clock(path: str | Path) -> float | None:
    """The newest timestamp of the last lines of a plain file, without reading the rest; None if there is none."""
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
    lines = (wide.narrowed(line[: 2 * timestamps.LONGEST], is_first=False) for line in data.split(b"\n"))
    return [strip_ansi(line.decode(errors="replace"))[: timestamps.LONGEST] for line in lines]


def _readings(data: bytes, until: float) -> Iterator[float]:
    clocks = (timestamps.leading(line, until) for line in _heads(data))
    return (clock for clock in clocks if clock is not None)
