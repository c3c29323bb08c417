"""The book of graphs: opens and closes attempts and waits, and keeps the lasting state that follows."""

from __future__ import annotations

from neuron_top.run.graph import Attempt, Graph, GraphState, WorkerGraph

_OUTCOMES = {"done": GraphState.COMPILED, "failed": GraphState.FAILED, "interrupted": GraphState.INTERRUPTED}
_STAYS = {
    GraphState.COMPILED: (GraphState.HIT, GraphState.EXTRACTED, GraphState.INTERRUPTED),
    GraphState.HIT: (GraphState.EXTRACTED, GraphState.INTERRUPTED),
}
"""What does not replace a lasting state: a graph compiled here stays `done` when other ranks then hit it."""

Entry = tuple[Graph, WorkerGraph, Attempt]


class GraphTracker:
    """Graphs by key in the order they were first met, and the attempts that run or lack their end."""

    def __init__(self) -> None:
        self.graphs: dict[str, Graph] = {}
        self.running: list[Entry] = []
        """Attempts that go on."""
        self._undated: list[Entry] = []
        """Attempts known to have ended, but not when: their worker's next header is the late bound."""
        self.version = 0
        """Grows with every change of any graph, as `Graph.version` does with its own: what views cache by."""
        self._numbered = 0

    def graph(self, key: str, time: float | None, *, named: bool = True) -> Graph:
        """The graph of this key, entered when it is new."""
        graph = self.graphs.get(key)
        if graph is None:
            graph = self.graphs[key] = Graph(key=key, module=key if named else None, first=time, since=time)
        self.touch(graph)
        return graph

    def touch(self, graph: Graph) -> None:
        """Something about this graph changes."""
        self.version += 1
        graph.version += 1

    def meeting(self, graph: Graph, worker: str, pid: int | None, rank: int | None, node: str) -> WorkerGraph:
        """The worker's meeting with the graph.

        A meeting of nobody in particular is taken over by the first worker who names himself: an observer of
        processes, a report and a line then tell of one compile.
        """
        meeting = graph.meetings.get(worker)
        if meeting is None:
            meeting = graph.meetings.pop(f"{node}/", None) or WorkerGraph(worker=worker, node=node, since=graph.since)
            meeting.worker = worker
            graph.meetings[worker] = meeting
        meeting.pid = pid if pid is not None else meeting.pid
        meeting.rank = rank if rank is not None else meeting.rank
        return meeting

    def unnamed(self, worker: str, time: float | None, pid: int | None, rank: int | None, node: str) -> None:
        """Enter a compile whose graph no line has named (yet)."""
        self._numbered += 1
        graph = self.graph(f"unnamed {self._numbered}", time, named=False)
        meeting = self.meeting(graph, worker, pid, rank, node)
        self.open(graph, meeting, meeting.attempt("derived"), time, exact=False)

    def claim_unnamed(self) -> Attempt | None:
        """Strike out the newest compile that only dots or PASS told of, now that its graph has a name.

        One that has ended goes first: the dots of the next may stand between a PASS and the line that names its graph.
        """
        claimed: tuple[str, Attempt] | None = None
        for key, graph in reversed(self.graphs.items()):
            for meeting in graph.meetings.values() if graph.module is None else ():
                if "derived" in meeting.told and (claimed is None or meeting.attempts[-1].outcome):
                    claimed = key, meeting.attempts[-1]
            if claimed is not None and claimed[1].outcome:
                break
        if claimed is None:
            return None
        del self.graphs[claimed[0]]
        self._forget(claimed[1])
        return claimed[1]

    def open(self, graph: Graph, meeting: WorkerGraph, attempt: Attempt, time: float | None, *, exact: bool) -> None:
        """An attempt began; the exact teller sets the start. Told late of one that ended, it stays ended."""
        if attempt.start is None or (exact and not attempt.exact_start):
            attempt.start, attempt.exact_start = time, exact
        if attempt.outcome:
            return
        if not any(running is attempt for _, _, running in self.running):
            self.running.append((graph, meeting, attempt))
        if meeting.state is not GraphState.COMPILING:
            meeting.state, meeting.since = GraphState.COMPILING, attempt.start

    def close(self, graph: Graph, meeting: WorkerGraph, attempt: Attempt, time: float | None, outcome: str, *,
              exact: bool = False, inferred: bool = False) -> None:  # fmt: skip
        """An attempt ended. What a line tells beats what was inferred, an exact end beats a bound, a failure stays."""
        self.touch(graph)
        self._forget(attempt)
        better = attempt.inferred or (exact and not attempt.exact_end)
        if not attempt.outcome or (better and not inferred):
            attempt.end, attempt.exact_end, attempt.inferred = time, exact, inferred
            attempt.outcome = "failed" if attempt.outcome == "failed" and not attempt.inferred else outcome
        elif outcome == "failed":
            attempt.outcome = outcome
        if attempt.end is None and attempt.seconds is None:
            self._undated.append((graph, meeting, attempt))
        if attempt is meeting.attempts[-1] and meeting.state is not GraphState.HIT:
            meeting.state, meeting.since = _OUTCOMES[attempt.outcome], time
            self.settle(graph, meeting.state, time)

    def settle(self, graph: Graph, state: GraphState, time: float | None) -> None:
        """A lasting state was reached; some older ones stay nevertheless."""
        if state not in _STAYS.get(graph.settled, ()):
            graph.settled, graph.since = state, time

    def header(self, worker: str, time: float | None) -> None:
        """A line with a clock came from this worker: the late bound of its attempts that lack an end."""
        if time is None or not self._undated:
            return
        for graph, meeting, attempt in self._undated:
            if meeting.worker == worker and attempt.end is None:
                self.touch(graph)
                attempt.end = time
        self._undated = [entry for entry in self._undated if entry[2].end is None]

    def undated(self, worker: str) -> Entry | None:
        """The oldest attempt of this worker that ended at an unknown time."""
        return next((entry for entry in self._undated if entry[1].worker == worker), None)

    def end_wait(self, meeting: WorkerGraph, time: float | None) -> None:
        """The worker's wait is over, if one goes on; without a clock, at the last it said of it."""
        wait = meeting.open_wait
        if wait is None:
            return
        wait.end = time if time is not None else wait.last
        if wait.end is None:  # nothing dates this wait at all: it counts, but has no length
            wait.start, wait.end = None, 0.0

    def _forget(self, attempt: Attempt) -> None:
        self.running = [entry for entry in self.running if entry[2] is not attempt]
        self._undated = [entry for entry in self._undated if entry[2] is not attempt]
