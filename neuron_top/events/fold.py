"""What a node's agent sends instead of many events that repeat each other.

A start of 1,000 nodes with 128 ranks each and 200 graphs prints 25.6 million hits; one event per graph, node and minute
says the same. The first event of a kind, every failure and every alert are always sent by themselves: see
`run/fold.py`.
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
"""Events that may be folded with others of the same kind."""


class StepTime(msgspec.Struct, frozen=True, array_like=True):
    """When a rank printed a step, for the chart of ranks and steps."""

    rank: int | None
    step: int
    time: float | None
    seconds: float | None = None
    """How long the step took, if the line shows it."""
    arrived: bool = False
    """`time` is when the line was read, as it has no timestamp."""


class EventsFolded(Event, frozen=True, kw_only=True):
    """`count` events of one kind and subject. `at` and `seen` are those of the last one."""

    last: Foldable
    """The last of them; for steps, each field as it was last printed."""
    count: int
    first: float | None = None
    """The earliest timestamp of any of them."""
    latest: float | None = None
    """The latest."""
    longest_minutes: float | None = None
    """For lock waits: the longest that was reported."""
    steps: tuple[StepTime, ...] = ()
    """For step reports: the newest of each rank and step, a bounded number of them."""


class WorkerHeard(LogEvent, frozen=True, kw_only=True):
    """When a process printed a line that went into an `EventsFolded`: the last one, before which its next compile did
    not begin, or a lookup."""

    module: str | None = None
    """The graph that it had looked up, if that matters."""
    extracted: bool = False
    """The result of the lookup: True if the graph was stored for a later compile, False if it was a hit."""
    of_log: bool = False
    """It only reports a timestamp of its log, or of the lookup: other lines of the process may have come since then."""
