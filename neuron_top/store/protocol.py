"""`Store`: the protocol of every store of recordings, whatever database it uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from neuron_top.events import AnyEvent, Event, RunStarted
from neuron_top.store.records import CompileRecord, RunRecord


class Store(Protocol):
    """An open store; used in one thread at a time, closed as a context manager. Every method raises StoreUnusable."""

    @property
    def place(self) -> str:
        """Its location, for a person: a path, or an address without its password."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Close the store; a second close does nothing."""

    # --- writing ---

    def begin(self, event: RunStarted, *, pid: int | None = None, folder: Path | str = "", now: float = 0.0) -> None:
        """Enter a new recording; the event itself is not appended. Raises StoreUnusable when the id is taken."""

    def append(self, run: str, events: Sequence[Event], now: float | None = None) -> None:
        """Add events to a recording, in order, durably against a crash of this process. `now`: wall clock."""

    def finish(self, run: str, exit_code: int | None, finished: float, summary: bytes = b"") -> None:
        """Note that the command ended; `summary` is the closing summary as JSON."""

    def remember_compiles(self, records: Iterable[CompileRecord]) -> None:
        """Store measured compile times for later estimates; duplicates are stored once."""

    def forget(self, run: str) -> None:
        """Delete a recording's rows."""

    # --- reading ---

    def clock(self) -> float:
        """The time now, by the clock that says when a run was touched last."""

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Recordings, newest first."""

    def run(self, run: str) -> RunRecord | None:
        """One recording by id, by an unambiguous prefix of an id, or the newest of that name; None if none."""

    def replay(self, run: str, after: int = -1, since: float | None = None) -> Iterator[AnyEvent]:
        """The events of a recording in the order they were appended, a bounded number of batches in memory at a time.

        `after`: skip batches up to this number (see `batches`); `since`: skip batches that ended before this time.
        """

    def batches(self, run: str, after: int = -1, since: float | None = None) -> Iterator[tuple[int, list[AnyEvent]]]:
        """As `replay`, batch by batch with its number: hand the last number back as `after` to go on later."""

    def span(self, run: str) -> tuple[float, float] | None:
        """First and last event time of a recording; None if no event has a time."""

    def compile_history(self, most: int = 20_000) -> list[CompileRecord]:
        """Measured compile times of all runs, newest first, at most `most`."""
