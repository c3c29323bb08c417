"""The command that is watched: what it is, its processes, how it ended, and the logs that were read."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import assert_never

import msgspec

from neuron_top.events import (
    JobDiagnosed,
    JobFamily,
    JobFound,
    LineMalformed,
    LineMarked,
    OutputGrew,
    ProcessExited,
    ProcessRole,
    ProcessSeen,
    RecordingCutOff,
    RunFinished,
    RunStarted,
    SourceRotated,
)
from neuron_top.events.diagnosis import MOST_CAUSES, Confidence, Diagnosis, JobEnd
from neuron_top.events.levels import LineLevel
from neuron_top.run.state import JobState

MARKS_KEPT = 200
GONE_KEPT = 500


class Process(msgspec.Struct, kw_only=True):
    """One process of the job."""

    pid: int
    node: str = ""
    role: ProcessRole = ProcessRole.UNKNOWN
    rank: int | None = None
    local_rank: int | None = None
    command: str = ""
    started: float | None = None
    seen: float | None = None
    gone: float | None = None
    exit_code: int | None = None
    module: str | None = None


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A log line that a person should see."""

    time: float | None
    level: LineLevel
    text: str
    source: str = ""
    offset: int | None = None
    rank: int | None = None
    is_known_otherwise: bool = False
    """A failed compile, an exception or a worker's death: other trackers have it, and reports list it as such."""


class SourceState(msgspec.Struct, kw_only=True):
    """A followed log: how far it was read."""

    path: str
    end: int = 0
    lines: int = 0
    rotations: int = 0


class JobTracker:
    """Facts of the command. `None` and empty until reported."""

    def __init__(self) -> None:
        self.run = ""
        self.name = ""
        self.listed_name = ""
        """A name from its logs that tells it from other jobs on the same screen; "" if it is the only one."""
        self.command: tuple[str, ...] = ()
        self.directory = ""
        self.pid: int | None = None
        self.environment: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.git_revision = ""
        self.world_size: int | None = None
        self.node = ""
        self.started: float | None = None
        self.finished: float | None = None
        self.exit_code: int | None = None
        self.interrupted_by = ""
        """Name of the signal with which a person stopped the job; "" if it ended by itself."""
        self.cut_off = False
        """The recorder died: `finished` is when the job was last heard of, and how it ended is unknown."""
        self.processes: dict[str, Process] = {}
        """By `<node>/<pid>`; of those that have ended, the newest GONE_KEPT."""
        self._gone: deque[str] = deque()
        """Keys of the processes that have ended, in that order."""
        self._workers: dict[str, None] = {}
        """Keys of the workers that have not ended."""
        self.workers_began: float | None = None
        """When the first worker was started."""
        self.workers_left: float | None = None
        """When the last worker ended; None while one is there, or before the first."""
        self.sources: dict[str, SourceState] = {}
        self.printed = False
        """Whether one of its logs has had contents; an empty one tells nothing."""
        self.marks: deque[Mark] = deque(maxlen=MARKS_KEPT)
        self.warnings = 0
        self.errors = 0
        self.malformed = 0
        self.malformed_families: dict[str, int] = {}
        self.diagnoses: dict[str, Diagnosis] = {}
        """The newest of each log, by source."""
        self.diagnosis: Diagnosis | None = None
        """The diagnosis over all logs; None if no log has one."""

    def apply(self, event: JobFamily) -> None:
        """Take one event into account."""
        match event:
            case RunStarted():
                self._started(event)
            case RunFinished():
                self.finished, self.exit_code = event.time, event.exit_code
                self.interrupted_by, self.cut_off = event.interrupted_by, False
                self._combine_diagnoses()
            case RecordingCutOff():
                self.finished, self.cut_off = event.time, True
            case JobFound():
                self.command, self.directory = event.command, event.directory
            case ProcessSeen():
                self._process_seen(event)
            case ProcessExited():
                self._process_exited(event)
            case LineMalformed():
                self.malformed += 1
                self.malformed_families[event.family] = self.malformed_families.get(event.family, 0) + 1
            case LineMarked():
                self._marked(event)
            case JobDiagnosed():
                self._diagnosed(event)
            case SourceRotated():
                self._source(event.path).rotations += 1
            case OutputGrew():
                source = self._source(event.path)
                source.end, source.lines = event.end, event.lines
                self.printed = self.printed or event.end > 0
            case _:
                assert_never(event)

    def apply_folded(self, event: LineMarked | LineMalformed | OutputGrew, count: int) -> None:
        """Take `count` equal lines into account, or the growth of a log in `count` steps."""
        self.apply(event)
        if isinstance(event, LineMarked):
            self.warnings += count - 1
        elif isinstance(event, LineMalformed):
            self.malformed += count - 1
            self.malformed_families[event.family] += count - 1

    @property
    def ended_as(self) -> JobState | None:
        """How the command ended; None while it is running, or if nobody reported it."""
        if self.cut_off:
            return JobState.CUT_OFF
        if self.finished is None:
            return None
        if self.interrupted_by:
            return JobState.INTERRUPTED
        if self.exit_code == 0:
            return JobState.FINISHED
        return JobState.KILLED if self.exit_code is not None and self.exit_code < 0 else JobState.FAILED

    def rank_of(self, pid: int | None, node: str = "") -> int | None:
        """The rank of a process of the job, if it was reported."""
        process = self.processes.get(f"{node}/{pid}")
        return process.rank if process is not None else None

    def mark(
        self,
        time: float | None,
        level: LineLevel,
        text: str,
        *,
        source: str = "",
        offset: int | None = None,
        rank: int | None = None,
        is_known_otherwise: bool = False,
    ) -> None:
        """Remember a line that a person should see; events of other trackers become marks, too."""
        self.marks.append(
            Mark(
                time=time,
                level=level,
                text=text,
                source=source,
                offset=offset,
                rank=rank,
                is_known_otherwise=is_known_otherwise,
            )
        )

    @property
    def alive(self) -> list[Process]:
        """Processes that were seen and have not ended, in the order in which they appeared."""
        return [process for process in self.processes.values() if process.gone is None]

    def _started(self, event: RunStarted) -> None:
        self.run, self.name, self.command, self.directory = event.run, event.name, event.command, event.directory
        self.pid, self.environment, self.versions = event.pid, dict(event.environment), dict(event.versions)
        self.git_revision, self.world_size, self.node = event.git_revision, event.world_size, event.node
        self.started, self.finished, self.exit_code, self.interrupted_by = event.time, None, None, ""
        self.cut_off = False

    def _process_seen(self, event: ProcessSeen) -> None:
        key = f"{event.node}/{event.pid}"
        known = self.processes.get(key)
        if known is not None and known.gone is not None:  # the kernel gave the number to a new process
            del self.processes[key]
            if key in self._gone:
                self._gone.remove(key)
            known = None
        process = known or Process(pid=event.pid, node=event.node, seen=event.time)
        self.processes[key] = process
        process.role, process.command = event.role or process.role, event.command or process.command
        for name in ("rank", "local_rank", "started", "module"):
            value = getattr(event, name)
            if value is not None:
                setattr(process, name, value)
        self.world_size = event.world_size if event.world_size is not None else self.world_size
        if process.role == ProcessRole.WORKER:
            self._workers[key] = None
            self.workers_left = None
            began = process.started if process.started is not None else process.seen
            if began is not None:
                self.workers_began = min(began, self.workers_began or began)

    def _process_exited(self, event: ProcessExited) -> None:
        key = f"{event.node}/{event.pid}"
        process = self.processes.get(key)
        if process is None:
            return
        process.gone, process.exit_code = event.time, event.exit_code
        self._forget_long_gone(key)
        if key in self._workers:
            del self._workers[key]
            self.workers_left = event.time if not self._workers else None

    def _marked(self, event: LineMarked) -> None:
        if event.level.is_error:
            self.errors += 1
        else:
            self.warnings += 1
        level = LineLevel.ERROR if event.level.is_error else LineLevel.WARNING
        self.mark(event.time, level, event.text, source=event.source, offset=event.offset, rank=event.rank)

    def _diagnosed(self, event: JobDiagnosed) -> None:
        self.diagnoses[event.source] = event.diagnosis
        self._combine_diagnoses()

    def _combine_diagnoses(self) -> None:
        if self.diagnoses:
            self.diagnosis = combined(list(self.diagnoses.values())).if_interrupted_by(self.interrupted_by)

    def _source(self, path: str) -> SourceState:
        return self.sources.setdefault(path, SourceState(path=path))

    def _forget_long_gone(self, key: str) -> None:
        if self.processes[key].gone is None or key in self._gone:
            return  # nothing dates its end, or it was reported twice
        self._gone.append(key)
        if len(self._gone) > GONE_KEPT:
            del self.processes[self._gone.popleft()]


_CONFIDENCES = (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)


def combined(diagnoses: Sequence[Diagnosis]) -> Diagnosis:
    """The diagnosis of a job that wrote several logs: first that of the log which is most certain of its reason."""
    failed = [each for each in diagnoses if each.failed]
    relevant = failed or [each for each in diagnoses if each.recovered]
    surest = sorted(relevant, key=lambda each: _CONFIDENCES.index(each.causes[0].confidence) if each.causes else 3)
    ends = {each.job_ended for each in diagnoses}
    waits = (each.last_wait for each in diagnoses if each.last_wait)
    return Diagnosis(
        failed=bool(failed),
        recovered=not failed and bool(relevant),
        job_ended=next((end for end in (JobEnd.FAILED, JobEnd.FINISHED) if end in ends), JobEnd.UNKNOWN),
        causes=tuple(cause for each in surest for cause in each.causes)[:MOST_CAUSES],
        last_wait=msgspec.UNSET if failed else next(waits, msgspec.UNSET),
    )
