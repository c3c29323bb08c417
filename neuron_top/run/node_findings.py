"""Findings about several nodes of a job, as values: silence, repeated compiles, lost locks, differences, pace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.run.graph import Graph
from neuron_top.run.history import median
from neuron_top.run.model import Run
from neuron_top.run.nodes import NodeState

SKEW_SECONDS = 1.0
LEAST_NODES = 4
"""Fewer nodes than this have no typical pace."""
VERSIONS = ("compiler", "driver", "runtime", "libneuronxla", "torch_neuronx", "torch", "collectives")
"""Attributes in which the nodes of a job ought to agree."""
_HOST = re.compile(r"\bon ([\w.-]+)")
_DEVIATIONS = 5.0
_LEAST_SHARE = 0.1
"""A slow node's steps must be longer than the typical one by at least this share of it, however even the others are."""


class Slow(NamedTuple):
    """A node whose steps take longer than the others'."""

    node: NodeState
    seconds: float
    typical: float


class Odd(NamedTuple):
    """Nodes that differ from most others in an attribute."""

    attribute: str
    value: str
    usual: str
    nodes: tuple[str, ...]
    total: int


def silent(run: Run, now: float) -> list[NodeState]:
    """Nodes that went silent while others go on."""
    nodes = [node for node in run.nodes.nodes.values() if node.last is not None and not node.finished]
    quiet = [node for node in nodes if now - (node.last or 0.0) > SILENT_SECONDS]
    return quiet if len(quiet) < len(nodes) else []


def compiled_again(run: Run) -> dict[str, list[Graph]]:
    """Node → graphs that it compiled although another node had found them before."""
    found: dict[str, list[Graph]] = {}
    if len(run.nodes.nodes) < 2:
        return found
    for summary in run.compiles.totals.summaries():
        for node in summary.compiled_again:
            found.setdefault(node, []).append(summary.graph)
    return found


def lost_holders(run: Run, now: float) -> Iterator[tuple[Graph, str, int]]:
    """(graph, node, number of waiters) of locks that ranks wait for and a silent node holds."""
    gone = {node.node for node in silent(run, now)}
    gone |= {node.node for node in run.nodes.nodes.values() if node.finished}
    hosts = {str(node.attributes.get("host")): node.node for node in run.nodes.nodes.values()}
    waiting = Counter(graph.key for graph, _, _ in run.compiles.totals.waits())
    for key, count in waiting.items():
        graph = run.compiles.graphs[key]
        holders = {worker.node for worker in graph.workers.values() if worker.open_attempt is not None}
        entry = run.caches.entry(graph.module) if graph.module is not None else None
        if entry is not None and (host := holder_host(entry.lock_holder or "")):
            holders.add(hosts.get(host, host))
        if holders and holders <= gone:
            yield graph, min(holders), count


def holder_host(text: str) -> str:
    """The host in the text about a lock's holder; "" if it names none."""
    match = _HOST.search(text)
    return match[1] if match else ""


def differing(run: Run) -> Iterator[Odd]:
    """Versions that are not the same on all nodes; the rarer values with their nodes."""
    nodes = [node for node in run.nodes.nodes.values() if node.attributes and not node.finished]
    for attribute in VERSIONS:
        values = {node.node: str(node.attributes.get(attribute, "none")) for node in nodes}
        counts = Counter(values.values())
        if len(counts) > 1:
            usual = counts.most_common(1)[0][0]
            for value in sorted(counts.keys() - {usual}):
                odd = tuple(sorted(node for node, has in values.items() if has == value))
                yield Odd(attribute, value, usual, odd, len(values))


def slow(run: Run) -> list[Slow]:
    """Nodes whose median step is far above the others', by the median of the distances from the median."""
    paces = {node.node: node.step_seconds for node in run.nodes.nodes.values() if not node.finished}
    known = {name: seconds for name, seconds in paces.items() if seconds is not None}
    if len(known) < LEAST_NODES:
        return []
    typical = median(known.values())
    spread = 1.4826 * median(abs(seconds - typical) for seconds in known.values())
    limit = typical + max(_DEVIATIONS * spread, _LEAST_SHARE * typical)
    return [Slow(run.nodes.nodes[name], seconds, typical) for name, seconds in known.items() if seconds > limit]


def skewed(run: Run) -> list[NodeState]:
    """Nodes whose clock is more than a second off the database's."""
    return [node for node in run.nodes.nodes.values() if abs(node.clock_offset or 0.0) > SKEW_SECONDS]
