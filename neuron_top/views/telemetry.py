"""The newest telemetry of a machine as tables: what `neurontop telemetry` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from neuron_top import units
from neuron_top.events import (
    CoreKind,
    CoreSample,
    CoresSampled,
    DevicesFound,
    ExecutionsCounted,
    HardwareErrorsCounted,
    HostSampled,
    NeuronProcessesSampled,
)
from neuron_top.views.core_metrics import CORE_METRICS, HEADROOM, reported
from neuron_top.views.core_rows import CoreRow

NO_PROCESS = "No process has a Neuron runtime: nothing runs on the devices, or a job is still compiling."
_METRICS = tuple(metric for metric in CORE_METRICS if metric is not HEADROOM)
"""What is free is known of the bank, which cores may share."""


class TelemetryTable(NamedTuple):
    """One table, or only its title where there is nothing to list."""

    title: str
    header: tuple[str, ...] = ()
    rows: Sequence[Sequence[str]] = ()
    right: Sequence[int] = ()
    """The columns of numbers."""


def device_table(machine: DevicesFound) -> TelemetryTable:
    """The devices of the machine."""
    title = machine.instance_type or "instance type unknown"
    title += f" · {len(machine.devices)} device{'s' if len(machine.devices) != 1 else ''}"
    if machine.lnc:
        title += f" · logical core = {machine.lnc} physical"
    rows = [
        (
            str(device.index),
            device.kind or units.UNKNOWN,
            _span(device.cores),
            units.bytes_text(device.memory),
            device.bdf or units.UNKNOWN,
            ", ".join(map(str, device.connected_to)) or units.UNKNOWN,
            ", ".join(map(str, device.pids)) or units.UNKNOWN,
        )
        for device in machine.devices
    ]
    return TelemetryTable(title, ("device", "kind", "cores", "memory", "bdf", "linked to", "pids"), rows)


def core_table(sampled: CoresSampled, headroom: Mapping[tuple[int | None, int], int | None]) -> TelemetryTable:
    """The cores, with the metrics that are declared in `core_metrics`; `headroom`: bytes left by device and bank."""
    rows = [_core_row(core, sampled.kind) for core in sampled.cores]
    metrics = reported(_METRICS, rows)
    header = ("core", "device", "bank", *(metric.title for metric in metrics), "free", "pid", "process", "loaded")
    cells = [
        (*_place(row), *(metric.text(row) for metric in metrics), _free(core, headroom), *_user(core))
        for core, row in zip(sampled.cores, rows, strict=True)
    ]
    return TelemetryTable("", header, cells, range(len(header) - 2))


def process_table(sampled: NeuronProcessesSampled) -> TelemetryTable:
    """The processes that have a Neuron runtime."""
    rows = [
        (
            _number(process.pid),
            process.tag or units.UNKNOWN,
            units.bytes_text(process.device_memory),
            units.bytes_text(process.host_memory),
            units.percent_text(process.cpu),
            str(len(process.models)),
            process.error,
        )
        for process in sampled.processes
    ]
    if not rows:
        return TelemetryTable(NO_PROCESS)
    header = ("pid", "tag", "device memory", "host memory", "CPU", "models", "error")
    return TelemetryTable("", header, rows, (0, 2, 3, 4, 5))


def execution_table(counted: Iterable[ExecutionsCounted]) -> TelemetryTable:
    """What the processes executed, and how long it took."""
    rows = [
        (
            _number(event.pid),
            units.duration_text(event.period),
            units.count_text(event.statuses.get("completed")),
            units.count_text(sum(event.statuses.values()) - event.statuses.get("completed", 0)),
            units.latency_text(event.latency.get("p50")),
            units.latency_text(event.latency.get("p99")),
        )
        for event in counted
    ]
    header = ("pid", "period", "executed", "failed", "latency p50", "p99")
    return TelemetryTable("", header, rows, range(6)) if rows else TelemetryTable("")


def host_text(host: HostSampled) -> str:
    """CPU and memory of the host."""
    memory = f"{units.bytes_text(host.memory_used)} of {units.bytes_text(host.memory_total)}"
    return f"host: CPU {units.percent_text(host.cpu)} · memory {memory}"


def memory_error_lines(counted: Iterable[HardwareErrorsCounted]) -> list[str]:
    """A line per device and kind of error that occurred."""
    return [
        f"device {event.device}: {name} {units.count_text(count)}"
        for event in counted
        for name, count in event.counts.items()
        if count
    ]


def _core_row(sample: CoreSample, kind: CoreKind) -> CoreRow:
    """A core of which nothing but this sample is known."""
    return CoreRow(
        key="",
        core=sample.core,
        kind=kind,
        node="",
        device=sample.device,
        gpu="",
        bank=sample.bank,
        rank=sample.rank,
        pid=sample.pid,
        process=sample.process,
        container=sample.container,
        utilization=sample.utilization,
        smoothed=None,
        memory=sample.memory,
        capacity=sample.capacity,
        peak=sample.peak,
        headroom=None,
        beside=0,
        kinds=sample.kinds,
        models=sample.models,
        flops=sample.flops,
        power=sample.power,
        sampled=None,
        stale=False,
        ended=False,
        trend=(),
    )


def _place(row: CoreRow) -> tuple[str, str, str]:
    return str(row.core), _number(row.device), _number(row.bank)


def _free(core: CoreSample, headroom: Mapping[tuple[int | None, int], int | None]) -> str:
    return units.bytes_text(headroom.get((core.device, core.bank)) if core.bank is not None else None)


def _user(core: CoreSample) -> tuple[str, str, str]:
    return _number(core.pid), _holder(core), _models(core)


def _holder(core: CoreSample) -> str:
    name = core.process or units.UNKNOWN
    more = f" (+{len(core.pids) - 1})" if len(core.pids) > 1 else ""
    return f"{name}{more}" + (f" in {core.container}" if core.container else "")


def _models(core: CoreSample) -> str:
    if not core.models:
        return units.UNKNOWN
    return core.models[0] + (f" (+{len(core.models) - 1})" if len(core.models) > 1 else "")


def _number(value: int | None) -> str:
    return units.UNKNOWN if value is None else str(value)


def _span(cores: tuple[int, ...]) -> str:
    if not cores:
        return units.UNKNOWN
    whole = cores == tuple(range(cores[0], cores[-1] + 1))
    return f"{cores[0]}-{cores[-1]}" if whole and len(cores) > 1 else ", ".join(map(str, cores))
