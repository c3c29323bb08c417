"""The last lines of every followed log, kept as bytes and made readable only when a screen asks.

At ten thousand lines a second nobody reads them all: so a line costs one tuple on its way in, and the work of decoding
it is done for the few dozen that are on the screen.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Iterable, Iterator

from neuron_top.events import (
    AnyEvent,
    CachedFailureMet,
    CompileFailed,
    CompileGaveUp,
    CompilerErrorSeen,
    DeviceMemoryExhausted,
    ErrorRaised,
    LineMalformed,
    LineMarked,
    RuntimeLogged,
    StepReported,
    WorkerDied,
)
from neuron_top.parsers.escapes import visible
from neuron_top.pipeline.feed import LogLine

KEPT_LINES = 5000
LONGEST_LINE = 4096
_FAILURES = (
    CompileFailed, CachedFailureMet, CompileGaveUp, CompilerErrorSeen, DeviceMemoryExhausted, ErrorRaised, WorkerDied,
)  # fmt: skip
_RANKING = ("", "event", "warning", "error")


class _Log:
    """One source: its last lines, and the levels of those that some event came from."""

    def __init__(self) -> None:
        self.lines: deque[tuple[int, int, bytes]] = deque(maxlen=KEPT_LINES)
        """Order of arrival, offset, bytes without the line end."""
        self.levels: dict[int, str] = {}
        self.rest = b""
        self.rest_offset = 0
        self.count = 0


class LogBook:
    """All followed logs. Writers and readers may be different threads."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}
        self._order = itertools.count()
        self._lock = threading.Lock()

    def add(self, source: str, offset: int, data: bytes) -> int:
        """Take bytes that stand at `offset` of a source; returns how many whole lines it has had so far."""
        with self._lock:
            log = self._logs.setdefault(source, _Log())
            if not log.rest:
                log.rest_offset = offset
            lines = (log.rest + data).split(b"\n")
            log.rest = lines.pop()[-LONGEST_LINE:]
            log.count += len(lines)
            at = log.rest_offset
            for line in lines:
                log.lines.append((next(self._order), at, line[:LONGEST_LINE]))
                at += len(line) + 1
            log.rest_offset = offset + len(data) - len(log.rest)
            return log.count

    def restart(self, source: str) -> None:
        """The file was cut or replaced: an unfinished line of the old one stays unfinished."""
        with self._lock:
            log = self._logs.setdefault(source, _Log())
            if log.rest:
                log.lines.append((next(self._order), log.rest_offset, log.rest))
            log.rest = b""
            log.levels.clear()

    def mark(self, source: str, events: Iterable[AnyEvent]) -> None:
        """Remember which lines these events came from."""
        with self._lock:
            log = self._logs.setdefault(source, _Log())
            for event in events:
                if event.offset is not None:
                    level = max(log.levels.get(event.offset, ""), level_of(event), key=_RANKING.index)
                    log.levels[event.offset] = level
            if len(log.levels) > 2 * KEPT_LINES and log.lines:
                oldest = log.lines[0][1]
                log.levels = {offset: level for offset, level in log.levels.items() if offset >= oldest}

    def tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last `count` lines in their order of arrival, of one source or of all."""
        with self._lock:
            chosen = [source] if source is not None else list(self._logs)
            newest = heapq.nlargest(
                count, (row for name in chosen if name in self._logs for row in self._last(name, count))
            )
            newest.sort()
            lines = [readable(name, offset, text, level) for _, offset, text, name, level in newest]
            # A compiler's dots stand for minutes in a line that has no end yet.
            unfinished = [
                readable(name, log.rest_offset, log.rest, "")
                for name in chosen
                if (log := self._logs.get(name)) and log.rest
            ]
            return [*lines, *unfinished][-count:]

    def _last(self, source: str, count: int) -> Iterator[tuple[int, int, bytes, str, str]]:
        log = self._logs[source]
        for order, offset, text in itertools.islice(reversed(log.lines), count):
            yield order, offset, text, source, log.levels.get(offset, "")


def level_of(event: AnyEvent) -> str:
    """How much a line matters to a person, by the event it gave."""
    if isinstance(event, _FAILURES):
        return "error"
    if isinstance(event, LineMarked | RuntimeLogged):
        level = event.level.upper()
        return "error" if level.startswith(("ERR", "CRIT", "FATAL")) else "warning" if level.startswith("WARN") else ""
    if isinstance(event, LineMalformed):
        return "warning"
    return "" if isinstance(event, StepReported) else "event"


def readable(source: str, offset: int, text: bytes, level: str) -> LogLine:
    """A line for a screen."""
    # A progress bar rewrites its line with carriage returns: what a terminal would show is its last state.
    last = text.rstrip(b"\r").rpartition(b"\r")[2]
    return LogLine(source=source, offset=offset, text=visible(last.decode(errors="replace")), level=level)
