"""`neuron-ls --json-output`, all its schemas since 2021: an array with one object per device.

What older tools leave out (core ids, NUMA, affinity, instance) stays unknown; a PCI address without its domain gets
the domain `0000`, as the later tools print it. Shapes: the telemetry spec, section 5.
"""

from __future__ import annotations

from typing import Any

import msgspec

from neuron_top.parsers import json_fields as fields


class LsProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process with a Neuron runtime; `command` is shortened by the tool and empty across container borders."""

    pid: int
    command: str = ""
    runtime_version: str = ""


class LsDevice(msgspec.Struct, frozen=True, kw_only=True):
    """One device; `memory` in bytes, `cores` are the instance-wide logical cores in selection order."""

    index: int
    core_count: int | None = None
    cores: tuple[int, ...] = ()
    memory: int | None = None
    bdf: str = ""
    numa_node: int | None = None
    cpu_affinity: str = ""
    connected_to: tuple[int, ...] = ()
    lnc: int | None = None
    instance_type: str = ""
    processes: tuple[LsProcess, ...] = ()


def read_devices(document: bytes | str) -> tuple[LsDevice, ...]:
    """The devices listed. Raises ValueError when it is no listing; an element without an index is left out."""
    return devices_in(fields.load(document))


def devices_in(value: Any) -> tuple[LsDevice, ...]:
    """The devices in an already decoded listing. Raises ValueError when it is no array of devices."""
    if isinstance(value, dict) and "neuron_device" in value:
        value = [value]
    if not isinstance(value, list):
        raise ValueError("a JSON array of devices was expected")
    found = tuple(device for device in map(_device, fields.sequence(value)) if device is not None)
    if value and not found:
        raise ValueError("no element has a neuron_device")
    return found


def _device(value: Any) -> LsDevice | None:
    element = fields.mapping(value)
    index = fields.whole(element.get("neuron_device"), fields.MOST_ITEMS)
    if index is None:
        return None
    return LsDevice(
        index=index,
        core_count=fields.whole(element.get("nc_count"), fields.MOST_ITEMS),
        cores=_indexes(element.get("neuroncore_ids")),
        memory=fields.whole(element.get("memory_size"), fields.LARGEST_BYTES),
        bdf=_address(fields.text(element.get("bdf"))),
        numa_node=fields.whole(element.get("numa_node"), fields.MOST_ITEMS),  # "-1" means: no NUMA
        cpu_affinity=fields.text(element.get("cpu_affinity")),
        connected_to=_indexes(element.get("connected_to")),
        lnc=fields.whole(element.get("logical_neuroncore_config"), 8),
        instance_type=fields.text(element.get("instance_type")),
        processes=tuple(_processes(element.get("neuron_processes"))),
    )


def _processes(value: Any) -> list[LsProcess]:
    listed = map(fields.mapping, fields.sequence(value))
    return [
        LsProcess(
            pid=pid,
            command=fields.text(process.get("command")),
            runtime_version=fields.text(process.get("neuron_runtime_version")),
        )
        for process in listed
        if (pid := fields.whole(process.get("pid"), 2**31)) is not None
    ]


def _indexes(value: Any) -> tuple[int, ...]:
    found = (fields.whole(index, 65535) for index in fields.sequence(value))
    return tuple(index for index in found if index is not None)


def _address(bdf: str) -> str:
    return f"0000:{bdf}" if bdf.count(":") == 1 else bdf
