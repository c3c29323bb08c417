"""The nodes of a run, as their agents report them: when they were heard from, clocks, attributes, pace."""

from __future__ import annotations

from collections import deque
from typing import assert_never

import msgspec

from neuron_top.events import (
    AgentStopped,
    AnyEvent,
    ClockMeasured,
    EventsFolded,
    NodeDescribed,
    NodeFamily,
    StepReported,
)
from neuron_top.run.history import median
from neuron_top.run.step_times import StepPace

PACES_KEPT = 20
"""How many step times of a node are kept for its median."""


class NodeState(msgspec.Struct, kw_only=True):
    """One node."""

    node: str
    first: float | None = None
    last: float | None = None
    """The newest time of any event of it."""
    clock_offset: float | None = None
    """Its clock minus the database's, seconds."""
    attributes: dict[str, str | int | float] = {}
    finished: bool = False
    """Its agent was stopped."""
    paces: deque[float] = msgspec.field(default_factory=lambda: deque(maxlen=PACES_KEPT))
    """Seconds of its newest steps: as printed, else from the times between reports."""
    pace: StepPace = msgspec.field(default_factory=StepPace)

    @property
    def step_seconds(self) -> float | None:
        """Median seconds of the newest steps; None before there are three."""
        return median(self.paces) if len(self.paces) >= 3 else None


class NodeTracker:
    """Nodes by name, in the order in which they were first heard from."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeState] = {}

    @property
    def all_stopped(self) -> bool:
        """Whether the agents of all nodes have stopped; False where no node is known."""
        return bool(self.nodes) and all(node.finished for node in self.nodes.values())

    def apply(self, event: NodeFamily) -> None:
        """Take what an agent says about its node into account."""
        node = self._node(event.node)
        match event:
            case ClockMeasured():
                node.clock_offset = event.offset_seconds
            case NodeDescribed():
                node.attributes, node.finished = event.attributes, False
            case AgentStopped():
                node.finished = True
            case _:
                assert_never(event)

    def heard(self, event: AnyEvent) -> None:
        """Take any event as a sign of life, and the pace from step reports."""
        if not event.node:
            return
        node, time = self._node(event.node), event.time
        if time is not None:
            node.first = time if node.first is None else min(node.first, time)
            node.last = time if node.last is None else max(node.last, time)
        step = event.last if isinstance(event, EventsFolded) else event
        if isinstance(step, StepReported):
            _paced(node, step)

    def _node(self, name: str) -> NodeState:
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = NodeState(node=name)
        return node


def _paced(node: NodeState, event: StepReported) -> None:
    between = node.pace.add(event.step, event.time, arrived=event.at is None) if event.step is not None else None
    seconds = event.step_seconds if event.step_seconds is not None else between
    if seconds is not None:
        node.paces.append(seconds)
