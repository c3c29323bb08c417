"""Reads one record of neuron-monitor, in any schema since 2020, into typed values.

Forgiving by design: a group or a value that is missing, `null` or of the wrong type is unknown, unknown keys are
ignored, and a text in `error` is kept. What the schemas name differently (`inference_stats`, `hw_counters`,
`effective_flops`, `instance_data`, …) has one name here. `telemetry/monitor_events.py` merges processes.
Shapes: the telemetry spec, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice

import msgspec

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_fields as fields
from neuron_top.parsers import json_lines

_INDEX = late_pattern(r"(?:[^\n]{0,60}\.)?([0-9]{1,5})")
_KEY = late_pattern(r"MODULE_([0-9A-Za-z]{6,64})(?:\+([0-9a-f]{8})(?![0-9A-Za-z])|(?=/))")
_CUT_KEY = late_pattern(r"MODULE_([0-9A-Za-z]{6,64})\+[0-9a-f]{0,7}\Z")
_CUT_AT = 255
_BEGINNING = late_pattern(rb'\{\s{0,9}"neuron_runtime_data"')
_HARDWARE = "neuron_hardware_info"
_MOST_PIECES = 100
_MOST_FLOPS = 1e18
"""Per second and core: ten thousand times what a core of 2026 does."""
_LONGEST_EXECUTION = 1e7
"""Seconds; months."""


_SECTIONS = ("neuron_runtime_data", "system_data", "neuron_hardware_info")
"""One of these is in every record."""


class CoreUse(msgspec.Struct, frozen=True, kw_only=True):
    """One core in one process's element. Shares are 0…1, `flops` per second."""

    utilization: float | None = None
    flops: float | None = None
    physical: dict[int, float] = {}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded NEFF. `placements` are (device, core of that device), or (None, instance-wide core) in 2020."""

    name: str
    key: str = ""
    model_id: int | None = None
    placements: tuple[tuple[int | None, int], ...] = ()
    memory: int | None = None


class Executions(msgspec.Struct, frozen=True, kw_only=True):
    """Tallies of one period; latency percentiles in seconds, those of the device prefixed `device_`."""

    period: float | None = None
    statuses: dict[str, int] = {}
    errors: dict[str, int] = {}
    latency: dict[str, float] = {}


class RuntimeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One process with a runtime. A group that was not due is None or empty; `problems` are its groups' errors."""

    pid: int | None = None
    tag: str = ""
    error: str = ""
    period: float | None = None
    cores: dict[int, CoreUse] = {}
    memory: dict[int, dict[str, int]] | None = None
    device_memory: int | None = None
    host_memory: int | None = None
    host_kinds: dict[str, int] = {}
    models: tuple[Model, ...] = ()
    executions: Executions | None = None
    cpu: float | None = None
    cpu_period: float | None = None
    problems: tuple[str, ...] = ()


class HostRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The host's memory in bytes, its CPU 0…1 of all CPUs."""

    cpu: float | None = None
    cpu_period: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    swap_used: int | None = None
    swap_total: int | None = None


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """What every record repeats of the machine; `device_memory` in bytes, `cores_per_device` logical."""

    instance_type: str = ""
    device_kind: str = ""
    core_version: str = ""
    devices: int | None = None
    device_memory: int | None = None
    cores_per_device: int | None = None
    lnc: int | None = None


class MonitorRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `runtimes` is None when the section was not there at all, empty when nobody uses a device."""

    runtimes: tuple[RuntimeRecord, ...] | None = None
    host: HostRecord | None = None
    ecc: dict[int, dict[str, int]] = {}
    hardware: Hardware = Hardware()
    pods: dict[int, str] = {}
    groups: dict[str, str] = {}
    """Groups of the system that are in it, and of the hardware → the error of each; "" where there is none."""


def read_record(line: bytes | str) -> MonitorRecord:
    """The record on a line, also behind the prefix of a journal or a container's log, or inside a log shipper's JSON.

    Raises ValueError with a reason when it is not one.
    """
    return record_in(fields.load(_unwrapped(line)))


def torn_apart(line: bytes) -> list[bytes]:
    """The records of a line: if a writer was killed, or wrote no line end, the next record follows on the same line."""
    places = [found.start() for found in islice(_BEGINNING.finditer(line), 1, _MOST_PIECES)]
    return [line[start:end] for start, end in zip([0, *places], [*places, len(line)], strict=True)]


def _unwrapped(line: bytes | str) -> bytes | str:
    """The document on a line, without what a log service has put around it."""
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    if any(f'{name}\\"' in text for name in _SECTIONS):
        return "\n".join(json_lines.lines(text.strip()))
    start = text.find('{"')
    if start <= 0 or text.lstrip()[:1] in "{[" or not any(f'"{name}"' in text for name in _SECTIONS):
        return line
    return text[start:]


def is_record(value: object) -> bool:
    """Whether a decoded document has a section that only records have."""
    return not fields.mapping(value).keys().isdisjoint(_SECTIONS)


def record_in(value: object) -> MonitorRecord:
    """The record in an already decoded document. Raises ValueError when nothing of a record is in it."""
    top = fields.mapping(value)
    if not is_record(value):
        raise ValueError("not a neuron-monitor record: neither neuron_runtime_data nor system_data in it")
    system = fields.mapping(top.get("system_data"))
    elements = [fields.mapping(element) for element in fields.sequence(top.get("neuron_runtime_data"))]
    ecc = _ecc(system.get("neuron_hw_counters"))
    for element in elements:
        ecc |= _ecc(fields.mapping(element.get("report")).get("hw_counters"))
    return MonitorRecord(
        runtimes=tuple(map(_runtime, elements)) if "neuron_runtime_data" in top else None,
        host=_host(system),
        ecc=ecc,
        hardware=_hardware(top),
        pods=_pods(top.get("neuron_k8s_info")),
        groups=_errors({_HARDWARE: top.get(_HARDWARE), **system}),
    )


@lru_cache(maxsize=2048)
def module_key(name: str) -> str:
    """The compile-cache key in the path of a NEFF, "" when there is none.

    `…/model.MODULE_123+0a1b2c3d.neff` → `MODULE_123+0a1b2c3d`; the folder `MODULE_123/` of old caches → `MODULE_123`;
    a path that was cut in the middle of the flags hash → `MODULE_123`, which still names the graph.
    """
    found = list(_KEY.finditer(name))
    full = [match for match in found if match[2]]
    if full and not (full[-1].end() == len(name) >= _CUT_AT and len(name) - full[-1].start(2) < 8):
        return full[-1][0]
    if len(name) >= _CUT_AT and (cut := _CUT_KEY.search(name)):
        return f"MODULE_{cut[1]}"
    return found[0][0] if found else ""


def _runtime(element: Mapping[str, object]) -> RuntimeRecord:
    report = fields.mapping(element.get("report"))
    counters = fields.mapping(report.get("neuroncore_counters"))
    memory = fields.mapping(report.get("memory_used"))
    used = fields.mapping(memory.get("neuron_runtime_used_bytes"))
    breakdown = fields.mapping(used.get("usage_breakdown"))
    cpu = fields.mapping(report.get("neuron_runtime_vcpu_usage"))
    in_use = dict(_by_index(counters.get("neuroncores_in_use")))
    return RuntimeRecord(
        pid=fields.whole(element.get("pid"), 2**31) or None,  # 0 is the placeholder of a runtime without a process
        tag=_tag(element),
        error=fields.text(element.get("error")),
        period=_period(counters),
        cores={index: _core_use(core) for index, core in in_use.items()},
        memory=_core_memory(breakdown.get("neuroncore_memory_usage")),
        device_memory=_memory(used.get("neuron_device", used.get("device"))),
        host_memory=_memory(used.get("host")),
        host_kinds=fields.counts(breakdown.get("host"), fields.LARGEST_BYTES),
        models=(*map(_model, map(fields.mapping, fields.sequence(memory.get("loaded_models")))), *_named(in_use)),
        executions=_executions(report),
        cpu=_cpu_share(cpu.get("vcpu_usage"), ("user", "system")),
        cpu_period=_period(cpu),
        problems=tuple(f"{name}: {problem}" for name, problem in _errors(report).items() if problem),
    )


def _tag(element: Mapping[str, object]) -> str:
    """The tag of a process; in 2020 a runtime had an index instead."""
    return fields.text(element.get("neuron_runtime_tag")) or _index_tag(element.get("neuron_runtime_index"))


def _index_tag(value: object) -> str:
    index = fields.whole(value, 65535)
    return "" if index is None else f"runtime {index}"


def _core_use(value: object) -> CoreUse:
    core = fields.mapping(value)
    flops = fields.measure(core.get("effective_flops"), _MOST_FLOPS)
    return CoreUse(
        utilization=_share(core.get("neuroncore_utilization")),
        flops=flops if flops is not None else fields.measure(core.get("flops"), _MOST_FLOPS),
        physical=_physical(core["v3d"]) if "v3d" in core else {},
    )


def _physical(value: object) -> dict[int, float]:
    """Physical cores behind a logical one → share."""
    parts = ((index, _share(fields.mapping(part).get("neuroncore_utilization"))) for index, part in _by_index(value))
    return {index: share for index, share in parts if share is not None}


def _core_memory(value: object) -> dict[int, dict[str, int]] | None:
    if not isinstance(value, dict):
        return None
    return {index: fields.counts(kinds, fields.LARGEST_BYTES) for index, kinds in _by_index(value)}


def _model(model: Mapping[str, object]) -> Model:
    subgraphs = [fields.mapping(graph) for _, graph in fields.pairs(model.get("subgraphs"))]
    sizes = [_memory(fields.mapping(graph.get("memory_used_bytes")).get("neuron_device")) for graph in subgraphs]
    known = [size for size in sizes if size is not None]
    name = fields.text(model.get("name"))
    return Model(
        name=name,
        key=module_key(name),
        model_id=fields.whole(model.get("model_id")),
        placements=tuple(place for graph in subgraphs if (place := _placement(graph)) is not None),
        memory=sum(known) if known else _memory(fields.mapping(model.get("memory_used_bytes")).get("neuron_device")),
    )


def _placement(graph: Mapping[str, object]) -> tuple[int | None, int] | None:
    device = fields.whole(graph.get("neuron_device_index"), 65535)
    core = fields.whole(graph.get("neuroncore_index"), 65535)
    return None if device is None or core is None else (device, core)


def _named(in_use: Mapping[int, object]) -> Iterator[Model]:
    """The schema of 2020 named the models of a core inside its counters, as `model:subgraph`."""
    for index, core in in_use.items():
        for name in map(fields.text, fields.sequence(fields.mapping(core).get("loaded_models"))):
            if name:
                yield Model(name=name, key=module_key(name), placements=((None, index),))


def _executions(report: Mapping[str, object]) -> Executions | None:
    group = fields.mapping(report.get("execution_stats") or report.get("inference_stats"))
    if not group:
        return None
    latency = fields.mapping(group.get("latency_stats"))
    return Executions(
        period=_period(group),
        statuses=fields.counts(group.get("execution_summary") or group.get("inference_summary")),
        errors=fields.counts(group.get("error_summary")),
        latency=_percentiles(latency.get("total_latency"), "") | _percentiles(latency.get("device_latency"), "device_"),
    )


def _percentiles(value: object, prefix: str) -> dict[str, float]:
    found = ((name, fields.measure(seconds, _LONGEST_EXECUTION)) for name, seconds in fields.pairs(value))
    named = {name: seconds for name, seconds in found if seconds is not None and re.fullmatch(r"p[0-9]{1,3}", name)}
    return {f"{prefix}{name}": named[name] for name in sorted(named, key=lambda name: int(name[1:]))}


def _host(system: Mapping[str, object]) -> HostRecord | None:
    memory, cpu = fields.mapping(system.get("memory_info")), fields.mapping(system.get("vcpu_usage"))
    if not memory and not cpu:
        return None
    return HostRecord(
        cpu=_cpu_share(cpu.get("average_usage"), ("user", "nice", "system", "irq", "soft_irq")),
        cpu_period=_period(cpu),
        memory_used=_memory(memory.get("memory_used_bytes")),
        memory_total=_memory(memory.get("memory_total_bytes")),
        swap_used=_memory(memory.get("swap_used_bytes")),
        swap_total=_memory(memory.get("swap_total_bytes")),
    )


def _ecc(value: object) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for device in map(fields.mapping, fields.sequence(fields.mapping(value).get("neuron_devices"))):
        index = fields.whole(device.get("neuron_device_index"), 65535)
        if index is not None:
            found[index] = {name: count for name, count in fields.counts(device).items() if "ecc" in name}
    return found


def _hardware(top: Mapping[str, object]) -> Hardware:
    info = fields.mapping(top.get(_HARDWARE))
    instance = fields.mapping(top.get("instance_info") or top.get("instance_data"))
    version = fields.text(info.get("neuroncore_version"))
    lnc = info.get("logical_neuroncore_config", info.get("logical_neuroncore_size"))
    return Hardware(
        instance_type=fields.text(instance.get("instance_type")),
        device_kind=fields.text(info.get("neuron_device_type")),
        core_version=version,
        devices=fields.whole(info.get("neuron_device_count"), fields.MOST_ITEMS),
        device_memory=_memory(info.get("neuron_device_memory_size")),
        cores_per_device=fields.whole(info.get("neuroncore_per_device_count"), 64) or None,
        lnc=fields.whole(lnc, 8) or (2 if version == "v3d" else None),
    )


def _pods(value: object) -> dict[int, str]:
    """Instance-wide core → `namespace/pod/container`, as the EKS companion of the monitor reports."""
    found = {}
    for index, pod in _by_index(fields.mapping(value).get("neuroncores_k8s_info")):
        owner = fields.mapping(pod)
        names = [fields.text(owner.get("namespace")), fields.text(owner.get("pod_name"))]
        names += map(fields.text, fields.sequence(owner.get("container_name"))[:1])
        if any(names):
            found[index] = "/".join(name for name in names if name)
    return found


def _errors(groups: Mapping[str, object]) -> dict[str, str]:
    """Group → its error, "" where there is none; without groups that were not due."""
    found = ((fields.text(name), fields.mapping(group)) for name, group in fields.pairs(groups))
    return {name: fields.text(group.get("error")) for name, group in found if group}


def _by_index(value: object) -> Iterator[tuple[int, object]]:
    """The members whose name is a core: `"12"`, `"nc_v3.12"`."""
    for name, member in fields.pairs(value):
        if len(name) <= 5 and name.isascii() and name.isdecimal():
            yield int(name), member
        elif match := _INDEX.fullmatch(name):
            yield int(match[1]), member


def _memory(value: object) -> int | None:
    return fields.whole(value, fields.LARGEST_BYTES)


def _period(group: Mapping[str, object]) -> float | None:
    return fields.measure(group.get("period"), _LONGEST_EXECUTION)


def _share(percent: object) -> float | None:
    value = fields.number(percent)
    return None if value is None or value < 0 else min(value / 100, 1.0)


def _cpu_share(value: object, names: tuple[str, ...]) -> float | None:
    found = [share for name in names if (share := _share(fields.mapping(value).get(name))) is not None]
    return min(sum(found), 1.0) if found else None
