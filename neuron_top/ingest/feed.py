"""The protocol through which front ends use ingest, live or replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.model import Run

View = TypeVar("View")


class Feed(Protocol):
    """A run that keeps changing: live from sources, or replayed from the store."""

    def start(self, changed: Callable[[], None]) -> None:
        """Begin; `changed` is called from a thread of the feed, at most about 20 times a second."""

    def stop(self) -> None:
        """End all threads; returns when they have ended."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Return `view(run, now)`, called under the feed's lock; `now` is the wall clock, or the recorded one."""

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last lines of all sources, or of one."""

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines before these offsets in their logs, read from the files a block at a time.

        A source without an offset is read from its present end. Returns after a few hundredths of a second at the
        latest: where a query finds little, the page says how far the search came, and the caller goes on from there.
        """

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines from these offsets on, in the same way. A source without an offset is read from its beginning."""

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines that begin at these places (source, offset), except those that no longer exist."""

    def log_state(self) -> str:
        """Why there are no lines, if those of another machine cannot be fetched; "" where nothing is wrong."""

    def log_chains(self) -> list[LogChain]:
        """Which files belong to one log at this moment; a rotation renames each of them."""


class EndingFeed(Feed, Protocol):
    """A live feed, whose sources may end."""

    @property
    def ended(self) -> bool:
        """Whether every source has ended (a pipe that was closed, a job that is over)."""
        raise NotImplementedError

    @property
    def is_behind(self) -> bool:
        """Whether the present content of logs and caches is still being read."""
        raise NotImplementedError

    def settle(self, seconds: float) -> None:
        """Wait until the present content of logs and caches was read, however long that takes; then, for at most
        `seconds`, until no event has come for a while or every source has ended."""
