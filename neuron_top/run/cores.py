"""Cores: the latest sample, peaks and bounded history of each, and the host and telemetry sources around them.

A core that stops being sampled keeps its last values and the time they were taken: a screen shows them as stale.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import assert_never

import msgspec

from neuron_top.events import (
    CoreCountersRead,
    CoreKind,
    CoreSample,
    CoresSampled,
    Device,
    DeviceMemoryExhausted,
    DevicesFound,
    ExecutionsCounted,
    GpuMemory,
    HardwareErrorsCounted,
    HostSampled,
    NeffMemoryReported,
    NeuronProcess,
    NeuronProcessesSampled,
    RuntimeFamily,
    RuntimeLogged,
    SourceAvailable,
    SourceUnavailable,
    WorkerMemoryReported,
)
from neuron_top.events.levels import LogLevel
from neuron_top.events.log_sources import is_capture, is_folder, is_log
from neuron_top.run.breakdown_history import BreakdownHistory
from neuron_top.run.exhausted import Exhaustions
from neuron_top.run.hardware_errors import HardwareErrors
from neuron_top.run.history import Recent, Series

SMOOTH_SECONDS = 30.0
"""Utilization is smoothed over this, or over a training step where that lasts longer."""
NEFFS_KEPT = 1000
"""Most loaded programs whose memory is remembered."""
KIND_BUCKETS = 600
"""Buckets in the history of a core's kinds of memory: a core has several kinds."""
KINDS_KEPT = 16
"""Most kinds of a core's memory that have a history: programs may name their own."""
BUSY = 0.05
"""Utilization from which on a core counts as working."""


class Core:
    """One core (or the local worker that stands for it). Bytes, utilization 0…1, None unknown."""

    def __init__(self, key: str, kind: CoreKind, node: str, index: int, buckets: int) -> None:
        self.key = key
        """`<node>/<kind>/<core>`."""
        self.kind = kind
        self.node = node
        self.index = index
        self._buckets = buckets
        self.sample = CoreSample(core=index)
        """The latest sample as it came."""
        self.sampled: float | None = None
        """When it came."""
        self.beside = 0
        """Bytes that other cores hold in the same bank, because what runs out is the bank."""
        self.gpu: GpuMemory | None = None
        """Set if a worker computes on a GPU: memory and its kinds are then those of the GPU, not of the host."""
        self._reporter: int | None = None
        """The pid of the worker whose report `kinds` is; the next one, after a restart, has not reported anything yet.
        None where the sample itself has kinds."""
        self.peak: int | None = None
        """Highest memory ever seen or reported."""
        self.kinds: dict[str, int] = {}
        """Memory by kind: the sample's, else what the worker said about itself."""
        self.kind_peaks: dict[str, int] = {}
        """The highest of each kind ever seen; the kinds need not have peaked at one moment."""
        self.utilization = Series(capacity=buckets)
        self.memory = Series(capacity=buckets)
        self.kind_history = BreakdownHistory(capacity=KIND_BUCKETS, kinds=KINDS_KEPT)
        self.recent_utilization = Recent()
        self.recent_memory = Recent()
        self.first_sampled: float | None = None
        self.last_busy: float | None = None
        """When its utilization was last above BUSY."""
        self.version = 0
        """Grows with everything that is reported about the core."""

    @property
    def headroom(self) -> float | None:
        """Share of its bank that is free, 0…1; None where its memory or the capacity is unknown."""
        memory, capacity = self.sample.memory, self.sample.capacity
        return None if memory is None or not capacity else max(0.0, 1 - (memory + self.beside) / capacity)

    def smoothed(self, step_seconds: float | None = None) -> float | None:
        """Mean utilization over max(one training step, 30 s): a step's idle part does not make a busy core idle."""
        if self.sampled is None or self.sample.utilization is None:
            return None
        return self.recent_utilization.mean_since(self.sampled - max(step_seconds or 0.0, SMOOTH_SECONDS))

    def low_since(self, headroom: float) -> float | None:
        """Since when less than this share has been free, as far back as the recent samples go.

        Of the other cores of its bank, only what they hold now is known.
        """
        capacity, since = self.sample.capacity, None
        for time, memory in reversed(self.recent_memory.samples()):
            if not capacity or 1 - (memory + self.beside) / capacity >= headroom:
                break
            since = time
        return since

    def set_kinds(self, kinds: dict[str, int], time: float | None) -> None:
        """Memory by kind, from a sample or from the worker itself."""
        self.version += 1
        self.kinds = kinds
        for kind, size in kinds.items():
            self.kind_peaks[kind] = max(self.kind_peaks.get(kind, 0), size)
        if time is not None:
            self.kind_history.add(time, kinds)

    def set_memory_of(self, worker: WorkerMemoryReported) -> None:
        """Take what a worker reports of its memory. The history starts anew when GPU memory replaces the host's."""
        if worker.gpu is None:
            if self.gpu is None:
                self._reporter = worker.pid
                self.set_kinds(_adding_up(worker.kinds, self.sample.memory), worker.time)
            return
        if self.gpu is None:
            self.peak, self.kind_peaks = None, {}
            self.memory, self.recent_memory = Series(capacity=self._buckets), Recent()
            self.kind_history = BreakdownHistory(capacity=KIND_BUCKETS, kinds=KINDS_KEPT)
        self.gpu, self._reporter = worker.gpu, worker.pid
        self.set_kinds(worker.gpu.kinds, worker.time)
        self.set_beside(worker.gpu.beside or 0)

    def set_beside(self, beside: int) -> None:
        """Set what other cores hold in the same bank, in bytes."""
        if beside != self.beside:
            self.version += 1
            self.beside = beside

    def take(self, sample: CoreSample, time: float | None) -> None:
        """Take one sample. For a worker on a GPU, it has the host's memory; the worker itself reports the GPU's."""
        self.version += 1
        if self.gpu is not None:
            said = self.gpu if sample.pid == self._reporter else None
            sample = msgspec.structs.replace(
                sample,
                memory=said and said.memory,
                peak=said and said.peak,
                capacity=self.gpu.capacity,
            )
            if said is None and self.kinds:
                self.set_kinds({}, time)
                self.set_beside(0)
        if time is not None and self.sampled is not None and time < self.sampled - SMOOTH_SECONDS:
            self._set_back(self.sampled - time, time)
        self.sample, self.sampled = sample, time
        for seen in (sample.memory, sample.peak):
            if seen is not None:
                self.peak = seen if self.peak is None else max(self.peak, seen)
        if sample.kinds:
            self._reporter = None
            self.set_kinds(sample.kinds, time)
        elif self.gpu is None and self.kinds:
            if self._reporter is None or sample.pid != self._reporter:
                self.set_kinds({}, time)
            else:
                self.kinds = _adding_up(self.kinds, sample.memory)
        if time is not None:
            self._keep(sample, time)

    def _set_back(self, seconds: float, time: float) -> None:
        """The clock was set back to `time`: what was sampled before must not count as recent, nor as busy from now on,
        and must not take in all that comes until the clock is where it was."""
        self.recent_utilization, self.recent_memory = Recent(), Recent()
        self.first_sampled, self.last_busy = time, None
        for history in (self.utilization, self.memory, self.kind_history):
            history.set_back(seconds)

    def _keep(self, sample: CoreSample, time: float) -> None:
        """Add a sample to the histories."""
        self.first_sampled = time if self.first_sampled is None else self.first_sampled
        if sample.utilization is not None:
            self.utilization.add(time, sample.utilization)
            self.recent_utilization.add(time, sample.utilization)
            if sample.utilization > BUSY:
                self.last_busy = time
        if sample.memory is not None:
            self.memory.add(time, sample.memory)
            self.recent_memory.add(time, sample.memory)


class SourceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A source of telemetry: delivering or not, and why."""

    name: str
    available: bool
    text: str
    since: float | None
    unreadable: bool = False
    """It is a file or folder that is there, and that this user cannot read."""

    @property
    def is_log(self) -> bool:
        """Whether it is a log, and not telemetry."""
        return is_log(self.name)

    @property
    def is_file(self) -> bool:
        """Whether it is a file that is read, a log or a capture, or a folder of logs: its path is in the text."""
        return self.is_log or is_capture(self.name) or is_folder(self.name)


class CoreTracker:
    """Cores by key, devices, host, telemetry sources, executions and the runtime's own words."""

    def __init__(self, history_seconds: float = 8 * 3600.0) -> None:
        self._buckets = int(min(3600, max(240, history_seconds / 8)))
        self.cores: dict[str, Core] = {}
        self._have_devices: dict[str, None] = {}
        """Nodes whose NeuronCores were sampled: no worker stands for a core there."""
        self.devices: dict[int, Device] = {}
        self.instance_type = ""
        self.lnc: int | None = None
        self._lnc_of: dict[str, int] = {}
        """By node."""
        self.host: HostSampled | None = None
        self.host_cpu = Series(capacity=self._buckets)
        self.host_memory = Series(capacity=self._buckets)
        self.sources: dict[str, SourceStatus] = {}
        self.statuses: dict[str, int] = {}
        """Executions by status, added up over all periods and processes."""
        self.execution_errors: dict[str, int] = {}
        self._latency: dict[str, float] = {}
        """Latency percentiles of the newest period with executions, seconds."""
        self._latency_at: float | None = None
        self._hardware_errors = HardwareErrors()
        self.counters: dict[tuple[int, int], CoreCountersRead] = {}
        """The driver's running totals by (device, physical core), the newest."""
        self.processes: tuple[NeuronProcess, ...] | None = None
        """Processes with a Neuron runtime, the newest sample; None before the first."""
        self.exhausted = Exhaustions()
        """Allocations on devices that failed."""
        self.neff_memory: dict[str, NeffMemoryReported] = {}
        """Name of a loaded program → its memory, as the runtime last reported it."""
        self.log_levels: dict[LogLevel, int] = {}
        self.runtime_errors: deque[RuntimeLogged] = deque(maxlen=100)
        self.worker_memory: dict[str, WorkerMemoryReported] = {}
        """By `<node>/<pid>`: what local workers reported of themselves."""
        self.last_sample: float | None = None
        self.period: float | None = None

    @property
    def hardware_errors(self) -> dict[tuple[str, int], dict[str, int]]:
        """ECC counts by node and device."""
        return self._hardware_errors.counts

    def in_order(self) -> list[Core]:
        """All cores by node, kind and number."""
        return sorted(self.cores.values(), key=lambda core: (core.node, core.kind, core.index))

    def recent_latency(self, step_seconds: float | None = None) -> dict[str, float]:
        """Latency percentiles of the newest period with executions, seconds; empty if cores were sampled for two of
        max(one training step, 30 s) since then, in which nothing was executed."""
        at, longest = self._latency_at, 2 * max(step_seconds or 0.0, SMOOTH_SECONDS)
        is_old = at is not None and self.last_sample is not None and self.last_sample - at > longest
        return {} if is_old else self._latency

    def apply(self, event: RuntimeFamily) -> None:  # noqa: C901 (one case per event is the point)
        """Take one event into account."""
        match event:
            case CoresSampled():
                self._sampled(event)
            case HostSampled():
                self._host(event)
            case WorkerMemoryReported():
                self._worker_memory(event)
            case ExecutionsCounted():
                _add(self.statuses, event.statuses)
                _add(self.execution_errors, event.errors)
                if event.latency:
                    self._latency, self._latency_at = event.latency, event.time
            case RuntimeLogged():
                self.log_levels[event.level] = self.log_levels.get(event.level, 0) + 1
                if event.level.is_error:
                    self.runtime_errors.append(event)
            case DeviceMemoryExhausted():
                self.exhausted.add(event)
            case NeffMemoryReported():
                if event.name in self.neff_memory or len(self.neff_memory) < NEFFS_KEPT:
                    self.neff_memory[event.name] = event
            case DevicesFound():
                self._devices_found(event)
            case HardwareErrorsCounted():
                self._hardware_errors.add(event)
            case CoreCountersRead():
                self.counters[event.device, event.physical] = event
            case NeuronProcessesSampled():
                self.processes = event.processes
            case SourceAvailable():
                self._source(event.name, event.detail, event.time, available=True)
            case SourceUnavailable():
                self._source(event.name, event.reason, event.time, available=False, unreadable=event.unreadable)
            case _:
                assert_never(event)

    def apply_folded(self, event: RuntimeLogged, count: int) -> None:
        """Count `count` equal lines of the runtime."""
        self.log_levels[event.level] = self.log_levels.get(event.level, 0) + count

    def _devices_found(self, event: DevicesFound) -> None:
        """Take the devices. If a node's logical cores are made of another number of physical ones now, its cores begin
        anew: the numbers stand for others."""
        self.instance_type, self.lnc = event.instance_type or self.instance_type, event.lnc
        self.devices.update({device.index: device for device in event.devices})
        if event.lnc is None:
            return
        if self._lnc_of.setdefault(event.node, event.lnc) != event.lnc:
            self._lnc_of[event.node] = event.lnc
            for core in self.in_order():
                if core.node == event.node and core.kind is CoreKind.NEURON:
                    del self.cores[core.key]

    def _sampled(self, event: CoresSampled) -> None:
        if event.kind is CoreKind.LOCAL and event.node in self._have_devices:
            return
        if event.kind is CoreKind.NEURON and event.node not in self._have_devices:
            self._have_devices[event.node] = None
            for worker in self.in_order():
                if worker.node == event.node and worker.kind is CoreKind.LOCAL:
                    del self.cores[worker.key]
        self.last_sample = event.time if event.time is not None else self.last_sample
        self.period = event.period if event.period is not None else self.period
        banks: dict[tuple[int | None, int], list[Core]] = {}
        for sample in event.cores:
            key = f"{event.node}/{event.kind}/{sample.core}"
            core = self.cores.get(key)
            if core is None:
                core = self.cores[key] = Core(key, event.kind, event.node, sample.core, self._buckets)
            memory = self.worker_memory.get(f"{event.node}/{sample.pid}") if sample.pid is not None else None
            if memory is not None and not sample.kinds:
                core.set_memory_of(memory)
            core.take(sample, event.time)
            if sample.bank is not None:
                banks.setdefault((sample.device, sample.bank), []).append(core)
        for cores in banks.values():
            _share(cores)

    def _worker_memory(self, event: WorkerMemoryReported) -> None:
        self.worker_memory[f"{event.node}/{event.pid}"] = event
        for core in self.cores.values():
            if core.sample.pid == event.pid and core.node == event.node and not core.sample.kinds:
                core.set_memory_of(event)

    def _host(self, event: HostSampled) -> None:
        before, self.host = self.host, event
        if event.time is not None:
            last = before.time if before is not None and before.node == event.node else None
            if last is not None and event.time < last - SMOOTH_SECONDS:  # the clock was set back
                for history in (self.host_cpu, self.host_memory):
                    history.set_back(last - event.time)
            if event.cpu is not None:
                self.host_cpu.add(event.time, event.cpu)
            if event.memory_used is not None:
                self.host_memory.add(event.time, event.memory_used)

    def _source(self, name: str, text: str, time: float | None, *, available: bool, unreadable: bool = False) -> None:
        known = self.sources.get(name)
        since = known.since if known is not None and known.available == available else time
        self.sources[name] = SourceStatus(name=name, available=available, text=text, since=since, unreadable=unreadable)


def _adding_up(kinds: dict[str, int], memory: int | None) -> dict[str, int]:
    """The kinds of memory that a worker reported, and what a sample of another moment has beyond them, so that parts
    and whole agree."""
    if memory is None or "rest" not in kinds:
        return kinds
    known = sum(size for kind, size in kinds.items() if kind != "rest")
    return {**kinds, "rest": max(0, memory - known)}


def _share(cores: Sequence[Core]) -> None:
    """Set for each core of a bank what the other cores of the bank hold.

    If that is more than the bank's capacity, what we know of the machine is wrong, and the cores are taken not to share
    a bank.
    """
    used = sum(core.sample.memory or 0 for core in cores)
    capacity = cores[0].sample.capacity
    fits = capacity is None or used <= capacity
    for core in cores:
        core.set_beside(used - (core.sample.memory or 0) if fits else 0)


def _add(totals: dict[str, int], counts: dict[str, int]) -> None:
    for name, count in counts.items():
        totals[name] = totals.get(name, 0) + count
