"""What the cache answered to a job's lookups: hits, stored failures, waits for a lock, graphs stored for later."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.events import (
    ArtifactLoaded,
    CachedFailureHit,
    CacheHit,
    CachePathAnnounced,
    GraphExtracted,
    HubMissed,
    LockWaited,
    LogGeneration,
    ProcessExited,
    WaitBegan,
)
from neuron_top.run.compile_counts import CompileCounts, add_new
from neuron_top.run.graph import FOLDED, AttemptOutcome, Graph, GraphState, Wait, WorkerGraph
from neuron_top.run.graph_tracker import Entry, GraphTracker
from neuron_top.run.lookups import Lookups, worker_key


class CacheAnswers:
    """The part of the compile tracker that follows lookups to their answers."""

    def __init__(self, graphs: GraphTracker, lookups: Lookups, counts: CompileCounts) -> None:
        self._graphs, self._lookups, self._counts = graphs, lookups, counts

    def path_announced(self, event: CachePathAnnounced) -> None:
        """A lookup began; the second format reports a miss by nothing but the next one."""
        add_new(self._counts.cache_paths, event.path)
        if event.generation == LogGeneration.G1 and event.module is None:
            key = worker_key(event)
            missed = self._lookups.announced(key, event.time, identified=event.pid is not None)
            if missed is not None:
                self._graphs.add_unnamed(key, missed, event.pid, event.rank, event.node)

    def hit(self, event: CacheHit) -> None:
        """The artifact was there, which proves that its compile has ended."""
        self._lookups.answered(worker_key(event))
        graph, worker = self._graphs.of_event(event)
        graph.locate(event.root, event.compiler)
        worker.hits += 1
        worker.hits_seen_to_wait += worker.open_wait is not None
        self._graphs.end_wait(worker, event.time)
        if event.generation == LogGeneration.NATIVE:
            # It said that it would compile, but then waited, and found what another process had compiled.
            self._graphs.withdraw(graph, worker)
        worker.state, worker.since = GraphState.HIT, event.time
        for _, compiling, attempt in self._running_on(graph, event.node):
            self._graphs.close(graph, compiling, attempt, event.time, AttemptOutcome.DONE, inferred=True)
        self._graphs.settle(graph, GraphState.HIT, event.time)

    def _running_on(self, graph: Graph, node: str) -> list[Entry]:
        """Compiles of a graph on the node that just found it: another node may have another cache."""
        return [entry for entry in self._graphs.running_on(node) if entry[0] is graph]

    def cached_failure(self, event: CachedFailureHit) -> None:
        """The cache answered with a stored failure."""
        self._lookups.answered(worker_key(event))
        graph, worker = self._graphs.of_event(event)
        graph.locate(event.root, event.compiler)
        self._graphs.end_wait(worker, event.time)
        worker.failures_met += 1
        worker.retries += event.retrying
        worker.state, worker.since = GraphState.CACHED_FAILURE, event.time
        graph.message = event.message or graph.message
        self._graphs.settle(graph, GraphState.CACHED_FAILURE, event.time)

    def extracted(self, event: GraphExtracted) -> None:
        """The graph was stored for a later compile."""
        self._counts.extractions += 1
        self._lookups.answered(worker_key(event))
        graph, worker = self._graphs.of_event(event)
        graph.locate(event.root, event.compiler)
        worker.extractions += 1
        worker.state, worker.since = GraphState.EXTRACTED, event.time
        self._graphs.settle(graph, GraphState.EXTRACTED, event.time)

    def hub_missed(self, event: HubMissed) -> None:
        """The hub's cache lacks a file of an entry: no miss of the local one."""
        self._counts.hub_misses += 1
        if event.module is not None:
            graph = self._graphs.graph(event.module, event.time)
            graph.locate(None, event.compiler)
            if event.file and event.file not in graph.hub_missing:
                graph.hub_missing.append(event.file)

    def waited(self, event: LockWaited) -> None:
        """A worker says that it waits for another's compile."""
        self._counts.lock_lines += 1
        graph, worker = self._graphs.of_event(event)
        graph.locate(event.root, event.compiler)
        wait = worker.open_wait
        if wait is None:
            ago = (event.minutes or 0.0) * 60.0
            wait = Wait(start=event.time - ago if event.time is not None else None)
            self._graphs.begin_wait(graph, worker, wait)
            worker.state, worker.since = GraphState.WAITING, wait.start
        wait.lines += 1
        wait.heard(event.time)
        if event.minutes is not None:
            wait.minutes = max(wait.minutes or 0.0, event.minutes)
            longest = self._counts.longest_wait_minutes
            self._counts.longest_wait_minutes = max(longest or 0.0, event.minutes)
        if event.broken:  # it removed the lock, and compiles itself
            self._graphs.end_wait(worker, event.time)
            compiling = worker.open_attempt is not None
            worker.state, worker.since = GraphState.COMPILING if compiling else GraphState.KNOWN, event.time

    def wait_began(self, event: WaitBegan) -> None:
        """Our component waits for another's compile. A line about how that ended may have been read before this."""
        graph, worker = self._graphs.of_event(event)
        told_later = event.time is not None and worker.since is not None and worker.since > event.time
        if worker.open_wait is None and not told_later:
            self._graphs.begin_wait(graph, worker, Wait(start=event.time))
            worker.state, worker.since = GraphState.WAITING, event.time

    def hits_folded(self, event: CacheHit, count: int) -> None:
        """`count` processes of a node found the artifact; none of them had waited for it or compiled it."""
        graph, worker = self._aggregate(event)
        worker.hits += count
        worker.state, worker.since = GraphState.HIT, event.time
        self._graphs.settle(graph, GraphState.HIT, event.time)

    def extractions_folded(self, event: GraphExtracted, count: int) -> None:
        """`count` processes of a node stored the graph for a later compile."""
        self._counts.extractions += count
        graph, worker = self._aggregate(event)
        worker.extractions += count
        worker.state, worker.since = GraphState.EXTRACTED, event.time
        self._graphs.settle(graph, GraphState.EXTRACTED, event.time)

    def waits_folded(self, event: LockWaited, count: int, longest: float | None) -> None:
        """Processes of a node said `count` times more that they wait; the longest wait was `longest` minutes."""
        self._counts.lock_lines += count
        graph = self._graphs.graph(event.module or "", event.time)
        graph.locate(event.root, event.compiler)
        if longest is not None:
            self._counts.longest_wait_minutes = max(self._counts.longest_wait_minutes or 0.0, longest)
        waits = [
            wait
            for waited_for, worker in self._graphs.waiting_on(event.node)
            if waited_for is graph and (wait := worker.open_wait) is not None
        ]
        for wait in waits:
            wait.heard(event.time)
        if waits and longest is not None:
            oldest = min(waits, key=lambda wait: wait.start or 0.0)
            oldest.minutes = max(oldest.minutes or 0.0, longest)

    def _aggregate(self, event: CacheHit | GraphExtracted) -> tuple[Graph, WorkerGraph]:
        """The graph, and the one worker that stands for all processes of a node whose lookups were folded."""
        graph = self._graphs.graph(event.module or "", event.time)
        graph.locate(event.root, event.compiler)
        key = f"{event.node}/{FOLDED}"
        return graph, graph.workers.setdefault(key, WorkerGraph(key=key, node=event.node, since=graph.since))

    def loaded(self, event: ArtifactLoaded) -> None:
        """Our component loaded an artifact, and measured for how long it had waited for it."""
        _graph, worker = self._graphs.of_event(event)
        worker.loads += 1
        worker.load_seconds += event.seconds
        worker.loads_after_wait += event.waited_seconds > 0 and not worker.attempts
        if event.waited_seconds > 0 and event.time is not None:
            start = event.time - event.seconds - event.waited_seconds
            self._graphs.measure_wait(worker, start, event.waited_seconds)
        if worker.state is GraphState.WAITING:  # no line reports how the wait ended
            self._graphs.end_wait(worker, event.time)
            worker.state, worker.since = GraphState.KNOWN, event.time

    def process_exited(self, event: ProcessExited) -> None:
        """Waits of this process that nothing ended were interrupted."""
        key = f"{event.node}/{event.pid}"
        self._stop_waits([one for one in self._graphs.waiting_on(event.node) if one[1].key == key], event.time)

    def run_over(self, at: float | None) -> None:
        """Waits that nothing ended were interrupted."""
        self._stop_waits(self._graphs.waiting(), at)

    def _stop_waits(self, waiting: Sequence[tuple[Graph, WorkerGraph]], time: float | None) -> None:
        for graph, worker in waiting:
            self._graphs.touch(graph, worker)
            self._graphs.end_wait(worker, time)
            worker.state, worker.since = GraphState.INTERRUPTED, time
