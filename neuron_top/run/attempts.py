"""Finds out when compiles began and ended, from lines, our own component, the process table and reports.

What a line proves differs between generations of log formats: the oldest announces misses, the second only lookups, the
third reports the start, the newest only the end. Each rule is in the method of its event; `graph.py` prevents that two
messages about one compile count it twice.
"""

from __future__ import annotations

from neuron_top.events import (
    CacheMissed,
    CompileBegan,
    CompileCompleted,
    CompileEnded,
    CompileFailed,
    CompileGaveUp,
    CompileLogEvent,
    CompileRequested,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
    GraphMeasured,
    GraphReported,
    LockWaited,
    LogGeneration,
    ProcessExited,
    ProcessRole,
    ProcessSeen,
    QueueCounted,
)
from neuron_top.run.compile_counts import CompileCounts
from neuron_top.run.graph import Attempt, AttemptOutcome, Graph, Message, WorkerGraph
from neuron_top.run.graph_tracker import GraphTracker
from neuron_top.run.lookups import Lookups, worker_key


class Attempts:
    """The part of the compile tracker that opens and closes attempts."""

    def __init__(self, graphs: GraphTracker, lookups: Lookups, counts: CompileCounts) -> None:
        self._graphs, self._lookups, self._counts = graphs, lookups, counts
        self._unassigned_passes: dict[str, int] = {}
        """By node."""
        self._by_compiler: dict[str, tuple[Graph, WorkerGraph]] = {}

    # --- lines of the job ---

    def heard(self, event: CompileLogEvent) -> None:
        """A process printed a header: its open compiles have ended by now, and its next one began no earlier."""
        if isinstance(event, CompileCompleted | CompileFailed) or event.generation == LogGeneration.NATIVE:
            return  # the first two report the end themselves; TorchNeuron compiles in several threads at once
        key = worker_key(event)
        if event.pid is not None and not isinstance(event, CompileStarted | CacheMissed | LockWaited | CompileGaveUp):
            for graph, worker, attempt in self._graphs.running_of(event.node, key):
                if not worker.reports_its_compiles and event.time != attempt.start:
                    worker.message_counts[Message.FINISHED] = len(worker.attempts)
                    self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.DONE, inferred=True)
        self.header(key, event.time)

    def missed(self, event: CacheMissed) -> None:
        """A miss was announced: a compile starts. TorchNeuron may still come to wait for another process's compile."""
        if event.generation == LogGeneration.NATIVE:
            self._graphs.of_event(event)
        else:
            self.started(event)

    def started(self, event: CacheMissed | CompileStarted) -> None:
        """A miss was announced, or the compiler called."""
        graph, worker = self._graphs.of_event(event)
        self._graphs.end_wait(worker, event.time)
        announced = isinstance(event, CacheMissed)
        attempt = worker.attempt(Message.MISSED if announced else Message.STARTED)
        self._graphs.open(graph, worker, attempt, event.time, exact=not announced and event.at is not None)

    def progress(self, event: CompilerProgress) -> None:
        """Dots stand for a compile; they belong to the one that runs, where only one does on this node."""
        self._counts.dots += event.dots
        if not self._graphs.running_on(event.node):
            pending = self._lookups.oldest_pending(event.node)
            if pending is not None:
                self._add_unnamed(pending[0], pending[1], event.node)
            elif self._lookups.newest is not None:  # else no wrapper has spoken: dots of something else
                self._add_unnamed(f"{event.node}/{event.source}", event.time, event.node)
        running = self._graphs.running_on(event.node)
        if len(running) == 1:
            running[0][2].dots += event.dots

    def passed(self, event: CompilerPassed) -> None:
        """PASS names nothing: it ends the one compile of its node, or all once as many have passed as are running."""
        self._counts.passes += 1
        if not self._graphs.running_on(event.node):
            pending = self._lookups.oldest_pending(event.node)
            if pending is not None:
                self._add_unnamed(pending[0], pending[1], event.node)
            elif self._lookups.newest is None:  # no wrapper has spoken: a job that prints PASS and nothing else
                self._graphs.add_passed(f"{event.node}/{event.source}", event.node)
        here = self._graphs.running_on(event.node)
        running = [entry for entry in here if not entry[1].reports_its_compiles]
        unassigned = self._unassigned_passes.pop(event.node, 0) + 1
        if 0 < len(running) <= unassigned:
            for graph, worker, attempt in running:
                self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.DONE, inferred=True)
        elif running:
            self._unassigned_passes[event.node] = unassigned

    def completed(self, event: CompileCompleted) -> None:
        """A line reports the end; the oldest format's names no graph."""
        if event.module is None:
            self._exited(event)
            return
        graph, worker = self._graphs.of_event(event)
        self._graphs.end_wait(worker, event.time)
        attempt = worker.attempt(Message.FINISHED)
        self._start_backwards(attempt, event)
        self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.DONE, exact=event.at is not None)
        self._lookups.completed(worker_key(event), event.time)
        self._graphs.header(worker_key(event), event.time)

    def _exited(self, event: CompileCompleted) -> None:
        """The oldest format names no graph when it ends; its compiles are one after the other in each process."""
        key = worker_key(event)
        running = self._graphs.running_of(event.node, key) or self._graphs.running_on(event.node)
        ended = self._graphs.undated(key) or next(iter(running), None)
        if ended is not None:
            graph, worker, attempt = ended
            worker.message_counts[Message.FINISHED] = len(worker.attempts)
            self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.DONE, exact=event.at is not None)
        self.header(key, event.time)

    def failed(self, event: CompileFailed) -> None:
        """A line reports that a compile failed; an end that was inferred gives way to it."""
        running = self._graphs.running_on(event.node) if event.module is None and event.pid is None else []
        if len(running) == 1:  # the compiler's status names nothing: it is that of the one compile there is
            graph, worker, attempt = running[0]
            attempt.message = attempt.message or event.message
            graph.message = graph.message or event.message
            self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.FAILED, inferred=True)
            return
        graph, worker = self._graphs.of_event(event)
        self._graphs.end_wait(worker, event.time)
        last = worker.attempts[-1] if worker.attempts else None
        finished = worker.message_counts.get(Message.FINISHED, 0)
        if last is not None and last.inferred and finished >= len(worker.attempts):
            attempt = last
        else:
            attempt = worker.attempt(Message.FINISHED)
        attempt.message = event.message or attempt.message
        attempt.code = event.code or attempt.code
        attempt.exit_status = event.exit_status if event.exit_status is not None else attempt.exit_status
        graph.message = event.message or graph.message
        self._start_backwards(attempt, event)
        self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.FAILED, exact=event.at is not None)
        self._lookups.completed(worker_key(event), event.time)

    def given_up(self, event: CompileGaveUp) -> None:
        """The wrapper gave a graph up: counts as a failure where no failure was reported before."""
        if event.module is None:
            return
        _graph, worker = self._graphs.of_event(event)
        if not worker.attempts or worker.attempts[-1].outcome is not AttemptOutcome.FAILED:
            self.failed(
                CompileFailed(
                    at=event.at,
                    seen=event.seen,
                    source=event.source,
                    node=event.node,
                    offset=event.offset,
                    pid=event.pid,
                    rank=event.rank,
                    generation=event.generation,
                    module=event.module,
                    message=event.message,
                )
            )

    # --- our own compile component ---

    def requested(self, event: CompileRequested) -> None:
        """Our component asked for a compile: a process that works on it is not there yet."""
        graph, worker = self._graphs.of_event(event)
        self._graphs.end_wait(worker, event.time)
        self._graphs.open(graph, worker, worker.attempt(Message.REQUESTED), event.time, exact=True)

    def began(self, event: CompileBegan) -> None:
        """A compiler process works on the graph, or the compile moved into the job's own process."""
        graph, worker = self._graphs.of_event(event)
        self._graphs.end_wait(worker, event.time)
        last = worker.open_attempt
        if event.inside_job and last is not None and Message.BEGAN in worker.message_counts:
            last.inside_job = True  # one compile, moved
            return
        if requested := worker.message_counts.get(Message.REQUESTED):
            worker.message_counts[Message.BEGAN] = requested - 1  # no process ever worked on an earlier one
        attempt = worker.attempt(Message.BEGAN)
        attempt.compiler_pid, attempt.inside_job = event.compiler_pid, event.inside_job
        self._graphs.open(graph, worker, attempt, event.time, exact=True)
        if event.compiler_pid is not None:
            self._by_compiler[f"{event.node}/{event.compiler_pid}"] = (graph, worker)

    def ended(self, event: CompileEnded) -> None:
        """Our component finished, with measured seconds."""
        graph, worker = self._graphs.of_event(event)
        attempt = worker.attempt(Message.ENDED)
        attempt.seconds, attempt.cause = event.seconds, event.cause
        attempt.peak_rss_bytes, attempt.artifact_bytes = event.peak_rss_bytes, event.artifact_bytes
        graph.artifact_bytes = event.artifact_bytes if event.artifact_bytes is not None else graph.artifact_bytes
        if event.time is not None:  # older versions reported the begin once the compile's process worked
            began = event.time - event.seconds
            attempt.start, attempt.exact_start = min(began, attempt.start or began), True
        outcome = AttemptOutcome.FAILED if event.cause.is_last_word else AttemptOutcome.INTERRUPTED
        self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.DONE if event.ok else outcome, exact=True)

    # --- what other families say about graphs ---

    def queue_counted(self, event: QueueCounted) -> None:
        """A counter line ends the compile of its own process to the millisecond."""
        key = worker_key(event)
        if event.pid is not None:
            undated = self._graphs.undated(key)
            for graph, worker, attempt in [*self._graphs.running_of(event.node, key), *([undated] if undated else [])]:
                self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.DONE, exact=event.at is not None)
        self.header(key, event.time)

    def reported(self, event: GraphReported) -> None:
        """The parallel compile's report: all that is known of many graphs, and the measured time of others."""
        if event.module is None:
            return
        graph = self._graphs.graph(event.module, event.time)
        graph.reported_seconds = event.seconds if event.seconds is not None else graph.reported_seconds
        if graph.misses or event.ok is None:
            return
        worker = self._graphs.worker(graph, f"{event.node}/", None, None, event.node)
        attempt = worker.attempt(Message.REPORTED)
        unnamed = self._graphs.claim_unnamed()
        if unnamed is not None:
            attempt.start, attempt.end, attempt.dots = unnamed.start, unnamed.end, unnamed.dots
        attempt.seconds = event.seconds
        self._graphs.close(
            graph, worker, attempt, attempt.end, AttemptOutcome.DONE if event.ok else AttemptOutcome.FAILED
        )

    def measured(self, event: GraphMeasured) -> None:
        """A row of TorchNeuron's table: the measured time of a compile that lines reported, or its only report."""
        graph = self._graphs.graph(self._graphs.module_of(event.module) or event.module, event.time)
        graph.operators = event.operators if event.operators is not None else graph.operators
        if event.compile_seconds <= 0:
            return
        candidates = ((worker, attempt) for worker in graph.workers.values() for attempt in worker.attempts)
        unmeasured = (
            (worker, one)
            for worker, one in candidates
            if one.seconds is None and one.outcome is not AttemptOutcome.FAILED
        )
        worker, attempt = next(unmeasured, (None, None))
        if worker is None or attempt is None:
            worker = self._graphs.worker(graph, worker_key(event), None, event.rank, event.node)
            attempt = worker.attempt(Message.MEASURED)
            began = event.at + (event.lower_seconds or 0.0) if event.at is not None else None
            attempt.start, attempt.end = began, began + event.compile_seconds if began is not None else None
        attempt.seconds = event.compile_seconds
        self._graphs.close(graph, worker, attempt, attempt.end, AttemptOutcome.DONE)

    def process_seen(self, event: ProcessSeen) -> None:
        """A compiler process names its graph: that is the exact start, whatever the log says."""
        if event.role != ProcessRole.COMPILER or event.module is None:
            return
        graph = self._graphs.graph(event.module, event.time)
        running = next((entry for entry in self._graphs.running_on(event.node) if entry[0] is graph), None)
        if running is not None:
            worker, attempt = running[1], running[2]
        else:
            worker = self._graphs.worker(graph, f"{event.node}/", None, event.rank, event.node)
            attempt = worker.attempt(Message.SEEN)
            start = event.started or event.time
            self._graphs.open(graph, worker, attempt, start, exact=event.started is not None)
        attempt.compiler_pid = event.pid
        self._by_compiler[f"{event.node}/{event.pid}"] = (graph, worker)

    def process_exited(self, event: ProcessExited) -> None:
        """What a process had open when it ended was interrupted, unless a late line still says otherwise."""
        key = f"{event.node}/{event.pid}"
        for graph, worker, attempt in self._graphs.running_of(event.node, key):
            self._graphs.close(graph, worker, attempt, event.time, AttemptOutcome.INTERRUPTED, inferred=True)
        if (compiled := self._by_compiler.pop(key, None)) is None:
            return
        graph, worker = compiled
        last = worker.open_attempt
        if last is not None and worker.pid is None:  # nobody but the process table reports this compile
            last.exit_status = event.exit_code
            outcome = AttemptOutcome.DONE if event.exit_code in (0, None) else AttemptOutcome.FAILED
            self._graphs.close(graph, worker, last, event.time, outcome, exact=True, inferred=True)

    def run_over(self, at: float | None, node: str) -> None:
        """Nothing goes on after the run: what is open was interrupted, a lookup without an answer was a miss."""
        for key, time in self._lookups.unanswered():
            self._add_unnamed(key, time, node)
        for graph, worker, attempt in self._graphs.running():
            self._graphs.close(graph, worker, attempt, at, AttemptOutcome.INTERRUPTED, inferred=True)

    # --- what stands behind several events ---

    def header(self, key: str, time: float | None) -> None:
        """A line with a clock came from this process."""
        self._lookups.header(key, time)
        self._graphs.header(key, time)

    def _start_backwards(self, attempt: Attempt, event: CompileCompleted | CompileFailed) -> None:
        """Where only the end is known: the start is that of the unclaimed dots, or follows the last header."""
        if attempt.start is not None:
            return
        unnamed = self._graphs.claim_unnamed()
        start, exact = self._lookups.early_bound(worker_key(event))
        if unnamed is not None:
            attempt.dots = unnamed.dots
            if unnamed.start is not None and (start is None or unnamed.start >= start):
                start, exact = unnamed.start, False
        if start is not None and event.time is not None and start <= event.time:
            attempt.start, attempt.exact_start = start, exact

    def _add_unnamed(self, key: str, time: float | None, node: str) -> None:
        self._lookups.answered(key)
        self._graphs.add_unnamed(key, time, None, None, node)
