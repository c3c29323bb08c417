"""Makes events of neuron-monitor's records: merges processes, drops rates of partial periods, adds capacity.

Each process's element lists all cores of the instance, with zeros for those of others. So utilization is merged by
maximum and memory by sum; counts stay counts of their period. A record's first period lasts milliseconds: its rates
mean nothing and are left out, its memory is fine. Pure apart from the clock that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from neuron_top.escapes import visible
from neuron_top.events import (
    AnyEvent,
    CoreKind,
    CoreSample,
    CoresSampled,
    Device,
    DevicesFound,
    ExecutionsCounted,
    HardwareErrorsCounted,
    HostSampled,
    LineMalformed,
    LoadedModel,
    NeuronProcess,
    NeuronProcessesSampled,
    SourceAvailable,
    SourceUnavailable,
)
from neuron_top.parsers.json_fields import LONGEST_DOCUMENT
from neuron_top.parsers.neuron_monitor import Hardware, Model, MonitorRecord, RuntimeRecord, read_record, torn_apart
from neuron_top.telemetry.instances import Machine, machine

NAME = "neuron-monitor"
SHORTEST_REQUEST = 1.0
"""Seconds: the shortest period that neuron-monitor honors."""
_MOST_GROUPS = 32
"""Groups of the system whose errors are reported; there are four."""
_SHOWN_OF_A_BROKEN_LINE = 2000


class MonitorReader:
    """Bytes of neuron-monitor's output → events. `requested` is the period asked for, seconds.

    `clock` stamps the samples, which carry no time of their own; without one (a file) their time stays unknown.
    """

    def __init__(
        self,
        source: str = "monitor",
        *,
        requested: float = SHORTEST_REQUEST,
        clock: Callable[[], float] | None = None,
        announce_devices: bool = True,
    ) -> None:
        self.source, self._requested, self._clock = source, requested, clock
        self._announce = announce_devices
        self._announced: Hardware | None = None
        self._pending = bytearray()
        self._skipping = False
        self._errors: dict[str, str] = {}
        """What was reported of groups that the monitor cannot read, by group."""
        self.records = self.malformed = 0

    def feed(self, data: bytes) -> list[AnyEvent]:
        """Take the next bytes, in any portions; gives the events of the lines that they complete."""
        *lines, rest = data.split(b"\n")
        events: list[AnyEvent] = []
        for line in lines:
            self._pending += line
            events += self._line()
        self._pending += rest
        if len(self._pending) > LONGEST_DOCUMENT:
            events += self._line(cut=True)
        return events

    def flush(self) -> list[AnyEvent]:
        """The input has ended: a last line without a line end counts, too."""
        return self._line()

    def _line(self, *, cut: bool = False) -> list[AnyEvent]:
        line, self._pending = bytes(self._pending).strip(), bytearray()
        skipped, self._skipping = self._skipping, cut
        if skipped or not line:
            return []
        return [event for piece in torn_apart(line) for event in self._record(piece)]

    def _record(self, line: bytes) -> list[AnyEvent]:
        try:
            record = read_record(line)
        except ValueError as problem:
            self.malformed += 1
            text = visible(line[:_SHOWN_OF_A_BROKEN_LINE].decode("utf-8", "replace"))
            return [LineMalformed(source=self.source, family="neuron-monitor", text=text, reason=str(problem))]
        self.records += 1
        return self.events(record)

    def events(self, record: MonitorRecord) -> list[AnyEvent]:
        """The events of one record, the machine first when it is new."""
        at = self._clock() if self._clock else None
        found = [
            *self._devices(record.hardware),
            *self._groups(record.groups),
            *events_of(record, self._requested),
        ]
        return [msgspec.structs.replace(event, at=at, source=self.source) for event in found]

    def _devices(self, hardware: Hardware) -> Iterator[AnyEvent]:
        if self._announce and hardware.devices and hardware != self._announced:
            self._announced = hardware
            yield devices_found(hardware)

    def _groups(self, groups: Mapping[str, str]) -> Iterator[AnyEvent]:
        """Groups of the system that the monitor cannot read, or can read again."""
        for group, error in groups.items():
            if error != self._errors.get(group, "") and (group in self._errors or len(self._errors) < _MOST_GROUPS):
                self._errors[group] = error
                name = f"{NAME} {group}"
                yield SourceUnavailable(name=name, reason=error) if error else SourceAvailable(name=name)


def machine_of(hardware: Hardware) -> Machine:
    """The machine that a record describes."""
    return machine(
        instance_type=hardware.instance_type,
        device_kind=hardware.device_kind,
        core_version=hardware.core_version,
        devices=hardware.devices,
        cores_per_device=hardware.cores_per_device,
        lnc=hardware.lnc,
        device_memory=hardware.device_memory,
    )


def devices_found(hardware: Hardware) -> DevicesFound:
    """The machine as an event."""
    host = machine_of(hardware)
    per_device = host.cores_per_device or 0
    devices = tuple(
        Device(
            index=index,
            core_count=host.cores_per_device,
            memory=host.device_memory,
            cores=tuple(range(index * per_device, (index + 1) * per_device)),
            kind=host.generation.device_name if host.generation else hardware.device_kind,
        )
        for index in range(host.devices or 0)
    )
    return DevicesFound(
        instance_type=hardware.instance_type, lnc=host.lnc if host.generation else hardware.lnc, devices=devices
    )


def events_of(record: MonitorRecord, requested: float = SHORTEST_REQUEST) -> list[AnyEvent]:
    """The events of one record. A missing section was not due and gives no event."""
    found: list[AnyEvent] = []
    if record.runtimes is not None:
        found += _runtimes(record, record.runtimes, requested)
    if record.host is not None:
        host = record.host
        found.append(
            HostSampled(
                cpu=host.cpu if _whole_period(host.cpu_period, requested) else None,
                memory_used=host.memory_used,
                memory_total=host.memory_total,
                swap_used=host.swap_used,
                swap_total=host.swap_total,
            )
        )
    found += (HardwareErrorsCounted(device=index, counts=counts) for index, counts in sorted(record.ecc.items()))
    return found


def _runtimes(record: MonitorRecord, runtimes: tuple[RuntimeRecord, ...], requested: float) -> Iterator[AnyEvent]:
    host = machine_of(record.hardware)
    usable = [runtime for runtime in runtimes if not runtime.error]
    processes = tuple(_process(runtime, host, requested) for runtime in runtimes)
    yield NeuronProcessesSampled(processes=processes)
    cores = core_samples(usable, host, requested, record.pods)
    if cores:
        periods = [runtime.period for runtime in usable if runtime.period is not None]
        yield CoresSampled(kind=CoreKind.NEURON, cores=tuple(cores), period=max(periods, default=None))
    for runtime in usable:
        done = runtime.executions
        if done is not None:
            yield ExecutionsCounted(
                pid=runtime.pid,
                tag=runtime.tag,
                period=done.period,
                statuses=done.statuses,
                errors=done.errors,
                latency=done.latency if _whole_period(done.period, requested) else {},
            )


def core_samples(
    runtimes: Iterable[RuntimeRecord], host: Machine, requested: float, pods: dict[int, str] | None = None
) -> list[CoreSample]:
    """All processes merged into one sample per core; also the cores that no process mentions."""
    cores = {core: _Merged() for core in host.cores[:65536]}
    for runtime in runtimes:
        rates = _whole_period(runtime.period, requested)
        for core, use in runtime.cores.items():
            cores.setdefault(core, _Merged()).use(runtime, use.utilization, use.flops, use.physical, rates=rates)
        for core, kinds in (runtime.memory or {}).items():
            cores.setdefault(core, _Merged()).hold(runtime, kinds)
        for model in runtime.models:
            for core in model_cores(model, host):
                cores.setdefault(core, _Merged()).load(runtime, model)
    return [cores[core].sample(core, host, (pods or {}).get(core, "")) for core in sorted(cores)]


class _Merged:
    """One core while the processes are merged."""

    def __init__(self) -> None:
        self.utilization: float | None = None
        self.flops: float | None = None
        self.physical: dict[int, float] = {}
        self.kinds: dict[str, int] | None = None
        self.models: dict[str, None] = {}
        self.held: dict[int, int] = {}

    def use(
        self,
        runtime: RuntimeRecord,
        utilization: float | None,
        flops: float | None,
        physical: dict[int, float],
        *,
        rates: bool,
    ) -> None:
        if utilization and runtime.pid is not None:
            self.held.setdefault(runtime.pid, 0)
        if not rates:
            return
        if utilization is not None:
            self.utilization = max(self.utilization or 0.0, utilization)
        if flops is not None:
            self.flops = max(self.flops or 0.0, flops)
        for core, share in physical.items():
            self.physical[core] = max(self.physical.get(core, 0.0), share)

    def hold(self, runtime: RuntimeRecord, kinds: dict[str, int]) -> None:
        if not kinds:
            return
        self.kinds = self.kinds or {}
        for kind, size in kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + size
        if any(kinds.values()) and runtime.pid is not None:
            self.held[runtime.pid] = self.held.get(runtime.pid, 0) + sum(kinds.values())

    def load(self, runtime: RuntimeRecord, model: Model) -> None:
        self.models[model.key or model.name] = None
        if runtime.pid is not None:
            self.held.setdefault(runtime.pid, 0)

    def sample(self, core: int, host: Machine, pod: str) -> CoreSample:
        kinds = self.kinds
        return CoreSample(
            core=core,
            utilization=self.utilization,
            memory=None if kinds is None else sum(kinds.values()),
            capacity=host.bank_memory,
            kinds=kinds or {},
            flops=self.flops,
            device=host.device(core),
            bank=host.bank(core),
            pid=max(self.held, key=lambda pid: (self.held[pid], -pid), default=None),
            pids=tuple(sorted(self.held)),
            models=tuple(self.models),
            physical=self.physical,
            container=pod,
        )


def model_cores(model: Model, host: Machine) -> tuple[int, ...]:
    """The instance-wide logical cores of a model, each once."""
    per_device = host.cores_per_device or 1
    places = (core if device is None else device * per_device + core for device, core in model.placements)
    return tuple(dict.fromkeys(places))


def _process(runtime: RuntimeRecord, host: Machine, requested: float) -> NeuronProcess:
    models = tuple(
        LoadedModel(
            name=model.name,
            key=model.key,
            model_id=model.model_id,
            cores=model_cores(model, host),
            memory=model.memory,
        )
        for model in runtime.models
    )
    return NeuronProcess(
        pid=runtime.pid,
        tag=runtime.tag,
        device_memory=runtime.device_memory,
        host_memory=runtime.host_memory,
        host_kinds=runtime.host_kinds,
        cpu=runtime.cpu if _whole_period(runtime.cpu_period, requested) and not _cpu_failed(runtime) else None,
        models=models,
        error=runtime.error or "; ".join(runtime.problems),
    )


def _cpu_failed(runtime: RuntimeRecord) -> bool:
    """In a container the monitor cannot read the process and prints zeros beside the error: not a zero, unknown."""
    return any(problem.startswith("neuron_runtime_vcpu_usage:") for problem in runtime.problems)


def _whole_period(period: float | None, requested: float) -> bool:
    """Whether rates over this period are meaningful. A record without periods (trimmed by somebody) is trusted."""
    return period is None or period >= requested / 2
