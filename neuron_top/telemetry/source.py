"""Sources of telemetry: each turns something outside into events while a thread of ingest drives it.

A source owns no thread. Ingest gives each one a thread of its own that calls `start`; `stop` comes from another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from neuron_top.events import AnyEvent

Emit = Callable[[AnyEvent], None]


class TelemetrySource(Protocol):
    """One thing outside. It says `SourceUnavailable` when it is absent or lost, and the program runs on."""

    name: str

    def start(self, emit: Emit) -> None:
        """Work until `stop` is called or nothing more can come; called once, in a thread of ingest's."""

    def stop(self) -> None:
        """Ask `start` to return soon; from any thread, at any time, as often as one likes."""


@runtime_checkable
class BacklogSource(TelemetrySource, Protocol):
    """A source that first reads what was there before it: the lines of a log, the entries of a cache."""

    @property
    def is_behind(self) -> bool:
        """Whether some of that was not read yet, and still will be."""
        raise NotImplementedError


class Periodic:
    """A source that looks once per period; `look` makes the events. Late looks are dropped, never queued up."""

    def __init__(self, name: str, period: float, look: Callable[[], list[AnyEvent]]) -> None:
        self.name, self.period, self._look = name, period, look
        self._stopped = threading.Event()

    def start(self, emit: Emit) -> None:
        """Look and emit until stopped."""
        while not self._stopped.is_set():
            for event in self._look():
                emit(event)
            self._stopped.wait(self.period)

    def stop(self) -> None:
        """End after the look in progress."""
        self._stopped.set()
