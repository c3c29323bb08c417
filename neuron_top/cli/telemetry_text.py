"""The tables of `neurontop telemetry`: the newest word on everything, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from neuron_top import events, units
from neuron_top.cli.output import table
from neuron_top.events import AnyEvent, CoreSample
from neuron_top.telemetry.banks import bank_levels


class Snapshot:
    """The newest word on everything: what --once prints."""

    def __init__(self) -> None:
        self._devices: events.DevicesFound | None = None
        self._processes: events.NeuronProcessesSampled | None = None
        self._cores: events.CoresSampled | None = None
        self._host: events.HostSampled | None = None
        self._errors: dict[int, events.HardwareErrorsCounted] = {}
        self._counters: dict[tuple[int, int], events.CoreCountersRead] = {}
        self._executions: dict[tuple[int | None, str], events.ExecutionsCounted] = {}
        self._silent: set[str] = set()

    def apply(self, event: AnyEvent) -> None:
        """Take one event into account."""
        match event:
            case events.DevicesFound():
                self._devices = event
            case events.NeuronProcessesSampled():
                self._processes, self._executions = event, {}
            case events.CoresSampled():
                self._cores = event
            case events.HostSampled():
                self._host = event
            case events.HardwareErrorsCounted():
                self._errors[event.device] = event
            case events.CoreCountersRead():
                self._counters[event.device, event.physical] = event
            case events.ExecutionsCounted():
                self._executions[event.pid, event.tag] = event
            case events.SourceUnavailable():
                self._silent.add(event.source)
            case _:
                pass

    @property
    def empty(self) -> bool:
        """Nothing of a device or of the host has been said."""
        return not (self._devices or self._cores or self._host)

    def complete(self, wanted: str) -> bool:
        """Whether --once has what it waits for: from the monitor a sample with rates, when the monitor is there."""
        if wanted == "ls":
            return self._devices is not None
        if wanted == "sysfs" or "monitor" in self._silent:
            return self._cores is not None
        host_rates = self._host is not None and self._host.cpu is not None
        return host_rates and self._cores is not None and self._cores.source == "monitor"

    def events(self) -> Iterator[AnyEvent]:
        """The newest events, in the order in which they are told."""
        single = (self._devices, self._processes, self._cores)
        yield from (event for event in single if event is not None)
        yield from self._executions.values()
        if self._host is not None:
            yield self._host
        yield from self._errors.values()
        yield from self._counters.values()

    def text(self) -> str:
        """The tables."""
        parts = [_machine_text(self._devices), _cores_text(self._cores), _processes_text(self._processes)]
        parts += [_executions_text(self._executions.values()), _host_text(self._host)]
        parts += [_errors_text(self._errors.values())]
        return "\n\n".join(part for part in parts if part)


def _machine_text(found: events.DevicesFound | None) -> str:
    if found is None:
        return ""
    title = found.instance_type or "instance type unknown"
    title += f" · {len(found.devices)} device{'s' if len(found.devices) != 1 else ''}"
    if found.lnc:
        title += f" · logical core = {found.lnc} physical"
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
        for device in found.devices
    ]
    return f"{title}\n" + table(("device", "kind", "cores", "memory", "bdf", "linked to", "pids"), rows)


def _cores_text(sampled: events.CoresSampled | None) -> str:
    if sampled is None:
        return ""
    left = {(level.device, level.bank): level.headroom for level in bank_levels(sampled.cores)}
    header = ("core", "device", "bank", "busy", "memory", "of", "left", "peak", "power", "pid", "process", "loaded")
    rows = [
        (
            str(core.core),
            _number(core.device),
            _number(core.bank),
            units.percent_text(core.utilization),
            units.bytes_text(core.memory),
            units.bytes_text(core.capacity),
            units.bytes_text(left.get((core.device, core.bank or 0)) if core.bank is not None else None),
            units.bytes_text(core.peak),
            units.percent_text(core.power),
            _number(core.pid),
            _holder(core),
            _models(core),
        )
        for core in sampled.cores
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
    header = ("pid", "tag", "on devices", "on host", "CPU", "models", "said")
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
    header = ("pid", "in", "executed", "not well", "latency p50", "p99")
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
