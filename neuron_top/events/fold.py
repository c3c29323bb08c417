"""What a node's agent reports in place of many events that repeat each other.

A start of 1,000 nodes with 128 ranks each and 200 graphs prints 25.6 million hits; per graph, node and minute one event
says the same. The first of its kind, every failure and every alert is always sent by itself: see `run/fold.py`.
"""

from __future__ import annotations

import msgspec

from neuron_top.events.base import Event, LogEvent
from neuron_top.events.compile import CacheHit, CachePathAnnounced, GraphExtracted, LockWaited
from neuron_top.events.job import LineMalformed, LineMarked, OutputGrew
from neuron_top.events.runtime import RuntimeLogged
from neuron_top.events.training import StepReported

Foldable = (
    CacheHit
    | GraphExtracted
    | CachePathAnnounced
    | LockWaited
    | LineMarked
    | LineMalformed
    | RuntimeLogged
    | StepReported
    | OutputGrew
)
"""Events that may stand for others like them."""


class StepTime(msgspec.Struct, frozen=True, array_like=True):
    """When a rank printed a step: what a picture of ranks and steps is made of."""

    rank: int | None
    step: int
    time: float | None
    seconds: float | None = None
    """How long it took, where the line says so."""
    arrived: bool = False
    """`time` is when its line was read, which has no clock."""


class EventsFolded(Event, frozen=True, kw_only=True):
    """`count` events of one kind and subject. `at` and `seen` are those of the last one."""

    last: Foldable
    """The last of them, whole; of steps, each field as it was last printed."""
    count: int
    first: float | None = None
    """The earliest clock reading of any of them."""
    latest: float | None = None
    """The latest."""
    longest_minutes: float | None = None
    """Of lock waits: the longest that was reported."""
    steps: tuple[StepTime, ...] = ()
    """Of step reports: the newest of each rank and step, so many as are kept."""


class WorkerHeard(LogEvent, frozen=True, kw_only=True):
    """When a process last printed a line that went into an `EventsFolded`: its next compile began no earlier."""

    module: str | None = None
    """The graph that it had looked up, where that matters."""
    extracted: bool = False
    """The lookup's answer: the graph was stored for a later compile; else it was a hit."""
    of_log: bool = False
    """It only reports a reading of its log's clock: any process may have printed the line."""
