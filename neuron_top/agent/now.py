"""What a node does now, for its heartbeat; and who waits for whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from neuron_top.run.graph import Wait
from neuron_top.run.history import median
from neuron_top.run.model import Run
from neuron_top.run.node_findings import holder_host
from neuron_top.store.fleet_records import NodeNow, Spread, WaitRecord
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.core_rows import CoreRow, core_rows
from neuron_top.views.fleet import WORST_IS_HIGH
from neuron_top.views.rank_steps import told_rows


def node_now(run: Run, now: float, node: str, job: str, notes: dict[str, int], offset: float | None) -> NodeNow:
    """The newest samples, added up over the node's cores, and where its part of the job stands."""
    rows = [row for row in core_rows(run, now) if not row.stale]
    cores = {metric.name: [metric.value(row) for row in rows] for metric in CORE_METRICS}
    known = {name: values for name, values in cores.items() if any(value is not None for value in values)}
    waits = [now - wait.start for _, _, wait in run.compiles.totals.waits() if wait.start is not None]
    counts = run.queue.counts
    return NodeNow(
        node=node,
        at=now,
        job=job,
        phase=run.state(now),
        step=run.training.step,
        step_seconds=run.training.step_seconds,
        graphs_left=counts.remaining if counts is not None else None,
        worst_wait=max(waits, default=None),
        clock_offset=offset,
        metrics={name: _spread(rows, values, max if name in WORST_IS_HIGH else min) for name, values in known.items()},
        cores=known,
        steps=told_rows(run),
        notes=notes,
    )


def waits_of(run: Run, now: float, node: str, job: str) -> Iterator[WaitRecord]:
    """A row for each graph that processes here waited or wait for, with who holds its lock where the cache tells."""
    for graph in run.compiles.graphs.values():
        waiting = [(worker, wait) for worker in graph.workers.values() for wait in worker.waits if wait.start]
        if not waiting or graph.module is None:
            continue
        entry = run.caches.entry(graph.module)
        yield WaitRecord(
            job=job,
            key=graph.module,
            holder_node=holder_host(entry.lock_holder or "") if entry is not None else "",
            waiter_node=node,
            ranks=len({worker.key for worker, _ in waiting}),
            seconds=sum(max(0.0, _end(wait, now) - (wait.start or 0.0)) for _, wait in waiting),
            first=min(wait.start or 0.0 for _, wait in waiting),
            last=max(_end(wait, now) for _, wait in waiting),
        )


def _end(wait: Wait, now: float) -> float:
    return wait.end if wait.end is not None else now


def _spread(rows: list[CoreRow], values: list[float | None], worst: Callable[[list[float]], float]) -> Spread:
    known = [(value, row.core) for row, value in zip(rows, values, strict=True) if value is not None]
    numbers = [value for value, _ in known]
    worst_core = next(core for value, core in known if value == worst(numbers))
    return Spread(low=min(numbers), median=median(numbers), high=max(numbers), worst_core=worst_core)
