"""Who compiled each graph of a job, who waited for it, and what that cost over all nodes.

Each node's run is made of its own events only, as for a report of that machine; the totals are their sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neuron_top.run.graph import Graph
from neuron_top.run.node_findings import holder_host
from neuron_top.run.spans import Span, SpanKind, merged
from neuron_top.views.blame.causes import Call, Causes, CompileReason
from neuron_top.views.blame.facts import FleetFacts, NodeFacts
from neuron_top.views.blame.records import (
    Blame,
    CallState,
    Compiled,
    GraphBlame,
    LostLock,
    NodeBar,
    NodeBlame,
    Repeated,
    Waited,
)
from neuron_top.views.report_graphs import wait_seconds


def blame(job: str, facts: FleetFacts, now: float) -> Blame:
    """The blame of a job. `now`: by the database's clock."""
    graphs = _by_key(facts)
    calls = _calls(graphs)
    causes = Causes(facts, graphs, calls)
    explained = [(call, causes.of(call)) for call in calls]
    by_graph: dict[str, list[tuple[Call, CompileReason]]] = {}
    for call, cause in explained:
        by_graph.setdefault(call.key, []).append((call, cause))
    rows = [_graph(key, by_graph.get(key, ()), nodes, facts) for key, nodes in graphs.items()]
    costly = [row for row in rows if row.compiles or row.waits]
    return Blame(
        job=job,
        nodes=tuple(sorted((_node(node, facts, now) for node in facts.nodes.values()), key=lambda one: -one.seconds)),
        graphs=tuple(sorted(costly, key=lambda row: -row.seconds)),
        found=len(rows) - len(costly),
        compiling=facts.cost((call.node, call.attempt.duration.seconds) for call in calls),
        waiting=facts.cost(wait for nodes in graphs.values() for wait in _wait_seconds(nodes)),
        again=facts.cost((call.node, call.attempt.duration.seconds) for call, cause in explained if cause.again),
        repeated=_repeated(explained, facts),
        lost_locks=lost_locks(facts, graphs),
        unknown_clocks=tuple(sorted(node.node for node in facts.nodes.values() if not node.clock_known)),
    )


def _key(node: str, graph: Graph) -> str:
    """A key of a graph that is the same on all nodes; a graph that no line names gets a key that includes the node."""
    return graph.module if graph.module is not None else f"{node}: {graph.key}"


def _by_key(facts: FleetFacts) -> dict[str, dict[str, list[Graph]]]:
    """Key → node → the graph as that node's run knows it."""
    found: dict[str, dict[str, list[Graph]]] = {}
    for node in facts.nodes.values():
        for graph in node.run.compiles.graphs.values():
            found.setdefault(_key(node.node, graph), {}).setdefault(node.node, []).append(graph)
    return found


def _calls(graphs: dict[str, dict[str, list[Graph]]]) -> list[Call]:
    """All calls of the compiler, ordered by their beginning; those without a reported beginning are last."""
    calls = [
        Call(key, node, graph, worker, attempt)
        for key, nodes in graphs.items()
        for node, met in nodes.items()
        for graph in met
        for worker in graph.workers.values()
        for attempt in worker.attempts
    ]
    return sorted(calls, key=lambda call: (call.began is None, call.began or 0.0, call.node))


def _graph(
    key: str, calls: Sequence[tuple[Call, CompileReason]], nodes: dict[str, list[Graph]], facts: FleetFacts
) -> GraphBlame:
    took_part = {call.node for call, _ in calls}
    return GraphBlame(
        graph=key,
        compiles=tuple(_compiled(call, cause, facts) for call, cause in calls),
        waits=_waits(nodes, [call for call, _ in calls]),
        compiling=facts.cost((call.node, call.attempt.duration.seconds) for call, _ in calls),
        waiting=facts.cost(_wait_seconds(nodes)),
        again=facts.cost((call.node, call.attempt.duration.seconds) for call, cause in calls if cause.again),
        order_known=len(took_part) < 2 or all(facts.nodes[node].clock_known for node in took_part),
    )


def _compiled(call: Call, cause: CompileReason, facts: FleetFacts) -> Compiled:
    duration, outcome = call.attempt.duration, call.attempt.outcome
    return Compiled(
        node=call.node,
        rank=facts.nodes[call.node].run.rank_of(call.worker),
        seconds=duration.seconds,
        provenance=duration.precision,
        began=call.began,
        outcome=CallState(outcome) if outcome is not None else CallState.RUNNING,
        because=cause.because,
        text=cause.text,
        again=cause.again,
    )


def _wait_seconds(nodes: dict[str, list[Graph]]) -> Iterable[tuple[str, float | None]]:
    """(node, seconds) of every wait; None if no line reports the time."""
    for node, graphs in nodes.items():
        for graph in graphs:
            for worker in graph.workers.values():
                known = list(wait_seconds(worker))
                yield from ((node, seconds) for seconds in known)
                yield from ((node, None) for _ in range(len(worker.waits) - len(known)))


def _waits(nodes: dict[str, list[Graph]], calls: Sequence[Call]) -> tuple[Waited, ...]:
    found = []
    for node, graphs in nodes.items():
        waiting = [worker for graph in graphs for worker in graph.workers.values() if worker.waits]
        if not waiting:
            continue
        seconds = [value for worker in waiting for value in wait_seconds(worker)]
        starts = [wait.start for worker in waiting for wait in worker.waits if wait.start is not None]
        ends = [wait.end for worker in waiting for wait in worker.waits if wait.end is not None]
        found.append(
            Waited(
                node=node,
                ranks=len(waiting),
                seconds=sum(seconds),
                longest=max(seconds, default=None),
                holder=_holder(calls, min(starts, default=None), max(ends, default=None)),
                going_on=sum(worker.open_wait is not None for worker in waiting),
            )
        )
    return tuple(sorted(found, key=lambda row: (-row.seconds, row.node)))


def _holder(calls: Sequence[Call], start: float | None, end: float | None) -> str:
    """The node that compiled longest while others waited; "" if unknown."""
    holders: dict[str, float] = {}
    for call in calls:
        began, ended = call.began, call.attempt.end
        if began is None or start is None:
            continue
        last = min(value for value in (ended, end, float("inf")) if value is not None)
        if last >= start and (end is None or began <= end):
            holders[call.node] = max(holders.get(call.node, 0.0), last - max(began, start))
    return max(sorted(holders), key=holders.__getitem__, default="")


def _repeated(explained: Sequence[tuple[Call, CompileReason]], facts: FleetFacts) -> tuple[Repeated, ...]:
    groups: dict[str, list[tuple[Call, CompileReason]]] = {}
    for call, cause in explained:
        if cause.again:
            groups.setdefault(cause.because, []).append((call, cause))
    rows = [
        Repeated(
            because=group[0][1].because,
            text=group[0][1].text,
            compiles=len(group),
            graphs=tuple(dict.fromkeys(call.key for call, _ in group)),
            nodes=tuple(sorted({call.node for call, _ in group})),
            cost=facts.cost((call.node, call.attempt.duration.seconds) for call, _ in group),
        )
        for group in groups.values()
    ]
    return tuple(sorted(rows, key=lambda row: -row.cost.seconds))


def _node(node: NodeFacts, facts: FleetFacts, now: float) -> NodeBlame:
    graphs = {graph.key: [graph] for graph in node.run.compiles.graphs.values()}
    attempts = [attempt for (graph,) in graphs.values() for attempt in graph.attempts]
    return NodeBlame(
        node=node.node,
        ranks=node.ranks,
        cores=node.cores,
        compiling=facts.cost((node.node, attempt.duration.seconds) for attempt in attempts),
        waiting=facts.cost(wait for (graph,) in graphs.values() for wait in _wait_seconds({node.node: [graph]})),
        bars=tuple(_bars(node.run.compiles.totals.spans(), node.run.effective_now(now))),
        clock_known=node.clock_known,
    )


def _bars(spans: Sequence[Span], now: float) -> list[NodeBar]:
    bars = []
    for kind in (SpanKind.COMPILE, SpanKind.WAIT):
        stretches = ((span.start, span.end if span.end is not None else now) for span in spans if span.kind is kind)
        bars += [NodeBar(kind, start, end) for start, end in merged(stretches)]
    return bars


def lost_locks(facts: FleetFacts, graphs: Mapping[str, Mapping[str, list[Graph]]]) -> tuple[LostLock, ...]:
    """Locks whose holder is on a node that is gone; those with most waiters first."""
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
    """Nodes that compile the graph, and those that any node's cache names as the holder of its lock."""
    holders = {node for node, met in nodes.items() for graph in met if any(_compiles(graph))}
    for node in facts.nodes.values():
        entry = node.run.caches.entry(key)
        if entry is not None and (host := holder_host(entry.lock_holder or "")):
            holders.add(hosts.get(host, host))
    return holders


def _compiles(graph: Graph) -> list[bool]:
    return [worker.open_attempt is not None for worker in graph.workers.values()]
