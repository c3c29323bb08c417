"""One time line for log lines with a clock, with a clock in another zone, and without any.

A line without a clock is dated by its arrival while its source is followed live. When an old file is read, that would
date last year's lines today. There, a compiler's line has no time at all (the lines around it give bounds), and any
other gets the last clock reading of its source. A source of a run that we started ourselves cannot be hours off, so a
lag of whole quarter hours is its time zone.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from neuron_top.events import CompileLogEvent, Event, LogEvent, OutputGrew

LIVE_SECONDS = 5.0
"""A source is followed live if its lines arrive within this time after their own clock readings."""
SET_BACK_SECONDS = 60.0
"""A line whose clock is this much behind that of a line before it was written after the clock was set back, or has an
older date that it quotes. Ranks that share a log differ by less."""
_ZONE = 900.0

Line = TypeVar("Line", bound=LogEvent)


class Clock(msgspec.Struct):
    """The last readings of one source."""

    at: float
    lag: float | None
    offset: float = 0.0


class Clocks:
    """Relates the clock of each source to ours."""

    def __init__(self) -> None:
        self.sources: dict[tuple[str, str], Clock] = {}
        """By node and source: logs of several nodes have the same names."""
        self._zones: dict[tuple[str, str], float] = {}
        """The zone of a file's clock, where its last line and its last change showed one when it was found."""

        self._grown: dict[tuple[str, str], bool] = {}
        """Logs that had contents before they were followed → whether they have grown since."""

    def found(self, event: OutputGrew) -> OutputGrew:
        """The event with its clock reading on the run's time line. An event that comes before the file is read shows
        the file's zone.

        What comes once all of the file was read is being written now.
        """
        source = event.node, event.source
        if event.written is None:
            if source in self._grown:
                self._grown[source] = True
            return event
        self._grown.setdefault(source, False)
        if event.at is None:
            return event
        if event.end == 0:
            self._zones.setdefault(source, zone_offset(event.written - event.at))
        offset = self._zones.get(source, 0.0)
        if not offset:
            return event
        began = event.began + offset if event.began is not None else None
        return msgspec.structs.replace(event, at=event.at + offset, began=began)

    def is_old(self, event: Event) -> bool:
        """Whether an event without a clock is from lines that the log had before it was followed: its arrival then does
        not date it."""
        return event.at is None and self._grown.get((event.node, event.source)) is False

    def is_set_back(self, event: LogEvent) -> bool:
        """Whether the clock of an event that `dated` gave is far behind that of its source before."""
        clock = self.sources.get((event.node, event.source))
        return clock is not None and event.at is not None and clock.at + clock.offset - event.at > SET_BACK_SECONDS

    def dated(self, event: Line, *, ours: bool, remembered: bool = True) -> Line:
        """The event on the run's time line; `ours`: we started the run, so its lines are recent.

        `remembered`: its clock counts as a reading of its source. That of a folded event does not, since it comes late:
        `WorkerHeard` has the reading.
        """
        clock = self.sources.get((event.node, event.source))
        if event.at is not None:
            lag = event.seen - event.at if event.seen is not None else None
            zone = self._zones.get((event.node, event.source), 0.0)
            offset = zone_offset(lag) if ours and lag is not None else zone
            if remembered and (clock is None or event.at >= clock.at):
                self.sources[event.node, event.source] = Clock(event.at, lag, offset)
            return msgspec.structs.replace(event, at=event.at + offset) if offset else event
        if clock is None or event.seen is None or clock.lag is None or self._grown.get((event.node, event.source)):
            return event
        if abs(clock.lag - clock.offset) <= LIVE_SECONDS:
            return event
        reading = None if isinstance(event, CompileLogEvent) else clock.at + clock.offset
        return msgspec.structs.replace(event, seen=reading)


def zone_offset(lag: float) -> float:
    """The zone offset that explains a lag, 0 when none does: whole quarter hours, up to 14 hours either way."""
    offset = round(lag / _ZONE) * _ZONE
    return offset if offset and abs(offset) <= 14 * 3600 and abs(lag - offset) <= LIVE_SECONDS else 0.0
