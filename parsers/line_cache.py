"""Lines that were read before, word for word: what they gave is remembered, only stamp and process are new.

Many ranks say the same of the same graphs. Remembered are lines that stand alone: a plain header or none, events that
hang on nothing but the line. So a remembered line gives exactly what reading it again would give.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CachePathAnnounced,
    CompileCompleted,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
    GraphExtracted,
    HubMissed,
    LockWaited,
    QueueCounted,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import timestamps
from neuron_top.parsers.base import DOTS, PLAIN, WRAPPER, Record

_HEADER = late_pattern(rb"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.000(\d{3}):  (\d{1,10})  ([^\r\x1b]{1,2000})")
_ALONE = frozenset(
    {CacheHit, CachePathAnnounced, CompileCompleted, CompilerProgress, CompilerPassed, CompileStarted, GraphExtracted,
     HubMissed, LockWaited, QueueCounted, WorkerFinished, WorkerStarted}
)  # fmt: skip
"""Events of one line that no other line changes."""
_LONGEST = 2000
_MOST = 8192
_SHAPES = (WRAPPER, PLAIN, DOTS)


class Seen(NamedTuple):
    """What a line gave: its events, whether a family knew it, the tag of its header."""

    events: tuple[AnyEvent, ...]
    known: bool
    tag: str


class Again(NamedTuple):
    """A line met again, with its own stamp and process (None without a header)."""

    seen: Seen
    at: float | None
    pid: int | None

    def events(self, offset: int) -> list[AnyEvent]:
        """Its events, as if it had been read."""
        if self.seen.tag:
            return [replace(event, offset=offset, at=self.at, pid=self.pid) for event in self.seen.events]
        return [replace(event, offset=offset) for event in self.seen.events]


class LineCache:
    """The lines of one stream that may come again."""

    def __init__(self) -> None:
        self._seen: dict[bytes, Seen] = {}

    def recall(self, line: bytes) -> Again | None:
        """What this line gives, if it is known."""
        header = _HEADER.fullmatch(line)
        if header is None:
            seen = self._seen.get(line)
            return None if seen is None or seen.tag else Again(seen, None, None)
        date, clock, digits, pid, words = header.groups()
        seen = self._seen.get(words)
        if seen is None or not seen.tag:
            return None
        return Again(seen, timestamps.wrapper(date.decode(), clock.decode(), digits.decode()), int(pid))

    def learn(self, line: bytes, records: list[Record], events: list[AnyEvent], *, known: bool) -> None:
        """Remember a line that was read, if it stands alone."""
        if len(records) != 1 or len(line) > _LONGEST or not all(type(event) in _ALONE for event in events):
            return
        if not records[0].stands_alone:
            return
        shape, tag = records[0].shape, records[0].tag
        header = _HEADER.fullmatch(line)
        if shape not in _SHAPES or (header is None) != (not tag):
            return
        if len(self._seen) >= _MOST:
            self._seen.clear()
        self._seen[line if header is None else header[5]] = Seen(tuple(events), known, tag)
