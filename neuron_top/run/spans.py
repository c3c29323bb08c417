"""Intervals of time and their union: what share of a run's wall time was spent compiling or waiting."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One bar of the timeline: who did what on which graph from when to when (`end` None: still going on)."""

    graph: str
    worker: str
    pid: int | None
    rank: int | None
    kind: str
    """`compile` or `wait`."""
    start: float
    end: float | None
    outcome: str = ""
    exact: bool = True
    """False where one end is only a bound."""


def union_seconds(intervals: Iterable[tuple[float, float]]) -> float:
    """Seconds covered by at least one of the intervals; overlaps count once, reversed intervals not at all."""
    total, reach = 0.0, float("-inf")
    for start, end in sorted(intervals):
        if end > reach and end > start:
            total += end - max(start, reach)
            reach = end
    return total
