"""`neuron-ls --json-output`, all its schemas since 2021: an array with one object per device.

What older tools leave out (core ids, NUMA, affinity, instance) stays unknown; a PCI address without its domain gets
the domain `0000`, as the later tools print it. Shapes: the telemetry spec, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from neuron_top.parsers import json_fields as fields

_OF_THE_INSTANCE = ("instance_type", "logical_neuroncore_config")
"""What newer tools print once for all devices."""


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


def devices_in(value: object) -> tuple[LsDevice, ...]:
    """The devices in an already decoded listing. Raises ValueError when it is no listing.

    A listing is an array of devices, one device, or (`--output-format json`, tools after 2.34) an object that
    says what holds for the whole instance and has the array in one of its members.
    """
    common: Mapping[str, object] = {}
    if isinstance(value, dict):
        value, common = _array_of(value)
    if not isinstance(value, list):
        raise ValueError("a JSON array of devices was expected")
    listed = (_device({**common, **fields.mapping(element)}) for element in fields.sequence(value))
    found = tuple(device for device in listed if device is not None)
    if value and not found:
        raise ValueError("no element has a neuron_device")
    return found


def _array_of(document: Mapping[str, object]) -> tuple[object, Mapping[str, object]]:
    """The array of devices in an object, however its member is called, and what stands beside it."""
    if "neuron_device" in document:
        return [document], {}
    for _, member in fields.pairs(document):
        if any("neuron_device" in fields.mapping(element) for element in fields.sequence(member)):
            return member, {name: document[name] for name in _OF_THE_INSTANCE if name in document}
    return None, {}


def _device(element: Mapping[str, object]) -> LsDevice | None:
    index = fields.whole(element.get("neuron_device"), fields.MOST_ITEMS)
    if index is None:
        return None
    return LsDevice(
        index=index,
        core_count=fields.whole(element.get("nc_count"), fields.MOST_ITEMS),
        cores=_indexes(element.get("neuroncore_ids")),
        memory=fields.whole(element.get("memory_size"), fields.LARGEST_BYTES),
        bdf=full_address(fields.text(element.get("bdf"))),
        numa_node=fields.whole(element.get("numa_node"), fields.MOST_ITEMS),  # "-1" means: no NUMA
        cpu_affinity=fields.text(element.get("cpu_affinity")),
        connected_to=_indexes(element.get("connected_to")),
        lnc=fields.whole(element.get("logical_neuroncore_config"), 8),
        instance_type=fields.text(element.get("instance_type")),
        processes=tuple(_processes(element.get("neuron_processes"))),
    )


def _processes(value: object) -> list[LsProcess]:
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


def _indexes(value: object) -> tuple[int, ...]:
    found = (fields.whole(index, 65535) for index in fields.sequence(value))
    return tuple(index for index in found if index is not None)


def full_address(bdf: str) -> str:
    """A PCI address with its domain, which older tools leave out."""
    return f"0000:{bdf}" if bdf.count(":") == 1 else bdf
