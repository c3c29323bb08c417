"""The overview: everything that matters on one screen, and what `neurontop status --json` prints.

Numbers are plain (bytes, seconds, shares 0…1, times since the epoch) and None where unknown; `units.py` makes
text of them in the front ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice, pairwise
from math import isfinite

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.events import ProcessRole
from neuron_top.run.cores import SourceStatus
from neuron_top.run.estimate import Estimator
from neuron_top.run.job import Mark
from neuron_top.run.log_activity import Backlog
from neuron_top.run.model import Run
from neuron_top.run.state import ENDED, JobState
from neuron_top.run.training import Report
from neuron_top.views.alerts import Alert, Limits, alerts
from neuron_top.views.core_rows import CoreRow, core_rows, is_stale
from neuron_top.views.progress import CacheCard, CompileCard, cache_card, compile_card
from neuron_top.views.states import log_title, run_name, run_text
from neuron_top.views.torch_trace import TorchSummary, torch_summary

LINES_SHOWN = 50


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The job and where it stands."""

    name: str
    """The run's name, else its program's, else that of the one log that is read; "" when nothing was met yet."""
    run: str
    command: tuple[str, ...]
    node: str
    state: JobState
    state_text: str
    """In words: `waiting for a job`, `training`, `cut off (was training)`, `failed (exit status 1)`, …"""
    active: bool
    """A job is there and has not ended. One that is known from its logs alone counts as active until they end, or are
    silent for long."""
    started: float | None
    """When the job began; None, like `elapsed`, where no job was met."""
    finished: float | None
    elapsed: float | None
    exit_code: int | None
    interrupted_by: str = ""
    """Name of the signal that a person stopped the job with."""
    world_size: int | None
    workers: int
    """Worker processes alive now; none once nobody watches them any more."""
    events: int
    last_event: float | None
    last_line: float | None = None
    """When the logs were last heard of."""
    silent: float | None = None
    """Seconds since then, of a job that is known from its logs alone and may have ended long ago; `elapsed` and all
    that goes on then count up to the last line. None while it may well go on."""

    phase: JobState = JobState.IDLE
    """What it does, or did when it was last heard of."""
    until: float | None = None
    """Up to when things have gone on: now, or the end."""
    workers_ended: bool = False
    """The worker processes of a job that nobody records have ended."""
    unread: Backlog | None = None
    """How far its logs were read, while what they held already is still being read: all else is of that moment."""
    logs: int = 0
    """How many logs tell of it."""

    @property
    def over(self) -> bool:
        """Nothing more is expected: it has ended, or its log has been silent for long."""
        return (not self.active and self.state is not JobState.IDLE) or self.silent is not None


LOSSES_READ = 4000
LOSSES_SHOWN = 400


class TrainingCard(msgspec.Struct, frozen=True, kw_only=True):
    """Training progress as printed."""

    step: int | None
    total_steps: int | None
    epoch: float | None
    loss: float | None
    learning_rate: float | None
    throughput: float | None
    """Median of the recent reports, in `throughput_unit`."""
    throughput_unit: str
    step_seconds: float | None
    last_time: float | None
    since_last: float | None
    simulated_reports: int
    """Reports during graph extraction: not progress, not shown as such."""
    losses: tuple[float | None, ...]
    """The newest printed losses, oldest first; more than LOSSES_SHOWN are joined by their means. None: `nan`, `inf`."""
    throughputs: tuple[float | None, ...] = ()
    """The newest printed throughputs, joined in the same way."""
    first_step: int | None
    """The step of the first of them."""
    left_seconds: float | None
    """Until the last step, by the recent steps' pace; None where the number of steps or the pace is not known."""

    @property
    def serves(self) -> bool:
        """Whether answers are given: a throughput is reported, and neither a step nor a loss."""
        return self.throughput is not None and self.step is None and self.loss is None


class HostCard(msgspec.Struct, frozen=True, kw_only=True):
    """The host at its latest sample."""

    cpu: float | None
    memory_used: int | None
    memory_total: int | None
    stale: bool = False
    """It was not sampled for longer than it should be: the values are old."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The whole screen."""

    now: float
    header: Header
    cores: tuple[CoreRow, ...]
    compile: CompileCard
    cache: CacheCard
    training: TrainingCard
    host: HostCard
    alerts: tuple[Alert, ...]
    alerts_handled: int = 0
    """Further ones, which somebody acknowledged or muted."""
    lines: tuple[Mark, ...]
    """The last important lines, oldest first."""
    sources: tuple[SourceStatus, ...]
    torch: TorchSummary | None = None
    """torch.compile of plain PyTorch processes; None where none wrote a trace."""
    diagnosis: Diagnosis | None = None
    """What went wrong; None where no log was read for it."""


def overview(run: Run, now: float, estimator: Estimator | None = None, limits: Limits | None = None) -> Overview:
    """The overview of `run` at `now`. Bind `estimator` (past compiles) and `limits` (settings) with `partial`."""
    return Overview(
        now=now,
        header=header(run, now),
        cores=core_rows(run, now),
        compile=compile_card(run, now, estimator or Estimator()),
        cache=cache_card(run),
        training=training_card(run, now),
        host=host_card(run, now),
        alerts=alerts(run, now, limits),
        lines=tuple(run.job.marks)[-LINES_SHOWN:],
        sources=tuple(run.cores.sources.values()),
        torch=torch_summary(run, now),
        diagnosis=run.job.diagnosis,
    )


def host_card(run: Run, now: float) -> HostCard:
    """The host at its latest sample, all of it unknown before the first."""
    host = run.cores.host
    if host is None:
        return HostCard(cpu=None, memory_used=None, memory_total=None)
    stale = is_stale(host.time, run.cores.period, now)
    return HostCard(cpu=host.cpu, memory_used=host.memory_used, memory_total=host.memory_total, stale=stale)


def header(run: Run, now: float) -> Header:
    """The job and where it stands."""
    job, silent = run.job, run.silent(now)
    end = job.finished if job.finished is not None else run.effective_now(now)
    state = run.state(now)
    is_idle = state is JobState.IDLE
    started = None if is_idle else run.started
    return Header(
        name=run_name(job.name, job.command) or _log_name(run),
        run=job.run,
        command=job.command,
        node=job.node,
        state=state,
        state_text=run_text(run, now),
        active=job.finished is None and not is_idle and state not in ENDED,
        started=started,
        finished=None if job.cut_off else job.finished,
        elapsed=None if is_idle else run.seconds_since_start(end),
        exit_code=job.exit_code,
        interrupted_by=job.interrupted_by,
        world_size=None if run.log_outlived_workers else job.world_size,
        workers=0 if run.over(now) else sum(process.role == ProcessRole.WORKER for process in job.alive),
        events=run.events,
        last_event=run.last_time,
        last_line=run.silence.last,
        silent=silent,
        phase=state if is_idle else run.phase,
        until=end,
        workers_ended=run.workers_left(now) is not None,
        unread=run.silence.unread(now),
        logs=len(job.sources),
    )


def _log_name(run: Run) -> str:
    """As the list of jobs names it, else the one log that all is known from; "" where there are several or none."""
    if run.job.listed_name:
        return run.job.listed_name
    paths = list(run.job.sources)
    if len(paths) != 1:
        return ""
    return log_title(paths[0])


def training_card(run: Run, now: float) -> TrainingCard:
    """Training progress as printed."""
    training = run.training
    reports, speeds = _newest(training.loss_by_step), _newest(training.throughput_by_step)
    return TrainingCard(
        step=training.step,
        total_steps=training.total_steps,
        epoch=training.epoch,
        loss=training.loss,
        learning_rate=training.learning_rate,
        throughput=training.throughput,
        throughput_unit=training.throughput_unit,
        step_seconds=training.step_seconds,
        last_time=training.last_time,
        since_last=max(0.0, now - training.last_time) if training.last_time is not None else None,
        simulated_reports=training.simulated_reports,
        losses=_joined([loss for _step, _time, loss in reports]),
        throughputs=_joined([speed for _step, _time, speed in speeds]),
        first_step=next((step for step, _time, _loss in reports if step is not None), None),
        left_seconds=_left_seconds(run) if not run.over(now) else None,
    )


def _newest(reported: deque[Report]) -> list[Report]:
    return list(islice(reported, max(0, len(reported) - LOSSES_READ), None))


def _joined(values: Sequence[float]) -> tuple[float | None, ...]:
    count = min(len(values), LOSSES_SHOWN)
    edges = [place * len(values) // count for place in range(count + 1)] if count else []
    return tuple(_mean(values[a:b]) for a, b in pairwise(edges))


def _mean(values: Sequence[float]) -> float | None:
    """Of the finite ones; None where none is."""
    finite = [value for value in values if isfinite(value)]
    return sum(finite) / len(finite) if finite else None


def _left_seconds(run: Run) -> float | None:
    training = run.training
    if (
        training.step is None
        or not training.total_steps
        or training.step_seconds is None
        or run.job.finished is not None
    ):
        return None
    return max(0, training.total_steps - training.step) * training.step_seconds
