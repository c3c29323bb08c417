"""Alerts about cores and devices: memory, idleness, silence, and what the runtime reports."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_top.events import AdviceKind, CoreKind, ProcessRole
from neuron_top.run.alerts.alert import AlertKind, Limits, RaisedAlert
from neuron_top.run.cores import BUSY, Core
from neuron_top.run.history import median
from neuron_top.run.model import Run
from neuron_top.run.severity import Severity


def memory_exhausted(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """A device ran out of memory."""
    last = run.cores.exhausted.newest
    if last is not None:
        yield RaisedAlert(
            kind=AlertKind.MEMORY_EXHAUSTED,
            key="memory exhausted",
            severity=Severity.ERROR,
            since=run.cores.exhausted.first,
            count=run.cores.exhausted.count,
            size=last.requested,
            device=last.device,
            index=last.core,
        )


def memory_headroom(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Cores whose memory is nearly full."""
    for core in run.cores.cores.values():
        free = core.headroom
        if free is None or free >= limits.memory_headroom or not _fresh(run, core, now, limits):
            continue
        yield RaisedAlert(
            kind=AlertKind.MEMORY_LOW,
            key=f"memory {core.key}",
            severity=Severity.WARNING,
            since=core.low_since(limits.memory_headroom),
            local=core.kind is not CoreKind.NEURON,
            index=core.index,
            device=core.sample.device,
            size=(core.sample.memory or 0) + core.beside,
            capacity=core.sample.capacity,
            share=free,
            core=core.key,
        )


def idle_cores(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Cores that do nothing while most of the others work."""
    if run.job.finished is not None:
        return
    cores = [core for core in run.cores.cores.values() if _fresh(run, core, now, limits)]
    busy = {core.key: core.smoothed(run.training.step_seconds) for core in cores}
    known = [value for value in busy.values() if value is not None]
    if len(known) < 2 or median(known) <= 2 * BUSY:
        return
    for core in cores:
        value, since = busy[core.key], core.last_busy if core.last_busy is not None else core.first_sampled
        if value is not None and value < BUSY and since is not None and now - since >= limits.idle_seconds:
            yield RaisedAlert(
                kind=AlertKind.IDLE_CORE,
                key=f"idle {core.key}",
                severity=Severity.WARNING,
                since=since,
                index=core.index,
                device=core.sample.device,
                share=value,
                typical=median(known),
                total=len(known),
                core=core.key,
            )


def telemetry_lost(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """No samples come any more, although a source should send them."""
    if run.job.finished is not None or run.cores.last_sample is None:
        return
    silent = now - run.cores.last_sample
    if silent > max(limits.stale_seconds, 5 * (run.cores.period or 0.0)) and _expects_samples(run):
        absent = (status for status in run.cores.sources.values() if not (status.available or status.is_file))
        lost = max(absent, key=lambda status: status.since or 0.0, default=None)  # others were absent before
        yield RaisedAlert(
            kind=AlertKind.TELEMETRY_LOST,
            key="telemetry",
            severity=Severity.WARNING,
            since=run.cores.last_sample,
            seconds=silent,
            text=lost.text if lost is not None else "",
        )


def advised(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """What the runtime said that a person must know: a device was reset, a setting is bad."""
    for key, advice in run.advice.advice.items():
        is_reset = advice.kind is AdviceKind.DEVICE_RESET
        yield RaisedAlert(
            kind=AlertKind.DEVICE_RESET if is_reset else AlertKind.RUNTIME_ADVICE,
            key=f"advice {key}",
            severity=Severity.ERROR if is_reset else Severity.INFO,
            since=advice.first,
            count=advice.count,
            text=advice.text,
            names=(advice.kind.value, *map(str, sorted(advice.devices))),
        )


def _fresh(run: Run, core: Core, now: float, limits: Limits) -> bool:
    if run.job.finished is not None or core.sampled is None:
        return False
    return now - core.sampled <= max(limits.stale_seconds, 5 * (run.cores.period or 0.0))


def _expects_samples(run: Run) -> bool:
    """Whether samples are expected: from any device, and from local workers until they end."""
    kinds = {core.kind for core in run.cores.cores.values()}
    return CoreKind.NEURON in kinds or any(process.role == ProcessRole.WORKER for process in run.job.alive)
