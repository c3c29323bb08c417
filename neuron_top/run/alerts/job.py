"""Alerts about the job itself: it failed, workers died, lines say ERROR."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_top.events.levels import LineLevel
from neuron_top.run.alerts.alert import AlertKind, Limits, RaisedAlert, exception_of
from neuron_top.run.model import Run
from neuron_top.run.severity import Severity
from neuron_top.run.state import JobState


def job_failed(run: Run, now: float) -> Iterator[RaisedAlert]:
    """The job failed, or its logs report a failure and then nothing more. A job that a person stopped did not fail."""
    diagnosis = run.job.diagnosis
    if run.job.interrupted_by:
        return
    is_diagnosed = diagnosis is not None and diagnosis.has_surely_failed and (run.over(now) or run.quiet(now))
    if is_diagnosed or run.job.ended_as in (JobState.FAILED, JobState.KILLED):
        yield RaisedAlert(
            kind=AlertKind.JOB_FAILED,
            key="job failed",
            severity=Severity.ERROR,
            since=run.silence.last if run.job.finished is None else run.job.finished,
            exit_code=run.job.exit_code,
            cause=diagnosis.cause if diagnosis is not None else None,
        )


def workers_died(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """The worker that died first, and how many did."""
    deaths = run.training.deaths
    if deaths:
        root = next((death for death in deaths if death.first), deaths[0])
        errors = [error for error in run.training.errors if error.rank in (root.rank, None)]
        yield RaisedAlert(
            kind=AlertKind.WORKER_DIED,
            key="worker died",
            severity=Severity.ERROR,
            since=root.time,
            count=len(deaths),
            rank=root.rank,
            exit_code=root.exit_code,
            signal=root.signal,
            names=exception_of(errors),
        )


def error_lines(run: Run) -> Iterator[RaisedAlert]:
    """Lines that say ERROR, if no other alert or diagnosis says what they mean."""
    job = run.job
    marks = [mark for mark in job.marks if mark.level is LineLevel.ERROR]
    if job.errors and marks and not (job.diagnosis is not None and job.diagnosis.causes):
        yield RaisedAlert(
            kind=AlertKind.ERROR_LINES,
            key="error lines",
            severity=Severity.WARNING,
            since=marks[0].time,
            count=job.errors,
            text=marks[-1].text,
        )
