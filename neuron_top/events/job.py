"""The start, processes and end of a job, and what became of the logs that are read."""

from __future__ import annotations

from enum import StrEnum

from neuron_top.events.base import Event, LogEvent, Moment, OpenEnum
from neuron_top.events.diagnosis import Diagnosis
from neuron_top.events.levels import LogLevel


class ProcessRole(StrEnum):
    """What a process does in its job."""

    WORKER = "worker"
    COMPILER = "compiler"
    LAUNCHER = "launcher"
    UNKNOWN = ""


class RunStarted(Event, frozen=True, kw_only=True):
    """A command was started (or a log opened) and is being recorded."""

    run: str
    """Id of the recording, unique in the store."""
    name: str = ""
    command: tuple[str, ...] = ()
    directory: str = ""
    pid: int | None = None
    environment: dict[str, str] = {}
    versions: dict[str, str] = {}
    git_revision: str = ""
    world_size: int | None = None


class RunFinished(Event, frozen=True, kw_only=True):
    """The command ended; `exit_code` is negative for a signal."""

    run: str
    exit_code: int
    interrupted_by: str = ""
    """Name of the signal that was passed on to the job (`SIGINT`), "" when it ended by itself."""


class RecordingCutOff(Event, frozen=True, kw_only=True):
    """The recorder of a run is gone, and no end of the command was recorded: no more events will come.

    `at` is when the last one came. The process that follows the recording makes this event; it is never stored.
    """

    run: str


class JobFound(Event, frozen=True, kw_only=True):
    """A job that nobody records was found by its worker processes; what was known before is of another job.

    The source that looks for jobs on this machine makes this event for its own screen; it is never stored.
    """

    command: tuple[str, ...] = ()
    """Of its first worker."""
    directory: str = ""


class ProcessSeen(Event, frozen=True, kw_only=True):
    """A process of the job appeared: a worker (with rank) or a compiler."""

    pid: int
    role: ProcessRole = ProcessRole.UNKNOWN
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    command: str = ""
    started: float | None = None
    module: str | None = None


class ProcessExited(Event, frozen=True, kw_only=True):
    """A process of the job ended; `exit_code` if it is known."""

    pid: int
    exit_code: int | None = None


class LineMalformed(LogEvent, frozen=True, kw_only=True):
    """A broken line of a known family, kept in `text` with control characters made visible."""

    family: str
    text: str
    reason: str = ""


class LineMarked(LogEvent, frozen=True, kw_only=True):
    """A warning or an error that no other event stands for."""

    level: LogLevel
    text: str


class JobDiagnosed(Event, frozen=True, kw_only=True):
    """The diagnosis of a log has changed; `source` is the log."""

    diagnosis: Diagnosis


class Rotation(OpenEnum):
    """What happened to a followed file; after all but VANISHED, reading goes on at offset 0."""

    UNKNOWN = ""
    ROTATED = "rotated"
    TRUNCATED = "truncated"
    VANISHED = "vanished"
    APPEARED = "appeared"


class SourceRotated(Event, frozen=True, kw_only=True):
    """A followed file was replaced or cut; reading went on at its new start."""

    path: str
    how: Rotation = Rotation.UNKNOWN


class OutputGrew(Event, frozen=True, kw_only=True):
    """Bytes were added to a followed log: what a replay needs to show its end as it was. At most ten per second."""

    path: str
    end: int
    lines: int = 0
    """Lines seen in this source so far."""
    written: Moment | None = None
    """For bytes that were there before the log was followed: its last change then, seconds since the epoch. Once all of
    them have been read, `at` is the newest timestamp of the last lines, if they have any. Before any has been read
    (`end` is 0), `at` only shows the time zone of the log."""
    size: int | None = None
    """With that, how many bytes were there: all of them were read once `end` is no less."""
    began: Moment | None = None
    """With that, the timestamp of the first line that has one."""
    closed: bool = False
    """The writer has closed the log: nothing more can come."""
