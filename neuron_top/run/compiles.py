"""The compile ledger: every compile event, and what other families say about graphs, added up.

Which event proves what is in `compile_rules`; here stands who is asked for which event.
"""

from __future__ import annotations

from typing import assert_never

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
    CompileFamily,
    CompileFellBack,
    CompileGaveUp,
    CompileLogEvent,
    CompilerErrorSeen,
    CompilerExited,
    CompilerPassed,
    CompilerProgress,
    CompilerStageFinished,
    CompilerVersionSeen,
    CompileStarted,
    GraphDescribed,
    GraphExtracted,
    GraphReported,
    GraphReused,
    HubMissed,
    LockWaited,
    ProcessExited,
    ProcessSeen,
    QueueCounted,
    WorkerStarted,
)
from neuron_top.run.compile_rules import CompileRules, remember
from neuron_top.run.lookups import worker_key

_NO_HEADER = (CompilerProgress, CompilerPassed, HubMissed)
"""Lines of the compiler or of somebody else: they say nothing about what the calling process does."""


class CompileLedger(CompileRules):
    """Graphs and their totals, and the counters that belong to no graph."""

    @property
    def compiling(self) -> int:
        """Compiles that run now, as far as events tell."""
        return len(self._book.running)

    def apply(self, event: CompileFamily) -> None:  # noqa: C901 (one case per event is the point)
        """Take one compile event into account."""
        if isinstance(event, CompileLogEvent) and not isinstance(event, _NO_HEADER):
            self._heard(event)
        match event:
            case CachePathAnnounced():
                self._path_announced(event)
            case CacheMissed():
                self.misses_announced += 1
                self._started(event, "missed", exact=False)
            case CacheHit():
                self._hit(event)
            case CachedFailureHit():
                self._failure_met(event)
            case CompileStarted():
                self._started(event, "started", exact=event.at is not None)
            case CompilerProgress():
                self._dotted(event)
            case CompilerPassed():
                self._passed(event)
            case CompileCompleted():
                self._completed(event)
            case CompileFailed():
                self._failed(event)
            case CompileGaveUp():
                self._given_up(event)
            case LockWaited():
                self._waited(event)
            case GraphExtracted():
                self._extracted(event)
            case HubMissed():
                self._hub_missed(event)
            case GraphDescribed():
                self._described(event)
            case CompileBegan():
                self._began(event)
            case CompileEnded():
                self._ended(event)
            case ArtifactLoaded():
                self._loaded(event)
            case GraphReused():
                self._shared(event)
            case CompileFellBack():
                self._fell_back(event)
            case CompilerStageFinished():
                self.stage_seconds[event.stage] = self.stage_seconds.get(event.stage, 0.0) + event.seconds
            case CompilerExited():
                self.exit_codes[event.code] = self.exit_codes.get(event.code, 0) + 1
            case CompilerVersionSeen():
                remember(self.compiler_versions, event.version)
            case CompilerErrorSeen():
                self.error_codes[event.code] = self.error_codes.get(event.code, 0) + 1
            case _:
                assert_never(event)

    # --- what other families say about graphs ---

    def queue_counted(self, event: QueueCounted) -> None:
        """A counter line ends the compile of its own process to the millisecond."""
        worker = worker_key(event)
        if event.pid is not None:
            undated = self._book.undated(worker)
            for graph, meeting, attempt in [*self._running_of(worker), *([undated] if undated else [])]:
                self._book.close(graph, meeting, attempt, event.time, "done", exact=event.at is not None)
        self._header(worker, event.time)

    def worker_started(self, event: WorkerStarted) -> None:
        """A worker of a parallel compile: the distances of its completions are its compile times."""
        if event.pid is not None:
            self._lookups.serial(worker_key(event), event.time)

    def reported(self, event: GraphReported) -> None:
        """The parallel compile's report: the only word on many graphs, and the measured time of others."""
        if event.module is None:
            return
        graph = self._book.graph(event.module, event.time)
        graph.reported_seconds = event.seconds if event.seconds is not None else graph.reported_seconds
        graph.reported_retries = event.retry
        if graph.misses or event.ok is None:
            return
        meeting = self._book.meeting(graph, f"{event.node}/", None, None, event.node)
        attempt = meeting.attempt("reported")
        unnamed = self._book.claim_unnamed()
        if unnamed is not None:
            attempt.start, attempt.end, attempt.dots = unnamed.start, unnamed.end, unnamed.dots
        attempt.seconds = event.seconds
        self._book.close(graph, meeting, attempt, attempt.end, "done" if event.ok else "failed")

    def process_seen(self, event: ProcessSeen) -> None:
        """A compiler process that names its graph: the start, exact, whatever the log says or does not."""
        if event.role != "compiler" or event.module is None:
            return
        graph = self._book.graph(event.module, event.time)
        running = next((entry for entry in self._book.running if entry[0] is graph), None)
        if running is not None:
            meeting, attempt = running[1], running[2]
        else:
            meeting = self._book.meeting(graph, f"{event.node}/", None, event.rank, event.node)
            attempt = meeting.attempt("seen")
            self._book.open(graph, meeting, attempt, event.started or event.time, exact=event.started is not None)
        attempt.compiler_pid = event.pid
        self._by_compiler[f"{event.node}/{event.pid}"] = (graph, meeting)

    def process_gone(self, event: ProcessExited) -> None:
        """What a process had open when it ended was interrupted, unless a late line still says otherwise."""
        worker = f"{event.node}/{event.pid}"
        for graph, meeting, attempt in self._running_of(worker):
            self._book.close(graph, meeting, attempt, event.time, "interrupted", inferred=True)
        self._stop_waits(event.time, worker)
        graph_and_meeting = self._by_compiler.pop(worker, None)
        if graph_and_meeting is None:
            return
        graph, meeting = graph_and_meeting
        last = meeting.open_attempt
        if last is not None and meeting.pid is None:  # nobody but the process table tells of this compile
            last.exit_status = event.exit_code
            outcome = "done" if event.exit_code in (0, None) else "failed"
            self._book.close(graph, meeting, last, event.time, outcome, exact=True, inferred=True)

    def run_over(self, at: float | None, node: str) -> None:
        """Nothing goes on after the run: what is open was interrupted, a look-up without an answer was a miss."""
        for worker, time in self._lookups.unanswered():
            self._unnamed(worker, time, node)
        for graph, meeting, attempt in list(self._book.running):
            self._book.close(graph, meeting, attempt, at, "interrupted", inferred=True)
        self._stop_waits(at)
