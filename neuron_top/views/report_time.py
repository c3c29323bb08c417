"""Computes where a run's time went: its waits, concurrent compiles, and what compiling beforehand would have saved."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol

import msgspec

from neuron_top.run.spans import Interval, Span, SpanKind, merged, without

POINTS_KEPT = 1000
"""Points of a chart at most; between two of them the highest value is kept."""
WORKERS = (1, 2, 4, 8, 16, 32)


class ReportStep(msgspec.Struct, frozen=True):
    """From `time` on, `value` holds."""

    time: float
    value: float


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the critical path: from `start` to `end` the run could not go on before this was done."""

    graph: str
    kind: SpanKind
    """`compile`, `wait` where nobody in sight compiled what was waited for, or `trace` where neither went on."""
    rank: int | None
    start: float
    end: float


class Precompile(msgspec.Struct, frozen=True, kw_only=True):
    """A simulated parallel pre-compilation with so many workers."""

    workers: int
    seconds: float
    """Until all graphs are compiled."""
    saved_seconds: float
    """Less than the run was held up; negative where it would have taken longer."""
    memory: int | None
    """Bytes that so many of the largest compiles take together; None where a peak was not measured."""


class ReportJob(Protocol):
    """A compile that was done: what the simulation packs."""

    @property
    def attempts(self) -> int: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def peak_rss_bytes(self) -> int | None: ...


def closed(spans: Sequence[Span], end: float) -> list[Span]:
    """Spans with an end: what still goes on ends at `end`."""
    return [span if span.end is not None else msgspec.structs.replace(span, end=max(end, span.start)) for span in spans]


def intervals(spans: Sequence[Span]) -> list[Interval]:
    """Start and end of each (closed) span."""
    return [(span.start, span.end if span.end is not None else span.start) for span in spans]


def concurrency(spans: Sequence[Span]) -> tuple[ReportStep, ...]:
    """How many of the (closed) spans went on, over time."""
    changes: dict[float, int] = {}
    for start, end in intervals(spans):
        if end > start:
            changes[start] = changes.get(start, 0) + 1
            changes[end] = changes.get(end, 0) - 1
    steps, running = [], 0
    for time in sorted(changes):
        running += changes[time]
        if changes[time]:
            steps.append(ReportStep(time, float(running)))
    return thinned(steps)


def thinned(steps: Sequence[ReportStep], most: int = POINTS_KEPT) -> tuple[ReportStep, ...]:
    """About so many steps at most; of neighbors that become one, the highest; the last stays as it is."""
    every = -(-len(steps) // most) if steps else 1
    if every == 1:
        return tuple(steps)
    kept = [max(steps[i : i + every], key=lambda step: step.value) for i in range(0, len(steps) - 1, every)]
    return (*kept, steps[-1])


def critical_path(spans: Sequence[Span]) -> tuple[Segment, ...]:
    """The fewest spans that cover all time in which somebody compiled, waited or traced, by start.

    At each moment the running compile that lasts longest stands for what everybody waits for.
    """
    compiles = sorted((span for span in spans if span.kind is SpanKind.COMPILE), key=lambda span: span.start)
    path = _cover(compiles)
    for kind in (SpanKind.WAIT, SpanKind.TRACE):
        covered = merged((one.start, one.end) for one in path)
        for segment in _cover(sorted((span for span in spans if span.kind == kind), key=lambda span: span.start)):
            path += _uncovered(segment, covered)
    return tuple(sorted(path, key=lambda one: one.start))


def _cover(spans: Sequence[Span]) -> list[Segment]:
    path: list[Segment] = []
    running: list[tuple[float, int]] = []
    reach, index = float("-inf"), 0
    while index < len(spans) or running:
        if not running:
            reach = max(reach, spans[index].start)
        while index < len(spans) and spans[index].start <= reach:
            heapq.heappush(running, (-(spans[index].end or 0.0), index))
            index += 1
        end, chosen = heapq.heappop(running)
        if -end > reach:
            span = spans[chosen]
            path.append(Segment(graph=span.graph, kind=span.kind, rank=span.rank, start=reach, end=-end))
            reach = -end
        else:
            running.clear()  # all others end even earlier
    return path


def _uncovered(one: Segment, covered: Sequence[Interval]) -> list[Segment]:
    left = without([(one.start, one.end)], covered)
    return [msgspec.structs.replace(one, start=start, end=end) for start, end in left]


def precompiled(graphs: Sequence[ReportJob], spent: float, own: int | None = None) -> tuple[Precompile, ...]:
    """Compile these graphs beforehand, each once, longest first: an estimate for 1, 2, 4, … and `own` workers.

    `spent`: seconds for which compiling held up the run. Longest first is within a third of the best possible order
    (Graham 1969); that compiles slow each other down on few processors is not in it.
    """
    jobs = [graph for graph in graphs if graph.attempts and graph.seconds]
    durations = sorted((job.seconds or 0.0 for job in jobs), reverse=True)
    peaks = sorted((job.peak_rss_bytes or 0 for job in jobs), reverse=True)
    found: list[Precompile] = []
    for count in sorted({*WORKERS, *([own] if own else [])}):
        if found and found[-1].workers >= len(jobs):
            break
        loads = [0.0] * max(1, min(count, len(durations)))
        for seconds in durations:
            heapq.heapreplace(loads, loads[0] + seconds)
        memory = sum(peaks[:count]) if all(peaks) else None
        found.append(Precompile(workers=count, seconds=max(loads), saved_seconds=spent - max(loads), memory=memory))
    return tuple(found) if jobs else ()
