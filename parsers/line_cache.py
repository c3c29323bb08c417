"""Remembers the events of lines that come again word for word, with another stamp and process.

Many ranks say the same of the same graphs. Remembered are lines that stand alone: a plain header or none, events that
hang on nothing but the line. So a remembered line gives exactly what reading it again would give.
"""

from __future__ import annotations

import re
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
from neuron_top.parsers.tally import Tally

_HEADER = late_pattern(rb"(\d{4}-\d\d-\d\d \d\d:\d\d):([0-5]\d)\.000(\d{3}):  (\d{1,10})  (.+)", re.DOTALL)
"""Minute, second, millisecond, process, words."""
_ALONE = frozenset(
    {CacheHit, CachePathAnnounced, CompileCompleted, CompilerProgress, CompilerPassed, CompileStarted, GraphExtracted,
     HubMissed, LockWaited, QueueCounted, WorkerFinished, WorkerStarted}
)  # fmt: skip
"""Events of one line that no other line changes."""
_LONGEST = 2000
_MOST = 8192
_SHAPES = (WRAPPER, PLAIN, DOTS)


class _Seen(NamedTuple):
    """What a line gave: its events, whether a family knew it, the tag of its header."""

    events: tuple[AnyEvent, ...]
    known: bool
    tag: str


class LineCache:
    """The lines of one stream that may come again."""

    def __init__(self) -> None:
        self._headed: dict[bytes, _Seen] = {}
        """By the words behind a header."""
        self._bare: dict[bytes, _Seen] = {}

    def repeat(self, line: bytes, offset: int, tally: Tally) -> list[AnyEvent] | None:
        """The events of a line that is known, counted as if it had been read; None if it must be read."""
        header = _HEADER.match(line)
        if header is None:
            seen = self._bare.get(line)
            if seen is None or (tally.wants_samples and not seen.known):
                return None
            events = [replace(event, offset=offset) for event in seen.events]
        else:
            minute, second, millisecond, process, words = header.groups()
            seen = self._headed.get(words)
            if seen is None or (tally.wants_samples and not seen.known):
                return None
            at, pid = timestamps.plain_wrapper(minute, second, millisecond), int(process)
            tally.add_header(seen.tag, pid, at)
            events = [replace(event, offset=offset, at=at, pid=pid) for event in seen.events]
        tally.known += seen.known
        for event in events:
            tally.add(event)
        return events

    def learn(self, line: bytes, records: list[Record], events: list[AnyEvent], *, known: bool) -> None:
        """Remember a line that was read, if it stands alone."""
        if len(records) != 1 or len(line) > _LONGEST or not _ALONE.issuperset(map(type, events)):
            return
        record = records[0]
        if not record.stands_alone or record.shape not in _SHAPES:
            return
        header, seen = _HEADER.match(line), _Seen(tuple(events), known, record.tag)
        if header is None and not record.tag:
            _keep(self._bare, line, seen)
        elif header is not None and record.tag and b"\r" not in line and b"\x1b" not in line:
            _keep(self._headed, header[5], seen)


def _keep(lines: dict[bytes, _Seen], line: bytes, seen: _Seen) -> None:
    if len(lines) >= _MOST:
        lines.clear()
    lines[line] = seen
