"""Finds where the driver keeps its counters, by what exists, since drivers have moved their files.

Driver 2.31 moved nodes to unpublished places (spec: neuron-2026, section 3). So the usual places are tried first, and
if they have nothing, the tree is walked: a device is a folder `neuron<N>` with cores in it, a core is a folder with a
number in which device memory is counted, and files are known by their names. Walks are bounded and follow no link
except those of `class/neuron_device`.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from neuron_top.plain_files import is_folder

USUAL = "devices/virtual/neuron_device"
_DEVICE = re.compile(r"neuron[_-]?(?:device)?([0-9]{1,5})")
_CORE = re.compile(r"(?:neuron_?)?(?:core|nc)[_-]?([0-9]{1,5})")
_MEMORY = "device_mem"
_COUNTERS = ("status", "other_info")
_FOLDERS_IN_A_DEVICE = 20_000
"""The most folders of a walk, twenty times those of a device with eight cores under driver 2.24."""
_FOLDERS_OF_A_MACHINE = 50_000
_DEPTH = 10


class CoreFiles(msgspec.Struct, frozen=True):
    """A physical core: the folder of its memory counters, which categories it has, the folders of other counters."""

    physical: int
    memory: str
    kinds: tuple[str, ...]
    counters: tuple[str, ...] = ()


class DeviceFiles(msgspec.Struct, frozen=True):
    """A device: its cores, and the files with its kind and its state ("" if there is none)."""

    index: int
    path: str
    cores: tuple[CoreFiles, ...]
    name: str = ""
    links: str = ""
    power: str = ""
    errors: str = ""


class Layout(msgspec.Struct, frozen=True):
    """The devices of a tree; `usual` is False if they were found by walking."""

    base: str
    devices: tuple[DeviceFiles, ...]
    usual: bool = True

    def describe(self) -> str:
        """The layout in words: where devices are, and where a core's memory is counted."""
        if not self.devices:
            return ""
        first = self.devices[0]
        memory = first.cores[0].memory.removeprefix(f"{self.base}/") if first.cores else "no core"
        return f"{'the usual layout' if self.usual else 'found by walking'}: {self.base}/{memory}"


class _Found(NamedTuple):
    folder: str
    names: frozenset[str]


def find_layout(root: str) -> Layout:
    """The layout below `root`, which stands for /sys or for the folder that holds `neuron0`; empty without devices."""
    whole = f"{root}/{USUAL}"
    usual = whole if is_folder(whole) else root
    for paths in _places(root, usual):
        numbered = sorted((int(match[1]), path) for path in paths if (match := _DEVICE.fullmatch(Path(path).name)))
        found = (_usual_device(index, path) or _device(index, path) for index, path in numbered)
        devices = tuple(device for device in found if device is not None)
        if devices:
            base = os.path.commonpath([str(Path(device.path).parent) for device in devices])
            return Layout(base, devices, all(map(_is_usual, devices)))
    return Layout(usual, ())


def _places(root: str, usual: str) -> Iterator[list[str]]:
    """Folders that may be devices, by where they were searched: the usual place, the device class, everywhere.

    The tree is walked only if the driver is loaded, as otherwise nothing can be found.
    """
    yield [f"{usual}/{name}" for name in names_in(usual)]
    if is_folder(f"{root}/module/neuron"):
        by_class = f"{root}/class/neuron_device"
        yield [os.path.realpath(f"{by_class}/{name}") for name in names_in(by_class)]
        walked = _walk(f"{root}/devices", _FOLDERS_OF_A_MACHINE)
        yield [f"{found.folder}/{name}" for found in walked for name in found.names if _DEVICE.fullmatch(name)]


def _is_usual(device: DeviceFiles) -> bool:
    return all(core.memory == _usual_memory(device.path, core.physical) for core in device.cores)


def _usual_memory(device: str, core: int) -> str:
    return f"{device}/neuron_core{core}/stats/memory_usage/{_MEMORY}"


def _usual_device(index: int, path: str) -> DeviceFiles | None:
    """The device in the layout of drivers up to 2.30, without a walk; None where it has another one."""
    numbers = sorted(
        int(match[1]) for name in names_in(path) if (match := re.fullmatch(r"neuron_core([0-9]{1,5})", name))
    )
    if not numbers or not is_folder(_usual_memory(path, numbers[0])):
        return None
    cores = tuple(
        CoreFiles(
            number,
            _usual_memory(path, number),
            tuple(names_in(_usual_memory(path, number), only_folders=True)),
            tuple(f"{path}/neuron_core{number}/stats/{group}" for group in _COUNTERS),
        )
        for number in numbers
    )
    return DeviceFiles(
        index,
        path,
        cores,
        name=f"{path}/info/architecture/device_name",
        links=f"{path}/connected_devices",
        power=f"{path}/stats/power/utilization",
        errors=f"{path}/stats/hardware",
    )


def _device(index: int, path: str) -> DeviceFiles | None:
    """The device in a folder, by the names of its files; None if there is none."""
    memory: dict[int, str] = {}
    counters: dict[int, list[str]] = {}
    files: dict[str, str] = {}
    for found in _walk(path, _FOLDERS_IN_A_DEVICE):
        _, _, name = found.folder.rpartition("/")
        core = _core_of(found.folder.removeprefix(path))
        if core is None:
            _note_device_files(found, name, files)
        elif name == _MEMORY and "total" in found.names:
            memory.setdefault(core, found.folder)
        elif name in _COUNTERS:
            counters.setdefault(core, []).append(found.folder)
    if not memory and not files:
        return None
    numbers = sorted({*memory, *counters})
    cores = tuple(
        CoreFiles(
            number,
            memory.get(number, ""),
            tuple(names_in(memory.get(number, ""), only_folders=True)),
            tuple(counters.get(number, ())),
        )
        for number in numbers
    )
    return DeviceFiles(index, path, cores, **files)


def _core_of(below: str) -> int | None:
    """The physical core that a folder below a device belongs to."""
    numbers = (match[1] for part in below.split("/") if (match := _CORE.fullmatch(part)))
    first = next(numbers, None)
    return int(first) if first is not None else None


def _note_device_files(found: _Found, name: str, files: dict[str, str]) -> None:
    for file, purpose in (("device_name", "name"), ("device_type", "name"), ("connected_devices", "links")):
        if file in found.names:
            files.setdefault(purpose, f"{found.folder}/{file}")
    if name == "power" and "utilization" in found.names:
        files.setdefault("power", f"{found.folder}/utilization")
    if any("_ecc_" in each for each in found.names):
        files.setdefault("errors", found.folder)


def _walk(top: str, most: int) -> Iterator[_Found]:
    """Folders from `top` down, the nearest first, each with the names in it; at most this many, and no links."""
    waiting = deque([(top, 0)])
    while waiting and most:
        folder, depth = waiting.popleft()
        most -= 1
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    names.append(entry.name)
                    if depth < _DEPTH and entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue
        yield _Found(folder, frozenset(names))


def names_in(folder: str, *, only_folders: bool = False) -> list[str]:
    """The names in a folder, sorted; empty if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not only_folders or entry.is_dir())
    except OSError:
        return []
