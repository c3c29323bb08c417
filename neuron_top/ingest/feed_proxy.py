"""A proxy of a feed, for a screen that opens and closes while the feed goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.model import Run

View = TypeVar("View")


class FeedProxy:
    """A `Feed` over a live feed that somebody else started and will stop."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed

    def start(self, changed: Callable[[], None]) -> None:
        """Receive changes from now on."""
        self._feed.subscribe(changed)

    def stop(self) -> None:
        """Receive no more changes; the feed goes on."""
        self._feed.subscribe(lambda: None)

    def read(self, view: Callable[[Run, float], View]) -> View:
        """As the feed's."""
        return self._feed.read(view)

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
