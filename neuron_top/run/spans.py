"""Intervals of time and their union: what share of a run's wall time was spent compiling or waiting."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from neuron_top.run.graph import AttemptOutcome


class SpanKind(StrEnum):
    """What a worker did."""

    COMPILE = "compile"
    WAIT = "wait"
    TRACE = "trace"
    """PyTorch captured a graph for our own back end."""


class Span(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One bar of the timeline: who did what on which graph from when to when (`end` None: still going on)."""

    graph: str
    worker: str
    pid: int | None
    rank: int | None
    kind: SpanKind
    start: float
    end: float | None
    outcome: AttemptOutcome | None = None
    exact: bool = True
    """False if one end is only a bound."""
    by_pytorch: bool = False
    """PyTorch compiled it by itself: `graph` names a function and its compile, not a graph of the compile cache."""


Interval = tuple[float, float]


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The time covered by at least one of the intervals, as intervals that don't touch, in order."""
    whole: list[Interval] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(whole[-1][1], end))
        else:
            whole.append((start, end))
    return whole


def insert(covered: list[Interval], interval: Interval) -> None:
    """Add an interval to intervals that are in order and do not touch, as `merged` would."""
    start, end = interval
    if end <= start:
        return
    first = bisect_left(covered, start, key=_end)
    behind = bisect_right(covered, end, key=_start)
    if first < behind:
        start, end = min(start, covered[first][0]), max(end, covered[behind - 1][1])
    covered[first:behind] = [(start, end)]


def _start(interval: Interval) -> float:
    return interval[0]


def _end(interval: Interval) -> float:
    return interval[1]


def without(intervals: Iterable[Interval], holes: Iterable[Interval]) -> list[Interval]:
    """The time covered by `intervals` and by none of `holes`, in order."""
    left: list[Interval] = []
    cuts, next_cut = merged(holes), 0
    for start, end in merged(intervals):
        while next_cut < len(cuts) and cuts[next_cut][1] <= start:
            next_cut += 1
        at = next_cut
        while at < len(cuts) and cuts[at][0] < end:
            if cuts[at][0] > start:
                left.append((start, cuts[at][0]))
            start = cuts[at][1]
            at += 1
        if start < end:
            left.append((start, end))
    return left


def share_of_time(seconds: float | None, elapsed: float | None) -> float | None:
    """Seconds as a share of the time that passed; None if either is unknown, or no clock can have measured both.

    Clocks of whole seconds may add one.
    """
    if seconds is None or not elapsed or seconds > elapsed + 1.0:
        return None
    return min(1.0, seconds / elapsed)


def union_seconds(intervals: Iterable[tuple[float, float]]) -> float:
    """Seconds covered by at least one of the intervals; overlaps count once, reversed intervals not at all."""
    total, reach = 0.0, float("-inf")
    for start, end in sorted(intervals):
        if end > reach and end > start:
            total += end - max(start, reach)
            reach = end
    return total
