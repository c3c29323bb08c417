"""Reads parts of logs of any size: blocks are read backwards or forwards from an offset, and nothing is kept.

Several logs are merged by the timestamps of their lines. A line without one has the time of the line before it, and a
log without any that of its last change. Each block is read by the same parsers as live, so a recording shows the same
marks as the live screen did.
"""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from neuron_top.ingest.log_file_map import WHOLE, LogFileMap
from neuron_top.ingest.log_line import PLAIN, LogLine, LogPage, gathered, readable
from neuron_top.ingest.log_query import LogQuery
from neuron_top.parsers import timestamps
from neuron_top.parsers.reader import LogReader

BLOCK_BYTES = 1 << 16
LONGEST_LINE = 1 << 20
"""A longer line is split into several."""
SHOWN_BYTES = 4096
BUDGET_SECONDS = 0.03


class _Step(NamedTuple):
    """A line for a page, or a place to stop when time is up."""

    clock: float
    source: str
    edge: int
    """How far the source was read with this step."""
    line: LogLine | None
    """None where the step is only a place to stop: the end of a block, or a line that a query does not want."""
    unwanted: bool = False


def older(
    ends: Mapping[str, int],
    before: Mapping[str, int],
    count: int,
    query: LogQuery | None = None,
    clock: Callable[[], float] = time.monotonic,
    file_map: LogFileMap = WHOLE,
) -> LogPage:
    """The last `count` lines before these offsets. `ends`: how far each log has grown; `clock`: for the time limit."""
    at = {source: min(before.get(source, end), end) for source, end in _read(file_map.with_earlier(ends), query)}
    streams = [
        chain.from_iterable(_backwards(name, file_map.path(name), at[name], _narrowed(query, name)) for name in files)
        for files in file_map.chains(at)
    ]
    found, ended = _taken(heapq.merge(*streams, key=lambda step: -step.clock), at, count, clock)
    return LogPage(lines=tuple(reversed(found)), at=at, ended=ended)


def newer(
    ends: Mapping[str, int],
    after: Mapping[str, int],
    count: int,
    query: LogQuery | None = None,
    clock: Callable[[], float] = time.monotonic,
    file_map: LogFileMap = WHOLE,
) -> LogPage:
    """The first `count` lines from these offsets on."""
    ends = file_map.with_earlier(ends)
    at = {source: min(after.get(source, 0), end) for source, end in _read(ends, query)}
    streams = [
        chain.from_iterable(
            _forwards(name, file_map.path(name), at[name], ends[name], _narrowed(query, name))
            for name in reversed(files)
        )
        for files in file_map.chains(at)
    ]
    found, ended = _taken(heapq.merge(*streams, key=lambda step: step.clock), at, count, clock)
    return LogPage(lines=tuple(found), at=at, ended=ended)


def lines_at(ends: Mapping[str, int], places: Sequence[tuple[str, int]], file_map: LogFileMap = WHOLE) -> list[LogLine]:
    """The lines that begin at these places, at most SHOWN_BYTES of each, without level, family and time."""
    found: list[LogLine] = []
    ends = file_map.with_earlier(ends)
    for source, offset in places:
        if offset >= ends.get(source, 0):
            continue
        try:
            with open(file_map.path(source), "rb") as file:
                data = os.pread(file.fileno(), min(SHOWN_BYTES, ends[source] - offset), offset)
        except OSError:
            continue
        found.append(readable(source, offset, data.partition(b"\n")[0]))
    return found


def _read(ends: Mapping[str, int], query: LogQuery | None) -> Iterator[tuple[str, int]]:
    return ((source, end) for source, end in ends.items() if query is None or query.reads(source))


def _narrowed(query: LogQuery | None, source: str) -> LogQuery | None:
    return query.within(source) if query else None


def _taken(
    steps: Iterator[_Step], at: dict[str, int], count: int, clock: Callable[[], float]
) -> tuple[list[LogLine], bool]:
    found: list[LogLine] = []
    if count <= 0:
        return found, False
    deadline = clock() + BUDGET_SECONDS
    inside: float | None = None  # the deadline of the query alone, in which reading a block is not included
    for step in steps:
        at[step.source] = step.edge
        if step.line is not None:
            found.append(step.line)
        if step.unwanted:
            inside = inside if inside is not None else clock() + BUDGET_SECONDS
            if clock() > inside:
                return found, False
        elif len(found) >= count or (step.line is None and clock() > deadline):
            return found, False
        elif step.line is None:
            inside = None
    return found, True


def _backwards(source: str, path: str, end: int, query: LogQuery | None) -> Iterator[_Step]:
    for start, data, changed in _blocks_before(path, end):
        first = changed
        for step in reversed(list(_steps(source, start, data, changed, query))):
            first = step.clock
            yield _wanted(step._replace(edge=step.line.offset if step.line is not None else start), query)
        yield _Step(first, source, start, None)


def _forwards(source: str, path: str, start: int, end: int, query: LogQuery | None) -> Iterator[_Step]:
    for begin, data, changed in _blocks_after(path, start, end):
        last = changed
        for step in _steps(source, begin, data, changed, query):
            last = step.clock
            yield _wanted(step, query)
        yield _Step(last, source, begin + len(data), None)


def _steps(source: str, start: int, data: bytes, changed: float, query: LogQuery | None) -> Iterator[_Step]:
    """The lines of a block that may be wanted, in order, each with its clock."""
    if query and not query.possible(data):
        return
    reader = LogReader(source)
    facts = {start + offset: said for offset, said in gathered([*reader.feed(data), *reader.flush()]).items()}
    stamps = [facts[offset].time for offset in sorted(facts)]
    now = next((stamp for stamp in stamps if stamp is not None), None)
    for offset, text in _lines(start, data):
        said = facts.get(offset, PLAIN)
        stamp = said.time if said.time is not None else _stamp(text)
        now = stamp if stamp is not None else now
        if query and ((said is PLAIN and query.marked) or not query.possible(text)):
            continue
        end = min(offset + len(text) + 1, start + len(data))
        line = readable(source, offset, text[:SHOWN_BYTES], said, end)
        yield _Step(now or changed, source, end, line)


def _wanted(step: _Step, query: LogQuery | None) -> _Step:
    """The step, without its line if the query does not want that.

    Lines are checked one at a time, so that a slow query stops in the middle of a block when its time is up.
    """
    wanted = not query or step.line is None or query.keep(step.line)
    return step if wanted else step._replace(line=None, unwanted=True)


def _stamp(text: bytes) -> float | None:
    """The timestamp at the beginning of a line that no family reads."""
    return timestamps.generic(text[:40].decode(errors="replace")) if b"-" in text[:10] else None


def _lines(start: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    lines = data.split(b"\n")
    if lines[-1] in (b"", b"\0"):  # the zero is the second half of a line's end in UTF-16
        lines.pop()
    for line in lines:
        yield start, line
        start += len(line) + 1


def _blocks_before(path: str, end: int) -> Iterator[tuple[int, bytes, float]]:
    """Blocks of whole lines up to `end`, the last one first, each with the time of the log's last change."""
    try:
        with open(path, "rb") as file:
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


def _blocks_after(path: str, start: int, end: int) -> Iterator[tuple[int, bytes, float]]:
    try:
        with open(path, "rb") as file:
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
