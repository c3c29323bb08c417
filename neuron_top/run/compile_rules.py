"""The rules of the compile ledger: what each compile event proves, by the generation of its log.

What a line proves differs by generation (specs of the log formats, "What can be derived"): the oldest announces
misses, the second only look-ups, the third names the start, the newest only the end. Each rule stands once, in the
method of its event; `graph.py` keeps two tellers of one compile from counting it twice.
"""

from __future__ import annotations

from neuron_top.events import (
    ArtifactLoaded,
    CachedFailureHit,
    CacheHit,
    CacheMissed,
    CachePathAnnounced,
    CompileBegan,
    CompileCompleted,
    CompileEnded,
    CompileFailed,
    CompileFellBack,
    CompileGaveUp,
    CompileLogEvent,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
    GraphDescribed,
    GraphExtracted,
    GraphReused,
    HubMissed,
    LockWaited,
    LogEvent,
)
from neuron_top.run.graph import LINES_KEPT, Attempt, Graph, GraphState, LinePlace, Wait, WorkerGraph
from neuron_top.run.graph_tracker import Entry, GraphTracker
from neuron_top.run.lookups import Lookups, worker_key
from neuron_top.run.totals import GraphTotals

_Named = CompileLogEvent | GraphDescribed | CompileBegan | CompileEnded | ArtifactLoaded | GraphReused
REASONS_KEPT = 100


class CompileRules(GraphTotals):
    """Graphs and their totals, the counters that belong to no graph, and one method per event."""

    def __init__(self) -> None:
        self._book = GraphTracker()
        super().__init__(self._book)
        self.passes = 0
        """`Compiler status PASS` seen; may exceed starts and completions, because some compiles announce nothing."""
        self.dots = 0
        self.misses_announced = 0
        self.hub_misses = 0
        self.gave_up = 0
        self.fallbacks: dict[str, int] = {}
        """Graphs that ran without our compiler, by reason."""
        self.first_fallback: float | None = None
        self.extractions = 0
        """Extraction lines, one per rank and graph."""
        self.lock_lines = 0
        self.longest_wait_minutes: float | None = None
        self.error_codes: dict[str, int] = {}
        self.exit_codes: dict[int, int] = {}
        self.stage_seconds: dict[str, float] = {}
        """Compiler stages: seconds added up over all compiles."""
        self.cache_paths: list[str] = []
        self.compiler_versions: list[str] = []
        self._lookups = Lookups()
        self._unassigned_passes = 0
        self._by_compiler: dict[str, tuple[Graph, WorkerGraph]] = {}

    def _path_announced(self, event: CachePathAnnounced) -> None:
        remember(self.cache_paths, event.path)
        if event.generation == "G1" and event.module is None:
            worker = worker_key(event)
            missed = self._lookups.announced(worker, event.time, identified=event.pid is not None)
            if missed is not None:
                self._book.unnamed(worker, missed, event.pid, event.rank, event.node)

    def _started(self, event: CacheMissed | CompileStarted, kind: str, *, exact: bool) -> None:
        graph, meeting = self._met(event)
        self._book.end_wait(meeting, event.time)
        self._book.open(graph, meeting, meeting.attempt(kind), event.time, exact=exact)

    def _began(self, event: CompileBegan) -> None:
        graph, meeting = self._met(event)
        self._book.end_wait(meeting, event.time)
        last = meeting.open_attempt
        if event.inside_job and last is not None and "began" in meeting.told:  # one compile, moved into the job
            last.inside_job = True
            return
        attempt = meeting.attempt("began")
        attempt.compiler_pid, attempt.inside_job = event.compiler_pid, event.inside_job
        self._book.open(graph, meeting, attempt, event.time, exact=True)
        if event.compiler_pid is not None:
            self._by_compiler[f"{event.node}/{event.compiler_pid}"] = (graph, meeting)

    def _hit(self, event: CacheHit) -> None:
        self._lookups.answered(worker_key(event))
        graph, meeting = self._met(event)
        _place(graph, event.root, event.compiler)
        meeting.hits += 1
        meeting.hits_seen_to_wait += meeting.open_wait is not None
        self._book.end_wait(meeting, event.time)
        meeting.state, meeting.since = GraphState.HIT, event.time
        for _, other, attempt in [entry for entry in self._book.running if entry[0] is graph]:
            # an artifact that can be used proves that its compile has ended
            self._book.close(graph, other, attempt, event.time, "done", inferred=True)
        self._book.settle(graph, GraphState.HIT, event.time)

    def _failure_met(self, event: CachedFailureHit) -> None:
        self._lookups.answered(worker_key(event))
        graph, meeting = self._met(event)
        _place(graph, event.root, event.compiler)
        self._book.end_wait(meeting, event.time)
        meeting.failures_met += 1
        meeting.retries += event.retrying
        meeting.state, meeting.since = GraphState.CACHED_FAILURE, event.time
        graph.message = event.message or graph.message
        self._book.settle(graph, GraphState.CACHED_FAILURE, event.time)

    def _dotted(self, event: CompilerProgress) -> None:
        self.dots += event.dots
        pending = self._lookups.oldest_pending()
        if not self._book.running:
            if pending is not None:
                self._unnamed(pending[0], pending[1], event.node)
            elif self._lookups.newest is not None:  # else no wrapper has spoken: dots of something else
                self._unnamed(f"{event.node}/{event.source}", event.time, event.node)
        if len(self._book.running) == 1:
            self._book.running[0][2].dots += event.dots

    def _passed(self, event: CompilerPassed) -> None:
        """PASS names nothing: it ends the one compile that runs, or all once as many have passed as are running."""
        self.passes += 1
        pending = self._lookups.oldest_pending()
        if pending is not None and not self._book.running:
            self._unnamed(pending[0], pending[1], event.node)
        running = [entry for entry in self._book.running if "began" not in entry[1].told]
        self._unassigned_passes = self._unassigned_passes + 1 if running else 0
        if running and self._unassigned_passes >= len(running):
            self._unassigned_passes = 0
            for graph, meeting, attempt in running:
                self._book.close(graph, meeting, attempt, event.time, "done", inferred=True)

    def _completed(self, event: CompileCompleted) -> None:
        if event.module is None:
            self._exited(event)
            return
        graph, meeting = self._met(event)
        self._book.end_wait(meeting, event.time)
        attempt = meeting.attempt("finished")
        self._start_backwards(attempt, event)
        self._book.close(graph, meeting, attempt, event.time, "done", exact=event.at is not None)
        self._lookups.completed(worker_key(event), event.time)
        self._book.header(worker_key(event), event.time)

    def _exited(self, event: CompileCompleted) -> None:
        """The oldest format names no graph when it ends; its compiles are one after the other in each process."""
        worker = worker_key(event)
        ended = self._book.undated(worker) or next(iter(self._running_of(worker) or self._book.running), None)
        if ended is not None:
            graph, meeting, attempt = ended
            meeting.told["finished"] = len(meeting.attempts)
            self._book.close(graph, meeting, attempt, event.time, "done", exact=event.at is not None)
        self._header(worker, event.time)

    def _failed(self, event: CompileFailed) -> None:
        graph, meeting = self._met(event)
        self._book.end_wait(meeting, event.time)
        last = meeting.attempts[-1] if meeting.attempts else None
        if last is not None and last.inferred and meeting.told.get("finished", 0) >= len(meeting.attempts):
            attempt = last  # an inferred end gives way to the line that tells it
        else:
            attempt = meeting.attempt("finished")
        attempt.message = event.message or attempt.message
        attempt.code = event.code or attempt.code
        attempt.exit_status = event.exit_status if event.exit_status is not None else attempt.exit_status
        graph.message = event.message or graph.message
        self._start_backwards(attempt, event)
        self._book.close(graph, meeting, attempt, event.time, "failed", exact=event.at is not None)
        self._lookups.completed(worker_key(event), event.time)

    def _given_up(self, event: CompileGaveUp) -> None:
        """The wrapper's last word on a graph: itself a failure where no message of one came before."""
        self.gave_up += 1
        if event.module is None:
            return
        _graph, meeting = self._met(event)
        if not meeting.attempts or meeting.attempts[-1].outcome != "failed":
            self._failed(
                CompileFailed(
                    at=event.at, seen=event.seen, source=event.source, node=event.node, offset=event.offset,
                    pid=event.pid, rank=event.rank, generation=event.generation, module=event.module,
                    message=f"given up after {event.retries} retries; the compiler's message was not printed",
                )
            )  # fmt: skip

    def _ended(self, event: CompileEnded) -> None:
        graph, meeting = self._met(event)
        attempt = meeting.attempt("ended")
        attempt.seconds, attempt.cause = event.seconds, event.cause
        attempt.peak_rss_bytes, attempt.artifact_bytes = event.peak_rss_bytes, event.artifact_bytes
        graph.artifact_bytes = event.artifact_bytes if event.artifact_bytes is not None else graph.artifact_bytes
        if event.time is not None:  # it was told to have begun once its process worked: preparing it took time before
            began = event.time - event.seconds
            attempt.start, attempt.exact_start = min(began, attempt.start or began), True
        outcome = "done" if event.ok else ("failed" if event.cause.is_last_word else "interrupted")
        self._book.close(graph, meeting, attempt, event.time, outcome, exact=True)

    def _loaded(self, event: ArtifactLoaded) -> None:
        _graph, meeting = self._met(event)
        meeting.loads += 1
        meeting.load_seconds += event.seconds
        meeting.loads_after_wait += event.waited_seconds > 0 and not meeting.attempts
        if event.waited_seconds <= 0 or event.time is None:
            return
        start = event.time - event.seconds - event.waited_seconds
        if not meeting.waits or (meeting.waits[-1].end or start) < start - 1.0:
            meeting.waits.append(Wait())
        wait = meeting.waits[-1]
        wait.seconds, wait.start, wait.end = event.waited_seconds, start, start + event.waited_seconds

    def _shared(self, event: GraphReused) -> None:
        _graph, meeting = self._met(event)
        meeting.blocks = max(meeting.blocks or 0, event.blocks)

    def _waited(self, event: LockWaited) -> None:
        self.lock_lines += 1
        graph, meeting = self._met(event)
        _place(graph, event.root, event.compiler)
        wait = meeting.open_wait
        if wait is None:
            ago = (event.minutes or 0.0) * 60.0
            wait = Wait(start=event.time - ago if event.time is not None else None)
            meeting.waits.append(wait)
            meeting.state, meeting.since = GraphState.WAITING, wait.start
        wait.lines += 1
        wait.last = event.time
        if event.minutes is not None:
            wait.minutes = max(wait.minutes or 0.0, event.minutes)
            self.longest_wait_minutes = max(self.longest_wait_minutes or 0.0, event.minutes)

    def _extracted(self, event: GraphExtracted) -> None:
        self.extractions += 1
        self._lookups.answered(worker_key(event))
        graph, meeting = self._met(event)
        _place(graph, event.root, event.compiler)
        meeting.extractions += 1
        meeting.state, meeting.since = GraphState.EXTRACTED, event.time
        self._book.settle(graph, GraphState.EXTRACTED, event.time)

    def _hub_missed(self, event: HubMissed) -> None:
        self.hub_misses += 1
        if event.module is not None:
            graph = self._book.graph(event.module, event.time)
            _place(graph, None, event.compiler)
            if event.file and event.file not in graph.hub_missing:
                graph.hub_missing.append(event.file)

    def _described(self, event: GraphDescribed) -> None:
        graph, _ = self._met(event)
        graph.direction = event.direction or graph.direction
        graph.operators = event.operators if event.operators is not None else graph.operators
        graph.op_counts = event.op_counts or graph.op_counts
        graph.inputs = event.inputs or graph.inputs
        graph.graph_bytes = event.graph_bytes if event.graph_bytes is not None else graph.graph_bytes
        graph.flags = event.flags or graph.flags
        _place(graph, None, event.compiler)

    def _fell_back(self, event: CompileFellBack) -> None:
        known = event.reason in self.fallbacks or len(self.fallbacks) < REASONS_KEPT
        reason = event.reason if known else "other reasons"
        self.fallbacks[reason] = self.fallbacks.get(reason, 0) + 1
        self.first_fallback = event.time if self.first_fallback is None else self.first_fallback

    # --- what stands behind several events ---

    def _met(self, event: _Named) -> tuple[Graph, WorkerGraph]:
        worker = worker_key(event)
        graph = self._book.graph(event.module or f"unnamed {worker}", event.time, named=event.module is not None)
        meeting = self._book.meeting(graph, worker, event.pid, event.rank, event.node)
        if isinstance(event, LogEvent) and event.offset is not None:
            graph.lines.append(LinePlace(event.source, event.offset, event.time, type(event).__name__))
            del graph.lines[:-LINES_KEPT]
        return graph, meeting

    def _heard(self, event: CompileLogEvent) -> None:
        """A header of a process is the late bound of what it had open, and the early one of what ends next."""
        if isinstance(event, CompileCompleted | CompileFailed):
            return  # these tell the end themselves
        worker = worker_key(event)
        if event.pid is not None and not isinstance(event, CompileStarted | CacheMissed | LockWaited | CompileGaveUp):
            for graph, meeting, attempt in self._running_of(worker):
                if "began" not in meeting.told and event.time != attempt.start:
                    meeting.told["finished"] = len(meeting.attempts)
                    self._book.close(graph, meeting, attempt, event.time, "done", inferred=True)
        self._header(worker, event.time)

    def _header(self, worker: str, time: float | None) -> None:
        self._lookups.header(worker, time)
        self._book.header(worker, time)

    def _start_backwards(self, attempt: Attempt, event: CompileCompleted | CompileFailed) -> None:
        """Where only the end is told: the start is at the dots that nobody had claimed, or after the last header."""
        if attempt.start is not None:
            return
        unnamed = self._book.claim_unnamed()
        start, exact = self._lookups.early_bound(worker_key(event))
        if unnamed is not None:
            attempt.dots = unnamed.dots
            if unnamed.start is not None and (start is None or unnamed.start >= start):
                start, exact = unnamed.start, False
        if start is not None and event.time is not None and start <= event.time:
            attempt.start, attempt.exact_start = start, exact

    def _unnamed(self, worker: str, time: float | None, node: str) -> None:
        self._lookups.answered(worker)
        self._book.unnamed(worker, time, None, None, node)

    def _running_of(self, worker: str) -> list[Entry]:
        return [entry for entry in self._book.running if entry[1].worker == worker]

    def _stop_waits(self, time: float | None, worker: str | None = None) -> None:
        """Waits (of one worker, or all) that nothing ended were interrupted."""
        for graph, meeting, _wait in self.waits():
            if worker is None or meeting.worker == worker:
                self._book.touch(graph)
                self._book.end_wait(meeting, time)
                meeting.state, meeting.since = GraphState.INTERRUPTED, time


def remember(values: list[str], value: str) -> None:
    """Add a value that is not there yet."""
    if value and value not in values:
        values.append(value)


def _place(graph: Graph, root: str | None, compiler: str | None) -> None:
    graph.root = root or graph.root
    graph.compiler = compiler or graph.compiler
