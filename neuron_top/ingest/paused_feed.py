"""A live feed as it was at one moment, for a screen that is paused while the job goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from neuron_top.ingest.feed import Feed
from neuron_top.ingest.feed_logs import FeedLogs
from neuron_top.ingest.log_line import LogLine
from neuron_top.run.model import Run

View = TypeVar("View")
KEPT_LINES = 5000
"""The newest log lines that are kept of the moment."""


class PausedFeed(FeedLogs):
    """Shows a copy of the run; the feed itself goes on, and is neither started nor stopped here.

    Log lines before and after the newest ones are read from the files as they are when a person scrolls there.
    """

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed)
        self._run, self._now = feed.read(lambda run, now: (run.copy(), now))
        self._lines = feed.log_tail(KEPT_LINES)

    def start(self, changed: Callable[[], None]) -> None:
        """Nothing to start: nothing changes."""

    def stop(self) -> None:
        """Nothing to stop."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Return `view(run, now)` of that moment."""
        return view(self._run, self._now)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The lines that were the last ones then."""
        lines = [line for line in self._lines if source is None or line.source == source]
        return lines[max(0, len(lines) - count) :]
