"""Log lines of our own, in the published formats: made up names, hashes and times."""

from __future__ import annotations

from typing import TypeVar

from neuron_top.events import AnyEvent, Event
from neuron_top.parsers.reader import LogReader

E = TypeVar("E", bound=Event)

M1 = "MODULE_11112222333344445555+0a1b2c3d"
M2 = "MODULE_aaaabbbbccccddddeeee+0a1b2c3d"
FOLDER = "/scratch/cache/neuronxcc-2.99.1.0+abcdef01"


def g1(text: str, clock: str = "10:00:00.000001") -> str:
    """A line of the wrapper without a process id."""
    return f"2023-08-01 {clock}: INFO ||NCC_WRAPPER||: {text}\n"


def g2(
    text: str, clock: str = "10:00:00.000001", pid: int = 41, tag: str = "NEURON_CC_WRAPPER", level: str = "INFO"
) -> str:
    """A tagged line."""
    return f"2024-05-06 {clock}:  {pid}  {level} ||{tag}||: {text}\n"


def g3(text: str, clock: str = "10:00:00.000001", pid: int = 41, level: str = "INFO") -> str:
    """A line with its level in brackets."""
    return f"2026-03-04 {clock}:  {pid}  [{level}]: {text}\n"


def read(text: str | bytes, source: str = "log:x") -> list[AnyEvent]:
    """All events of a text."""
    reader = LogReader(source)
    data = text.encode() if isinstance(text, str) else text
    return reader.feed(data) + reader.flush()


def only(kind: type[E], events: list[AnyEvent]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]
