"""Rows of a fleet as agents leave them in the database: nodes of one job, some of them slow, one silent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from neuron_top.store.fleet_records import Attribute, JobRecord, NodeNow, NodeRecord, Spread
from neuron_top.views.fleet import FleetPage, fleet_page

NOW = 1_000_000.0
GIB = 1024**3


def job(run: str = "4711", nodes: int = 4, finished: float | None = None, **more: object) -> JobRecord:
    """A job that goes on."""
    given: dict[str, object] = {
        "run": run, "name": "bert", "cluster": "trn", "started": NOW - 600, "touched": NOW - 1, "finished": finished,
        "exit_code": None if finished is None else 0, "nodes": nodes, "ended": 0, "events": 100, "bytes": 1000,
    }  # fmt: skip
    return JobRecord(**(given | more))  # type: ignore[arg-type]


def record(
    node: str, seen: float = NOW - 2, attributes: Mapping[str, Attribute] | None = None, *, job: str = "4711"
) -> NodeRecord:
    """A node."""
    return NodeRecord(node=node, cluster="trn", job=job, attributes=dict(attributes or {}), version="1", seen=seen)


def reported(node: str, **more: object) -> NodeNow:
    """What a training node says: 32 cores, one of them less busy."""
    given: dict[str, object] = {
        "node": node, "at": NOW - 2, "job": "4711", "phase": "training", "step": 120, "step_seconds": 1.0,
        "graphs_left": 0, "worst_wait": 0.0, "clock_offset": 0.002,
        "metrics": {
            "utilization": Spread(low=0.4, median=0.9, high=0.95, worst_core=7),
            "memory": Spread(low=10 * GIB, median=11 * GIB, high=12 * GIB, worst_core=3),
        },
    }  # fmt: skip
    return NodeNow(**(given | more))  # type: ignore[arg-type]


def page(
    nodes: Iterable[NodeNow],
    *,
    attributes: Mapping[str, Mapping[str, Attribute]] | None = None,
    silent: Iterable[str] = (),
    jobs: Iterable[JobRecord] | None = None,
) -> FleetPage:
    """The page of these nodes."""
    away = set(silent)
    nows = [msgspec.structs.replace(one, at=NOW - 500) if one.node in away else one for one in nodes]
    records = [
        record(node, NOW - 500 if node in away else NOW - 2, (attributes or {}).get(node), job=one.job)
        for node, one in {one.node: one for one in nows}.items()
    ]
    return fleet_page(NOW, list(jobs) if jobs is not None else [job(nodes=len(nows))], records, nows)
