"""Caches the events of lines that come again: word for word with another timestamp and process, or, for a trainer's
dictionary, with other numbers.

Many ranks print the same about the same graphs, and each step of a training is printed in the same words. Only lines
that stand alone are cached: they have a plain header or none, and their events depend on nothing but the line. So a
cached line gives exactly what reading it again would give.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CachePathAnnounced,
    CompileCompleted,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
    GraphExtracted,
    HubMissed,
    LockWaited,
    QueueCounted,
    StepReported,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import timestamps
from neuron_top.parsers.base import DOTS, PLAIN, WRAPPER, Record
from neuron_top.parsers.tally import Tally
from neuron_top.parsers.training import Training, numbers_in, step_of

_HEADER = late_pattern(rb"(\d{4}-\d\d-\d\d \d\d:\d\d):([0-5]\d)\.000(\d{3}):  (\d{1,10})  (.+)", re.DOTALL)
"""Minute, second, millisecond, process, words."""
_ALONE = frozenset(
    {CacheHit, CachePathAnnounced, CompileCompleted, CompilerProgress, CompilerPassed, CompileStarted, GraphExtracted,
     HubMissed, LockWaited, QueueCounted, WorkerFinished, WorkerStarted}
)  # fmt: skip
"""Events of one line that no other line changes."""
_LONGEST = 2000
_MOST = 8192
_SHAPES = (WRAPPER, PLAIN, DOTS)


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class _Seen(NamedTuple):
    """What a line gave: its event if there was one, whether a family knew it, the tag of its header."""

    event: AnyEvent | None
    known: bool
    tag: str


class LineCache:
    """The lines of one stream that may come again."""

    def __init__(self, training: Training | None) -> None:
        """`training`: the family that must see every step of this stream; None where nobody reads steps."""
        self._training = training
        self._headed: dict[bytes, _Seen] = {}
        """By the text after a header."""
        self._bare: dict[bytes, _Seen] = {}
        self._steps: dict[tuple[str, ...], str] = {}
        """By the names in a dictionary of numbers that gave a step, the source of the step."""

    def repeat(self, line: bytes, offset: int, tally: Tally) -> list[AnyEvent] | None:
        """The events of a line that is known, counted as if it had been read; None if it must be read."""
        header = _HEADER.match(line)
        if header is None:
            seen = self._bare.get(line)
            if seen is None:
                return self._step(line, offset, tally) if line.startswith(b"{'") else None
            if tally.wants_samples and not seen.known:
                return None
            event = seen.event and replace(seen.event, offset=offset)
        else:
            minute, second, millisecond, process, words = header.groups()
            seen = self._headed.get(words)
            if seen is None or (tally.wants_samples and not seen.known):
                return None
            at, pid = timestamps.plain_wrapper(minute, second, millisecond), int(process)
            tally.add_header(seen.tag, pid, at)
            event = seen.event and replace(seen.event, offset=offset, at=at, pid=pid)
        tally.known += seen.known
        if event is None:
            return []
        tally.add(event)
        return [event]

    def _step(self, line: bytes, offset: int, tally: Tally) -> list[AnyEvent] | None:
        """The events of a dictionary of numbers whose names are known; None if it must be read."""
        numbers = numbers_in(line)
        source = self._steps.get(tuple(numbers)) if numbers else None
        if numbers is None or source is None or self._training is None:
            return None
        step = step_of(numbers, {"source": source, "offset": offset})
        tally.known += 1
        tally.add(step)
        return [] if self._training.evaluates(step) else [step]

    def clear(self) -> None:
        """Forget all lines: they would be read differently now."""
        for seen in (self._headed, self._bare, self._steps):
            seen.clear()

    def learn(self, line: bytes, records: list[Record], events: list[AnyEvent], *, known: bool) -> None:
        """Remember a line that was read, if it stands alone."""
        if len(records) != 1 or len(line) > _LONGEST:
            return
        record = records[0]
        if not record.stands_alone or record.shape not in _SHAPES:
            return
        if len(events) == 1 and isinstance(step := events[0], StepReported):
            if known and (numbers := numbers_in(line)) and "loss" in numbers:  # else another reader found it
                _keep(self._steps, tuple(numbers), step.source)
            return
        if len(events) > 1 or not _ALONE.issuperset(map(type, events)):
            return
        header, seen = _HEADER.match(line), _Seen(events[0] if events else None, known, record.tag)
        if header is None and not record.tag:
            _keep(self._bare, line, seen)
        elif header is not None and record.tag and b"\r" not in line and b"\x1b" not in line:
            _keep(self._headed, header[5], seen)


def _keep(seen: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(seen) >= _MOST:
        seen.clear()
    seen[key] = value
