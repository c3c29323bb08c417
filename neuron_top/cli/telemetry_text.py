"""The tables of `neurontop telemetry`: the newest sample of everything, as text."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top import events, units
from neuron_top.cli.output import table
from neuron_top.events import CoreSample
from neuron_top.services.telemetry import LatestTelemetry


def telemetry_text(latest: LatestTelemetry) -> str:
    """The newest of everything as tables."""
    parts = (
        _machine_text(latest.devices),
        _cores_text(latest),
        _processes_text(latest.processes),
        _executions_text(latest.executions.values()),
        _host_text(latest.host),
        _errors_text(latest.errors.values()),
    )
    return "\n\n".join(part for part in parts if part)


def _machine_text(machine: events.DevicesFound | None) -> str:
    if machine is None:
        return ""
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
    return f"{title}\n" + table(("device", "kind", "cores", "memory", "bdf", "linked to", "pids"), rows)


def _cores_text(latest: LatestTelemetry) -> str:
    if latest.cores is None:
        return ""
    headroom = latest.headroom()
    header = ("core", "device", "bank", "busy", "memory", "of", "free", "peak", "power", "pid", "process", "loaded")
    rows = [
        (
            str(core.core),
            _number(core.device),
            _number(core.bank),
            units.percent_text(core.utilization),
            units.bytes_text(core.memory),
            units.bytes_text(core.capacity),
            units.bytes_text(headroom.get((core.device, core.bank or 0)) if core.bank is not None else None),
            units.bytes_text(core.peak),
            units.percent_text(core.power),
            _number(core.pid),
            _holder(core),
            _models(core),
        )
        for core in latest.cores.cores
    ]
    return table(header, rows, right=range(10))


def _processes_text(sampled: events.NeuronProcessesSampled | None) -> str:
    if sampled is None:
        return ""
    if not sampled.processes:
        return "No process has a Neuron runtime: nothing runs on the devices, or a job is still compiling."
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
    header = ("pid", "tag", "device memory", "host memory", "CPU", "models", "error")
    return table(header, rows, right=(0, 2, 3, 4, 5))


def _executions_text(counted: Iterable[events.ExecutionsCounted]) -> str:
    rows = [
        (
            _number(event.pid),
            units.duration_text(event.period),
            units.count_text(event.statuses.get("completed")),
            units.count_text(sum(event.statuses.values()) - event.statuses.get("completed", 0)),
            _latency(event.latency.get("p50")),
            _latency(event.latency.get("p99")),
        )
        for event in counted
    ]
    header = ("pid", "period", "executed", "failed", "latency p50", "p99")
    return table(header, rows, right=range(6)) if rows else ""


def _host_text(host: events.HostSampled | None) -> str:
    if host is None:
        return ""
    memory = f"{units.bytes_text(host.memory_used)} of {units.bytes_text(host.memory_total)}"
    return f"host: CPU {units.percent_text(host.cpu)} · memory {memory}"


def _errors_text(counted: Iterable[events.HardwareErrorsCounted]) -> str:
    lines = [
        f"device {event.device}: {name} {units.count_text(count)}"
        for event in counted
        for name, count in event.counts.items()
        if count
    ]
    return "\n".join(["memory errors:", *lines]) if lines else ""


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


def _latency(seconds: float | None) -> str:
    """An execution may take microseconds."""
    if seconds is None or seconds >= 0.01:
        return units.duration_text(seconds)
    return f"{seconds * 1e6:,.0f} µs"
