"""A live feed as it was at one moment, for a screen that is paused while the job goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from neuron_top.ingest.feed import Feed
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.model import Run

View = TypeVar("View")
KEPT_LINES = 5000
"""The newest log lines that are kept of the moment."""


class PausedFeed:
    """Reads a copy of the run; the feed itself goes on, and is neither started nor stopped here.

    What stands before and after the newest log lines is read from the files as they are, once somebody goes there.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._run, self._now = feed.read(lambda run, now: (run.copy(), now))
        self._lines = feed.log_tail(KEPT_LINES)

    def start(self, changed: Callable[[], None]) -> None:
        """Nothing to start: nothing changes."""

    def stop(self) -> None:
        """Nothing to stop."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` of the moment."""
        return view(self._run, self._now)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The lines that were the last ones then."""
        lines = [line for line in self._lines if source is None or line.source == source]
        return lines[max(0, len(lines) - count) :]

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines before these offsets, from the files."""
        return self._feed.log_older(before, count, query)

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines from these offsets on, from the files."""
        return self._feed.log_newer(after, count, query)

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines at these places, from the files."""
        return self._feed.log_lines(places)

    def log_state(self) -> str:
        """Why there are no lines."""
        return self._feed.log_state()

    def log_chains(self) -> list[LogChain]:
        """Which files belong to one log, as it is now: they are read as they are now."""
        return self._feed.log_chains()
