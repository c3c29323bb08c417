"""Cache lookups with their times: for the timeline of workers and for hits and misses over time.

A hit has the time of its worker's last lookup of the graph, which is what a run keeps; a miss that of its compile's
start.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.run.graph import GraphState, WorkerGraph
from neuron_top.run.model import Run


class LookupResult(StrEnum):
    """The result of a lookup."""

    HIT = "hit"
    MISS = "miss"
    CACHED_FAILURE = "cached failure"


class CacheLookup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One worker's lookup of one graph."""

    time: float
    kind: LookupResult
    graph: str
    worker: str
    rank: int | None
    pid: int | None


def cache_lookups(run: Run, _now: float) -> tuple[CacheLookup, ...]:
    """All lookups whose time is known, oldest first."""
    lookups = [
        CacheLookup(time=time, kind=kind, graph=graph.key, worker=worker.key, rank=run.rank_of(worker), pid=worker.pid)
        for graph in run.compiles.graphs.values()
        for worker in graph.workers.values()
        for time, kind in _dated(worker)
        if is_in_calendar(time)
    ]
    return tuple(sorted(lookups, key=lambda lookup: lookup.time))


def _dated(worker: WorkerGraph) -> list[tuple[float, LookupResult]]:
    dated = [(attempt.start, LookupResult.MISS) for attempt in worker.attempts if attempt.start is not None]
    if worker.since is not None and worker.state in (GraphState.HIT, GraphState.CACHED_FAILURE):
        is_hit = worker.state is GraphState.HIT
        dated.append((worker.since, LookupResult.HIT if is_hit else LookupResult.CACHED_FAILURE))
    return dated
