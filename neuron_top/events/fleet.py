"""What a node's agent reports about its node, for views of several nodes."""

from __future__ import annotations

from neuron_top.events.base import Event

SILENT_SECONDS = 60.0
"""An agent sends a heartbeat every five seconds; without one for this long it counts as silent."""


class ClockMeasured(Event, frozen=True, kw_only=True):
    """The node's clock was compared with the database's: the node's events from here on are ahead by this much."""

    offset_seconds: float


class NodeDescribed(Event, frozen=True, kw_only=True):
    """The attributes of a node, at its agent's start and whenever they change."""

    attributes: dict[str, str | int | float] = {}


class AgentStopped(Event, frozen=True, kw_only=True):
    """The node's agent was stopped: its silence from then on is no alert."""
