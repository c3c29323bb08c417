"""The log lines of another feed, for feeds that show its run in their own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neuron_top.ingest.feed import Feed
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery


class FeedLogs:
    """The part of a `Feed` that is about logs, passed on to `feed`."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """As the feed's."""
        return self._feed.log_tail(count, source)

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """As the feed's."""
        return self._feed.log_older(before, count, query)

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """As the feed's."""
        return self._feed.log_newer(after, count, query)

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """As the feed's."""
        return self._feed.log_lines(places)

    def log_state(self) -> str:
        """As the feed's."""
        return self._feed.log_state()

    def log_chains(self) -> list[LogChain]:
        """As the feed's."""
        return self._feed.log_chains()
