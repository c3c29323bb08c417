"""Reads the driver's counters under /sys: memory per physical core with peaks, power, ECC, statuses.

Nothing here opens a file for writing, as writing anything to a counter clears it. `total` is the live level; `present`
is the size of the last allocation and is never read. Only existing files are reported: categories and paths differ by
driver version (`sysfs_layout` finds them). The tree's root is a parameter, so that a copy of a tree reads like the
machine itself. Spec: telemetry, section 7.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.events import (
    CoreCountersRead,
    CoreKind,
    CoreSample,
    CoresSampled,
    Device,
    DevicesFound,
    HardwareErrorsCounted,
)
from neuron_top.parsers import sysfs_values as values
from neuron_top.telemetry.instances import Machine, machine
from neuron_top.telemetry.sysfs_layout import CoreFiles, DeviceFiles, Layout, find_layout, names_in

_LONGEST = 4096


class SysfsTree:
    """A tree of driver counters. `root` stands for /sys; it may also be the folder that contains `neuron0`.

    `denied` collects what could not be read for lack of permission (two files are root-only before driver 2.28).
    """

    def __init__(self, root: Path | str = "/sys", *, lnc: int | None = None) -> None:
        self.root = str(root)
        self.denied: set[str] = set()
        self._lnc = lnc
        self._layout: Layout | None = None
        self._machine: Machine | None = None

    @property
    def lnc(self) -> int | None:
        """Physical cores per logical core, as somebody who knows has said; the driver does not. None: the usual one."""
        return self._lnc

    @lnc.setter
    def lnc(self, lnc: int | None) -> None:
        if lnc != self._lnc:
            self._lnc, self._machine = lnc, None

    @property
    def layout(self) -> Layout:
        """Where the counters are; searched once, and again after `forget`."""
        if self._layout is None:
            self._layout = find_layout(self.root)
        return self._layout

    @property
    def base(self) -> str:
        """The folder of the devices."""
        return self.layout.base

    def devices(self) -> tuple[DeviceFiles, ...]:
        """The devices with their cores."""
        return self.layout.devices

    def forget(self) -> None:
        """Search for the devices again next time, as the driver was loaded or reloaded."""
        self._layout, self._machine = None, None

    def machine(self) -> Machine:
        """The machine as the tree describes it."""
        if self._machine is None:
            found = self.devices()
            first = found[0] if found else None
            self._machine = machine(
                instance_type=values.name(self._text(f"{self.root}/devices/virtual/dmi/id/product_name")),
                device_kind=values.name(self._text(first.name)) if first else "",
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
                kind=values.name(self._text(device.name)),
                connected_to=values.neighbors(self._text(device.links)),
            )
            for device in self.devices()
        )
        return DevicesFound(source="sysfs", instance_type=host.instance_type, lnc=host.lnc, devices=devices)

    def sample(self) -> CoresSampled:
        """Memory, peak and power of all logical cores, now. The driver does not report utilization."""
        host = self.machine()
        cores: list[CoreSample] = []
        for device in self.devices():
            power = values.power(self._text(device.power))
            grouped: dict[int, list[_Level]] = {}
            for core in device.cores:
                logical = host.core_of_physical(device.index, core.physical)
                grouped.setdefault(logical, []).append(self._level(core))
            cores += [_sample(logical, device.index, levels, host, power) for logical, levels in grouped.items()]
        return CoresSampled(source="sysfs", kind=CoreKind.NEURON, cores=tuple(cores))

    def errors(self) -> list[HardwareErrorsCounted]:
        """ECC counts per device; a device without such files (v1) is left out."""
        found = []
        for device in self.devices():
            folder = device.errors
            named = ((name, values.whole(self._text(f"{folder}/{name}"))) for name in names_in(folder))
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

    def _counts(self, core: CoreFiles) -> dict[str, int]:
        named = ((name, self._text(f"{folder}/{name}/total")) for folder in core.counters for name in names_in(folder))
        return {name: count for name, text in named if (count := values.whole(text))}

    def _level(self, core: CoreFiles) -> _Level:
        folder = core.memory
        total = values.level(self._text(f"{folder}/total"))
        kinds: dict[str, int] = {}
        if total:  # an unused core costs two reads, not thirteen
            named = ((kind, values.level(self._text(f"{folder}/{kind}/total"))) for kind in core.kinds)
            kinds = {kind: size for kind, size in named if size}
        return _Level(total, values.level(self._text(f"{folder}/peak")), kinds)

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
    """The peak of a logical core; unknown for two physical cores, whose peaks may be at different times."""
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
