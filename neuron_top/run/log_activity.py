"""When a job that is known from its logs alone was last heard of.

Nothing reports that such a job has ended: its log just stops growing. So once the log has been silent for long, times
that go on (elapsed time, a running compile) are counted only up to its last line, and the silence is shown instead.
"""

from __future__ import annotations

import msgspec

from neuron_top.events import LogEvent, OutputGrew
from neuron_top.events.log_sources import PIPE_SOURCE
from neuron_top.run.clock import LIVE_SECONDS, zone_offset

QUIET_SECONDS = 10.0
"""A log that reports a failure, and then nothing for this long, is taken to have ended with it."""
ENDED_WELL_SECONDS = 60.0
"""A log that reports a good end, and then nothing for this long, has ended. Saving a checkpoint looks like such an end,
so this must be longer."""
LONG_COMPILE_SECONDS = 6 * 3600.0
"""How long a followed log may be silent if a compile was the last thing heard of."""
LONGEST_START_SECONDS = 24 * 3600.0
"""A job prints within this time after its first line something that a parser understands."""
OLD_SECONDS = 60.0
"""A line in a pipe that is this much older than its arrival was not written now, unless its clock has another zone."""
SILENT_SECONDS = 900.0
"""A log that brought nothing for this long counts as silent. A job that compiles may print nothing for minutes."""


class Backlog(msgspec.Struct, frozen=True):
    """What logs held before they were followed, in bytes."""

    read: int
    size: int


class LogActivity:
    """What the logs say about time, in seconds since the epoch; None until reported."""

    def __init__(self) -> None:
        self.found: float | None = None
        """When logs that had contents before they were followed last changed. The copy of a log may be younger than its
        lines, but never older."""
        self.followed: float | None = None
        """When a log last grew while it was followed."""
        self.began: float | None = None
        """The oldest clock reading of a line that a parser understood, or of the log's first lines."""
        self.clock: float | None = None
        """The newest clock reading of a line."""
        self.lag: float | None = None
        """By how many seconds the newest line of a pipe was older than its arrival: it may be an old log."""
        self.closed = False
        """Whether the writer has closed the pipe."""
        self._backlogs: dict[tuple[str, str], OutputGrew] = {}
        """By node and log, how far logs that had contents before they were followed were read when last heard of."""

    def grew(self, event: OutputGrew) -> None:
        """A log grew, or its writer closed it; a log without a line tells nothing else."""
        self.closed = event.closed
        if event.size is not None:
            self._backlogs[event.node, event.path] = event
        if event.end == 0:
            return
        self._first_read(event)
        if event.written is not None:
            self._clock_read(event.at)
            self.found = max(event.written, self.found or event.written)
        elif event.seen is not None:
            self._clock_read(event.at)
            self.followed = max(event.seen, self.followed or event.seen)

    def line(self, event: LogEvent, *, is_set_back: bool = False) -> None:
        """A line was read. `is_set_back`: its clock was; it then does not tell when the job began."""
        self._clock_read(event.at)
        if event.at is not None and not is_set_back:
            self.began = event.at if self.began is None else min(self.began, event.at)
        if event.source == PIPE_SOURCE and event.at is not None and event.seen is not None:
            self.lag = event.seen - event.at

    def _first_read(self, event: OutputGrew) -> None:
        """The first lines of a log date its beginning, unless the date is that of data that they print."""
        newest = self.began if self.began is not None else event.at
        if event.began is not None and newest is not None and newest - event.began <= LONGEST_START_SECONDS:
            self.began = min(newest, event.began)

    def _clock_read(self, clock: float | None) -> None:
        if clock is not None:
            self.clock = clock if self.clock is None else max(self.clock, clock)

    def unread(self, now: float) -> Backlog | None:
        """How far the logs were read that had contents before they were followed; None once all of it was read, or
        where nobody reads on."""
        logs = [(log.end, log.size or 0) for log in self._backlogs.values()]
        heard = [log.seen for log in self._backlogs.values() if log.end < (log.size or 0) and log.seen is not None]
        if not heard or now - max(heard) >= QUIET_SECONDS:
            return None
        return Backlog(read=sum(end for end, _size in logs), size=sum(max(end, size) for end, size in logs))

    @property
    def is_behind(self) -> bool:
        """Whether what comes through a pipe was written long ago."""
        return self.lag is not None and self.lag > OLD_SECONDS and not zone_offset(self.lag)

    def seconds(self, now: float, *, is_over: bool) -> float | None:
        """Seconds for which the logs have been silent; None if that is not long yet, or no log was read.

        `is_over`: nothing more can come, so any pause counts as long.
        """
        last = self.followed
        # When an old log came through a pipe does not tell when it was written.
        if last is None or (is_over and self.is_behind):
            last = min((time for time in (self.found, self.clock) if time is not None), default=now)
        limit = 0.0 if is_over else SILENT_SECONDS
        return now - last if now - last > limit else None

    @property
    def quiet_since(self) -> float | None:
        """When a log last grew, by our clock."""
        return self.followed if self.followed is not None else self.found

    @property
    def last(self) -> float | None:
        """The time of the last line: when it came, else its own clock, else when its file last changed."""
        if self.lag is not None and self.lag > LIVE_SECONDS:
            return self.clock
        return next((time for time in (self.followed, self.clock, self.found) if time is not None), None)
