"""The driver's counters under /sys, read-only: memory per physical core with peaks, power, ECC, statuses.

Nothing here opens a file for writing: writing anything to a leaf clears it. `total` is the live level; `present` is the
size of the last allocation and is never read. What exists decides what is told: categories differ by driver version.
The tree's root is a parameter, so that a copy of a tree reads like the machine itself. Spec: telemetry, section 7.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.events import (
    CoreCountersRead,
    CoreSample,
    CoresSampled,
    Device,
    DevicesFound,
    HardwareErrorsCounted,
)
from neuron_top.parsers import sysfs_values as values
from neuron_top.telemetry.instances import Machine, machine

_DEVICES = "devices/virtual/neuron_device"
_INDEXED = re.compile(r"neuron(?:_core)?([0-9]{1,5})")
_LONGEST = 4096
_COUNTER_GROUPS = ("status", "other_info")


class Core(msgspec.Struct, frozen=True):
    """Where a physical core's files are, and which memory categories its driver keeps."""

    physical: int
    path: str
    kinds: tuple[str, ...]


class DeviceFiles(msgspec.Struct, frozen=True):
    """Where a device's files are."""

    index: int
    path: str
    cores: tuple[Core, ...]


class SysfsTree:
    """A tree of driver counters. `root` stands for /sys; the folder that holds `neuron0` itself will do as well.

    `denied` collects what could not be read for lack of permission (two files are root-only before driver 2.28).
    """

    def __init__(self, root: Path | str = "/sys", *, lnc: int | None = None) -> None:
        self.root = str(root)
        self.denied: set[str] = set()
        self._lnc = lnc
        self._layout: tuple[DeviceFiles, ...] | None = None
        self._machine: Machine | None = None

    @property
    def base(self) -> str:
        """The folder of the devices."""
        whole = f"{self.root}/{_DEVICES}"
        return whole if Path(whole).is_dir() else self.root

    def devices(self) -> tuple[DeviceFiles, ...]:
        """The devices with their cores; looked up once, and again after `forget`."""
        if self._layout is None:
            self._layout = tuple(
                DeviceFiles(index, path, self._cores(path)) for index, path in _indexed(self.base, "neuron")
            )
        return self._layout

    def forget(self) -> None:
        """Look the devices up afresh next time: the driver was reloaded, or has come."""
        self._layout = self._machine = None

    def machine(self) -> Machine:
        """The machine as the tree describes it."""
        if self._machine is None:
            found = self.devices()
            first = found[0] if found else None
            architecture = f"{first.path}/info/architecture" if first else ""
            self._machine = machine(
                instance_type=values.name(self._text(f"{self.root}/devices/virtual/dmi/id/product_name")),
                device_kind=values.name(self._text(f"{architecture}/device_name")) if first else "",
                devices=len(found),
                lnc=self._lnc,
            )
            if self._machine.generation is None and first:
                lnc = self._lnc or 1
                self._machine = Machine(devices=len(found), cores_per_device=max(1, len(first.cores) // lnc), lnc=lnc)
        return self._machine

    def driver(self) -> tuple[int, ...] | None:
        """Version of the kernel driver, None when it is not loaded."""
        return values.version(self._text(f"{self.root}/module/neuron/version"))

    def ultraserver_node(self) -> int | None:
        """This host's number within an UltraServer; None outside one."""
        texts = (self._text(f"{self.root}/class/neuron_device/{name}") for name in ("node_id_4", "node_id_2"))
        found = [node for text in texts if (node := values.whole(text, 64)) is not None]
        return found[0] if found else None

    def found(self) -> DevicesFound:
        """The machine as an event."""
        host = self.machine()
        devices = tuple(
            Device(
                index=device.index,
                core_count=host.cores_per_device,
                memory=host.device_memory,
                cores=tuple(sorted({host.core_of_physical(device.index, core.physical) for core in device.cores})),
                kind=values.name(self._text(f"{device.path}/info/architecture/device_name")),
                connected_to=values.neighbors(self._text(f"{device.path}/connected_devices")),
            )
            for device in self.devices()
        )
        return DevicesFound(source="sysfs", instance_type=host.instance_type, lnc=host.lnc, devices=devices)

    def sample(self) -> CoresSampled:
        """Memory, peak and power of all logical cores, now. Utilization has no counterpart here: unknown."""
        host = self.machine()
        cores: list[CoreSample] = []
        for device in self.devices():
            power = values.power(self._text(f"{device.path}/stats/power/utilization"))
            grouped: dict[int, list[_Level]] = {}
            for core in device.cores:
                logical = host.core_of_physical(device.index, core.physical)
                grouped.setdefault(logical, []).append(self._level(core))
            cores += [_sample(logical, device.index, levels, host, power) for logical, levels in grouped.items()]
        return CoresSampled(source="sysfs", kind="neuron", cores=tuple(cores))

    def errors(self) -> list[HardwareErrorsCounted]:
        """ECC counts per device; a device without such files (v1) is left out."""
        found = []
        for device in self.devices():
            folder = f"{device.path}/stats/hardware"
            named = ((name, values.whole(self._text(f"{folder}/{name}"))) for name in _names(folder))
            counts = {name: count for name, count in named if count is not None}
            if counts:
                found.append(HardwareErrorsCounted(source="sysfs", device=device.index, counts=counts))
        return found

    def counters(self) -> list[CoreCountersRead]:
        """Execution statuses and other running totals per physical core."""
        live = values.counters_are_live(self.driver())
        return [
            CoreCountersRead(
                source="sysfs", device=device.index, physical=core.physical, counts=self._counts(core), live=live
            )
            for device in self.devices()
            for core in device.cores
        ]

    def _counts(self, core: Core) -> dict[str, int]:
        folders = [f"{core.path}/stats/{group}" for group in _COUNTER_GROUPS]
        named = ((name, self._text(f"{folder}/{name}/total")) for folder in folders for name in _names(folder))
        return {name: count for name, text in named if (count := values.whole(text))}

    def _level(self, core: Core) -> _Level:
        folder = f"{core.path}/stats/memory_usage/device_mem"
        total = values.level(self._text(f"{folder}/total"))
        kinds: dict[str, int] = {}
        if total:  # an unused core costs two reads, not thirteen
            named = ((kind, values.level(self._text(f"{folder}/{kind}/total"))) for kind in core.kinds)
            kinds = {kind: size for kind, size in named if size}
        return _Level(total, values.level(self._text(f"{folder}/peak")), kinds)

    def _cores(self, device: str) -> tuple[Core, ...]:
        return tuple(
            Core(index, path, tuple(_names(f"{path}/stats/memory_usage/device_mem", folders=True)))
            for index, path in _indexed(device, "neuron_core")
        )

    def _text(self, path: str) -> str:
        """A small file's text, "" when there is none or it may not be read."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except PermissionError:
            self.denied.add(path)
            return ""
        except (OSError, ValueError):
            return ""
        try:
            return os.read(descriptor, _LONGEST).decode("ascii", "replace")
        except OSError:
            return ""
        finally:
            os.close(descriptor)


class _Level(msgspec.Struct, frozen=True):
    total: int | None
    peak: int | None
    kinds: dict[str, int]


def _sample(logical: int, device: int, levels: list[_Level], host: Machine, power: values.Power | None) -> CoreSample:
    totals = [level.total for level in levels if level.total is not None]
    kinds: dict[str, int] = {}
    for level in levels:
        for kind, size in level.kinds.items():
            kinds[kind] = kinds.get(kind, 0) + size
    return CoreSample(
        core=logical,
        device=device,
        bank=host.bank(logical),
        capacity=host.bank_memory,
        memory=sum(totals) if totals else None,
        peak=_peak(levels),
        kinds=kinds,
        power=power.mean if power else None,
        power_at=power.at if power else None,
    )


def _peak(levels: list[_Level]) -> int | None:
    """The peak of a logical core; unknown where two physical cores have peaks that may lie at different times."""
    peaks = [level.peak for level in levels if level.peak]
    if len(peaks) <= 1:
        return sum(peaks) if any(level.peak is not None for level in levels) else None
    return sum(peaks) if all(level.peak == level.total for level in levels) else None


def overlaid(cores: Iterable[CoreSample], measured: Iterable[CoreSample]) -> tuple[CoreSample, ...]:
    """neuron-monitor's cores with the driver's memory, peak and power: it keeps all eleven categories, not five.

    Cores that only the driver knows are left out: inside a container it shows the whole host's.
    """
    by_core = {sample.core: sample for sample in measured}
    return tuple(_overlaid(core, by_core.get(core.core)) for core in cores)


def _overlaid(core: CoreSample, measured: CoreSample | None) -> CoreSample:
    if measured is None:
        return core
    known = measured.memory is not None
    return msgspec.structs.replace(
        core,
        memory=measured.memory if known else core.memory,
        kinds=measured.kinds if known else core.kinds,
        peak=measured.peak,
        power=measured.power,
        power_at=measured.power_at,
    )


def _indexed(folder: str, prefix: str) -> list[tuple[int, str]]:
    found = []
    for name in _names(folder, folders=True):
        match = _INDEXED.fullmatch(name)
        if match and name.removeprefix(prefix) == match[1]:
            found.append((int(match[1]), f"{folder}/{name}"))
    return sorted(found)


def _names(folder: str, *, folders: bool = False) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not folders or entry.is_dir())
    except OSError:
        return []
