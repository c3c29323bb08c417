"""What every event has in common.

An event says what happened, in the past tense, and never changes. Three clocks are kept apart:
`at` is the event's own time (a log line's timestamp, a sample's moment), `seen` is when it reached us,
and a file's mtime is a field of the cache events. Nothing orders by `seen` what has `at`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

import msgspec


class OpenEnum(StrEnum):
    """Names of which another version may know more: what a recording of it holds is kept as it is."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        kept = str.__new__(cls, value)
        kept._name_ = kept._value_ = value
        return kept


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True, gc=False):
    """Base of all events; `tag=True` writes the class name into the JSON that the store keeps.

    `gc=False`: an event holds values and no other event, so there is no cycle for the collector to look for.
    """

    at: float | None = None
    """Seconds since the epoch by the event's own clock; None where it carries none."""
    seen: float | None = None
    """Seconds since the epoch when it reached ingest; stamped there, None before."""
    source: str = ""
    """Which source reported it: `log:<path>`, `cache:<root>`, `monitor`, `sysfs`, `workers`, `worker:<pid>`, `job`."""
    node: str = ""
    """Name of the node (`identity.node_name`), so that several machines can meet in one store; stamped by ingest."""
    offset: int | None = None
    """Byte offset of the line in its source, for the way from a row back to its log line."""

    @property
    def time(self) -> float | None:
        """The best time known: the event's own, else its arrival."""
        return self.at if self.at is not None else self.seen


class LogEvent(Event, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """An event read from console output. `pid` and `rank` are what the line says, None where it does not."""

    pid: int | None = None
    rank: int | None = None
