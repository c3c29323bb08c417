"""Recognizes events that an earlier process of the agent has sent: a new process reads the logs from their beginning
again.

Events of a log are identified by the position where their line begins. An event may arrive after one of a later line,
and a pause in the log may complete it earlier than in the last reading, so the newest positions are remembered one by
one. Events without a position (of a side channel, a trace) are counted.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from neuron_top.events import (
    AnyEvent,
    CompileFamily,
    OutputGrew,
    Rotation,
    RunFinished,
    RunStarted,
    SourceRotated,
    TorchTraceFamily,
)
from neuron_top.events.log_sources import is_log, log_source, path_of

WINDOW_BYTES = 64 * 1024
"""How far before the newest position an event may still arrive."""


class _Mark(msgspec.Struct):
    """What was reported from one source."""

    file: str = ""
    """Device and inode of a log, so that another file under its name starts from the beginning."""
    end: int = -1
    """The largest position of an event."""
    recent: list[tuple[int, str]] = []
    """Positions and kinds of the events in the window."""
    counted: int = 0
    """Number of events without a position."""


class ReadingMarks:
    """Tells new events from those that were sent before this agent started."""

    def __init__(self, stored: dict[str, bytes]) -> None:
        """`stored`: marks as `changed` returned them."""
        self._known = {source: msgspec.json.decode(data, type=_Mark) for source, data in stored.items()}
        self._known = {source: mark for source, mark in self._known.items() if _is_same_file(source, mark)}
        self._left = {source: Counter(mark.recent) for source, mark in self._known.items()}
        self._to_count = {source: mark.counted for source, mark in self._known.items()}
        self._marks: dict[str, _Mark] = {
            source: msgspec.structs.replace(mark, recent=list(mark.recent)) for source, mark in self._known.items()
        }
        self._changed: set[str] = set()

    def is_new(self, event: AnyEvent) -> bool:
        """Whether an event was not reported before; call this once for each event, in order."""
        known = self._known.get(event.source)
        if known is None or isinstance(event, OutputGrew):
            return True
        if event.offset is None:
            if not _is_repeatable(event) or self._to_count[event.source] <= 0:
                return True
            self._to_count[event.source] -= 1
            return False
        if event.offset > known.end:
            return True
        place, left = (event.offset, type(event).__name__), self._left[event.source]
        if left[place] > 0:
            left[place] -= 1
            return False
        return event.offset > known.end - WINDOW_BYTES

    def remember(self, event: AnyEvent) -> None:
        """Remember an event that was new."""
        if isinstance(event, SourceRotated):
            self._restart(log_source(event.path), event.how)
            return
        if isinstance(event, OutputGrew) or (event.offset is None and not _is_repeatable(event)):
            return
        mark = self._mark(event.source)
        self._changed.add(event.source)
        if event.offset is None:
            mark.counted += 1
            return
        mark.end = max(mark.end, event.offset)
        mark.recent.append((event.offset, type(event).__name__))
        if mark.recent[0][0] < mark.end - 2 * WINDOW_BYTES:
            mark.recent = [place for place in mark.recent if place[0] >= mark.end - WINDOW_BYTES]

    def changed(self) -> dict[str, bytes]:
        """Marks that moved since the last call; call `kept` once they are stored."""
        return {source: msgspec.json.encode(self._marks[source]) for source in self._changed}

    def kept(self) -> None:
        """Note that the marks returned by `changed` were stored."""
        self._changed.clear()

    def _mark(self, source: str) -> _Mark:
        mark = self._marks.get(source)
        if mark is None:
            mark = self._marks[source] = _Mark(file=_file_of(source))
        return mark

    def _restart(self, source: str, how: Rotation) -> None:
        if how is not Rotation.VANISHED:
            self._known.pop(source, None)
            self._marks[source] = _Mark(file=_file_of(source))
            self._changed.add(source)


def _is_repeatable(event: AnyEvent) -> bool:
    """Whether an event comes again, in the same order, when its source is read from the beginning."""
    return isinstance(event, CompileFamily | TorchTraceFamily | RunStarted | RunFinished)


def _is_same_file(source: str, mark: _Mark) -> bool:
    return not mark.file or mark.file == _file_of(source, at_least=mark.end)


def _file_of(source: str, at_least: int = 0) -> str:
    """Device and inode of a log; "" if there is no such file, or it is shorter than what was read from it."""
    if not is_log(source):
        return ""
    try:
        status = Path(path_of(source)).stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}" if status.st_size >= at_least else ""
