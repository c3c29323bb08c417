"""Alerts that take several nodes: one is silent, slow, differs from the others, or repeats their compiles."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_top.run import node_findings
from neuron_top.run.alerts.alert import AlertKind, Limits, RaisedAlert
from neuron_top.run.model import Run
from neuron_top.run.severity import Severity


def silent_nodes(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Nodes that nothing has come from for a while, though the job goes on."""
    if run.job.finished is not None:
        return
    for node in node_findings.silent(run, now):
        yield RaisedAlert(
            kind=AlertKind.NODE_SILENT,
            key=f"silent {node.node}",
            severity=Severity.ERROR,
            since=node.last,
            seconds=now - node.last if node.last is not None else None,
            names=(node.node,),
            total=len(run.nodes.nodes),
        )


def compiled_again(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Nodes that compile what another node has compiled already."""
    for node, graphs in node_findings.compiled_again(run).items():
        yield RaisedAlert(
            kind=AlertKind.NODE_COMPILES_AGAIN,
            key=f"compiles again {node}",
            severity=Severity.WARNING,
            since=min((graph.first for graph in graphs if graph.first is not None), default=None),
            count=len(graphs),
            graph=graphs[-1].key,
            names=(node,),
        )


def lost_holders(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Locks that somebody waits for, and that a silent node holds."""
    for graph, node, count in node_findings.lost_holders(run, now):
        yield RaisedAlert(
            kind=AlertKind.LOCK_HOLDER_GONE,
            key=f"holder gone {graph.key}",
            severity=Severity.ERROR,
            since=graph.state_since,
            count=count,
            graph=graph.key,
            names=(node,),
        )


def differing_nodes(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Nodes with another version than most."""
    for odd in node_findings.differing(run):
        yield RaisedAlert(
            kind=AlertKind.VERSIONS_DIFFER,
            key=f"differs {odd.attribute} {odd.value}",
            severity=Severity.WARNING,
            since=run.started,
            count=len(odd.nodes),
            total=odd.total,
            text=f"{odd.attribute} {odd.value}, most have {odd.usual}",
            names=odd.nodes,
        )


def slow_nodes(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Nodes whose steps take longer than those of the others."""
    if run.job.finished is not None:
        return
    for slow in node_findings.slow(run):
        yield RaisedAlert(
            kind=AlertKind.NODE_SLOW,
            key=f"slow {slow.node.node}",
            severity=Severity.WARNING,
            since=run.training.first_time,
            seconds=slow.seconds,
            typical=slow.typical,
            total=len(run.nodes.nodes),
            names=(slow.node.node,),
        )


def skewed_clocks(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Nodes whose clock is far from ours."""
    for node in node_findings.skewed(run):
        yield RaisedAlert(
            kind=AlertKind.CLOCK_SKEW,
            key=f"clock {node.node}",
            severity=Severity.WARNING,
            since=node.first,
            seconds=node.clock_offset,
            names=(node.node,),
        )
