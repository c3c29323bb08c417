"""The last lines of every followed log, kept as bytes and made readable only when a screen asks for them.

At ten thousand lines a second nobody reads them all: so adding a line costs one tuple, and only the few dozen lines on
the screen are decoded.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from neuron_top.events import AnyEvent
from neuron_top.events.log_sources import PIPE_SOURCE
from neuron_top.ingest.log_line import PLAIN, LineFacts, LogLine, facts_of, readable

KEPT_LINES = 5000
LONGEST_LINE = 4096
_Row = tuple[int, int, int, bytes, str, LineFacts]
"""Order of arrival, offset, end, bytes without the line end, source, facts."""


def _shown_part(line: bytes) -> bytes:
    """What is kept of a line: of a progress bar the end, which a terminal would show."""
    is_bar = len(line) > LONGEST_LINE and b"\r" in line[-LONGEST_LINE:-1]
    return line[-LONGEST_LINE:] if is_bar else line[:LONGEST_LINE]


class _Log:
    """One source: its last lines, and what is known of those that gave events."""

    def __init__(self) -> None:
        self.lines: deque[tuple[int, int, int, bytes]] = deque(maxlen=KEPT_LINES)
        """Order of arrival, offset, end, bytes without the line end."""
        self.facts: dict[int, LineFacts] = {}
        self.piece = b""
        """The last LONGEST_LINE bytes of a line that comes in pieces."""
        self.piece_begin = 0
        """Where that line begins."""
        self.rest = b""
        """The unfinished line so far."""
        self.rest_offset = 0
        self.end = 0
        self.count = 0
        self.since = 0
        """Order of arrival of the first line of the file that is now at the path."""


class LogBuffer:
    """The last lines of all followed logs. Writers and readers may be different threads."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}
        self.copies: dict[str, str] = {}
        """By source without a file of its own, the path of a copy of its bytes."""
        self.without_file = {PIPE_SOURCE}
        """Sources whose bytes do not lie under their name: a pipe, compressed data. A copy may have been kept."""
        self.earlier: dict[str, str] = {}
        """By source, the source under which the lines of its last rotated file are kept."""
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._shown: dict[int, tuple[LineFacts, LogLine]] = {}
        """The lines that `tail` last returned, by order of arrival: while a log grows, most are requested again."""

    def add(self, source: str, offset: int, block: bytes, rest: bytes = b"") -> int:
        """Add a block of lines from a LineSplitter, which stands at `offset` of a source, and the unfinished line after
        it; returns how many whole lines the source has had so far."""
        with self._lock:
            log = self._logs.setdefault(source, _Log())
            lines = (log.piece + block).split(b"\n")
            begin, end = log.piece_begin if log.piece else offset, offset - len(log.piece)
            log.piece = lines.pop()[-LONGEST_LINE:]
            log.count += len(lines)
            for line in lines:
                end += len(line) + 1
                log.lines.append((next(self._order), begin, end, _shown_part(line)))
                begin = end
            log.piece_begin = begin
            log.end = offset + len(block) + len(rest)
            log.rest = (log.piece + rest)[-LONGEST_LINE:]
            log.rest_offset = log.end - len(log.rest)
            return log.count

    def restart(self, source: str, moved_to: str | None = None) -> None:
        """Note that the file was truncated or replaced; an unfinished line of the old one stays unfinished.

        `moved_to`: the source under which the old file can now be read; its lines are kept under that, unless it is
        followed itself. Lines of the file before that one are dropped: they can be read from their file.
        """
        with self._lock:
            log = self._logs.setdefault(source, _Log())
            if log.rest:
                log.lines.append((next(self._order), log.rest_offset, log.rest_offset + len(log.rest), log.rest))
                log.rest = log.piece = b""
            self._logs.pop(self.earlier.pop(source, ""), None)
            if moved_to is not None and moved_to not in self._logs:
                self._logs[moved_to], self.earlier[source] = self._logs.pop(source), moved_to
            log = self._logs.setdefault(source, _Log())
            log.end, log.since = 0, next(self._order)
            log.facts.clear()

    def forget(self, sources: Iterable[str]) -> None:
        """Drop the lines of these logs."""
        with self._lock:
            for source in sources:
                self._logs.pop(source, None)

    def last_line(self, source: str) -> tuple[int, bytes] | None:
        """Offset and text (at most LONGEST_LINE bytes of it) of the last whole line; None before the first one."""
        with self._lock:
            log = self._logs.get(source)
            return (log.lines[-1][1], log.lines[-1][3]) if log is not None and log.lines else None

    def mark(self, source: str, events: Iterable[AnyEvent]) -> None:
        """Remember what these events show about the lines they came from."""
        with self._lock:
            log = self._logs.setdefault(source, _Log())
            for event in events:
                if event.offset is not None:
                    log.facts[event.offset] = facts_of(event, log.facts.get(event.offset, PLAIN))
            if len(log.facts) > 2 * KEPT_LINES and log.lines:
                oldest = log.lines[0][1]
                log.facts = {offset: facts for offset, facts in log.facts.items() if offset >= oldest}

    def ends(self) -> dict[str, int]:
        """How far each log was read, for logs that can be read again.

        Left out are sources with neither a file nor a copy, and a log that was replaced while lines of a file that is
        gone are still among its last ones.
        """
        with self._lock:
            return {
                source: log.end
                for source, log in self._logs.items()
                if (source not in self.without_file or source in self.copies)
                and (not log.lines or log.lines[0][0] >= log.since)
            }

    def tail(self, count: int, source: str | None = None, sources: Iterable[str] | None = None) -> list[LogLine]:
        """The last `count` lines of one source, of several or of all, in order of arrival."""
        with self._lock:
            chosen = [source] if source is not None else list(self._logs if sources is None else sources)
            rows = [row for name in chosen if name in self._logs for row in self._last(name, count)]
            rows.sort(key=itemgetter(0))  # nearly as cheap as a merge: the rows of each log are sorted already
            lines = self._readable(rows[-count:])
            # A compiler's dots are for minutes a line without an end.
            unfinished = [
                readable(name, log.rest_offset, log.rest, end=log.end)
                for name in chosen
                if (log := self._logs.get(name)) and log.rest
            ]
            return [*lines, *unfinished][-count:]

    def _readable(self, rows: Sequence[_Row]) -> list[LogLine]:
        before, self._shown = self._shown, {}
        for order, offset, end, text, name, facts in rows:
            known = before.get(order)
            if known is None or known[0] is not facts or known[1].source != name:  # which `restart` may have renamed
                known = facts, readable(name, offset, text, facts, end)
            self._shown[order] = known
        return [line for _facts, line in self._shown.values()]

    def _last(self, source: str, count: int) -> Iterator[_Row]:
        log = self._logs[source]
        for order, offset, end, text in reversed(list(itertools.islice(reversed(log.lines), count))):
            yield order, offset, end, text, source, log.facts.get(offset, PLAIN)
