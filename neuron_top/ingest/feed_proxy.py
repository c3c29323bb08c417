"""A proxy of a feed, for a screen that opens and closes while the feed goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from neuron_top.ingest.feed_logs import FeedLogs
from neuron_top.ingest.live import LiveFeed
from neuron_top.run.model import Run

View = TypeVar("View")


class FeedProxy(FeedLogs):
    """A `Feed` over a live feed that somebody else started and will stop."""

    def __init__(self, feed: LiveFeed) -> None:
        super().__init__(feed)
        self._live = feed

    def start(self, changed: Callable[[], None]) -> None:
        """Receive changes from now on."""
        self._live.subscribe(changed)

    def stop(self) -> None:
        """Receive no more changes; the feed goes on."""
        self._live.subscribe(lambda: None)

    def read(self, view: Callable[[Run, float], View]) -> View:
        """As the feed's."""
        return self._live.read(view)
