"""States of jobs and runs in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.units import exit_text

__all__ = ["JobState", "end_text", "ended_state", "job_text", "log_title", "run_name", "run_text"]

STANDARD_INPUT = "-"
_WORDS = {
    JobState.IDLE: "waiting for a job",
    JobState.EXTRACTING: "extracting graphs (trial run)",
    JobState.LOCK_WAIT: "waiting for a lock",
    JobState.FINISHED: "completed",
}
_ENDS = (JobState.FAILED, JobState.KILLED, JobState.INTERRUPTED, JobState.FINISHED, JobState.CUT_OFF)


def job_text(state: JobState, *, exit_code: int | None = None, signal: str = "") -> str:
    """A job's state in words, with how it ended. `signal`: the one that a person stopped it with."""
    if state is JobState.INTERRUPTED:
        return f"{state} ({signal})" if signal else str(state)
    ended = end_text(state, exit_code)
    return f"{state} ({ended})" if ended else _WORDS.get(state, str(state))


def ended_state(exit_code: int | None, last_phases: Collection[str] = ()) -> JobState:
    """How a job ended: by its exit status or, where nobody saw one, by the last phases of its nodes.

    A failure, or a good end, in the log of one node counts for all of them.
    """
    if exit_code is None:
        return next((state for state in _ENDS if state in last_phases), JobState.FINISHED)
    return JobState.KILLED if exit_code < 0 else JobState.FAILED if exit_code else JobState.FINISHED


def log_title(path: str) -> str:
    """A log as titles name it: by its file name."""
    return "standard input" if path == STANDARD_INPUT else path.rpartition("/")[2]


def run_name(name: str, command: Sequence[str], run: str = "") -> str:
    """What a run is called everywhere: its name, else its script, else its program, else its id.

    Launchers (`python`, `torchrun`, `srun`) have one name for all jobs.
    """
    script = next((word for word in command if word.endswith(".py")), command[0] if command else "")
    return name or script.rpartition("/")[2] or run


def end_text(state: JobState, exit_code: int | None) -> str:
    """How a job came to its end, `exit status 1`; "" where it ended well or that is not known."""
    if exit_code is None or state not in (JobState.KILLED, JobState.FAILED):
        return ""
    return exit_text(exit_code)


def run_text(run: Run, now: float) -> str:
    """Where a run stands, in words: `training`, `cut off (was training)`, `failed (exit status 1)`, …"""
    state = run.state(now)
    if state is JobState.CUT_OFF and not run.job.cut_off:
        return f"{state} (was {job_text(run.phase)})"
    return job_text(state, exit_code=run.job.exit_code, signal=run.job.interrupted_by)
