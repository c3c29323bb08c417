"""Graphs by key, the attempts that are running, and the lasting state that follows from those that ended."""

from __future__ import annotations

from neuron_top.events import CompileLogEvent, ComponentEvent, LogEvent
from neuron_top.run.graph import (
    LINES_KEPT,
    Attempt,
    AttemptOutcome,
    Graph,
    GraphState,
    LineRef,
    Message,
    Wait,
    WorkerGraph,
)
from neuron_top.run.lookups import worker_key

GraphEvent = CompileLogEvent | ComponentEvent
"""Events that speak of one graph."""
Entry = tuple[Graph, WorkerGraph, Attempt]

_LASTING = {
    AttemptOutcome.DONE: GraphState.COMPILED,
    AttemptOutcome.FAILED: GraphState.FAILED,
    AttemptOutcome.INTERRUPTED: GraphState.INTERRUPTED,
}
_STAYS = {
    GraphState.COMPILED: (GraphState.HIT, GraphState.EXTRACTED, GraphState.INTERRUPTED),
    GraphState.HIT: (GraphState.EXTRACTED, GraphState.INTERRUPTED),
    GraphState.FAILED: (GraphState.CACHED_FAILURE,),
}
"""Lasting state → states that do not replace it: a graph that was compiled here stays `compiled` when other ranks then
hit it, and one that failed here stays `failed` when they get its stored failure."""


class GraphTracker:
    """Graphs in the order in which they were first met, and the attempts that are running or lack their end."""

    def __init__(self) -> None:
        self.graphs: dict[str, Graph] = {}
        self._running: dict[str, list[Entry]] = {}
        """Node → its running attempts. A node's events do not concern the compiles of another, and the cost of an event
        must not grow with the number of nodes."""
        self._waiting: dict[str, list[tuple[Graph, WorkerGraph]]] = {}
        """Node → its workers that wait for a lock."""
        self._undated: list[Entry] = []
        """Attempts that ended at an unknown time; their worker's next header gives the upper bound."""
        self._modules: dict[str, str] = {}
        """Graph's own id → the cache's key, if both were reported."""
        self.version = 0
        """Grows with every change of any graph, as `Graph.version` with every change of its own; views cache by it."""
        self._numbered = 0
        self._any_named = False
        self._unnamed: dict[str, None] = {}
        """Keys of compiles whose graph no line has named, the oldest first: few of many graphs."""
        self._only_passed: list[str] = []
        """Graphs that stand for a PASS, as long as no graph was named: a line may still name the compile."""

    def graph(self, key: str, time: float | None, *, named: bool = True) -> Graph:
        """The graph of this key, which is added if it is new."""
        graph = self.graphs.get(key)
        if graph is None:
            if named and not self._any_named:
                self._any_named = True
                self._drop_only_passed()
            graph = self.graphs[key] = Graph(key=key, module=key if named else None, first=time, since=time)
        self.touch(graph)
        return graph

    def touch(self, graph: Graph, worker: WorkerGraph | None = None) -> None:
        """Count a change of this graph, and of what this worker has to do with it."""
        self.version += 1
        graph.version += 1
        if worker is not None:
            worker.version = graph.version

    def worker(self, graph: Graph, key: str, pid: int | None, rank: int | None, node: str) -> WorkerGraph:
        """What this worker did with the graph.

        What was reported without a worker goes to the first worker that is named, so that the process table, a report
        and a line together report one compile.
        """
        worker = graph.workers.get(key)
        if worker is None:
            worker = graph.workers.pop(f"{node}/", None) or WorkerGraph(key=key, node=node, since=graph.since)
            worker.key = key
            graph.workers[key] = worker
        worker.pid = pid if pid is not None else worker.pid
        worker.rank = rank if rank is not None else worker.rank
        self.touch(graph, worker)
        return worker

    def of_event(self, event: GraphEvent) -> tuple[Graph, WorkerGraph]:
        """The graph and the worker that an event speaks of; its log line is remembered."""
        key = worker_key(event)
        if isinstance(event, CompileLogEvent) and event.graph is not None and event.module is not None:
            self._modules[event.graph] = event.module
        module = self.module_of(event.module)
        graph = self.graph(module or f"unnamed {key}", event.time, named=module is not None)
        worker = self.worker(graph, key, event.pid, event.rank, event.node)
        if isinstance(event, LogEvent) and event.offset is not None:
            graph.lines.append(LineRef(event.source, event.offset, event.time, type(event).__name__))
            del graph.lines[:-LINES_KEPT]
        return graph, worker

    def module_of(self, name: str | None) -> str | None:
        """The cache's key of a graph that a line named by its own id; any other name as it is."""
        return self._modules.get(name or "", name)

    @property
    def compiling(self) -> int:
        """How many attempts are running, on all nodes."""
        return sum(map(len, self._running.values()))

    def running(self) -> list[Entry]:
        """Attempts that are running, node after node."""
        return [entry for entries in self._running.values() for entry in entries]

    def running_on(self, node: str) -> list[Entry]:
        """Attempts of a node that are running."""
        return self._running.get(node, [])

    def running_of(self, node: str, key: str) -> list[Entry]:
        """Attempts of a worker of this node that are running."""
        return [entry for entry in self.running_on(node) if entry[1].key == key]

    def waiting_on(self, node: str) -> list[tuple[Graph, WorkerGraph]]:
        """Workers of a node that wait for a lock."""
        return self._waiting.get(node, [])

    def waiting(self) -> list[tuple[Graph, WorkerGraph]]:
        """Workers that wait for a lock, on all nodes."""
        return [entry for entries in self._waiting.values() for entry in entries]

    def begin_wait(self, graph: Graph, worker: WorkerGraph, wait: Wait) -> None:
        """A worker began to wait for a lock."""
        worker.waits.append(wait)
        self._waiting.setdefault(worker.node, []).append((graph, worker))

    def add_unnamed(self, key: str, time: float | None, pid: int | None, rank: int | None, node: str) -> None:
        """Add a compile whose graph no line has named yet."""
        self._numbered += 1
        graph = self.graph(f"unnamed {self._numbered}", time, named=False)
        self._unnamed[graph.key] = None
        worker = self.worker(graph, key, pid, rank, node)
        self.open(graph, worker, worker.attempt(Message.DERIVED), time, exact=False)

    def add_passed(self, key: str, node: str) -> None:
        """Add a compile of a job that has reported nothing but PASS."""
        if not self._any_named:
            self.add_unnamed(key, None, None, None, node)
            self._only_passed.append(f"unnamed {self._numbered}")

    def _drop_only_passed(self) -> None:
        dropped = set[int]()
        for name in self._only_passed:
            graph = self.graphs.pop(name, None)
            self._unnamed.pop(name, None)
            for worker in graph.workers.values() if graph is not None else ():
                for attempt in worker.attempts:
                    dropped.add(id(attempt))
                    self._no_longer_runs(worker, attempt)
        self._undated = [entry for entry in self._undated if id(entry[2]) not in dropped]
        self._only_passed = []

    def claim_unnamed(self) -> Attempt | None:
        """Remove and return the newest compile that only dots or PASS reported, now that its graph has a name.

        One that has ended is preferred: the dots of the next compile may come between a PASS and the line that names
        its graph.
        """
        claimed: tuple[str, WorkerGraph, Attempt] | None = None
        for key in reversed(self._unnamed):
            for worker in self.graphs[key].workers.values():
                if Message.DERIVED in worker.message_counts and (claimed is None or worker.attempts[-1].outcome):
                    claimed = key, worker, worker.attempts[-1]
            if claimed is not None and claimed[2].outcome:
                break
        if claimed is None:
            return None
        key, worker, attempt = claimed
        del self.graphs[key], self._unnamed[key]
        self._forget(worker, attempt)
        return attempt

    def open(self, graph: Graph, worker: WorkerGraph, attempt: Attempt, time: float | None, *, exact: bool) -> None:
        """An attempt began; an exact message sets the start. One that has ended stays ended if this comes late."""
        if attempt.start is None or (exact and not attempt.exact_start):
            attempt.start, attempt.exact_start = time, exact
        if attempt.outcome:
            return
        if not attempt.listed_as_running:
            attempt.listed_as_running = True
            self._running.setdefault(worker.node, []).append((graph, worker, attempt))
        if worker.state is not GraphState.COMPILING:
            worker.state, worker.since = GraphState.COMPILING, attempt.start

    def close(
        self,
        graph: Graph,
        worker: WorkerGraph,
        attempt: Attempt,
        time: float | None,
        outcome: AttemptOutcome,
        *,
        exact: bool = False,
        inferred: bool = False,
    ) -> None:
        """An attempt ended. What a line says replaces what was inferred, an exact end a bound; a failure stays."""
        self.touch(graph, worker)
        self._forget(worker, attempt)
        better = attempt.inferred or (exact and not attempt.exact_end)
        if attempt.outcome is None or (better and not inferred):
            attempt.end, attempt.exact_end, attempt.inferred = time, exact, inferred
            attempt.outcome = attempt.outcome if attempt.outcome is AttemptOutcome.FAILED else outcome
        elif outcome is AttemptOutcome.FAILED:
            attempt.outcome = outcome
        if attempt.end is None and attempt.seconds is None:
            self._undated.append((graph, worker, attempt))
        if attempt is worker.attempts[-1] and worker.state is not GraphState.HIT:
            worker.state, worker.since = _LASTING[attempt.outcome], time
            self.settle(graph, worker.state, time)

    def withdraw(self, graph: Graph, worker: WorkerGraph) -> None:
        """Remove the open attempt of this worker: it was no compile after all."""
        attempt = worker.open_attempt
        if attempt is None:
            return
        self.touch(graph, worker)
        self._forget(worker, attempt)
        worker.attempts.remove(attempt)
        for message, count in worker.message_counts.items():
            worker.message_counts[message] = min(count, len(worker.attempts))

    def settle(self, graph: Graph, state: GraphState, time: float | None) -> None:
        """Set the lasting state, unless the current one outranks it."""
        if state not in _STAYS.get(graph.lasting, ()):
            graph.lasting, graph.since = state, time

    def header(self, key: str, time: float | None) -> None:
        """A line with a clock came from this worker: the upper bound of its attempts that ended at an unknown time."""
        if time is None or not self._undated:
            return
        for graph, worker, attempt in self._undated:
            if worker.key == key and attempt.end is None:
                self.touch(graph, worker)
                attempt.end = time
        self._undated = [entry for entry in self._undated if entry[2].end is None]

    def undated(self, key: str) -> Entry | None:
        """The oldest attempt of this worker that ended at an unknown time."""
        return next((entry for entry in self._undated if entry[1].key == key), None)

    def end_wait(self, worker: WorkerGraph, time: float | None) -> None:
        """End the worker's wait, if there is one; without a `time`, when the worker last reported it."""
        wait = worker.open_wait
        if wait is None:
            return
        wait.end = time if time is not None else wait.last
        if wait.end is None:  # nothing dates this wait: it counts, but has no length
            wait.start, wait.end = None, 0.0
        self._no_longer_waits(worker)

    def measure_wait(self, worker: WorkerGraph, start: float, seconds: float) -> None:
        """Our component measured the wait that ended, which lines may have reported or not."""
        if not worker.waits or (worker.waits[-1].end or start) < start - 1.0:
            worker.waits.append(Wait())
        wait = worker.waits[-1]
        wait.seconds, wait.start, wait.end = seconds, start, start + seconds
        self._no_longer_waits(worker)

    def _no_longer_waits(self, worker: WorkerGraph) -> None:
        left = [entry for entry in self.waiting_on(worker.node) if entry[1] is not worker]
        if left:
            self._waiting[worker.node] = left
        else:
            self._waiting.pop(worker.node, None)

    def _forget(self, worker: WorkerGraph, attempt: Attempt) -> None:
        """Remove an attempt from those that run or lack their end."""
        self._no_longer_runs(worker, attempt)
        if attempt.outcome:  # only one that has ended can lack its end
            self._undated = [entry for entry in self._undated if entry[2] is not attempt]

    def _no_longer_runs(self, worker: WorkerGraph, attempt: Attempt) -> None:
        if not attempt.listed_as_running:
            return
        attempt.listed_as_running = False
        left = [entry for entry in self.running_on(worker.node) if entry[2] is not attempt]
        if left:
            self._running[worker.node] = left
        else:
            self._running.pop(worker.node, None)
