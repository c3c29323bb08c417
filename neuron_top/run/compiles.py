"""The compile ledger: what every compile event says about which graph, by the rules of each log generation.

What a line proves differs by generation (specs of the log formats, "What can be derived"): the oldest announces
misses, the second only look-ups, the third names the start, the newest only the end. Each rule stands once,
in the method of its event; `graph.py` keeps two tellers of one compile from counting it twice.
"""

from __future__ import annotations

from typing import assert_never

from neuron_top.events import (
    ArtefactLoaded,
    CachedFailureMet,
    CacheHit,
    CacheMissed,
    CachePathAnnounced,
    CompileBegan,
    CompileCompleted,
    CompileDotted,
    CompileEnded,
    CompileFailed,
    CompileFamily,
    CompileFellBack,
    CompileGaveUp,
    CompileLogEvent,
    CompilerErrorSeen,
    CompilerExited,
    CompilerPassed,
    CompilerStageFinished,
    CompilerVersionSeen,
    CompileStarted,
    GraphDescribed,
    GraphExtracted,
    GraphReported,
    HubMissed,
    LockWaited,
    LogEvent,
    ProcessGone,
    ProcessSeen,
    QueueCounted,
    RunFinished,
    WorkerStarted,
)
from neuron_top.run.graph import LINES_KEPT, Attempt, Graph, GraphState, LinePlace, Meeting, Wait
from neuron_top.run.lookups import Lookups, worker_key
from neuron_top.run.spans import Span, union_seconds

_GIVES_WAY = {
    GraphState.DONE: (GraphState.HIT, GraphState.EXTRACTED, GraphState.INTERRUPTED),
    GraphState.HIT: (GraphState.EXTRACTED, GraphState.INTERRUPTED),
}
"""What does not replace a lasting state: a graph compiled here stays `done` when other ranks then hit it."""


class CompileLedger:
    """Graphs by key, in the order they were first met, and the counters that belong to no graph."""

    def __init__(self) -> None:
        self.graphs: dict[str, Graph] = {}
        self.passes = 0
        """`Compiler status PASS` seen; may exceed starts and completions, because some compiles announce nothing."""
        self.dots = 0
        self.misses_announced = 0
        self.hub_misses = 0
        self.gave_up = 0
        self.fallbacks: dict[str, int] = {}
        """Graphs that ran without our compiler, by reason."""
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
        self.first_fallback: float | None = None
        self._lookups = Lookups()
        self._by_compiler_pid: dict[str, tuple[Graph, Meeting]] = {}
        self._running: list[tuple[Graph, Meeting, Attempt]] = []

    def apply(self, event: CompileFamily) -> None:  # noqa: C901 (one case per event is the point)
        """Take one compile event into account."""
        if isinstance(event, CompileLogEvent):
            self._heard(event)
        match event:
            case CachePathAnnounced():
                self._path_announced(event)
            case CacheMissed():
                self._missed(event)
            case CacheHit():
                self._hit(event)
            case CachedFailureMet():
                self._failure_met(event)
            case CompileStarted():
                self._started(event)
            case CompileDotted():
                self._dotted(event)
            case CompilerPassed():
                self._passed(event)
            case CompileCompleted():
                self._completed(event)
            case CompileFailed():
                self._failed(event)
            case CompileGaveUp():
                self.gave_up += 1
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
            case ArtefactLoaded():
                self._loaded(event)
            case CompileFellBack():
                self.fallbacks[event.reason] = self.fallbacks.get(event.reason, 0) + 1
                self.first_fallback = event.time if self.first_fallback is None else self.first_fallback
            case CompilerStageFinished():
                self.stage_seconds[event.stage] = self.stage_seconds.get(event.stage, 0.0) + event.seconds
            case CompilerExited():
                self.exit_codes[event.code] = self.exit_codes.get(event.code, 0) + 1
            case CompilerVersionSeen():
                _remember(self.compiler_versions, event.version)
            case CompilerErrorSeen():
                self.error_codes[event.code] = self.error_codes.get(event.code, 0) + 1
            case _:
                assert_never(event)

    # --- what other families say about graphs ---

    def queue_counted(self, event: QueueCounted) -> None:
        """A counter line ends the compile of its own process to the millisecond."""
        worker = worker_key(event)
        for graph, meeting, attempt in self._open_attempts():
            if meeting.worker == worker and event.pid is not None:
                self._close(graph, meeting, attempt, event.time, "done", exact=event.at is not None)
        self._lookups.header(worker, event.time)

    def worker_started(self, event: WorkerStarted) -> None:
        """A worker of a parallel compile: the distances of its completions are its compile times."""
        if event.pid is not None:
            self._lookups.serial(worker_key(event), event.time)

    def reported(self, event: GraphReported) -> None:
        """The parallel compile's report: the only word on many graphs, and the measured time of others."""
        if event.module is None:
            return
        graph = self._graph(event.module, event.time)
        graph.reported_seconds = event.seconds if event.seconds is not None else graph.reported_seconds
        graph.reported_retries = event.retry
        if event.ok is not None and graph.settled not in (GraphState.DONE, GraphState.FAILED):
            self._settle(graph, GraphState.DONE if event.ok else GraphState.FAILED, event.time)

    def process_seen(self, event: ProcessSeen) -> None:
        """A compiler process that names its graph: the start, exact, whatever the log says or does not."""
        if event.role != "compiler" or event.module is None:
            return
        graph = self._graph(event.module, event.time)
        running = next((pair for pair in self._open_attempts() if pair[0] is graph), None)
        if running is not None:
            meeting, attempt = running[1], running[2]
        else:
            meeting = self._meeting(graph, f"{event.node}/", None, event.rank, event.node)
            attempt = meeting.attempt("seen")
            self._open(graph, meeting, attempt, event.started or event.time, exact=event.started is not None)
        attempt.compiler_pid = event.pid
        self._by_compiler_pid[f"{event.node}/{event.pid}"] = (graph, meeting)

    def process_gone(self, event: ProcessGone) -> None:
        """What a process had open when it ended was interrupted, unless a late line still says otherwise."""
        worker = f"{event.node}/{event.pid}"
        for graph, meeting, attempt in self._open_attempts():
            if meeting.worker == worker:
                self._close(graph, meeting, attempt, event.time, "interrupted", inferred=True)
        for graph in self.graphs.values():
            meeting_of_it = graph.meetings.get(worker)
            if meeting_of_it is not None and meeting_of_it.open_wait is not None:
                self._end_wait(meeting_of_it, event.time)
                meeting_of_it.state, meeting_of_it.since = GraphState.INTERRUPTED, event.time
        told = self._by_compiler_pid.pop(worker, None)
        if told is not None and (attempt_of_it := told[1].open_attempt) is not None and told[1].pid is None:
            outcome = "done" if event.exit_code in (0, None) else "failed"
            attempt_of_it.exit_status = event.exit_code
            self._close(told[0], told[1], attempt_of_it, event.time, outcome, exact=True, inferred=True)

    def run_finished(self, event: RunFinished) -> None:
        """Nothing goes on after the run: what is open was interrupted, a look-up without an answer was a miss."""
        for worker, time in self._lookups.unanswered():
            self._unnamed(worker, time, None, None, event.node)
        for graph, meeting, attempt in self._open_attempts():
            self._close(graph, meeting, attempt, event.time, "interrupted", inferred=True)
        for graph in self.graphs.values():
            for meeting in graph.meetings.values():
                if meeting.open_wait is not None:
                    self._end_wait(meeting, event.time)
                    meeting.state, meeting.since = GraphState.INTERRUPTED, event.time

    # --- totals ---

    @property
    def hits(self) -> int:
        """Hits by occurrence."""
        return sum(graph.hits for graph in self.graphs.values())

    @property
    def misses(self) -> int:
        """Misses by occurrence: announced, or derived from a compile that took place."""
        return sum(graph.misses for graph in self.graphs.values())

    @property
    def failures(self) -> int:
        """Failed compiles by occurrence."""
        return sum(graph.failures for graph in self.graphs.values())

    @property
    def failures_met(self) -> int:
        """Stored failures met, by occurrence."""
        return sum(graph.failures_met for graph in self.graphs.values())

    @property
    def graphs_hit(self) -> int:
        """Distinct graphs that the cache answered and that nobody had to compile in this run."""
        return sum(graph.hits > 0 and graph.misses == 0 for graph in self.graphs.values())

    @property
    def graphs_missed(self) -> int:
        """Distinct graphs for which a compiler was called."""
        return sum(graph.misses > 0 for graph in self.graphs.values())

    @property
    def hit_rate(self) -> float | None:
        """Share of distinct graphs that came from the cache, 0…1; None before the first look-up ended."""
        refused = sum(graph.failures_met > 0 and not graph.misses and not graph.hits for graph in self.graphs.values())
        asked = self.graphs_hit + self.graphs_missed + refused
        return self.graphs_hit / asked if asked else None

    @property
    def lookup_hit_rate(self) -> float | None:
        """Share of look-ups (each rank's counts) that were hits, 0…1."""
        asked = self.hits + self.misses + self.failures_met
        return self.hits / asked if asked else None

    @property
    def lock_waits(self) -> int:
        """Waits for another process's compile, ended or not, by occurrence (not by line)."""
        return sum(len(meeting.waits) for graph in self.graphs.values() for meeting in graph.meetings.values())

    @property
    def compiling(self) -> int:
        """Compiles that run now, as far as events tell."""
        return len(self._running)

    def new_since(self, time: float | None) -> list[Graph]:
        """Graphs first met, and compiled, after `time`; none when that is None."""
        if time is None:
            return []
        graphs = self.graphs.values()
        return [graph for graph in graphs if graph.first is not None and graph.first > time and graph.misses]

    def waits(self) -> list[tuple[Graph, Meeting, Wait]]:
        """Lock waits that are going on."""
        return [
            (graph, meeting, wait)
            for graph in self.graphs.values()
            for meeting in graph.meetings.values()
            if (wait := meeting.open_wait) is not None
        ]

    def spans(self) -> list[Span]:
        """Compiles and waits as bars of a timeline, graph after graph; those without a known start are left out."""
        return [span for graph in self.graphs.values() for span in _spans_of(graph)]

    def seconds_spent(self, now: float, kinds: tuple[str, ...] = ("compile", "wait")) -> float:
        """Wall seconds in which at least one worker compiled or waited."""
        return union_seconds(
            (span.start, span.end if span.end is not None else max(now, span.start))
            for span in self.spans()
            if span.kind in kinds
        )

    # --- one method per event ---

    def _path_announced(self, event: CachePathAnnounced) -> None:
        _remember(self.cache_paths, event.path)
        if event.generation == "G1" and event.module is None:
            missed = self._lookups.announced(worker_key(event), event.time, identified=event.pid is not None)
            if missed is not None:
                self._unnamed(worker_key(event), missed, event.pid, event.rank, event.node)

    def _missed(self, event: CacheMissed) -> None:
        self.misses_announced += 1
        self._start_from_line(event, "missed")

    def _started(self, event: CompileStarted) -> None:
        self._start_from_line(event, "started")

    def _start_from_line(self, event: CacheMissed | CompileStarted, kind: str) -> None:
        graph, meeting = self._met(event)
        self._end_wait(meeting, event.time)
        self._open(graph, meeting, meeting.attempt(kind), event.time, exact=event.at is not None)

    def _began(self, event: CompileBegan) -> None:
        graph, meeting = self._met(event)
        self._end_wait(meeting, event.time)
        attempt = meeting.attempt("began")
        attempt.compiler_pid, attempt.inside_job = event.compiler_pid, event.inside_job
        self._open(graph, meeting, attempt, event.time, exact=True)
        if event.compiler_pid is not None:
            self._by_compiler_pid[f"{event.node}/{event.compiler_pid}"] = (graph, meeting)

    def _hit(self, event: CacheHit) -> None:
        self._lookups.answered(worker_key(event))
        graph, meeting = self._met(event)
        _place(graph, event.root, event.compiler)
        waited = meeting.open_wait is not None
        self._end_wait(meeting, event.time)
        meeting.hits += 1
        meeting.hits_after_wait += waited
        meeting.state, meeting.since = GraphState.HIT, event.time
        for other, attempt in [(m, m.open_attempt) for m in graph.meetings.values()]:
            if attempt is not None:  # an artefact that can be used proves that its compile has ended
                self._close(graph, other, attempt, event.time, "done", inferred=True)
        self._settle(graph, GraphState.HIT, event.time)

    def _failure_met(self, event: CachedFailureMet) -> None:
        self._lookups.answered(worker_key(event))
        graph, meeting = self._met(event)
        _place(graph, event.root, event.compiler)
        self._end_wait(meeting, event.time)
        meeting.failures_met += 1
        meeting.retries += event.retrying
        meeting.state, meeting.since = GraphState.CACHED_FAILURE, event.time
        graph.message = event.message or graph.message
        self._settle(graph, GraphState.CACHED_FAILURE, event.time)

    def _dotted(self, event: CompileDotted) -> None:
        self.dots += event.dots
        opened = self._open_attempts()
        pending = self._lookups.oldest_pending()
        if not opened and (pending is not None or self._lookups.newest is not None):  # else: dots of something else
            worker = pending[0] if pending is not None else f"{event.node}/{event.source}"
            self._unnamed(worker, pending[1] if pending is not None else event.time, None, None, event.node)
            opened = self._open_attempts()
        if len(opened) == 1:
            opened[0][2].dots += event.dots

    def _passed(self, event: CompilerPassed) -> None:
        self.passes += 1
        if self._lookups.oldest_pending() is not None and not self._open_attempts():
            worker, time = self._lookups.oldest_pending() or ("", None)
            self._unnamed(worker, time, None, None, event.node)
        opened = [entry for entry in self._open_attempts() if not entry[1].told.get("began")]
        if len(opened) == 1:  # with several compilers at work, PASS cannot be told to one of them
            graph, meeting, attempt = opened[0]
            time = event.time if event.time is not None else self._lookups.newest
            self._close(graph, meeting, attempt, time, "done", inferred=True)

    def _completed(self, event: CompileCompleted) -> None:
        if event.module is None:
            self._exit_line(event)
            return
        graph, meeting = self._met(event)
        self._end_wait(meeting, event.time)
        attempt = meeting.attempt("finished")
        self._start_backwards(attempt, meeting, event)
        self._close(graph, meeting, attempt, event.time, "done", exact=event.at is not None)
        self._lookups.completed(worker_key(event), event.time)

    def _exit_line(self, event: CompileCompleted) -> None:
        """The oldest format names no graph when it ends; its compiles are one after the other in each process."""
        worker = worker_key(event)
        opened = [entry for entry in self._open_attempts() if entry[1].worker == worker] or self._open_attempts()
        if opened:
            graph, meeting, attempt = opened[0]
            meeting.told["finished"] = meeting.attempts.index(attempt) + 1
            self._close(graph, meeting, attempt, event.time, "done", exact=event.at is not None)

    def _failed(self, event: CompileFailed) -> None:
        graph, meeting = self._met(event)
        self._end_wait(meeting, event.time)
        last = meeting.attempts[-1] if meeting.attempts else None
        if last is not None and last.inferred and meeting.told.get("finished", 0) >= len(meeting.attempts):
            attempt = last  # an inferred end gives way to the line that tells it
        else:
            attempt = meeting.attempt("finished")
        attempt.message = event.message or attempt.message
        attempt.code = event.code or attempt.code
        attempt.exit_status = event.exit_status if event.exit_status is not None else attempt.exit_status
        graph.message = event.message or graph.message
        self._start_backwards(attempt, meeting, event)
        self._close(graph, meeting, attempt, event.time, "failed", exact=event.at is not None)

    def _ended(self, event: CompileEnded) -> None:
        graph, meeting = self._met(event)
        attempt = meeting.attempt("ended")
        attempt.seconds, attempt.cause = event.seconds, event.cause
        attempt.peak_rss_bytes, attempt.artefact_bytes = event.peak_rss_bytes, event.artefact_bytes
        graph.artefact_bytes = event.artefact_bytes if event.artefact_bytes is not None else graph.artefact_bytes
        if attempt.start is None and event.time is not None:
            attempt.start, attempt.exact_start = event.time - event.seconds, True
        outcome = "done" if event.ok else ("interrupted" if event.cause == "interrupted" else "failed")
        self._close(graph, meeting, attempt, event.time, outcome, exact=True)

    def _loaded(self, event: ArtefactLoaded) -> None:
        _graph, meeting = self._met(event)
        meeting.loads += 1
        meeting.load_seconds += event.seconds
        if event.waited_seconds > 0 and event.time is not None:
            start = event.time - event.seconds - event.waited_seconds
            if not meeting.waits or (meeting.waits[-1].end or start) < start - 1.0:
                meeting.waits.append(Wait(start=start))
            wait = meeting.waits[-1]
            wait.seconds, wait.start, wait.end = event.waited_seconds, start, start + event.waited_seconds

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
        self._settle(graph, GraphState.EXTRACTED, event.time)

    def _hub_missed(self, event: HubMissed) -> None:
        self.hub_misses += 1
        if event.module is not None:
            graph = self._graph(event.module, event.time)
            _place(graph, None, event.compiler)
            if event.file and event.file not in graph.hub_missing:
                graph.hub_missing.append(event.file)

    def _described(self, event: GraphDescribed) -> None:
        graph, _ = self._met(event)
        graph.direction = event.direction or graph.direction
        graph.operators = event.operators if event.operators is not None else graph.operators
        graph.inputs = event.inputs or graph.inputs
        graph.graph_bytes = event.graph_bytes if event.graph_bytes is not None else graph.graph_bytes
        graph.flags = event.flags or graph.flags
        _place(graph, None, event.compiler)

    # --- graphs, meetings, attempts ---

    def _heard(self, event: CompileLogEvent) -> None:
        """A header of a process: remembered as the early bound of what ends next, and the late one of what is open."""
        if event.pid is not None and not isinstance(event, CompileCompleted | CompileFailed | CompileGaveUp):
            worker = worker_key(event)
            for graph, meeting, attempt in self._open_attempts():
                if meeting.worker == worker and "began" not in meeting.told and self._proves_end(event, attempt):
                    meeting.told["finished"] = len(meeting.attempts)
                    self._close(graph, meeting, attempt, event.time, "done", inferred=True)
        if isinstance(event, CompileDotted | CompilerPassed | HubMissed):
            return
        if not isinstance(event, CompileCompleted | CompileFailed):
            self._lookups.header(worker_key(event), event.time)

    def _proves_end(self, event: CompileLogEvent, attempt: Attempt) -> bool:
        """The calling process blocks while it compiles; only a second start may come from another thread."""
        if isinstance(event, CompileDotted | CompilerPassed | HubMissed | LockWaited):
            return False
        return not isinstance(event, CompileStarted | CacheMissed) and event.time != attempt.start

    def _graph(self, key: str, time: float | None, *, named: bool = True) -> Graph:
        graph = self.graphs.get(key)
        if graph is None:
            graph = self.graphs[key] = Graph(key=key, module=key if named else None, first=time, since=time)
        return graph

    def _met(self, event: CompileLogEvent | GraphDescribed | CompileBegan | CompileEnded | ArtefactLoaded
             ) -> tuple[Graph, Meeting]:  # fmt: skip
        worker = worker_key(event)
        named = event.module is not None
        graph = self._graph(event.module or f"unnamed {worker}", event.time, named=named)
        meeting = self._meeting(graph, worker, event.pid, event.rank, event.node)
        if isinstance(event, LogEvent) and event.offset is not None:
            graph.lines.append(LinePlace(event.source, event.offset, event.time, type(event).__name__))
            del graph.lines[:-LINES_KEPT]
        return graph, meeting

    def _meeting(self, graph: Graph, worker: str, pid: int | None, rank: int | None, node: str) -> Meeting:
        """The worker's meeting with the graph; a meeting of nobody in particular is taken over by the first who names
        himself, since an observer of processes and a line then tell of one compile."""
        meeting = graph.meetings.get(worker)
        if meeting is None:
            meeting = graph.meetings.pop(f"{node}/", None) or Meeting(worker=worker, node=node, since=graph.since)
            meeting.worker = worker
            graph.meetings[worker] = meeting
        meeting.pid = pid if pid is not None else meeting.pid
        meeting.rank = rank if rank is not None else meeting.rank
        return meeting

    def _unnamed(self, worker: str, time: float | None, pid: int | None, rank: int | None, node: str) -> None:
        """A compile whose graph no line has named (yet)."""
        self._lookups.answered(worker)
        number = sum(graph.module is None for graph in self.graphs.values()) + 1
        graph = self._graph(f"unnamed {number}", time, named=False)
        meeting = self._meeting(graph, worker, pid, rank, node)
        self._open(graph, meeting, meeting.attempt("derived"), time, exact=False)

    def _start_backwards(self, attempt: Attempt, meeting: Meeting, event: CompileCompleted | CompileFailed) -> None:
        """Where only the end is told: the start is at the dots that nobody had claimed, or after the last header."""
        if attempt.start is not None:
            return
        unnamed = self._claim_unnamed()
        start, exact = self._lookups.early_bound(worker_key(event))
        if unnamed is not None:
            attempt.dots = unnamed.dots
            if unnamed.start is not None and (start is None or unnamed.start >= start):
                start, exact = unnamed.start, False
        if start is not None and event.time is not None and start <= event.time:
            attempt.start, attempt.exact_start = start, exact

    def _claim_unnamed(self) -> Attempt | None:
        """Take the newest compile that only dots or PASS told of, now that its graph has a name."""
        for key, graph in reversed(self.graphs.items()):
            if graph.module is None and key.startswith("unnamed "):
                for meeting in graph.meetings.values():
                    if meeting.attempts and "derived" in meeting.told and not meeting.attempts[-1].exact_end:
                        del self.graphs[key]
                        self._stopped(meeting.attempts[-1])
                        return meeting.attempts[-1]
        return None

    def _open(self, graph: Graph, meeting: Meeting, attempt: Attempt, time: float | None, *, exact: bool) -> None:
        if attempt.start is None or (exact and not attempt.exact_start):
            attempt.start, attempt.exact_start = time, exact
        if attempt.outcome:
            return
        if not any(running is attempt for _, _, running in self._running):
            self._running.append((graph, meeting, attempt))
        if meeting.state is not GraphState.COMPILING:
            meeting.state, meeting.since = GraphState.COMPILING, attempt.start

    def _close(self, graph: Graph, meeting: Meeting, attempt: Attempt, time: float | None, outcome: str, *,
               exact: bool = False, inferred: bool = False) -> None:  # fmt: skip
        self._stopped(attempt)
        if attempt.outcome and (inferred or not (attempt.inferred or (exact and not attempt.exact_end))):
            attempt.outcome = "failed" if outcome == "failed" else attempt.outcome
        else:
            attempt.end, attempt.exact_end, attempt.inferred = time, exact, inferred
            attempt.outcome = outcome
        if attempt is meeting.attempts[-1] and meeting.state is not GraphState.HIT:
            state = _OUTCOMES[attempt.outcome]
            meeting.state, meeting.since = state, time
            self._settle(graph, state, time)

    def _settle(self, graph: Graph, state: GraphState, time: float | None) -> None:
        if state in _GIVES_WAY.get(graph.settled, ()):
            return
        graph.settled, graph.since = state, time

    def _end_wait(self, meeting: Meeting, time: float | None) -> None:
        wait = meeting.open_wait
        if wait is not None:
            wait.end = time if time is not None else wait.last if wait.last is not None else wait.start
            if wait.end is None:
                wait.end = 0.0
                wait.start = None

    def _stopped(self, attempt: Attempt) -> None:
        self._running = [entry for entry in self._running if entry[2] is not attempt]

    def _open_attempts(self) -> list[tuple[Graph, Meeting, Attempt]]:
        return list(self._running)


_OUTCOMES = {"done": GraphState.DONE, "failed": GraphState.FAILED, "interrupted": GraphState.INTERRUPTED}


def _remember(values: list[str], value: str) -> None:
    if value and value not in values:
        values.append(value)


def _place(graph: Graph, root: str | None, compiler: str | None) -> None:
    graph.root = root or graph.root
    graph.compiler = compiler or graph.compiler


def _spans_of(graph: Graph) -> list[Span]:
    spans = []
    for meeting in graph.meetings.values():
        who = {"graph": graph.key, "worker": meeting.worker, "pid": meeting.pid, "rank": meeting.rank}
        for one in meeting.attempts:
            start = one.start if one.start is not None else _back(one)
            if start is not None and (one.end is not None or not one.outcome):
                exact = one.exact_start and (one.exact_end or not one.outcome)
                spans.append(Span(**who, kind="compile", start=start, end=one.end, outcome=one.outcome, exact=exact))  # type: ignore[arg-type]
        spans.extend(
            Span(**who, kind="wait", start=wait.start, end=wait.end)  # type: ignore[arg-type]
            for wait in meeting.waits
            if wait.start is not None
        )
    return spans


def _back(attempt: Attempt) -> float | None:
    return attempt.end - attempt.seconds if attempt.end is not None and attempt.seconds is not None else None
