"""States in words."""

from __future__ import annotations

from neuron_top.run.job import JobTracker
from neuron_top.run.state import JobState

__all__ = ["JobState", "job_text", "state_text"]

_WORDS = {
    JobState.IDLE: "waiting for a job",
    JobState.EXTRACTING: "extracting graphs (trial run)",
    JobState.LOCK_WAIT: "waiting for a lock",
}


def job_text(state: JobState, *, exit_code: int | None = None, signal: str = "") -> str:
    """A job's state in words, with how it ended. `signal`: the one that a person stopped it with."""
    if state is JobState.INTERRUPTED:
        return f"{state} ({signal})" if signal else str(state)
    if state is JobState.KILLED and exit_code is not None:
        return f"{state} (signal {-exit_code})"
    if state is JobState.FAILED and exit_code is not None:
        return f"{state} (exit status {exit_code})"
    return _WORDS.get(state, str(state))


def state_text(state: JobState, job: JobTracker) -> str:
    """The state of a run's job in words."""
    return job_text(state, exit_code=job.exit_code, signal=job.interrupted_by)
