"""`Run`: everything that is known of a run, from its events alone.

Live and replayed runs use the same `apply`. Nothing here reads a clock, a file or a random number, so the same events
in the same order give the same run. Views read these trackers, whose names are stable:

    run.job        the command, its processes, its diagnosis
    run.compiles   graphs, hits, misses, failures, waits
    run.queue      parallel compile: trial run, counters, workers
    run.torch      torch.compile in plain PyTorch processes
    run.advice     what the runtime advised, and why functions were compiled again
    run.cores      cores, devices, host, telemetry sources
    run.training   steps, loss, throughput, errors
    run.steps      the newest steps of each rank
    run.caches     cache roots and changed entries
    run.nodes      the nodes, where agents report them
    run.silence    when logs were last heard of
"""

from __future__ import annotations

import copy
from array import array
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from neuron_top.events import (
    AnyEvent,
    ArtifactLoaded,
    CacheHit,
    CachePathAnnounced,
    CompileBegan,
    CompileFailed,
    DeviceMemoryExhausted,
    ErrorRaised,
    EventsFolded,
    FoldFamily,
    GraphDescribed,
    GraphExtracted,
    GraphReported,
    JobFamily,
    LineMalformed,
    LineMarked,
    LockWaited,
    LogEvent,
    NodeFamily,
    OutputGrew,
    ParallelFamily,
    ProcessExited,
    ProcessSeen,
    QueueCounted,
    RecordingCutOff,
    RunFinished,
    RuntimeLogged,
    StepReported,
    TrainingFamily,
    WorkerDied,
    WorkerHeard,
    WorkerStarted,
)
from neuron_top.events.diagnosis import JobEnd
from neuron_top.events.levels import LineLevel
from neuron_top.run.advice import AdviceTracker
from neuron_top.run.caches import CacheTracker
from neuron_top.run.clock import Clocks
from neuron_top.run.compiles import CompileTracker
from neuron_top.run.cores import Core, CoreTracker
from neuron_top.run.event_families import (
    is_advice,
    is_cache,
    is_compile,
    is_job,
    is_parallel,
    is_runtime,
    is_torch_trace,
    is_training,
)
from neuron_top.run.graph import WorkerGraph
from neuron_top.run.job import JobTracker
from neuron_top.run.log_activity import ENDED_WELL_SECONDS, LONG_COMPILE_SECONDS, QUIET_SECONDS, LogActivity
from neuron_top.run.nodes import NodeTracker
from neuron_top.run.queue import QueueTracker
from neuron_top.run.spans import share_of_time
from neuron_top.run.state import JobState
from neuron_top.run.step_times import StepTimeTracker
from neuron_top.run.torch_trace import TorchTraceTracker
from neuron_top.run.training import TrainingTracker

LONGEST_MARK = 200
"""Most characters of a message in a marked line."""


class Run:
    """Adds up events; the same events in the same order give the same run."""

    def __init__(self, history_seconds: float = 8 * 3600.0, listener: Callable[[AnyEvent], None] | None = None) -> None:
        """`history_seconds` (a setting) bounds how finely the past is remembered; memory never grows past it.

        `listener` is called with each event, dated on the run's time line, before the run takes it into account.
        """
        self.job = JobTracker()
        self.compiles = CompileTracker()
        self.queue = QueueTracker()
        self.cores = CoreTracker(history_seconds)
        self.training = TrainingTracker()
        self.steps = StepTimeTracker()
        self.caches = CacheTracker()
        self.torch = TorchTraceTracker()
        self.advice = AdviceTracker()
        self.silence = LogActivity()
        self.nodes = NodeTracker()
        self.events = 0
        """Events taken into account."""
        self.growths = 0
        """Those of them that only say that a log has grown."""
        self.first_time: float | None = None
        """Earliest time of any event, which stands for the start if no RunStarted came (of a log that was opened)."""
        self.first_clock: float | None = None
        """The same, but only of events with a time of their own and of the first lines of logs, not of arrivals."""
        self.last_time: float | None = None
        """Latest time of any event."""
        self._clocks = Clocks()
        self._listener = listener

    def copy(self) -> Run:
        """A copy of the run as it is now, which later events do not change. It has no listener."""
        made = copy.copy(self)
        made._listener = None
        return copy.deepcopy(made)

    @property
    def started(self) -> float | None:
        """When the command started, or the first worker of a job that nobody records; for a log that was only opened,
        its first time.

        If a log was written before it was opened, arrivals tell nothing: lines with a clock date it; without any, it is
        None.
        """
        began = self.job.started
        if began is None and not self.log_outlived_workers:
            began = self.job.workers_began
        if began is not None:
            return began
        if self.silence.found is None:
            return self.first_time
        return self.first_clock if self.silence.began is not None else None

    def silent(self, now: float) -> float | None:
        """Seconds since the last line of a job that is known from its logs alone, or since its workers ended where they
        write no log; None while it may well go on, or is not read to its end yet."""
        if self.silence.unread(now) is not None:
            return None
        is_over = self._nothing_can_come(now)
        seconds = None if self._is_heard_of else self.silence.seconds(now, is_over=is_over)
        if seconds is None and (left := self.workers_left(now)) is not None:
            seconds = now - left
        is_patient = self.compiles.compiling and self.silence.followed is not None and not is_over
        return None if is_patient and seconds is not None and seconds < LONG_COMPILE_SECONDS else seconds

    @property
    def _is_heard_of(self) -> bool:
        """Whether anything but its logs reports on the job."""
        if self.job.finished is not None:
            return True
        return not self.nodes.all_stopped and (self.job.started is not None or bool(self.job.alive))

    def workers_left(self, now: float) -> float | None:
        """When the last worker of a job that nobody records ended; None while it may start others."""
        left = None if self.log_outlived_workers else self.job.workers_left
        is_long_ago = left is not None and now - left >= QUIET_SECONDS
        return left if is_long_ago and self.job.started is None and not self.job.alive else None

    @property
    def log_outlived_workers(self) -> bool:
        """Whether the log grew long after the last worker had ended: the workers were those of another job."""
        left, grew = self.job.workers_left, self.silence.followed
        return left is not None and grew is not None and grew - left >= QUIET_SECONDS

    def _nothing_can_come(self, now: float) -> bool:
        """Whether the pipe that is read has been closed, the agents of all nodes have stopped, or the workers ended."""
        if self.silence.unread(now) is not None:
            return False
        return self.silence.closed or self.nodes.all_stopped or self.workers_left(now) is not None

    def quiet(self, now: float) -> bool:
        """Whether nothing comes from the logs now: they have ended, or pause."""
        if self.silence.unread(now) is not None:
            return False
        since = self.silence.quiet_since
        return self._nothing_can_come(now) or (since is not None and now - since >= QUIET_SECONDS)

    def failed(self, now: float) -> bool:
        """Whether a job that is known from its logs alone has ended in failure, as far as they show."""
        diagnosis = self.job.diagnosis
        if diagnosis is None or not diagnosis.has_surely_failed or self._is_heard_of:
            return False
        if diagnosis.job_ended is JobEnd.FAILED and self.quiet(now):
            return True
        return self._nothing_can_come(now) or self.silent(now) is not None

    def ended_well(self, now: float) -> bool:
        """Whether a job that is known from its logs alone reported that it ended well, and nothing more came."""
        diagnosis = self.job.diagnosis
        if diagnosis is None or diagnosis.failed or diagnosis.job_ended is not JobEnd.FINISHED or self._is_heard_of:
            return False
        if self._nothing_can_come(now) or self.silent(now) is not None:
            return True
        since = self.silence.quiet_since
        is_long_ago = since is not None and now - since >= ENDED_WELL_SECONDS
        return is_long_ago and self.quiet(now) and not self.compiles.compiling

    def over(self, now: float) -> bool:
        """Whether nothing more is expected: the job has ended, or its log has been silent for long."""
        ended = self.failed(now) or self.ended_well(now)
        return ended or self.job.finished is not None or self.silent(now) is not None

    def state(self, now: float) -> JobState:
        """Where the job stands. A job known from its logs alone has ended as they report, or is cut off."""
        if (ended := self.job.ended_as) is not None:
            return ended
        if self.failed(now):
            return JobState.FAILED
        if self._nothing_met():
            return JobState.IDLE
        if self.ended_well(now):
            return JobState.FINISHED
        return JobState.CUT_OFF if self.silent(now) is not None else self.phase

    @property
    def phase(self) -> JobState:
        """What the job does, or did when it was last heard of."""
        if self.queue.trial_running:
            return JobState.EXTRACTING
        if self.compiles.compiling:
            return JobState.COMPILING
        if self.compiles.totals.waits():
            return JobState.LOCK_WAIT
        if self.training.serves:
            return JobState.SERVING
        return JobState.TRAINING if self.training.reports else JobState.RUNNING

    def _nothing_met(self) -> bool:
        """Whether there was no job, process, log, graph or step yet. An idle device or a missing source is no job."""
        job = self.job
        met = (
            job.run,
            job.processes,
            job.printed,
            job.marks,
            self.compiles.graphs,
            self.training.reports,
            self.queue.workers,
        )
        return not any(met) and not self.queue.trial_running

    def effective_now(self, now: float) -> float:
        """The time up to which open intervals count: now, or that of the last line if the log has ended, is old, or is
        not read to its end yet."""
        is_past = self.silent(now) is not None or self.failed(now) or self.ended_well(now)
        is_behind = self.silence.is_behind or self.silence.unread(now) is not None
        is_past = is_past or (is_behind and not self._is_heard_of)
        lasts = (self.silence.last, self.workers_left(now)) if is_past else ()
        return min(now, max((last for last in lasts if last is not None), default=now))

    def compiling_seconds(self, now: float) -> float | None:
        """Wall seconds in which some process compiled, also with PyTorch's own back ends, or waited for a compile. None
        if something was compiled, and no line says when."""
        seconds = self.compiles.totals.seconds_spent(now, besides=self.torch.elsewhere())
        was_compiled = self.compiles.totals.misses > 0 or self.compiles.counts.passes > 0
        return seconds if seconds or not was_compiled else None

    def compiling_share(self, now: float) -> float | None:
        """The same as a share of the time since the start, 0…1."""
        return share_of_time(self.compiling_seconds(now), self.seconds_since_start(now))

    def seconds_since_start(self, now: float) -> float | None:
        """Seconds from the start to `now`; None if no start is known, or the clock was set back since."""
        return now - self.started if self.started is not None and now >= self.started else None

    def rank_of(self, worker: WorkerGraph) -> int | None:
        """The rank of a worker that met a graph: as its lines said, else as the process table knows it."""
        return worker.rank if worker.rank is not None else self.job.rank_of(worker.pid, worker.node)

    def rank_of_core(self, core: Core) -> int | None:
        """The rank of the process on a core: as its sample says, else as the process table knows it."""
        sample = core.sample
        return sample.rank if sample.rank is not None else self.job.rank_of(sample.pid, core.node)

    def apply(self, event: AnyEvent) -> None:  # noqa: C901 (one branch per family is the point)
        """Take one event into account."""
        self.events += 1
        event = self._on_time_line(event)
        self._extend_span(event)
        self.nodes.heard(event)
        if self._listener is not None:
            self._listener(event)
        if is_compile(event):
            self.compiles.apply(event)
            if isinstance(event, GraphDescribed | CompileBegan | ArtifactLoaded):
                self.torch.add_backend_event(event)
            if isinstance(event, CompileFailed):
                self._mark(event, f"compile failed: {event.module or 'a graph'} {_first_line(event.message)}".rstrip())
        elif is_runtime(event):
            self.cores.apply(event)
            if isinstance(event, DeviceMemoryExhausted):
                self._mark(event, "device memory exhausted")
        elif is_training(event):
            self._training(event)
        elif is_job(event):
            self._job(event)
        elif is_parallel(event):
            self._parallel(event)
        elif is_cache(event):
            self.caches.apply(event)
        elif is_torch_trace(event):
            self.torch.apply(event)
        elif is_advice(event):
            self.advice.apply(event)
        else:
            self._fleet(event)

    def _on_time_line(self, event: AnyEvent, *, late: bool = False) -> AnyEvent:
        """The event on the run's time line. Also notes that its log was heard of."""
        if isinstance(event, OutputGrew):
            event = self._clocks.found(event)
            self.silence.grew(event)
        elif isinstance(event, LogEvent):
            event = self._clocks.dated(event, ours=self.job.started is not None, remembered=not late)
            self.silence.line(event, is_set_back=not late and self._clocks.is_set_back(event))
        return event

    def _extend_span(self, event: AnyEvent) -> None:
        clock = event.at
        if isinstance(event, OutputGrew) and (event.written is not None or event.began is not None):
            clock = self.silence.began  # the event itself has the time of the last lines
            self._extend(clock, clock)
        if isinstance(event, LogEvent) and self._clocks.is_set_back(event):
            return  # it would begin the run before its first line
        if not self._clocks.is_old(event):  # an old one came when the log was opened, which tells nothing
            self._extend(clock, event.time)

    def _extend(self, clock: float | None, time: float | None) -> None:
        """Extend the span of the run to an event: `clock` is its own time, `time` the best one known."""
        if clock is not None:
            self.first_clock = clock if self.first_clock is None else min(self.first_clock, clock)
        if time is not None:
            self.last_time = time if self.last_time is None else max(self.last_time, time)
            self.first_time = time if self.first_time is None else min(self.first_time, time)

    def _fleet(self, event: FoldFamily | NodeFamily) -> None:
        """What a node's agent reports."""
        if isinstance(event, NodeFamily):
            self.nodes.apply(event)
        elif isinstance(event, WorkerHeard):
            self.events -= 1  # its line is counted where it was folded
            self.compiles.heard(event)
        else:
            self._folded(event)

    def _folded(self, event: EventsFolded) -> None:
        """Count many events at once, as if each had come by itself."""
        self.events += event.count - 1
        self._extend(event.first, event.first)
        self._extend(event.latest, event.latest)
        last = self._on_time_line(event.last, late=True)
        match last:
            case CacheHit() | GraphExtracted() | CachePathAnnounced() | LockWaited():
                self.compiles.apply_folded(last, event.count, event.longest_minutes)
            case StepReported():
                self.training.apply_folded(last, event.count, simulated=self.queue.trial_running)
                if not self.queue.trial_running:
                    self.steps.apply_folded(event)
            case RuntimeLogged():
                self.cores.apply_folded(last, event.count)
            case LineMarked() | LineMalformed() | OutputGrew():
                self.job.apply_folded(last, event.count)
                self.growths += event.count if isinstance(last, OutputGrew) else 0
            case _:
                raise AssertionError(f"{type(last).__name__} is not folded")

    def _training(self, event: TrainingFamily) -> None:
        deaths = len(self.training.deaths)
        is_old = self._clocks.is_old(event)
        self.training.apply(event, simulated=self.queue.trial_running, is_old=is_old)
        if isinstance(event, StepReported) and not self.queue.trial_running:
            rank = event.rank if event.rank is not None else self.job.rank_of(event.pid, event.node)
            self.steps.apply(event, rank, is_old=is_old)
        if isinstance(event, ErrorRaised):
            self._mark(event, f"{event.exception}: {_first_line(event.message)}".rstrip(": "))
        elif isinstance(event, WorkerDied) and len(self.training.deaths) > deaths:  # not reported before
            how = event.signal or (f"exit status {event.exit_code}" if event.exit_code is not None else "unknown cause")
            who = f"worker {event.rank}" if event.rank is not None else "a worker"
            self._mark(event, f"{who} died ({how})")

    def _job(self, event: JobFamily) -> None:
        self.job.apply(event)
        if isinstance(event, OutputGrew):
            self.growths += 1
        elif isinstance(event, ProcessSeen | ProcessExited):
            self.compiles.apply_other(event)
        elif isinstance(event, RunFinished | RecordingCutOff):
            self.compiles.run_over(event.time, event.node)
            self.queue.trial_running = False

    def _parallel(self, event: ParallelFamily) -> None:
        self.queue.apply(event)
        if isinstance(event, QueueCounted | GraphReported | WorkerStarted):
            self.compiles.apply_other(event)

    def _mark(self, event: CompileFailed | DeviceMemoryExhausted | ErrorRaised | WorkerDied, text: str) -> None:
        self.job.mark(
            event.time,
            LineLevel.ERROR,
            text,
            source=event.source,
            offset=event.offset,
            rank=event.rank,
            is_known_otherwise=not isinstance(event, DeviceMemoryExhausted),
        )

    def canonical(self) -> dict[str, Any]:
        """Everything it knows as plain values: two runs are equal exactly when these are."""
        parts: set[int] = set()
        return {name: canonical(value, parts) for name, value in vars(self).items()}


def _first_line(text: str) -> str:
    """The first line of a message, with a mark if it was cut."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= LONGEST_MARK else f"{line[: LONGEST_MARK - 1]}…"


def canonical(value: Any, parts: set[int]) -> Any:
    """A run's state as nested lists, dictionaries, numbers and texts, which can be compared and printed.

    NaN becomes None. Private state is included, caches are not.

    `parts`: objects that were written out already, because several trackers share them.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, dict):
        return {str(key): canonical(item, parts) for key, item in value.items()}
    if isinstance(value, list | tuple | deque | array):
        return [canonical(item, parts) for item in value]
    if isinstance(value, msgspec.Struct):
        return {name: canonical(getattr(value, name), parts) for name in value.__struct_fields__}
    if id(value) in parts:
        return type(value).__name__
    parts.add(id(value))
    names: Any = getattr(value, "__slots__", None) or vars(value)
    return {name: canonical(getattr(value, name), parts) for name in names if not name.startswith("_cached")}
