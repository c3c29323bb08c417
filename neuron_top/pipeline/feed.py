"""What a front end sees of the pipeline, live or replayed: one small protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from neuron_top.run.model import Run

View = TypeVar("View")


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a source for a screen: control characters already made visible."""

    source: str
    offset: int
    text: str
    level: str = ""
    """`error`, `warning`, `event` (a line some event came from) or ""."""


class Feed(Protocol):
    """A run that moves: live from sources, or replayed from the store."""

    def start(self, changed: Callable[[], None]) -> None:
        """Begin; `changed` is called from a thread of the feed's, at most about 20 times a second."""

    def stop(self) -> None:
        """End all threads; returns when they have ended."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` under the feed's lock; `now` is the wall clock live and the recorded clock in a replay."""

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last lines of all sources, or of one."""
