"""Parts of logs of any size: blocks are read backwards or forwards from an offset, and nothing is kept.

Several logs are merged by the clocks in their lines; a line without one stands where the clocked line before it
stands, and a log without any clock at the time of its last change. What a line means is read from the block it lies
in by the same parsers that read it live, so a recording shows the marks that the live screen showed.
"""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from neuron_top.parsers import timestamps
from neuron_top.parsers.reader import LogReader
from neuron_top.pipeline.log_line import PLAIN, LogLine, LogPage, gathered, readable
from neuron_top.pipeline.log_query import LogQuery

BLOCK_BYTES = 1 << 16
LONGEST_LINE = 1 << 20
"""A line that is longer is cut into lines."""
SHOWN_BYTES = 4096
BUDGET_SECONDS = 0.03
_LOOKS = 64
"""Lines between two looks at the clock."""


class _Step(NamedTuple):
    """A line on its way into a page, or (None) a block without any that is wanted."""

    clock: float
    source: str
    edge: int
    """How far the source was read with this step."""
    line: LogLine | None


def older(ends: Mapping[str, int], before: Mapping[str, int], count: int, query: LogQuery | None = None,
          clock: Callable[[], float] = time.monotonic) -> LogPage:  # fmt: skip
    """The last `count` lines before these offsets. `ends`: how far each log has grown."""
    at = {source: min(before.get(source, end), end) for source, end in ends.items()}
    streams = [_backwards(source, end, _narrowed(query, source)) for source, end in at.items()]
    found, ended = _taken(heapq.merge(*streams, key=lambda step: -step.clock), at, count, query, clock)
    return LogPage(lines=tuple(reversed(found)), at=at, ended=ended)


def newer(ends: Mapping[str, int], after: Mapping[str, int], count: int, query: LogQuery | None = None,
          clock: Callable[[], float] = time.monotonic) -> LogPage:  # fmt: skip
    """The first `count` lines from these offsets on."""
    at = {source: min(after.get(source, 0), end) for source, end in ends.items()}
    streams = [_forwards(source, at[source], end, _narrowed(query, source)) for source, end in ends.items()]
    found, ended = _taken(heapq.merge(*streams, key=lambda step: step.clock), at, count, query, clock)
    return LogPage(lines=tuple(found), at=at, ended=ended)


def lines_at(ends: Mapping[str, int], places: Sequence[tuple[str, int]]) -> list[LogLine]:
    """The lines that begin at these places."""
    found: list[LogLine] = []
    for source, offset in places:
        page = newer({source: ends[source]}, {source: offset}, 1) if offset < ends.get(source, 0) else None
        found += page.lines if page is not None else ()
    return found


def _narrowed(query: LogQuery | None, source: str) -> LogQuery | None:
    return query.within(source) if query else None


def _taken(steps: Iterator[_Step], at: dict[str, int], count: int, query: LogQuery | None,
           clock: Callable[[], float]) -> tuple[list[LogLine], bool]:  # fmt: skip
    found: list[LogLine] = []
    deadline = clock() + BUDGET_SECONDS
    for number, step in enumerate(steps, 1):
        at[step.source] = step.edge
        if step.line is not None and (not query or query.keep(step.line)):
            found.append(step.line)
        late = (step.line is None or number % _LOOKS == 0) and clock() > deadline
        if len(found) >= count or late:
            return found, False
    return found, True


def _backwards(source: str, end: int, query: LogQuery | None) -> Iterator[_Step]:
    for start, data, changed in _blocks_before(source, end):
        steps = list(_steps(source, start, data, changed, query))
        yield from (step._replace(edge=step.line.offset if step.line else start) for step in reversed(steps))
        if not steps or steps[0].line is None or steps[0].line.offset > start:
            yield _Step(steps[0].clock if steps else changed, source, start, None)


def _forwards(source: str, start: int, end: int, query: LogQuery | None) -> Iterator[_Step]:
    for begin, data, changed in _blocks_after(source, start, end):
        last = changed
        for step in _steps(source, begin, data, changed, query):
            last = step.clock
            yield step
        yield _Step(last, source, begin + len(data), None)


def _steps(source: str, start: int, data: bytes, changed: float, query: LogQuery | None) -> Iterator[_Step]:
    """The lines of a block that may be wanted, in order, each with its clock."""
    if query and not query.possible(data):
        return
    reader = LogReader(source)
    facts = {start + offset: said for offset, said in gathered([*reader.feed(data), *reader.flush()]).items()}
    clocks = sorted((offset, said.time) for offset, said in facts.items() if said.time is not None)
    now = clocks[0][1] if clocks else None
    for offset, text in _lines(start, data):
        said = facts.get(offset, PLAIN)
        stamp = said.time if said.time is not None else timestamps.generic(text[:40].decode(errors="replace"))
        now = stamp if stamp is not None else now
        if said is PLAIN and query and query.marked:
            continue
        end = min(offset + len(text) + 1, start + len(data))
        yield _Step(now or changed, source, end, readable(source, offset, text[:SHOWN_BYTES], said, end))


def _lines(start: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for line in lines:
        yield start, line
        start += len(line) + 1


def _blocks_before(source: str, end: int) -> Iterator[tuple[int, bytes, float]]:
    """Blocks of whole lines up to `end`, the last one first, each with the time of the log's last change."""
    try:
        with open(source.removeprefix("log:"), "rb") as file:
            changed = os.fstat(file.fileno()).st_mtime
            while end > 0:
                start, data = _whole_lines_before(file.fileno(), end)
                if not data:
                    return
                yield start, data, changed
                end = start
    except OSError:
        return


def _whole_lines_before(number: int, end: int) -> tuple[int, bytes]:
    size = BLOCK_BYTES
    while True:
        start = max(0, end - size)
        data = os.pread(number, end - start, start)
        if start == 0 or size >= LONGEST_LINE:
            return start, data
        cut = data.find(b"\n", 0, len(data) - 1) + 1
        if cut:
            return start + cut, data[cut:]
        size *= 2


def _blocks_after(source: str, start: int, end: int) -> Iterator[tuple[int, bytes, float]]:
    try:
        with open(source.removeprefix("log:"), "rb") as file:
            changed = os.fstat(file.fileno()).st_mtime
            while start < end:
                data = _whole_lines_after(file.fileno(), start, end)
                if not data:
                    return
                yield start, data, changed
                start += len(data)
    except OSError:
        return


def _whole_lines_after(number: int, start: int, end: int) -> bytes:
    size = BLOCK_BYTES
    while True:
        data = os.pread(number, min(size, end - start), start)
        if size >= LONGEST_LINE or start + len(data) >= end:
            return data
        cut = data.rfind(b"\n") + 1
        if cut:
            return data[:cut]
        size *= 2
