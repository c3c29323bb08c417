"""What the Neuron runtime and its devices report: log lines, memory tables, telemetry samples, local workers."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.events.base import Event, LogEvent, OpenEnum
from neuron_top.events.levels import LogLevel

MEMORY_KINDS = (
    "tensors", "constants", "model_code", "model_shared_scratchpad", "nonshared_scratchpad", "runtime_memory",
    "dma_rings", "collectives", "driver_memory", "notifications", "profiler", "uncategorized",
)  # fmt: skip
"""Categories of device memory, biggest usual share first; neuron-monitor knows five, the driver eleven."""
WORKER_KINDS = ("parameters", "gradients", "optimizer", "activations", "compiled_code", "rest", "reserved")
"""Categories that our own backend reports from inside a local worker; `reserved` is what PyTorch's allocator holds on a
GPU beyond what is in use."""


class RuntimeLogged(LogEvent, frozen=True, kw_only=True):
    """A line of NRT, TDRV, NMGR, ENC, HAL or CCOM. `device` and `core` are the physical ones it names."""

    level: LogLevel
    component: str = ""
    function: str = ""
    text: str = ""
    tid: int | None = None
    device: int | None = None
    core: int | None = None
    status: str = ""
    """Status by name (`NRT_RESOURCE`), "" when the line carries none."""
    status_code: int | None = None


class MemoryScope(OpenEnum):
    """Whose memory a row of an out-of-memory table counts."""

    DEVICE = "device"
    CORE = "core"
    BANK = "bank"
    NEFF = "neff"


class MemoryRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of an out-of-memory table: whose memory, and bytes by kind. Kinds that are `n/a` are left out."""

    scope: MemoryScope
    index: int | None = None
    total: int | None = None
    kinds: dict[str, int] = {}
    name: str = ""


class DeviceMemoryExhausted(LogEvent, frozen=True, kw_only=True):
    """An allocation on a device failed, with the breakdown that was printed."""

    requested: int | None = None
    alignment: int | None = None
    usage: str = ""
    device: int | None = None
    core: int | None = None
    rows: tuple[MemoryRow, ...] = ()


class NeffMemoryReported(LogEvent, frozen=True, kw_only=True):
    """Device memory that one loaded program takes, as the runtime prints it at a load (level INFO), in bytes."""

    name: str = ""
    module: str | None = None
    """The module in its name, if there is one, which leads to its cache entry."""
    device: int | None = None
    core: int | None = None
    """The physical core."""
    total: int | None = None
    kinds: dict[str, int] = {}
    core_total: int | None = None
    """All memory that is in use on the core at that time."""


class CoreSample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One core at one moment. Bytes; utilization 0…1; None is unknown, never zero.

    On a Neuron machine `core` is the instance-wide logical core; locally it is the worker's local rank.
    """

    core: int
    utilization: float | None = None
    memory: int | None = None
    capacity: int | None = None
    peak: int | None = None
    kinds: dict[str, int] = {}
    flops: float | None = None
    device: int | None = None
    bank: int | None = None
    pid: int | None = None
    rank: int | None = None
    process: str = ""
    models: tuple[str, ...] = ()
    """Cache keys (or NEFF names) of the models loaded on it."""
    power: float | None = None
    """Share of the maximum power of its device, 0…1: the mean of the minute that ended at `power_at`."""
    power_at: float | None = None
    pids: tuple[int, ...] = ()
    """Every process that holds memory on it or ran on it; `pid` is the one with the most memory."""
    container: str = ""
    """Container or pod of `pid`, "" when it runs on the host or cannot be determined."""
    physical: dict[int, float] = {}
    """Utilization 0…1 of the physical cores behind a logical one (Trn2, LNC=2), by instance-wide physical number."""


class CoreKind(StrEnum):
    """What a row of cores stands for."""

    NEURON = "neuron"
    """A NeuronCore."""
    LOCAL = "local"
    """A worker process on this machine's CPUs."""


class CoresSampled(Event, frozen=True, kw_only=True):
    """All cores that one source sees, at one moment."""

    kind: CoreKind
    cores: tuple[CoreSample, ...]
    period: float | None = None
    """Seconds that the rates cover."""


class HostSampled(Event, frozen=True, kw_only=True):
    """The host at one moment: CPU 0…1 of all CPUs, memory in bytes."""

    cpu: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    swap_used: int | None = None
    swap_total: int | None = None


class ExecutionsCounted(Event, frozen=True, kw_only=True):
    """Tallies of one process in one period (never running totals), and latency percentiles in seconds.

    `latency` has `p50`, `p99`, … of the whole call and `device_p50`, … of the part on the device.
    """

    pid: int | None = None
    tag: str = ""
    period: float | None = None
    statuses: dict[str, int] = {}
    errors: dict[str, int] = {}
    latency: dict[str, float] = {}


class LoadedModel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A NEFF that a process has loaded. Its memory is part of the core's, never an addition to it."""

    name: str
    """Path of the NEFF as the runtime prints it, which may be cut at 255 characters."""
    key: str = ""
    """Compile-cache key in that path (`MODULE_<graph>+<flags>`, older `MODULE_<graph>`), "" when there is none."""
    model_id: int | None = None
    cores: tuple[int, ...] = ()
    """Instance-wide logical cores of its subgraphs."""
    memory: int | None = None
    """Device bytes of all its subgraphs."""


class NeuronProcess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process that has initialized the Neuron runtime; `tag` is not unique, `pid` is the host's."""

    pid: int | None = None
    tag: str = ""
    device_memory: int | None = None
    host_memory: int | None = None
    host_kinds: dict[str, int] = {}
    cpu: float | None = None
    """Share of all CPUs of the host, user and system, 0…1."""
    models: tuple[LoadedModel, ...] = ()
    error: str = ""


class NeuronProcessesSampled(Event, frozen=True, kw_only=True):
    """Every process with a Neuron runtime at one moment. None of them = nothing loaded yet: idle, or compiling."""

    processes: tuple[NeuronProcess, ...]


class GpuMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a worker holds of a GPU's memory, in bytes, by its own account."""

    name: str
    """As the driver calls it: `NVIDIA H100 80GB HBM3`."""
    index: int
    """Among those that the worker sees."""
    memory: int
    """All that its allocator holds."""
    peak: int | None = None
    """The highest `memory` so far."""
    capacity: int | None = None
    beside: int | None = None
    """What others take: other processes, and the driver for this one."""
    kinds: dict[str, int] = {}
    """Parts of `memory` by WORKER_KINDS; a kind it cannot tell is absent."""


class WorkerMemoryReported(Event, frozen=True, kw_only=True):
    """A local worker's own account of its memory, by WORKER_KINDS; a kind it cannot tell is absent."""

    pid: int
    rank: int | None = None
    kinds: dict[str, int] = {}
    """On the host."""
    gpu: GpuMemory | None = None
    """Its GPU, if it has one; of several, the current one."""


class Device(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One Neuron device as found at the start."""

    index: int
    core_count: int | None = None
    memory: int | None = None
    cores: tuple[int, ...] = ()
    kind: str = ""
    bdf: str = ""
    numa_node: int | None = None
    connected_to: tuple[int, ...] = ()
    pids: tuple[int, ...] = ()


class DevicesFound(Event, frozen=True, kw_only=True):
    """The devices of the machine were found."""

    instance_type: str = ""
    lnc: int | None = None
    devices: tuple[Device, ...] = ()


class HardwareErrorsCounted(Event, frozen=True, kw_only=True):
    """ECC counts of one device."""

    device: int
    counts: dict[str, int] = {}


class CoreCountersRead(Event, frozen=True, kw_only=True):
    """The driver's running totals of one physical core, by status name; zeros are left out.

    `live` is False where the driver adds a process up only when it ends (before 2.30.2), None where that is unknown.
    """

    device: int
    physical: int
    counts: dict[str, int] = {}
    live: bool | None = None


class SourceAvailable(Event, frozen=True, kw_only=True):
    """A source delivers, or does so again."""

    name: str
    detail: str = ""


class SourceUnavailable(Event, frozen=True, kw_only=True):
    """A source is absent or stopped; the program runs on. `reason` is a sentence with the next step.

    `unreadable`: it is a file or folder that is there, and that this user cannot read.
    """

    name: str
    reason: str
    unreadable: bool = False
