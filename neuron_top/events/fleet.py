"""What a node's agent says about its node, for views over several."""

from __future__ import annotations

from neuron_top.events.base import Event

SILENT_SECONDS = 60.0
"""An agent gives a sign of life every five seconds; without one for this long it counts as silent."""


class ClockMeasured(Event, frozen=True, kw_only=True):
    """The node's clock was compared with the database's: later events of the node's stream are ahead by this much."""

    offset_seconds: float


class NodeDescribed(Event, frozen=True, kw_only=True):
    """What a node is made of, at its agent's start and whenever it changes."""

    attributes: dict[str, str | int | float] = {}


class AgentStopped(Event, frozen=True, kw_only=True):
    """The node's agent ended as it was asked to: its silence means nothing."""
