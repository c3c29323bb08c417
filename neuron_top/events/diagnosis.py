"""A diagnosis as values: whether a job failed, how it ended, and the causes in their order. `diagnose/` makes it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

MOST_CAUSES = 20


class CauseClass(StrEnum):
    """What kind of thing went wrong; the values are published."""

    COMPILE_ERROR = "compile_error"
    COMPILE_KILLED = "compile_killed"
    COMPILE_CRASHED = "compile_crashed"
    COMPILE_TIMEOUT = "compile_timeout"
    CACHED_FAILURE = "cached_failure"
    LOCK_TIMEOUT = "lock_timeout"
    MISSING_DEPENDENCY = "missing_dependency"
    BAD_USAGE = "bad_usage"
    RUNTIME_INIT = "runtime_init"
    RUNTIME_OOM = "runtime_oom"
    RUNTIME_EXEC = "runtime_exec"
    COLLECTIVE = "collective"
    HOST_OOM = "host_oom"
    SCRIPT_ERROR = "script_error"
    NETWORK = "network"
    TOOL_ERROR = "tool_error"
    INTERRUPTED = "interrupted"


class JobEnd(StrEnum):
    """How the job ended, as far as its log shows."""

    FINISHED = "finished"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """How far a cause may be believed."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Unreadable(StrEnum):
    """Why a log cannot be diagnosed; the values are published."""

    EMPTY = "empty"
    NOT_TEXT = "not_text"


class Evidence(msgspec.Struct, frozen=True):
    """A line around the one that states a cause."""

    line: int
    text: str


class Cause(msgspec.Struct, frozen=True, omit_defaults=True, rename={"cause_class": "class"}):
    """One thing that went wrong, printed once or often."""

    cause_class: CauseClass
    line: int
    """Of the first line that states it, counted from 1, lines split at LF."""
    offset: int
    """Where that line begins, in bytes of its log."""
    source: str
    """The log that it is in, as events name it."""
    text: str
    """The line without prefixes, header and colors."""
    count: int
    ranks: tuple[int, ...]
    confidence: Confidence
    advice: str
    evidence: tuple[Evidence, ...]
    stated: bool = True
    """False if only the exit status reports the failure: then this is the log's last line, and the class is a guess
    from the status. Left out of JSON if true."""


class LastWait(msgspec.Struct, frozen=True):
    """The wait for another process's compile in which a log ends."""

    line: int
    """Of the last line that reports the wait, counted from 1."""
    offset: int
    """Where that line begins, in bytes of its log."""
    source: str
    """The log that it is in, as events name it."""
    text: str
    """The line without prefixes, header and colors."""
    root: str
    """The cache's folder; "" where the line does not name it."""
    module: str
    """The entry whose lock is waited for; "" where the line does not name it."""
    minutes: float
    """How long the process had waited by then."""
    since: float | None
    """When it began to wait, in seconds since the epoch by the log's own clock; None for a line without a time."""
    is_own: bool
    """The compile of this graph began in the same log."""
    advice: str


class Diagnosis(msgspec.Struct, frozen=True):
    """What went wrong, by one log; encoded as it is, this is the JSON of `neurontop diagnose`."""

    failed: bool = False
    """Something went wrong that a gate must catch."""
    recovered: bool = False
    """Something went wrong and the job went on; `causes` lists it."""
    job_ended: JobEnd = JobEnd.UNKNOWN
    causes: tuple[Cause, ...] = ()
    """Root cause first; what followed from it is left out."""
    unreadable: Unreadable | msgspec.UnsetType = msgspec.UNSET
    """Set, and in JSON, only for a log file that is empty or not text."""
    last_wait: LastWait | msgspec.UnsetType = msgspec.UNSET
    """Set, and in JSON, only where nothing failed and the log ends in a wait for another process's compile."""
    interrupted_by: str | msgspec.UnsetType = msgspec.UNSET
    """Name of the signal that a person stopped the job with; set, and in JSON, only where nothing else is its cause."""

    def if_interrupted_by(self, signal: str) -> Diagnosis:
        """This diagnosis for a job that a person stopped with this signal ("": nobody did), which is then the cause
        unless the log states another one."""
        first = self.causes[0] if self.causes else None
        if not signal or not self.failed:
            return self
        if first is not None and first.stated and first.cause_class is not CauseClass.INTERRUPTED:
            return self
        causes = self.causes
        if first is not None and not first.stated:
            causes = (msgspec.structs.replace(first, cause_class=CauseClass.INTERRUPTED, advice=""), *causes[1:])
        return msgspec.structs.replace(self, causes=causes, interrupted_by=signal)

    @property
    def cause(self) -> Cause | None:
        """The root cause; None where nothing failed."""
        return self.causes[0] if self.failed and self.causes else None

    @property
    def has_surely_failed(self) -> bool:
        """Whether the job failed, and does not only wait for a lock: then it may still be alive."""
        return self.failed and not self.is_wait

    @property
    def is_wait(self) -> bool:
        """Whether all that is wrong is a wait for a lock that has not ended in the log: the job may still be alive."""
        cause = self.cause
        return (
            cause is not None
            and self.job_ended is JobEnd.UNKNOWN
            and cause.cause_class is CauseClass.LOCK_TIMEOUT
            and cause.confidence is Confidence.LOW
        )
