"""Compiles of a run: one tracker that hands each event to its parts.

`GraphTracker` keeps the graphs and their attempts, `Attempts` finds out when compiles began and ended, `CacheAnswers`
how lookups ended, `GraphTotals` adds up, and `CompileCounts` counts what belongs to no graph.
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
    CompileRequested,
    CompilerErrorSeen,
    CompilerExited,
    CompilerPassed,
    CompilerProgress,
    CompilerStageFinished,
    CompilerVersionSeen,
    CompileStarted,
    GraphDescribed,
    GraphExtracted,
    GraphMeasured,
    GraphReported,
    GraphReused,
    HubMissed,
    LockWaited,
    ProcessExited,
    ProcessSeen,
    QueueCounted,
    WaitBegan,
    WorkerHeard,
    WorkerStarted,
)
from neuron_top.run.attempts import Attempts
from neuron_top.run.cache_answers import CacheAnswers
from neuron_top.run.compile_counts import CompileCounts, add_new
from neuron_top.run.graph import Graph, GraphState, WorkerGraph
from neuron_top.run.graph_tracker import GraphTracker
from neuron_top.run.lookups import Lookups, worker_key
from neuron_top.run.totals import GraphTotals

_NO_HEADER = (CompilerProgress, CompilerPassed, HubMissed)
"""Lines of the compiler or of another program, which say nothing about what the calling process does."""


class CompileTracker:
    """Graphs, their compiles, hits and waits, and the counters that belong to no graph."""

    def __init__(self) -> None:
        self._graphs = GraphTracker()
        self._lookups = Lookups()
        self.totals = GraphTotals(self._graphs)
        self.counts = CompileCounts()
        self._attempts = Attempts(self._graphs, self._lookups, self.counts)
        self._answers = CacheAnswers(self._graphs, self._lookups, self.counts)

    @property
    def graphs(self) -> dict[str, Graph]:
        """By key, in the order they were first met."""
        return self._graphs.graphs

    @property
    def compiling(self) -> int:
        """Compiles that run now, as far as events show."""
        return self._graphs.compiling

    def apply(self, event: CompileFamily) -> None:  # noqa: C901 (one case per event is the point)
        """Take one compile event into account."""
        if isinstance(event, CompileLogEvent) and not isinstance(event, _NO_HEADER):
            self._attempts.heard(event)
        counts = self.counts
        match event:
            case CachePathAnnounced():
                self._answers.path_announced(event)
            case CacheMissed():
                counts.misses_announced += 1
                self._attempts.missed(event)
            case CacheHit():
                self._answers.hit(event)
            case CachedFailureHit():
                self._answers.cached_failure(event)
            case CompileStarted():
                self._attempts.started(event)
            case CompilerProgress():
                self._attempts.progress(event)
            case CompilerPassed():
                self._attempts.passed(event)
            case CompileCompleted():
                self._attempts.completed(event)
            case CompileFailed():
                self._attempts.failed(event)
            case CompileGaveUp():
                counts.gave_up += 1
                self._attempts.given_up(event)
            case LockWaited():
                self._answers.waited(event)
            case GraphExtracted():
                self._answers.extracted(event)
            case HubMissed():
                self._answers.hub_missed(event)
            case GraphDescribed():
                self._described(event)
            case WaitBegan():
                self._answers.wait_began(event)
            case CompileRequested():
                self._attempts.requested(event)
            case CompileBegan():
                self._attempts.began(event)
            case CompileEnded():
                self._attempts.ended(event)
            case ArtifactLoaded():
                self._answers.loaded(event)
            case GraphReused():
                _graph, worker = self._graphs.of_event(event)
                worker.blocks = max(worker.blocks or 0, event.blocks)
            case GraphMeasured():
                self._measured(event)
            case CompileFellBack():
                counts.add_fallback(event.reason, event.time)
            case CompilerStageFinished():
                counts.stage_seconds[event.stage] = counts.stage_seconds.get(event.stage, 0.0) + event.seconds
            case CompilerExited():
                counts.exit_codes[event.code] = counts.exit_codes.get(event.code, 0) + 1
            case CompilerVersionSeen():
                add_new(counts.compiler_versions, event.version)
            case CompilerErrorSeen():
                counts.error_codes[event.code] = counts.error_codes.get(event.code, 0) + 1
            case _:
                assert_never(event)

    def apply_folded(
        self, event: CacheHit | GraphExtracted | CachePathAnnounced | LockWaited, count: int, longest: float | None
    ) -> None:
        """Take `count` lookups of one node into account, all with the same answer."""
        match event:
            case CacheHit():
                self._answers.hits_folded(event, count)
            case GraphExtracted():
                self._answers.extractions_folded(event, count)
            case LockWaited():
                self._answers.waits_folded(event, count, longest)
            case CachePathAnnounced():
                self._answers.path_announced(event)

    def heard(self, event: WorkerHeard) -> None:
        """A process has printed lines that were folded: none of its compiles that end later began before these."""
        key = worker_key(event)
        if not event.of_log:
            self._attempts.header(key, event.time)
        if event.module is not None:
            graph = self._graphs.graph(event.module, event.time)
            worker = graph.workers.setdefault(
                key, WorkerGraph(key=key, pid=event.pid, rank=event.rank, node=event.node)
            )
            worker.state = GraphState.EXTRACTED if event.extracted else GraphState.HIT
            worker.since = event.time

    def apply_other(self, event: QueueCounted | WorkerStarted | GraphReported | ProcessSeen | ProcessExited) -> None:
        """Take into account what an event of another family says about graphs."""
        match event:
            case QueueCounted():
                self._attempts.queue_counted(event)
            case WorkerStarted():
                if event.pid is not None:  # it compiles one graph at a time: the times between are its compile times
                    self._lookups.serial(worker_key(event), event.time)
            case GraphReported():
                self._attempts.reported(event)
            case ProcessSeen():
                self._attempts.process_seen(event)
            case ProcessExited():
                self._attempts.process_exited(event)
                self._answers.process_exited(event)
            case _:
                assert_never(event)

    def run_over(self, at: float | None, node: str) -> None:
        """Nothing goes on after the run: what is open was interrupted, a lookup without an answer was a miss."""
        self._attempts.run_over(at, node)
        self._answers.run_over(at)

    def _measured(self, event: GraphMeasured) -> None:
        self._attempts.measured(event)
        for stage, seconds in (("fx passes", event.pass_seconds), ("lowering", event.lower_seconds)):
            if seconds:
                self.counts.stage_seconds[stage] = self.counts.stage_seconds.get(stage, 0.0) + seconds

    def _described(self, event: GraphDescribed) -> None:
        graph, _worker = self._graphs.of_event(event)
        graph.direction = event.direction or graph.direction
        graph.operators = event.operators if event.operators is not None else graph.operators
        graph.op_counts = event.op_counts or graph.op_counts
        graph.inputs = event.inputs or graph.inputs
        graph.graph_bytes = event.graph_bytes if event.graph_bytes is not None else graph.graph_bytes
        graph.flags = event.flags or graph.flags
        graph.locate(None, event.compiler)
