"""What the cache answered, and when: for the timeline of workers and for hits and misses over time.

A hit is dated by the last time its worker met the graph, which is what a run keeps; a compile by its start.
"""

from __future__ import annotations

import msgspec

from neuron_top.run.graph import GraphState, WorkerGraph
from neuron_top.run.model import Run


class CacheLookup(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's look-up of one graph. `kind`: `hit`, `miss` or `cached failure`."""

    time: float
    kind: str
    graph: str
    worker: str
    rank: int | None
    pid: int | None


def answers(run: Run, _now: float) -> tuple[CacheLookup, ...]:
    """All dated answers, oldest first."""
    found = [
        CacheLookup(time=time, kind=kind, graph=graph.key, worker=worker.key, rank=run.rank_of(worker),
               pid=worker.pid)
        for graph in run.compiles.graphs.values()
        for worker in graph.workers.values()
        for time, kind in _dated(worker)
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda answer: answer.time))


def _dated(worker: WorkerGraph) -> list[tuple[float, str]]:
    dated = [(one.start, "miss") for one in worker.attempts if one.start is not None]
    if worker.since is not None and worker.state in (GraphState.HIT, GraphState.CACHED_FAILURE):
        dated.append((worker.since, "hit" if worker.state is GraphState.HIT else "cached failure"))
    return dated
