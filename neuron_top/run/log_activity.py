"""When a job that is known from its logs alone was last heard of.

Nothing reports that such a job has ended: its log just grows no more. So what counts on (the elapsed time, a compile
under way) counts up to the last line once the log has been silent for long, and how long is said instead.
"""

from __future__ import annotations

from neuron_top.events import LogEvent, OutputGrew
from neuron_top.run.clock import LIVE_SECONDS, zone_offset

QUIET_SECONDS = 10.0
"""A log that reports a failure and then nothing for so long has ended with it, as far as anybody can know."""
ENDED_WELL_SECONDS = 60.0
"""A log that reports a good end and then nothing for so long has ended: a checkpoint that was saved reads like one."""
LONG_COMPILE_SECONDS = 6 * 3600.0
"""A followed log that was last heard of in a compile may be silent for so long."""
LONGEST_START_SECONDS = 24 * 3600.0
"""A job says within that time after its first line something that is read for what it says."""
_PIPE = "log:-"
OLD_SECONDS = 60.0
"""A line in a pipe that is so much older than its arrival was not written now, unless its clock has another zone."""
SILENT_SECONDS = 900.0
"""A log is silent from then on. A job that compiles may print nothing for minutes."""


class LogActivity:
    """What the logs said about time. `None` until reported; seconds since the epoch."""

    def __init__(self) -> None:
        self.found: float | None = None
        """Last change of logs, as far as they had grown before they were followed. A copy may be younger than its
        text, never older."""
        self.followed: float | None = None
        """The last time that one grew while it was followed."""
        self.began: float | None = None
        """The oldest clock reading of a line that was read for what it says, or of the log's first lines."""
        self.clock: float | None = None
        """The newest clock reading of a line."""
        self.lag: float | None = None
        """By how much the newest line of a pipe was older than its arrival: an old log may be piped through."""
        self.closed = False
        """The pipe that was read has been closed by its writer."""

    def grew(self, event: OutputGrew) -> None:
        """A log grew, or its writer closed it; of one without a line nothing is said but that."""
        self.closed = event.closed
        if event.end == 0:
            return
        self._first_read(event)
        if event.written is not None:
            self._clock_read(event.at)
            self.found = max(event.written, self.found or event.written)
        elif event.seen is not None:
            self._clock_read(event.at)
            self.followed = max(event.seen, self.followed or event.seen)

    def line(self, event: LogEvent) -> None:
        """A line was read."""
        self._clock_read(event.at)
        if event.at is not None:
            self.began = event.at if self.began is None else min(self.began, event.at)
        if event.source == _PIPE and event.at is not None and event.seen is not None:
            self.lag = event.seen - event.at

    def _first_read(self, event: OutputGrew) -> None:
        """The first lines of a log began it, unless they quote a date of another time (data that is printed)."""
        newest = self.began if self.began is not None else event.at
        if event.began is not None and newest is not None and newest - event.began <= LONGEST_START_SECONDS:
            self.began = min(newest, event.began)

    def _clock_read(self, clock: float | None) -> None:
        if clock is not None:
            self.clock = clock if self.clock is None else max(self.clock, clock)

    @property
    def is_behind(self) -> bool:
        """Whether what comes through a pipe was written long ago."""
        return self.lag is not None and self.lag > OLD_SECONDS and not zone_offset(self.lag)

    def seconds(self, now: float, *, is_over: bool) -> float | None:
        """For how long nothing was heard; None while that is not long, or no log was read.

        `is_over`: nothing more can come, so any pause is long.
        """
        last = self.followed
        # When an old log came through a pipe says nothing about when it was written.
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
        """The last line's time: when it came, else its own clock, else the last change of its file."""
        if self.lag is not None and self.lag > LIVE_SECONDS:
            return self.clock
        return next((time for time in (self.followed, self.clock, self.found) if time is not None), None)
