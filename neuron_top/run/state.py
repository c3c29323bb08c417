"""The states of a job, as values that code compares; the views have the words for people."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """Where a job stands. The values are what `--json`, the API and stored summaries carry."""

    IDLE = "idle"
    """There was no job yet."""
    EXTRACTING = "extracting"
    """A trial run stores graphs and computes nothing."""
    COMPILING = "compiling"
    LOCK_WAIT = "lock wait"
    """A process waits for a compile of a process elsewhere: none of this job compiles."""
    TRAINING = "training"
    SERVING = "serving"
    """It answers requests: throughput is reported, and no step."""
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    KILLED = "killed"
    """Ended by a signal that no person sent from here."""
    INTERRUPTED = "interrupted"
    """Stopped by a person."""
    CUT_OFF = "cut off"
    """No end was seen: the recorder died, or the log just stops."""


ENDED = frozenset({JobState.FINISHED, JobState.FAILED, JobState.KILLED, JobState.INTERRUPTED, JobState.CUT_OFF})
