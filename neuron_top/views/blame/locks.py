"""Locks that ranks wait for and whose holder's node is gone."""

from __future__ import annotations

from collections.abc import Mapping

from neuron_top.run.graph import Graph
from neuron_top.run.node_findings import holder_host
from neuron_top.views.blame.facts import FleetFacts
from neuron_top.views.blame.records import LostLock


def lost_locks(facts: FleetFacts, graphs: Mapping[str, Mapping[str, list[Graph]]]) -> tuple[LostLock, ...]:
    """Those that most wait for first."""
    hosts = {str(node.attributes["host"]): node.node for node in facts.nodes.values() if "host" in node.attributes}
    found = []
    for key, nodes in graphs.items():
        waiting = {
            node: count
            for node, met in nodes.items()
            if not facts.nodes[node].gone
            and (count := sum(w.open_wait is not None for graph in met for w in graph.workers.values()))
        }
        if not waiting:
            continue
        holders = _holders(facts, key, nodes, hosts)
        if holders and all(node in facts.nodes and facts.nodes[node].gone for node in holders):
            found.append(
                LostLock(graph=key, holder=min(holders), waiting=sum(waiting.values()), nodes=tuple(sorted(waiting)))
            )
    return tuple(sorted(found, key=lambda one: -one.waiting))


def _holders(facts: FleetFacts, key: str, nodes: Mapping[str, list[Graph]], hosts: Mapping[str, str]) -> set[str]:
    """Nodes that compile it, and those that any node's cache names as the holder of its lock."""
    holders = {node for node, met in nodes.items() for graph in met if any(_compiles(graph))}
    for node in facts.nodes.values():
        entry = node.run.caches.entry(key)
        if entry is not None and (host := holder_host(entry.lock_holder or "")):
            holders.add(hosts.get(host, host))
    return holders


def _compiles(graph: Graph) -> list[bool]:
    return [worker.open_attempt is not None for worker in graph.workers.values()]
