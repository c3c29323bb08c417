"""Where the driver's counters lie: the usual place, and places that no specification names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from neuron_top.telemetry import sysfs_layout
from neuron_top.telemetry.instances import GIB
from neuron_top.telemetry.sources import SysfsPoller
from neuron_top.telemetry.sysfs import SysfsTree
from neuron_top.telemetry.sysfs_layout import find_layout
from tests.telemetry import trees

USED = {"tensors": 3 * GIB, "constants": GIB}


@pytest.fixture
def usual(tmp_path: Path) -> Path:
    """The tree of a driver up to 2.30: two devices of two cores."""
    for index in range(2):
        trees.device(tmp_path, index, 2, used=USED)
    trees.put(tmp_path / "module/neuron/version", "2.31.0.0\n")
    return tmp_path


def devices_moved(root: Path) -> None:
    """Each device below its own PCI function."""
    for index in range(2):
        place = root / f"devices/pci0000:00/0000:00:1{index}.0/neuron_device/neuron{index}"
        place.parent.mkdir(parents=True)
        shutil.move(root / sysfs_layout.USUAL / f"neuron{index}", place)
    (root / sysfs_layout.USUAL).rmdir()


def devices_moved_together(root: Path) -> None:
    (root / "devices/platform/accel").mkdir(parents=True)
    shutil.move(root / sysfs_layout.USUAL, root / "devices/platform/accel/nodes")


def devices_in_their_class(root: Path) -> None:
    devices_moved_together(root)
    (root / "class/neuron_device").mkdir(parents=True)
    for index in range(2):
        (root / f"class/neuron_device/neuron{index}").symlink_to(root / f"devices/platform/accel/nodes/neuron{index}")


def cores_moved(root: Path) -> None:
    for index in range(2):
        base = root / sysfs_layout.USUAL / f"neuron{index}"
        for core in range(2):
            (base / "cores").mkdir(exist_ok=True)
            shutil.move(base / f"neuron_core{core}", base / f"cores/core{core}")


def memory_moved(root: Path) -> None:
    for folder in sorted((root / sysfs_layout.USUAL).glob("*/neuron_core*")):
        shutil.move(folder / "stats/memory_usage/device_mem", folder / "device_mem")


def files_moved(root: Path) -> None:
    cores_moved(root)
    for base in sorted((root / sysfs_layout.USUAL).iterdir()):
        (base / "health").mkdir()
        shutil.move(base / "info/architecture/device_name", base / "device_name")
        shutil.move(base / "connected_devices", base / "info/connected_devices")
        shutil.move(base / "stats/hardware", base / "health/counters")
        shutil.move(base / "stats/power", base / "telemetry/power")


MOVES = [devices_moved, devices_moved_together, devices_in_their_class, cores_moved, memory_moved, files_moved]


@pytest.mark.parametrize("move", MOVES)
def test_a_driver_that_moved_its_files_reports_the_same(usual: Path, move: object) -> None:
    before = SysfsTree(usual)
    reported = before.sample(), before.errors(), before.counters(), before.found()
    assert before.layout.usual
    assert callable(move)
    move(usual)
    after = SysfsTree(usual)
    assert (after.sample(), after.errors(), after.counters(), after.found()) == reported
    assert after.layout.base in after.layout.describe()


def test_moved_cores_are_reported_as_found_by_walking(usual: Path) -> None:
    assert find_layout(str(usual)).describe().startswith("the usual layout: ")
    cores_moved(usual)
    assert "found by walking" in find_layout(str(usual)).describe()


def test_a_machine_without_the_driver_is_not_walked(usual: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices_moved_together(usual)
    shutil.move(usual / "module", usual / "elsewhere")
    walked: list[str] = []
    walk = sysfs_layout._walk
    monkeypatch.setattr(sysfs_layout, "_walk", lambda top, most: walked.append(top) or walk(top, most))
    assert find_layout(str(usual)).devices == ()
    assert walked == []


def test_a_circle_of_links_and_deep_trees_end(usual: Path) -> None:
    cores_moved(usual)
    base = usual / sysfs_layout.USUAL / "neuron0"
    (base / "cores/core0/device").symlink_to(base)
    deep = base.joinpath(*["x"] * 60)
    deep.mkdir(parents=True)
    assert len(find_layout(str(usual)).devices[0].cores) == 2


def test_a_look_at_moved_counters_goes_on_as_at_others(usual: Path) -> None:
    files_moved(usual)
    look = SysfsPoller(SysfsTree(usual), clock=lambda: 5.0)
    first = [type(event).__name__ for event in look()]
    assert first[:3] == ["SourceAvailable", "DevicesFound", "CoresSampled"]
    assert [type(event).__name__ for event in look()] == ["CoresSampled"]
