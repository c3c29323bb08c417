"""Alerts about caches: a full disk, and several caches in one job."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_top.run.alerts.alert import AlertKind, Limits, RaisedAlert
from neuron_top.run.model import Run
from neuron_top.run.severity import Severity


def several_caches(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """One job uses more than one cache."""
    roots = sorted({graph.root for graph in run.compiles.graphs.values() if graph.root})
    if len(roots) > 1:
        yield RaisedAlert(
            kind=AlertKind.SEVERAL_CACHES,
            key="several caches",
            severity=Severity.INFO,
            since=run.started,
            names=tuple(roots),
        )


def disk_low(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """A cache's disk is nearly full."""
    for root in run.caches.roots.values():
        if root.free is not None and root.free < limits.disk_free_bytes:
            yield RaisedAlert(
                kind=AlertKind.DISK_LOW,
                key=f"disk {root.root}",
                severity=Severity.ERROR if root.free < limits.disk_free_bytes // 8 else Severity.WARNING,
                since=root.scanned,
                size=root.free,
                capacity=root.size,
                names=(root.root,),
            )
