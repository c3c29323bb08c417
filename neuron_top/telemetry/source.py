"""Protocols of sources, each of which turns something outside into events in a thread of ingest's.

A source owns no thread. Ingest gives each one a thread of its own that calls `start`; `stop` comes from another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable

Emit = Callable[[AnyEvent], None]


def emit_all(events: Iterable[AnyEvent], emit: Emit) -> None:
    """Emit these events one after the other."""
    for event in events:
        emit(event)


class TelemetrySource(Protocol):
    """One source. It emits `SourceUnavailable` when it is absent or lost, and the program goes on."""

    name: str

    def start(self, emit: Emit) -> None:
        """Work until `stop` is called or nothing more can come; called once, in a thread of ingest's."""

    def stop(self) -> None:
        """Ask `start` to return soon; may be called from any thread, at any time, any number of times."""


@runtime_checkable
class BacklogSource(TelemetrySource, Protocol):
    """A source that first reads what was there before it: the lines of a log, the entries of a cache."""

    @property
    def is_behind(self) -> bool:
        """Whether a part of that is still to be read."""
        raise NotImplementedError


def drive(source: TelemetrySource, emit: Emit) -> None:
    """Start a source, in its own thread. Whatever breaks in it is emitted as its loss, so that the others go on."""
    try:
        source.start(emit)
    except Exception as problem:  # noqa: BLE001 (see above)
        emit(lost(source.name, problem))


def lost(name: str, problem: Exception) -> SourceUnavailable:
    """The event for a source that an error has ended."""
    return SourceUnavailable(name=name, reason=f"stopped: {type(problem).__name__}: {problem}")


class Periodic:
    """A source that polls once per period; `look` makes the events. Late polls are dropped, never queued.

    A poll that the system refuses, as while too many files are open, is reported, and others follow.
    """

    def __init__(
        self, name: str, period: float, look: Callable[[], list[AnyEvent]], *, end: Callable[[], None] = lambda: None
    ) -> None:
        """`end`: ends a poll in progress, where one may take long."""
        self.name, self.period, self._look, self._end = name, period, look, end
        self._stopped = threading.Event()

    def start(self, emit: Emit) -> None:
        """Poll and emit until stopped."""
        refused = ""
        while not self._stopped.is_set():
            try:
                events = self._look()
            except OSError as problem:
                if refused != str(problem):
                    refused = str(problem)
                    emit(SourceUnavailable(name=self.name, reason=refused))
            else:
                if refused:
                    refused = ""
                    emit(SourceAvailable(name=self.name))
                emit_all(events, emit)
            self._stopped.wait(self.period)

    def stop(self) -> None:
        """Stop after the poll in progress."""
        self._stopped.set()
        self._end()
