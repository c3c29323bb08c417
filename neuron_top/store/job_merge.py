"""Puts the events of a job's nodes on one time line: clocks are corrected, and names of logs get their node.

Several nodes run one job: it starts with the first of their commands and ends when all of them have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from neuron_top.events import (
    AnyEvent,
    ClockMeasured,
    Event,
    EventsFolded,
    OutputGrew,
    RunFinished,
    RunStarted,
    SourceAvailable,
    SourceRotated,
    SourceUnavailable,
)
from neuron_top.events.log_sources import is_log, log_source, path_of

_DISCOVERY = "jobs"
"""The source that looks for jobs on a node (`discover.py`): what it says is not about the job of these events."""
Some = TypeVar("Some", bound=Event)


class JobMerge:
    """Merges the events of all nodes; those of each node must come in their order."""

    def __init__(self, job: str, offsets: Callable[[], Mapping[str, float]] = dict) -> None:
        """`offsets` returns by how many seconds the clock of each node is ahead now: an agent ships what it finds in
        logs before it has measured that."""
        self._job, self._now_offsets = job, offsets
        self._of_nodes: Mapping[str, float] = {}
        self._offsets: dict[tuple[str, str], float] = {}
        self._running: set[str] = set()
        self._finished: dict[str, RunFinished] = {}
        self._started = False

    def merged(self, node: str, spool: str, events: list[AnyEvent]) -> list[AnyEvent]:
        """The events of a batch from one node, as events of the job."""
        placed_events: list[AnyEvent] = []
        for event in events:
            if isinstance(event, SourceAvailable | SourceUnavailable) and event.name == _DISCOVERY:
                continue
            if isinstance(event, ClockMeasured):
                self._offsets[node, spool] = event.offset_seconds
            placed = _of_node(_shifted(event, self._offset(node, spool)), node)
            match placed:
                case RunStarted():
                    placed_events += self._begun(placed)
                case RunFinished():
                    placed_events += self._ended(placed)
                case _:
                    placed_events.append(placed)
        return placed_events

    def _offset(self, node: str, spool: str) -> float:
        known = self._offsets.get((node, spool))
        if known is None:
            if node not in self._of_nodes:
                self._of_nodes = self._now_offsets()
            known = self._offsets[node, spool] = self._of_nodes.get(node, 0.0)
        return known

    def _begun(self, event: RunStarted) -> list[AnyEvent]:
        self._running.add(event.run)
        first, self._started = not self._started, True
        return [msgspec.structs.replace(event, run=self._job, name=self._job)] if first else []

    def _ended(self, event: RunFinished) -> list[AnyEvent]:
        self._finished[event.run] = event
        if self._running - self._finished.keys():
            return []
        worst = max(self._finished.values(), key=lambda one: abs(one.exit_code))
        return [msgspec.structs.replace(event, run=self._job, exit_code=worst.exit_code, node=worst.node)]


def _shifted(event: AnyEvent, offset: float) -> AnyEvent:
    """The event with its times by the database's clock."""
    if not offset:
        return event
    if isinstance(event, EventsFolded):
        return msgspec.structs.replace(
            _moved(event, offset),
            last=_moved(event.last, offset),
            first=_earlier(event.first, offset),
            latest=_earlier(event.latest, offset),
            steps=tuple(msgspec.structs.replace(step, time=_earlier(step.time, offset)) for step in event.steps),
        )
    return _moved(event, offset)


def _moved(event: Some, offset: float) -> Some:
    return msgspec.structs.replace(event, at=_earlier(event.at, offset), seen=_earlier(event.seen, offset))


def _earlier(time: float | None, offset: float) -> float | None:
    return time - offset if time is not None else None


def _of_node(event: AnyEvent, node: str) -> AnyEvent:
    """The event with its node in the names of logs and sources, which are the same on every node."""
    if isinstance(event, EventsFolded):
        last = _named(event.last, node)
        if isinstance(last, OutputGrew):
            last = msgspec.structs.replace(last, path=f"{node}:{last.path}")
        return msgspec.structs.replace(_named(event, node), last=last)
    event = _named(event, node)
    if isinstance(event, OutputGrew | SourceRotated):
        return msgspec.structs.replace(event, path=f"{node}:{event.path}")
    if isinstance(event, SourceAvailable | SourceUnavailable):
        return msgspec.structs.replace(event, name=_log_of_node(event.name, node) or f"{node}: {event.name}")
    return event


def _named(event: Some, node: str) -> Some:
    source = _log_of_node(event.source, node)
    if event.node and not source:
        return event
    return msgspec.structs.replace(event, source=source or event.source, node=event.node or node)


def _log_of_node(source: str, node: str) -> str:
    """The name of a log, with its node; "" for other sources."""
    return log_source(path_of(source), node) if is_log(source) else ""
