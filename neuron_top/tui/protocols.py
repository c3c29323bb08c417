"""What the program needs besides a feed: a library of recordings and caches, and a replay's clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from neuron_top.ingest.feed import Feed

if TYPE_CHECKING:  # none of it is imported before the first frame
    from neuron_top.views.compare import Comparison
    from neuron_top.views.entries import EntryTable
    from neuron_top.views.miss_explanation import Misses, MissExplanation, MissQuery
    from neuron_top.views.runs import RunRow


class Library(Protocol):
    """What the runs and cache screens show; every call reads disks, so they are made in threads."""

    @property
    def place(self) -> str:
        """Where recordings are kept."""

    def runs(self) -> tuple[RunRow, ...]:
        """Recordings, newest first."""

    def entries(self) -> EntryTable:
        """Entries of all caches."""

    def replay(self, run: str) -> Feed:
        """A recording as a feed."""

    def delete(self, run: str) -> int:
        """Delete a recording for good; the bytes freed."""

    def compare(self, a: str, b: str) -> Comparison:
        """Two recordings side by side."""

    def why(self, asked: MissQuery) -> MissExplanation:
        """Why a graph missed."""

    def misses(self, asked: Sequence[MissQuery]) -> Misses:
        """Why these missed."""

    def misses_of(self, run: str) -> Misses:
        """Why graphs of a recording missed."""


class Clock(Protocol):
    """What a replay's feed has besides a `Feed`: recorded time that can be stopped and moved."""

    start: float
    end: float
    speed: float

    @property
    def now(self) -> float:
        """The recorded moment, seconds since the epoch."""

    def pause(self) -> None:
        """Stop."""

    def resume(self) -> None:
        """Go on."""

    def skip(self, seconds: float) -> None:
        """Move by recorded seconds."""
