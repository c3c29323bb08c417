"""The base classes of events.

An event records what happened, is named in the past tense, and never changes. Three times are kept apart: `at` is the
event's own (a log line's timestamp, the moment of a sample), `seen` is when it reached us, and a file's mtime is a
field of the cache events. Where an event has `at`, that is its time; only a replay goes by `seen`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

import msgspec

from neuron_top.calendar_bounds import EARLIEST, LATEST

Moment = Annotated[float, msgspec.Meta(ge=EARLIEST, lt=LATEST)]
"""Seconds since the epoch. An event that is read with another number, which anybody may have written, is refused."""


class OpenEnum(StrEnum):
    """An enum of which other versions may have more members: an unknown name in a recording is kept as it is."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        kept = str.__new__(cls, value)
        kept._name_ = kept._value_ = value
        return kept


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True, gc=False):
    """Base of all events; `tag=True` writes the class name into the JSON that the store keeps.

    `gc=False`: nothing that an event holds refers back to it, so there is no cycle for the collector to look for.
    """

    at: Moment | None = None
    """Seconds since the epoch by the event's own clock; None where it carries none."""
    seen: Moment | None = None
    """Seconds since the epoch when it reached ingest; stamped there, None before."""
    source: str = ""
    """The source that reported it: `log:<path>` (see `log_sources`), `cache:<root>`, `monitor`, `sysfs`,
    `worker:<pid>`, `job`, …"""
    node: str = ""
    """Name of the node (`identity.node_name`), so that several machines can meet in one store; stamped by ingest."""
    offset: int | None = None
    """Byte offset of the line in its source, to get from a row to its log line."""

    @property
    def time(self) -> float | None:
        """The best time known: the event's own, else its arrival."""
        return self.at if self.at is not None else self.seen


class LogEvent(Event, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """An event read from console output. `pid` and `rank` are those in the line, None where it has none."""

    pid: int | None = None
    rank: int | None = None
